/* The table of parameters: every row of every def, in the engine and in scenes. */
#include "run/job.h"
#include "worlds.h"

/* One def's rows, where an error says they are, and where a scene has them: before and after the row's
 * line, which is alone on it. */
static const struct table {
    const firn_param *(*row)(int32_t index);
    const char *path;
    const char *before, *indent, *after;
} tables[] = {
    {firn_sim_param, "", "simulation:\n", "  ", "materials: {m: {}}\n"},
    {firn_heat_param, "heat.", "heat:\n", "  ", "materials: {m: {}}\n"},
    {firn_collider_param, "colliders[0].",
     "heat: {}\nmaterials: {m: {}}\ncolliders:\n  - shape: {plane: {}}\n", "    ", ""},
    {firn_material_param, "materials[0].", "materials:\n  m:\n", "    ", ""},
};
enum { TABLES = sizeof tables / sizeof *tables, SIM = 0, HEAT = 1, COLLIDER = 2, MATERIAL = 3 };

static int numbers_of(const firn_param *p) { return p->kind == FIRN_VECTOR ? 3 : 1; }

static void set_number(const firn_param *p, void *def, int index, double number)
{
    char *to = (char *)def + p->offset;
    if (p->kind == FIRN_WHOLE) {
        *(int64_t *)to = (int64_t)number;
    } else if (p->kind == FIRN_CHOICE) {
        *(int32_t *)to = (int32_t)number;
    } else {
        ((double *)to)[index] = number;
    }
}

static double get_number(const firn_param *p, const void *def, int index)
{
    const char *from = (const char *)def + p->offset;
    if (p->kind == FIRN_WHOLE) return (double)*(const int64_t *)from;
    if (p->kind == FIRN_CHOICE) return *(const int32_t *)from;
    return ((const double *)from)[index];
}

/* Values just out of a row's range; returns how many. */
static int bad_values(const firn_param *p, double bad[3])
{
    if (p->kind == FIRN_CHOICE) {
        bad[0] = -1;
        for (bad[1] = 0; p->choices[(int)bad[1]]; bad[1]++) continue;
        return 2;
    }
    const bool any = p->least == 0 && p->most == 0, whole = p->kind == FIRN_WHOLE;
    if (any) {
        bad[0] = INFINITY;
        bad[1] = NAN;
        return 2;
    }
    bad[0] = whole ? p->least - 1 : nextafter(p->least, -INFINITY);
    bad[1] = whole ? p->most + 1 : nextafter(p->most, INFINITY);
    bad[2] = NAN;
    return whole ? 2 : 3;
}

static firn_law_kind law_that_reads(const firn_param *p)
{
    for (int law = 0; law < FIRN_LAW_COUNT; law++) {
        const firn_param *const *params = firn_law_params((firn_law_kind)law);
        for (int i = 0; params[i]; i++) {
            if (params[i] == p) return (firn_law_kind)law;
        }
    }
    fail_msg("no law reads %s", p->name);
    return FIRN_LAW_COUNT;
}

typedef struct defs {
    firn_sim_def sim;
    firn_collider_def collider;
    firn_material_def material;
} defs;

static void make_defs(defs *d)
{
    d->sim = firn_sim_def_default();
    d->collider = firn_collider_def_default();
    d->material = firn_material_def_default();
    d->sim.materials = &d->material;
    d->sim.material_count = 1;
    d->sim.colliders = &d->collider;
    d->sim.collider_count = 1;
}

static void *def_of(defs *d, int table)
{
    void *const def[TABLES] = {[SIM] = &d->sim,
                               [HEAT] = &d->sim.heat,
                               [COLLIDER] = &d->collider,
                               [MATERIAL] = &d->material};
    return def[table];
}

