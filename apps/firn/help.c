/* firn help: short texts on topics, and what the tables say about a name. Each topic fits a screen of
 * 80 by 24. What a table knows is printed from the table. */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <firn/scene.h>

#include "app.h"

/* ---- from the tables ---- */

enum { UNIT_COLUMN = 21, ROW_COLUMN = 31 };

static void print_row(const firn_param *row, const char *value)
{
    char text[900], range[512];
    const char *words = row->kind == FIRN_CHOICE ? firn_row_range(row, range, sizeof range) : "";
    const bool given = value[0] != 0, bare = value[0] == '['; /* a vector */
    snprintf(text, sizeof text, "%s%s%s%s%s%s", row->help, words[0] ? "; one of " : "", words,
             given ? bare ? " " : " [" : "", value, given && !bare ? "]" : "");
    printf("  %-*s%-*s", UNIT_COLUMN - 2, row->name, ROW_COLUMN - UNIT_COLUMN, row->unit);
    firn_print_wrapped(ROW_COLUMN, text);
}

/* The rows of a section; NULL: all, else those named in a list with spaces between. */
static void print_section(int32_t section, const char *names)
{
    firn_param r;
    char value[80];
    for (int32_t i = 0; !names && firn_section_get_param(section, i, &r, value); i++) {
        print_row(&r, value);
    }
    while (names && *names) {
        const size_t length = strcspn(names, " ");
        int32_t i = 0;
        bool found = false;
        while (!found && firn_section_get_param(section, i++, &r, value)) {
            found = strlen(r.name) == length && strncmp(r.name, names, length) == 0;
        }
        assert(found);
        print_row(&r, value);
        names += length;
        names += *names == ' ';
    }
}

/* The same for a section by its name. */
static void print_rows(const char *name, const char *names)
{
    int32_t section = 0;
    while (strcmp(firn_section_get_info(section).name, name) != 0) section++;
    print_section(section, names);
}

static void print_shapes(const char *lead, bool fills)
{
    char text[600];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", lead);
    firn_section_info s;
    for (int32_t i = 0; (s = firn_section_get_info(i)).name; i++) {
        if (!s.shape || (fills && !s.filled) || used >= sizeof text) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, " %s", s.name);
    }
    firn_print_wrapped(0, text);
}

/* ---- topics ---- */

static void scenes(void)
{
    printf("A scene is a YAML text file that describes objects, their materials, colliders\n"
           "and the files to write. `firn run SCENE.yaml` runs it. Errors name file, line\n"
           "and column; nothing is written until they are fixed. Defaults are in brackets.\n"
           "\n");
    print_rows("the scene",
               "name include dimension resolution up frames simulation materials objects "
               "colliders forces sinks domain output statistics");
    printf("\n--set PATH=VALUE changes any value for one run, as in --set frames.end=48.\n");
}

static void units(void)
{
    printf("Lengths are in metres, times in seconds, masses in kilograms, pressures in\n"
           "pascals, angles in degrees, temperatures in kelvin, or in degrees Celsius with a\n"
           "C, as 34C. 2D scenes are one metre deep.\n\n");
    print_rows("the scene", "resolution up");
    print_rows("simulation", "gravity cell_size particles_per_cell");
    print_rows("frames", NULL);
    print_rows("a material", "density young");
    printf("\n`firn help NAME` names the unit of any other parameter.\n");
}

static void materials(void)
{
    printf("A material starts from a preset and may change its values:\n\n"
           "  materials:\n"
           "    pudding: {preset: %s, density: 900}\n\n",
           firn_preset_get(0)->name);
    print_rows("a material", "preset law density young poisson");
    char text[600];
    size_t used = (size_t)snprintf(text, sizeof text, "Presets:");
    const firn_preset *p;
    for (int32_t i = 0; (p = firn_preset_get(i)) && used < sizeof text; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, " %s", p->name);
    }
    printf("\n");
    firn_print_wrapped(0, text);
    printf("`firn list materials` shows their values, `firn list laws` the parameters of\n"
           "each law; `firn help NAME` explains a parameter.\n");
}

