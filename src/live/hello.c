/* The greeting: who the engine is, and the tables that a page makes its rows, menus and tips of. */
#include <string.h>

#include "base/parallel.h"
#include "live/live.h"

static const char *const kind_names[FIRN_PARAM_KIND_COUNT] = {
    [FIRN_REAL] = "real",     [FIRN_TEMPERATURE] = "temperature",
    [FIRN_WHOLE] = "whole",   [FIRN_CHOICE] = "choice",
    [FIRN_VECTOR] = "vector", [FIRN_FLAG] = "flag",
    [FIRN_TEXT] = "text",     [FIRN_VALUE] = "value"};

static void put_param(firn_live_event *e, const firn_param *p, const char *fallback)
{
    firn_event_open(e, NULL, '{');
    firn_event_text(e, "name", p->name);
    firn_event_text(e, "kind", kind_names[p->kind]);
    firn_event_text(e, "unit", p->unit);
    firn_event_flag(e, "keys", p->keys != 0);
    firn_event_text(e, "fallback", fallback);
    firn_event_number(e, "least", p->least);
    firn_event_number(e, "most", p->most);
    firn_event_text(e, "help", p->help);
    if (p->choices) {
        firn_event_open(e, "choices", '[');
        for (int i = 0; p->choices[i]; i++) firn_event_text(e, NULL, p->choices[i]);
        firn_event_close(e, ']');
    }
    if (p->alias) firn_event_text(e, "alias", p->alias);
    firn_event_close(e, '}');
}

static void put_sections(firn_live_event *e)
{
    firn_event_open(e, "sections", '[');
    for (int32_t s = 0; firn_section_get_info(s).name; s++) {
        const firn_section_info info = firn_section_get_info(s);
        firn_event_open(e, NULL, '{');
        firn_event_text(e, "name", info.name);
        firn_event_text(e, "help", info.help);
        firn_event_flag(e, "shape", info.shape);
        firn_event_whole(e, "dimensions", info.dimensions);
        firn_event_whole(e, "filled", info.filled);
        firn_event_open(e, "params", '[');
        firn_param p;
        char fallback[80];
        for (int32_t i = 0; firn_section_get_param(s, i, &p, fallback); i++) {
            put_param(e, &p, fallback);
        }
        firn_event_close(e, ']');
        firn_event_close(e, '}');
    }
    firn_event_close(e, ']');
}

static void put_laws(firn_live_event *e)
{
    firn_event_open(e, "laws", '[');
    for (int law = 0; law < FIRN_LAW_COUNT; law++) {
        const firn_law_info info = firn_law_get_info((firn_law_kind)law);
        firn_event_open(e, NULL, '{');
        firn_event_text(e, "name", info.name);
        firn_event_text(e, "help", info.help);
        firn_event_open(e, "params", '[');
        for (const firn_param *const *p = info.params; *p; p++) {
            firn_event_text(e, NULL, (*p)->name);
        }
        firn_event_close(e, ']');
        firn_event_flag(e, "melts", info.melts != 0);
        firn_event_flag(e, "liquid", info.liquid != 0);
        firn_event_close(e, '}');
    }
    firn_event_close(e, ']');
}

void firn_live_put_values(firn_live_event *e, const firn_material_def *def)
{
    firn_event_open(e, "values", '{');
    for (const firn_param *const *p = firn_law_params(def->law); *p; p++) {
        double value;
        memcpy(&value, (const char *)def + (*p)->offset, sizeof value);
        firn_event_number(e, (*p)->name, value);
    }
    firn_event_close(e, '}');
}

static void put_presets(firn_live_event *e)
{
    firn_event_open(e, "presets", '[');
    for (int32_t i = 0; firn_preset_get(i); i++) {
        const firn_preset *p = firn_preset_get(i);
        const firn_material_def def = firn_material_def_preset(p);
        firn_event_open(e, NULL, '{');
        firn_event_text(e, "name", p->name);
        firn_event_text(e, "help", p->help);
        firn_event_text(e, "law", firn_law_name(p->law));
        firn_live_put_values(e, &def);
        firn_event_close(e, '}');
    }
    firn_event_close(e, ']');
}

static void put_attribute(firn_live_event *e, const firn_attribute *a)
{
    firn_event_open(e, NULL, '{');
    firn_event_text(e, "name", a->name);
    firn_event_text(e, "unit", a->unit);
    firn_event_text(e, "help", a->help);
    firn_event_whole(e, "components", a->components_3d);
    firn_event_flag(e, "heat", a->heat);
    firn_event_close(e, '}');
}

static void put_named(firn_live_event *e, const char *name, const char *help)
{
    firn_event_open(e, NULL, '{');
    firn_event_text(e, "name", name);
    firn_event_text(e, "help", help);
    firn_event_close(e, '}');
}

static void put_schema(firn_live_event *e)
{
    firn_event_open(e, "schema", '{');
    put_sections(e);
    put_laws(e);
    put_presets(e);
    firn_event_open(e, "attributes", '[');
    for (int32_t i = 0; firn_attribute_get(i); i++) put_attribute(e, firn_attribute_get(i));
    firn_event_close(e, ']');
    firn_event_open(e, "colors", '[');
    for (int32_t i = 0; firn_live_color(i).name; i++) {
        const firn_attribute color = firn_live_color(i);
        put_attribute(e, &color);
    }
    firn_event_close(e, ']');
    firn_event_open(e, "looks", '[');
    for (int32_t i = 0; firn_look_name(i); i++) put_named(e, firn_look_name(i), firn_look_help(i));
    firn_event_close(e, ']');
    firn_event_open(e, "limits", '[');
#define PUT(NAME, name, help) put_named(e, #name, help);
    FIRN_LIMITS(PUT)
#undef PUT
    firn_event_close(e, ']');
    firn_event_close(e, '}');
}

void firn_event_begin_hello(firn_live_event *e, const char *engine, const char *mode,
                            int32_t threads, const char *isa, const char *text, const char *file)
{
    firn_event_begin(e, "hello");
    firn_event_text(e, "engine", engine);
    firn_event_text(e, "version", firn_version());
    firn_event_whole(e, "threads", threads > 0 ? threads : firn_parallel_max_threads());
    firn_event_text(e, "isa", isa ? isa : "");
    firn_event_text(e, "mode", mode);
    put_schema(e);
    if (text) firn_event_text(e, "text", text);
    if (file) firn_event_text(e, "file", file);
}