static void a_default_is_in_its_range_or_stands_for_none(void **state)
{
    (void)state;
    defs d;
    make_defs(&d);
    int none = 0;
    for (int t = 0; t < TABLES; t++) {
        const firn_param *p;
        for (int32_t i = 0; (p = tables[t].row(i)); i++) {
            assert_true(p->name[0] && p->unit && p->help[0] && p->cure[0] && !p->fallback);
            assert_true((p->kind == FIRN_CHOICE) == (p->choices != NULL));
            const bool any = p->least == 0 && p->most == 0;
            for (int a = 0; a < numbers_of(p); a++) {
                const double value = p->value[a];
                if (get_number(p, def_of(&d, t), a) != value) complain("%s\n", p->name);
                none += !any && !(value >= p->least && value <= p->most);
            }
        }
        assert_null(tables[t].row(-1));
        assert_null(tables[t].row(10000));
    }
    assert_int_equal(none, 4); /* temperature, transfer, voxel and until of a collider */
    firn_sim *sim = NULL;
    assert_ok(firn_sim_create(&d.sim, &sim, &error));
    firn_sim_destroy(sim);
    assert_no_complaints();
}

static void every_bound_is_kept_and_its_error_has_the_path(void **state)
{
    (void)state;
    for (int t = 0; t < TABLES; t++) {
        const firn_param *p;
        for (int32_t i = 0; (p = tables[t].row(i)); i++) {
            double bad[3];
            const int count = bad_values(p, bad);
            for (int b = 0; b < count * numbers_of(p); b++) {
                const int a = b / count;
                defs d;
                make_defs(&d);
                if (t == MATERIAL) d.material.law = law_that_reads(p);
                set_number(p, def_of(&d, t), a, bad[b % count]);
                firn_sim *sim = NULL;
                firn_error error = {0};
                const firn_status st = firn_sim_create(&d.sim, &sim, &error);
                char path[80];
                snprintf(path, sizeof path, p->kind == FIRN_VECTOR ? "%s%s[%d]" : "%s%s",
                         tables[t].path, p->name, a);
                if (st != FIRN_INVALID || strcmp(error.path, path) != 0 ||
                    !strstr(error.message, p->cure)) {
                    complain("%s %g: %s at \"%s\": %s\n", path, bad[b % count],
                             firn_status_name(st), error.path, error.message);
                }
                firn_sim_destroy(sim);
            }
        }
    }
    assert_no_complaints();
}

/* ---- scenes ---- */

static firn_status read_scene(const char *text, firn_scene *scene, firn_error *error)
{
    const firn_bytes bytes = {(uint8_t *)text, strlen(text)};
    firn_tree tree = {0};
    const firn_status st = firn_tree_parse(&tree, "text", &bytes, error);
    return st == FIRN_OK ? firn_scene_read(scene, &tree, error) : st;
}

/* A scene with one row at that line, or with none. */
static int write_scene(int table, const firn_param *p, const char *value, char *text, size_t size)
{
    char law[64] = "", row[256] = "";
    if (p && table == MATERIAL) {
        snprintf(law, sizeof law, "    law: %s\n", firn_law_name(law_that_reads(p)));
    }
    if (p && table == COLLIDER && strcmp(p->name, "transfer") == 0) {
        snprintf(law, sizeof law, "    temperature: 300\n");
    }
    if (p) snprintf(row, sizeof row, "%s%s: %s\n", tables[table].indent, p->name, value);
    snprintf(text, size, "firn: 1\nobjects: [{shape: {sphere: {}}}]\n%s%s%s%s",
             tables[table].before, law, row, tables[table].after);
    int line = 1;
    for (const char *c = text; c < strstr(text, row); c++) line += *c == '\n';
    return line;
}

static void a_scene_refuses_the_same_at_the_row_s_line(void **state)
{
    (void)state;
    for (int t = 0; t < TABLES; t++) {
        const firn_param *p;
        for (int32_t i = 0; (p = tables[t].row(i)); i++) {
            double bad[3];
            const int count = bad_values(p, bad);
            for (int b = 0; b < count && !isnan(bad[b]); b++) {
                char text[600], value[80], place[24];
                snprintf(value, sizeof value, p->kind == FIRN_VECTOR ? "[0, %.17g, 0]" : "%.17g",
                         bad[b]);
                const int line = write_scene(t, p, value, text, sizeof text);
                snprintf(place, sizeof place, "text:%d:", line);
                firn_scene scene = {0};
                firn_error error = {0};
                const firn_status st = read_scene(text, &scene, &error);
                if (st != FIRN_INVALID || strncmp(error.message, place, strlen(place)) != 0 ||
                    !strstr(error.message, p->name)) {
                    complain("%s %s: %s, not at %s %s\n", p->name, value, firn_status_name(st),
                             place, error.message);
                }
                firn_scene_free(&scene);
            }
        }
    }
    assert_no_complaints();
}