static void objects(void)
{
    printf("An object is a shape or a file, filled with particles of a material; `firn help\n"
           "filling` explains how. Where objects overlap, the earlier one keeps the space.\n\n"
           "  objects:\n"
           "    - {name: ball, material: pudding, shape: {sphere: {radius: 0.3}}}\n\n");
    print_rows("an object",
               "name material translate rotate scale velocity spin density body contact emit");
    printf("\n`firn help emit` lists what a stream can have.\n");
}

static void colliders(void)
{
    printf("Objects collide with colliders, which stand still or move by keys:\n\n"
           "  colliders:\n"
           "    - {name: ground, shape: {plane: {}}}\n"
           "    - name: pusher\n"
           "      shape: {box: {size: [0.3, 0.4, 1]}}\n"
           "      keys: {0: {at: [-1, 0.2, 0]}, 2: {at: [1, 0.2, 0], rotate: [0, 90, 0]}}\n\n");
    print_rows("a collider", "name shape translate rotate keys boundary friction surface_velocity");
    print_shapes("\nshapes:", false);
    printf("`firn help plane` says what one takes.\n");
}

static void heat(void)
{
    printf("Scenes with `heat: {}` have temperatures, in kelvin, or in degrees Celsius with\n"
           "a C, as 34C. Materials of some laws melt and freeze. Of heat:\n\n");
    print_rows("heat", "speed ambient sources");
    printf("\nIn colliders, and in objects:\n\n");
    print_rows("a collider", "temperature");
    print_rows("an object", "temperature");
    for (int i = 0; i < FIRN_LAW_COUNT; i++) {
        const firn_law_info law = firn_law_get_info((firn_law_kind)i);
        if (!law.melts) continue;
        char text[600];
        size_t used = (size_t)snprintf(text, sizeof text, "The law %s reads", law.name);
        for (int k = 0; law.params[k] && used < sizeof text; k++) {
            used += (size_t)snprintf(text + used, sizeof text - used, " %s", law.params[k]->name);
        }
        printf("\n");
        firn_print_wrapped(0, text);
    }
    printf("`firn help NAME` explains each, `firn list materials` has presets. doc/scenes.md\n"
           "has a section on heat, doc/melting.md describes the model.\n");
}

static void filling(void)
{
    printf("An object has one of these, and particles fill it:\n\n");
    print_rows("an object", "shape mesh voxels particles");
    printf("\nThe scene's resolution sets the distance between particles, or:\n\n");
    print_rows("an object", "separation count pattern per_voxel refine refine_distance");
    printf("\n");
    print_shapes("shapes:", true);
}

static void output(void)
{
    printf("A run writes the files listed under output, every frame or every few:\n\n"
           "  output:\n"
           "    - {file: out/drop.$F4.bgeo.sc, attributes: [P, v, id]}\n\n");
    print_rows("an output", NULL);
    printf("\nFiles appear whole or not at all, in the working folder or elsewhere. Formats:\n");
    for (int i = 0; firn_format_get_info(i).name; i++) {
        printf("  %-*s", UNIT_COLUMN - 2, firn_format_get_info(i).extensions);
        firn_print_wrapped(UNIT_COLUMN, firn_format_get_info(i).help);
    }
}

static void attributes(void)
{
    printf("Particle files can carry these; `attributes: [P, v, id]` in an output selects.\n"
           "\n");
    const firn_attribute *a;
    for (int32_t i = 0; (a = firn_attribute_get(i)); i++) {
        printf("  %-10s %-4s x %-3d %-7s %s\n", a->name, firn_type_name(a->type), a->components_3d,
               a->unit, a->help);
    }
    printf("\n`firn info FILE` lists those of a file, and their ranges.\n"
           "`firn convert IN OUT` converts to another format.\n");
}

static void checkpoints(void)
{
    printf("A run saves its state in a folder as it goes. After Ctrl-C, a crash or a power\n"
           "cut, `firn run SCENE.yaml --resume` continues from the newest complete state,\n"
           "and the result is the same to the last bit. The scene may change in between:\n"
           "more frames, other outputs, other keys; the run reports the changes. It must\n"
           "keep its resolution, objects, noises, fps and first frame. A run without\n"
           "--resume starts again and deletes old states as it passes them.\n\n");
    print_rows("checkpoint", NULL);
}

