/* firn list: the tables, for people and as the reference page. */
#include <stdio.h>
#include <string.h>

#include <firn/scene.h>

#include "app.h"

const char *firn_row_range(const firn_param *row, char *text, size_t size)
{
    static const char *const leads[] = {"finite", "one of ", "from "}; /* tables go without */
    firn_param_range(row, text, size);
    for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
        const size_t length = strlen(leads[i]);
        if (strncmp(text, leads[i], length) == 0) return text + length;
    }
    return text;
}

const char *firn_row_kind(const firn_param *row)
{
    static const char *const name[FIRN_PARAM_KIND_COUNT] = {
        [FIRN_REAL] = "number", [FIRN_TEMPERATURE] = "temperature", [FIRN_WHOLE] = "whole number",
        [FIRN_CHOICE] = "word", [FIRN_VECTOR] = "[x, y, z]",        [FIRN_FLAG] = "true/false",
        [FIRN_TEXT] = "text",   [FIRN_VALUE] = "see help"};
    return name[row->kind];
}

static void print_rows(int32_t section, bool markdown)
{
    firn_param row, *r = &row;
    char text[512], value[80];
    if (markdown && firn_section_get_param(section, 0, r, value)) {
        printf("| name | kind | unit | default | range | |\n|---|---|---|---|---|---|\n");
    }
    for (int32_t i = 0; firn_section_get_param(section, i, r, value); i++) {
        const char *words = firn_row_range(r, text, sizeof text);
        if (markdown) {
            printf("| `%s` | %s%s | %s | %s | %s | %s%s%s%s |\n", r->name, firn_row_kind(r),
                   r->keys ? ", keys" : "", r->unit, value, words, r->help,
                   r->alias ? "; also `" : "", r->alias ? r->alias : "", r->alias ? "`" : "");
        } else {
            printf("  %-18s %-12s %-10s %-18s %s%s\n", r->name, r->unit[0] ? r->unit : "-",
                   value[0] ? value : "-", words, r->help, r->keys ? "; can have keys" : "");
        }
    }
}

static void heading(const char *name, const char *help, bool markdown)
{
    if (markdown) {
        printf("\n## %s\n\n%s.\n\n", name, help);
    } else {
        printf("\n%s: %s\n", name, help);
    }
}

static void list_parameters(bool markdown)
{
    firn_section_info s;
    for (int32_t i = 0; (s = firn_section_get_info(i)).name; i++) {
        if (s.shape) continue;
        heading(s.name, s.help, markdown);
        print_rows(i, markdown);
    }
}

static void list_shapes(bool markdown)
{
    static const char *const where[] = {"", "2D", "3D", "2D and 3D"};
    firn_section_info s;
    for (int32_t i = 0; (s = firn_section_get_info(i)).name; i++) {
        char name[64], help[200];
        if (!s.shape) continue;
        snprintf(name, sizeof name, markdown ? "shape %s" : "%s", s.name);
        snprintf(help, sizeof help, "%s; %scolliders, in %s", s.help,
                 s.filled ? "objects and " : "", where[s.dimensions]);
        heading(name, help, markdown);
        print_rows(i, markdown);
    }
}

/* What the preset's law reads, as it has it. */
static void print_values(const firn_preset *preset)
{
    const firn_material_def def = firn_material_def_preset(preset);
    const firn_param *const *params = firn_law_params(def.law);
    for (int i = 0; params[i]; i++) {
        double value;
        memcpy(&value, (const char *)&def + params[i]->offset, sizeof value);
        printf("%s%s %g%s%s", i ? ", " : "", params[i]->name, value, params[i]->unit[0] ? " " : "",
               params[i]->unit);
    }
}

static void list_presets(bool markdown)
{
    heading("presets", "materials to start from", markdown);
    if (markdown) printf("| name | | law | values | source |\n|---|---|---|---|---|\n");
    const firn_preset *p;
    for (int32_t i = 0; (p = firn_preset_get(i)); i++) {
        printf(markdown ? "| `%s`%s%s | %s | %s | " : "  %s%s%s: %s; %s, ", p->name,
               p->alias ? ", also " : "", p->alias ? p->alias : "", p->help, firn_law_name(p->law));
        print_values(p);
        printf(markdown ? " | %s |\n" : "; source: %s\n", p->source);
    }
}

/* Which parameters each law reads. */
static void list_laws(bool markdown)
{
    heading("laws", "constitutive laws of materials", markdown);
    if (markdown) printf("| name | | reads |\n|---|---|---|\n");
    for (int i = 0; i < FIRN_LAW_COUNT; i++) {
        const firn_law_info law = firn_law_get_info((firn_law_kind)i);
        printf(markdown ? "| `%s` | %s | " : "  %s: %s; reads ", law.name, law.help);
        for (int k = 0; law.params[k]; k++) printf("%s%s", k ? ", " : "", law.params[k]->name);
        printf(markdown ? " |\n" : "\n");
    }
}