static void a_scene_s_defaults_are_the_def_s(void **state)
{
    (void)state;
    defs d;
    make_defs(&d);
    firn_scene scene = {0};
    assert_ok(read_scene("{firn: 1, heat: {}, materials: {m: {}}, colliders: [{shape: {plane: "
                         "{}}}], objects: [{shape: {sphere: {}}}]}",
                         &scene, &error));
    const void *const got[TABLES] = {&scene.simulation.def, &scene.heat.def,
                                     &scene.collider[0].def};
    for (int t = 0; t < MATERIAL; t++) { /* a preset says those of materials */
        const firn_param *p;
        for (int32_t i = 0; (p = tables[t].row(i)); i++) {
            if (strcmp(p->name, "cell_size") == 0) continue; /* follows the resolution */
            if (strcmp(p->name, "transfer") == 0) continue;  /* auto in scenes, by the materials */
            for (int a = 0; a < numbers_of(p); a++) {
                const double is = get_number(p, got[t], a), want = get_number(p, def_of(&d, t), a);
                if (is != want) complain("%s is %g, not %g\n", p->name, is, want);
            }
        }
    }
    firn_scene_free(&scene);
    assert_no_complaints();
}

/* ---- keys ---- */

/* Of each row that can be keyed: values out of range are refused in a def's track and in a scene's keys, in the same
 * places as the value itself; of each row that cannot, keys. */
static void keys_are_taken_by_the_rows_that_say_so(void **state)
{
    (void)state;
    static const double times[] = {0, 1};
    int keyed = 0;
    for (int t = 0; t < TABLES; t++) {
        const firn_param *p;
        for (int32_t i = 0; (p = tables[t].row(i)); i++) {
            double bad[3], values[6] = {0};
            char text[700], value[200], number[2][80], place[24], path[80];
            const int n = numbers_of(p), count = bad_values(p, bad);
            const bool vector = p->kind == FIRN_VECTOR;
            const double fine = p->least > 0 ? p->least : p->most > 0 ? p->most / 2 : 1;
            keyed += p->keys != 0;
            for (int b = 0; b <= count; b++) { /* the last is fine */
                const double second = b < count ? bad[b] : fine;
                for (int k = 0; k < 2; k++) {
                    snprintf(number[k], sizeof number[k], vector ? "[0, %.17g, 0]" : "%.17g",
                             k ? second : fine);
                }
                snprintf(value, sizeof value, "{keys: {0: %s, 1: %s}}", number[0], number[1]);
                const int line = write_scene(t, p, value, text, sizeof text);
                snprintf(place, sizeof place, "text:%d:", line);
                firn_scene scene = {0};
                firn_error error = {0};
                firn_status st = read_scene(text, &scene, &error);
                const bool takes = p->keys && b == count;
                if ((st == FIRN_OK) != takes ||
                    (!takes && strncmp(error.message, place, strlen(place)) != 0)) {
                    complain("%s %s: %s %s\n", p->name, value, firn_status_name(st), error.message);
                }
                firn_scene_free(&scene);
                if (!p->keys) continue;
                defs d;
                make_defs(&d);
                values[0] = fine;
                values[n] = second;
                *(firn_track *)(void *)((char *)def_of(&d, t) + p->keys) =
                    (firn_track){times, values, 2, n, FIRN_KEYS_LINEAR};
                firn_sim *sim = NULL;
                st = firn_sim_create(&d.sim, &sim, &error);
                snprintf(path, sizeof path, "%s%s_keys.values[%d]", tables[t].path, p->name, n);
                if ((st == FIRN_OK) != takes || (!takes && strcmp(error.path, path) != 0)) {
                    complain("%s %g: %s at \"%s\": %s\n", path, second, firn_status_name(st),
                             error.path, error.message);
                }
                firn_sim_destroy(sim);
            }
        }
    }
    assert_int_equal(keyed, 2 + 4 + 6);
    assert_no_complaints();
}