static void sweeps(void)
{
    printf("A sweep runs a scene in all combinations of some values:\n\n"
           "  firn sweep drop.yaml --vary materials.jelly.young=1e4,1e5 \\\n"
           "      --vary 'simulation.gravity=[0,-9.8,0],[0,0,0]'\n\n"
           "Commas within brackets or quotes belong to a value. All values are tried on\n"
           "the scene before anything runs. Then the variants run one after the other:\n\n"
           "  drop.sweep/                         or --out FOLDER\n"
           "    sweep.csv                         a row per variant\n"
           "    young_1e4__gravity_0_-9.8_0/      a variant: its outputs, and\n"
           "      statistics.csv                  a row per frame, if not named otherwise\n"
           "      checkpoints/                    likewise\n"
           "      variant.txt                     how far it is, and its scene\n\n"
           "sweep.csv holds the values, the statistics of the last frame, the sums of steps\n"
           "and seconds, the status and the folder. --plan estimates the whole sweep.\n"
           "After Ctrl-C, the same command with --resume skips finished variants and runs\n"
           "the rest. A variant that diverges is marked so, and the others run; the exit\n"
           "code is that of the first variant that failed.\n");
}

static void speed(void)
{
    printf("Work coarsely, refine at the end: half the distance between particles means\n"
           "eight times the particles and about sixteen times the work. For drafts of snow,\n"
           "set final_resolution. `firn run SCENE.yaml --plan` estimates a run, `firn bench\n"
           "step` measures this machine.\n\n"
           "The time step shrinks with stiffness and cell size: ten times the Young's\n"
           "modulus takes about three times the steps. The progress line names the limit:\n"
           "velocity, wave, particle, strain, force, collider, viscosity, surface or solver.\n\n"
           "A run uses all threads and the best instruction set; --threads and --isa change\n"
           "that. The result is the same to the last bit at any number of threads. Quadratic\n"
           "splines and MLS forces, the defaults, use the fused path, which is the fast one:\n\n");
    print_rows("simulation", "integrator transfer spline force_form path");
}

static void stability(void)
{
    printf("Time steps are chosen so that a run stays stable: a step that breaks a limit is\n"
           "rolled back and repeated, shorter. If no step is short enough, the run ends with\n"
           "exit code %d, names the limit and the particle, and keeps the last good\n"
           "checkpoint. Then try lower speeds or stiffness, objects that do not start\n"
           "inside a collider, or colliders that move more slowly.\n\n",
           FIRN_EXIT_DIVERGED);
    print_rows("simulation", "dt dt_max dt_min courant wave_factor damping");
    printf("\nMaterial that falls apart without reason has too few particles: they should be\n"
           "at most half a cell apart.\n");
}

static void exit_codes(void)
{
    for (const firn_exit *e = firn_exits; e->meaning; e++)
        printf("  %3d  %s\n", e->code, e->meaning);
    printf("\nA sweep ends with the code of the first variant that failed.\n");
}

static const struct {
    const char *name, *line;
    void (*print)(void);
} topics[] = {
    {"scenes", "the parts of a scene file", scenes},
    {"units", "metres, seconds, kilograms; which way is up", units},
    {"materials", "presets, laws and their parameters", materials},
    {"objects", "shapes and files of particles, and their motion", objects},
    {"filling", "shapes, meshes, voxels, particle files; patterns", filling},
    {"colliders", "solid shapes that objects collide with", colliders},
    {"heat", "temperature, melting, freezing", heat},
    {"output", "files, formats", output},
    {"attributes", "the columns of particle files", attributes},
    {"checkpoints", "saved states, and resuming from them", checkpoints},
    {"sweeps", "one scene in many variants", sweeps},
    {"speed", "resolution, time steps, threads", speed},
    {"stability", "time steps, and help for a run that diverges", stability},
    {"exit_codes", "exit codes of the program", exit_codes},
};
enum { TOPICS = sizeof topics / sizeof *topics };

const char *firn_topic_name(int32_t index) { return index < TOPICS ? topics[index].name : NULL; }
const char *firn_topic_line(int32_t index) { return index < TOPICS ? topics[index].line : NULL; }