static void list_transfers(bool markdown)
{
    heading("transfers", "how velocities go between particles and grid", markdown);
    if (markdown) printf("| name | |\n|---|---|\n");
    for (int i = 0; i < FIRN_TRANSFER_COUNT; i++) {
        const firn_transfer_info transfer = firn_transfer_get_info((firn_transfer)i);
        printf(markdown ? "| `%s` | %s |\n" : "  %-10s %s\n", transfer.name, transfer.help);
    }
}

static void list_looks(bool markdown)
{
    heading("looks", "looks of materials in pictures", markdown);
    if (markdown) printf("| name | |\n|---|---|\n");
    for (int i = 0; firn_look_name(i); i++) {
        printf(markdown ? "| `%s` | %s |\n" : "  %-10s %s\n", firn_look_name(i), firn_look_help(i));
    }
}

static void list_formats(bool markdown)
{
    heading("formats", "particle files", markdown);
    if (markdown) printf("| name | ends in | read | written | |\n|---|---|---|---|---|\n");
    for (int i = 0; firn_format_get_info(i).name; i++) {
        const firn_format_info f = firn_format_get_info(i);
        printf(markdown ? "| `%s` | `%s` | %s | %s | %s |\n" : "  %-10s %-14s %-5s %-8s %s\n",
               f.name, f.extensions, f.reads ? "read" : "-", f.writes ? "written" : "-", f.help);
    }
}

static void print_attributes(const firn_attribute *(*get)(int32_t), bool markdown)
{
    if (markdown) printf("| name | type | components | unit | |\n|---|---|---|---|---|\n");
    const firn_attribute *a;
    for (int32_t i = 0; (a = get(i)); i++) {
        printf(markdown ? "| `%s` | %s | %d | %s | %s |\n" : "  %-10s %-4s %d  %-6s %s\n", a->name,
               firn_type_name(a->type), a->components_3d, a->unit, a->help);
    }
}

static void list_attributes(bool markdown)
{
    heading("attributes", "attributes of particle files", markdown);
    print_attributes(firn_attribute_get, markdown);
    heading("attributes of the grid", "attributes of grid outputs", markdown);
    print_attributes(firn_grid_attribute_get, markdown);
}

static const struct {
    const char *name;
    void (*print)(bool markdown);
} topics[] = {
    {"parameters", list_parameters},
    {"shapes", list_shapes},
    {"materials", list_presets},
    {"presets", list_presets}, /* by either name */
    {"laws", list_laws},
    {"transfers", list_transfers},
    {"looks", list_looks},
    {"formats", list_formats},
    {"attributes", list_attributes},
};

static const char *topic_name(int32_t index)
{
    return index < (int32_t)(sizeof topics / sizeof *topics) ? topics[index].name : NULL;
}

static struct {
    bool markdown;
    firn_words words;
} chosen;

static const firn_option options[] = {
    {"[TOPIC]", FIRN_OPTION_WORDS, &chosen.words, NULL, "one of those", .max = 1,
     .word = topic_name},
    {"--markdown", FIRN_OPTION_FLAG, &chosen.markdown, .help = "print doc/reference.md"},
};

static int run(void)
{
    if (chosen.markdown) {
        printf("# Scene reference\n\nMade by `firn list --markdown`: do not edit.\n\n"
               "What is of the kind `keys`, too, can change in time: `{keys: {0: 0.1, 1.5: 0.8}, "
               "interpolation: smooth}`\nor an expression of `time` (s) or `$F` (frame).\n");
    }
    const char *wanted = chosen.words.count ? chosen.words.word[0] : NULL;
    bool found = false;
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        if (wanted && strcmp(wanted, topics[i].name) != 0) continue;
        if (!wanted && i && topics[i].print == topics[i - 1].print) continue;
        topics[i].print(chosen.markdown);
        found = true;
    }
    if (found) return 0;
    char near[200];
    fprintf(stderr, "%s: there is no topic \"%s\"%s\n", firn_list_command.name, wanted,
            firn_nearest_word(wanted, topic_name, near, sizeof near));
    return FIRN_EXIT_USAGE;
}

const firn_command firn_list_command = {
    .name = "firn list",
    .line = "what scenes can say: parameters, shapes, materials, formats",
    .summary = "Lists what a scene can say: parameters, shapes, materials, laws, transfers, looks, "
               "formats or attributes; all without a topic.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