/* Rows that only scenes have: what they say is read must be in their own range. */
static void defaults_of_scenes_are_in_range(void **state)
{
    (void)state;
    for (int s = 0; firn_sections[s]; s++) {
        for (const firn_param *r = firn_sections[s]->rows; r->name; r++) {
            char *end = NULL;
            const double number = strtod(r->fallback, &end);
            const bool any = r->least == 0 && r->most == 0;
            if (end == r->fallback || any) continue;
            if (number < r->least || number > r->most) complain("%s\n", r->name);
        }
    }
    assert_no_complaints();
}

/* What the engine refuses when the sim is made, although each value is in its range. */
static void what_the_engine_refuses_is_found_in_the_scene(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"simulation:\n  dt: 1e-8\n  dt_min: 1e-6\n", "text:4:", "dt"},
        {"simulation:\n  dt_max: 1e-8\n  dt_min: 1e-6\n", "text:5:", "dt_min"},
        {"simulation: {dt_max: 1e-10}\n", "text:3:", "dt_min"},
        {"simulation:\n  courant: 0.5\n  spline: cubic\n  path: fused\n", "text:6:", "path"},
        {"heat:\n  ambient: 20C\n  step: 1e-10\n", "text:5:", "heat.step"},
        {"simulation:\n  integrator: implicit\nmaterials:\n  a: {}\n  b: {law: nacc}\n",
         "text:7:", "materials[1]"},
        {"materials:\n  a: {}\n  b:\n    law: fixed_corotated\n    poisson_ratio: -0.1\n",
         "text:7:", "materials[1].poisson"},
        {"materials:\n  a:\n    law: melting\n    crush_pressure: 1\n",
         "text:6:", "materials[0].crush_pressure"},
        {"colliders:\n  - shape: {plane: {}}\n  - shape: {plane: {}}\n    keys:\n      0: {}\n"
         "      1e-320: {at: [1, 0, 0]}\n",
         "text:8:", "colliders[1].keys[1].time"},
        {"forces:\n  0: [0, 0, 0]\n  1: [1, 0, 0]\nheat:\n  sources:\n"
         "    - {shape: {sphere: {}}, power: 1,\n       keys: {0: {}, 1e-320: {at: [1, 0, 0]}}}\n",
         "text:8:", "heat.sources[0].shape.keys[1].time"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        snprintf(text, sizeof text, "firn: 1\nobjects: [{material: a, shape: {sphere: {}}}]\n%s%s",
                 cases[i][0], strstr(cases[i][0], "materials") ? "" : "materials: {a: {}}\n");
        firn_scene scene = {0};
        firn_job job = {0};
        firn_error error = {0};
        firn_status st = read_scene(text, &scene, &error);
        if (st == FIRN_OK) {
            st = firn_job_init(&job, &scene, &(firn_job_options){.threads = 1}, &error);
            firn_job_deinit(&job);
        }
        if (st == FIRN_OK || strncmp(error.message, cases[i][1], strlen(cases[i][1])) != 0 ||
            strcmp(error.path, cases[i][2]) != 0) {
            complain("%s%s at %s: %s\n", cases[i][0], firn_status_name(st), error.path,
                     error.message);
        }
        firn_scene_free(&scene);
    }
    assert_no_complaints();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_default_is_in_its_range_or_stands_for_none),
        cmocka_unit_test(every_bound_is_kept_and_its_error_has_the_path),
        cmocka_unit_test(a_scene_refuses_the_same_at_the_row_s_line),
        cmocka_unit_test(a_scene_s_defaults_are_the_def_s),
        cmocka_unit_test(keys_are_taken_by_the_rows_that_say_so),
        cmocka_unit_test(defaults_of_scenes_are_in_range),
        cmocka_unit_test(what_the_engine_refuses_is_found_in_the_scene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