/* Words that lead to a topic, too. */
static const char *const other_words[][2] = {{"melting", "heat"}, {"freezing", "heat"}};

static void list_topics(void)
{
    printf("firn help TOPIC, COMMAND or PARAMETER. Topics:\n\n");
    for (int i = 0; i < TOPICS; i++) printf("  %-12s %s\n", topics[i].name, topics[i].line);
    printf("\nScene parameters work too, as in firn help young; firn list prints all.\n"
           "firn --help lists the commands.\n");
}

/* ---- names ---- */

static void print_parameter(const char *called, const firn_param *row, const char *value)
{
    char text[512];
    const char *range = firn_row_range(row, text, sizeof text);
    printf("%s, of %s: %s\n", row->name, called, row->help);
    printf("  kind     %s%s%s%s\n", firn_row_kind(row), row->unit[0] ? " in " : "", row->unit,
           row->keys ? "; can have keys" : "");
    if (range[0]) {
        printf("  %-9s", row->kind == FIRN_CHOICE ? "words" : "range");
        firn_print_wrapped(11, range);
    }
    if (value[0]) printf("  default  %s\n", value);
    if (row->alias) printf("  also     %s\n", row->alias);
}

static bool has_name(const firn_param *row, const char *name)
{
    if (strcmp(row->name, name) == 0 || (row->alias && strcmp(row->alias, name) == 0)) return true;
    for (int i = 0; row->kind == FIRN_CHOICE && row->choices[i]; i++) {
        if (strcmp(row->choices[i], name) == 0) return true;
    }
    return false;
}

/* The section if that is its name, its rows of that name otherwise. */
static int explain_section(int32_t section, const char *name)
{
    const firn_section_info s = firn_section_get_info(section);
    const char *space = strrchr(s.name, ' '); /* "a material" */
    char called[80];
    snprintf(called, sizeof called, "%s%s", s.shape ? "shape " : "", s.name);
    if (strcmp(space ? space + 1 : s.name, name) == 0) {
        printf("%s: %s\n", called, s.help);
        print_section(section, NULL);
        return 1;
    }
    int found = 0;
    firn_param r;
    char value[80];
    for (int32_t i = 0; firn_section_get_param(section, i, &r, value); i++) {
        if (!has_name(&r, name)) continue;
        print_parameter(called, &r, value);
        found++;
    }
    return found;
}

/* All that the tables say of it; returns how many that were. */
static int explain(const char *name)
{
    int found = 0;
    for (int32_t i = 0; firn_section_get_info(i).name; i++) found += explain_section(i, name);
    for (int i = 0; firn_format_get_info(i).name; i++) {
        const firn_format_info f = firn_format_get_info(i);
        if (strcmp(f.name, name) != 0) continue;
        printf("%s, a format: %s; %s\n", name, f.help, f.extensions);
        found++;
    }
    const firn_attribute *a;
    for (int32_t i = 0; (a = firn_attribute_get(i)); i++) {
        if (strcmp(a->name, name) != 0) continue;
        printf("%s, an attribute of files: %s%s%s\n", name, a->help, a->unit[0] ? ", in " : "",
               a->unit);
        found++;
    }
    return found;
}

/* Whether the word is in a text, whatever the case; underscores are spaces. */
static bool has_word(const char *text, const char *word)
{
    for (; *text; text++) {
        size_t n = 0;
        while (word[n] && (text[n] == '_' ? ' ' : tolower((unsigned char)text[n])) ==
                              (word[n] == '_' ? ' ' : tolower((unsigned char)word[n]))) {
            n++;
        }
        if (!word[n]) return true;
    }
    return false;
}

static int mention(const char *word, const char *name, const char *kind, const char *help)
{
    if (!has_word(name, word) && !has_word(help, word)) return 0;
    char text[600];
    snprintf(text, sizeof text, "%s: %s", kind, help);
    printf("  %-*s", UNIT_COLUMN - 2, name);
    firn_print_wrapped(UNIT_COLUMN, text);
    return 1;
}

static int mention_rows(const char *word, int32_t section)
{
    int found = 0;
    firn_param r;
    char value[80];
    for (int32_t i = 0; firn_section_get_param(section, i, &r, value); i++) {
        found += mention(word, r.name, firn_section_get_info(section).name, r.help);
    }
    return found;
}

/* A line for everything that the word is in; returns how many. */
static int search(const char *word)
{
    if (strlen(word) < 3) return 0; /* that is in everything */
    int found = 0;
    for (int i = 0; i < TOPICS; i++)
        found += mention(word, topics[i].name, "topic", topics[i].line);
    for (int i = 0; firn_program.parts[i]; i++) {
        const firn_command *c = firn_program.parts[i];
        found += mention(word, firn_command_word(c), "command", c->line);
    }
    for (int32_t i = 0; firn_section_get_info(i).name; i++) found += mention_rows(word, i);
    const firn_preset *p;
    for (int32_t i = 0; (p = firn_preset_get(i)); i++) {
        found += mention(word, p->name, "preset", p->help);
    }
    return found;
}

enum { MOST_NAMES = 500 };
static const char *names[MOST_NAMES];
static int32_t name_count;

static void add_name(const char *name)
{
    for (int32_t i = 0; i < name_count; i++) {
        if (strcmp(names[i], name) == 0) return;
    }
    assert(name_count < MOST_NAMES);
    names[name_count++] = name;
}

static void add_rows(int32_t section)
{
    firn_param r;
    char value[80];
    for (int32_t i = 0; firn_section_get_param(section, i, &r, value); i++) add_name(r.name);
}

/* Everything that there is help on: for completion, and for what is nearest. */
static const char *help_name(int32_t index)
{
    if (name_count == 0) {
        for (int i = 0; i < TOPICS; i++) add_name(topics[i].name);
        for (int i = 0; firn_program.parts[i]; i++) {
            add_name(firn_command_word(firn_program.parts[i]));
        }
        firn_section_info s;
        for (int32_t i = 0; (s = firn_section_get_info(i)).name; i++) {
            if (s.shape) add_name(s.name);
            add_rows(i);
        }
        for (int i = 0; firn_format_get_info(i).name; i++) add_name(firn_format_get_info(i).name);
        for (int i = 0; firn_attribute_get(i); i++) add_name(firn_attribute_get(i)->name);
    }
    return index < name_count ? names[index] : NULL;
}

/* ---- the command ---- */

static struct {
    firn_words words;
    bool manual;
} chosen;

static const firn_option options[] = {
    {"[TOPIC]", FIRN_OPTION_WORDS, &chosen.words, NULL, "a topic, command or parameter", .max = 2,
     .word = help_name},
    {"--man", FIRN_OPTION_FLAG, &chosen.manual, .help = "print the manual page, doc/firn.1"},
};

static int run(void)
{
    if (chosen.manual) {
        firn_manual_print();
        return 0;
    }
    if (chosen.words.count == 0) {
        list_topics();
        return 0;
    }
    const firn_command *command = &firn_program;
    for (int64_t i = 0; command && i < chosen.words.count; i++) {
        command = firn_command_find(command, chosen.words.word[i]);
    }
    if (command) {
        firn_command_help(command);
        return 0;
    }
    char name[200]; /* "exit codes" is exit_codes */
    snprintf(name, sizeof name, "%s%s%s", chosen.words.word[0], chosen.words.count > 1 ? "_" : "",
             chosen.words.count > 1 ? chosen.words.word[1] : "");
    const char *topic = name;
    for (size_t i = 0; i < sizeof other_words / sizeof *other_words; i++) {
        if (strcmp(other_words[i][0], name) == 0) topic = other_words[i][1];
    }
    for (int i = 0; i < TOPICS; i++) {
        if (strcmp(topics[i].name, topic) != 0) continue;
        topics[i].print();
        return 0;
    }
    if (explain(name) || search(name)) return 0;
    char near[400];
    fprintf(stderr, "%s: there is no help on \"%s\"%s\n", firn_help_command.name, name,
            firn_nearest_word(name, help_name, near, sizeof near));
    return FIRN_EXIT_USAGE;
}

const firn_command firn_help_command = {
    .name = "firn help",
    .line = "short texts on topics, commands, parameters",
    .summary = "Explains a topic on one screen, a command as its --help does, or a parameter of "
               "scenes. Without a topic it lists them.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
