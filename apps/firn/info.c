/* firn info: what particle files and meshes hold, the objects of Alembic files and the volumes of OpenVDB
 * files, for people or as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app.h"
#include "info_mesh.h"
#include <firn/alembic.h>
#include <firn/volume.h>

static const char command_name[] = "firn info";

/* A file, read. */
typedef struct subject {
    const char *path;
    const char *format;
    size_t size; /* bytes */
    firn_points points;
    firn_alembic *alembic; /* in place of points; NULL: none */
    bool has_volumes;      /* in place of points */
    firn_volumes volumes;
    bool has_mesh; /* in place of points; a PLY file has attributes of its vertices besides */
    firn_mesh_facts mesh;
    bool has_frame; /* points or mesh are those of a frame of an Alembic file */
    double frame;
} subject;

typedef struct range {
    double min, max; /* of the finite values; min above max when there are none */
    int64_t odd;     /* values that are not finite */
} range;

static void widen(range *r, double x)
{
    if (isfinite(x)) {
        r->min = fmin(r->min, x);
        r->max = fmax(r->max, x);
    } else {
        r->odd++;
    }
}

static void find_ranges(const firn_column *column, int64_t count, range r[FIRN_MAX_COMPONENTS])
{
    for (int32_t a = 0; a < column->components; a++) r[a] = (range){INFINITY, -INFINITY, 0};
    for (int64_t i = 0; i < count * column->components; i++) {
        const double x = firn_type_get(column->type, column->data, i);
        widen(&r[i % column->components], x);
    }
}

static bool is_float(firn_type type)
{
    return type == FIRN_TYPE_f16 || type == FIRN_TYPE_f32 || type == FIRN_TYPE_f64;
}

/* The box of an object over its first and last sample; false if it has none. */
static bool find_bounds(const firn_alembic *a, int32_t object, const firn_alembic_object *o,
                        double low[3], double high[3])
{
    double l[3], h[3];
    if (o->sample_count == 0 ||
        firn_alembic_bounds(a, object, o->first_time, low, high, NULL) != FIRN_OK ||
        firn_alembic_bounds(a, object, o->last_time, l, h, NULL) != FIRN_OK) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        low[i] = fmin(low[i], l[i]);
        high[i] = fmax(high[i], h[i]);
    }
    return low[0] <= high[0];
}

/* What is active of a volume: where, and the values. */
typedef struct extent {
    firn_volume_info info;
    double low[3], high[3]; /* m */
    range range[3];
} extent;

static extent extent_of(const firn_volume *v)
{
    extent e = {.info = firn_volume_get_info(v)};
    for (int a = 0; a < 3; a++) {
        e.range[a] = (range){INFINITY, -INFINITY, 0};
        e.low[a] = e.high[a] = v->origin[a];
        for (int k = 0; k < 3; k++) {
            const double one = v->axis[k][a] * e.info.low[k],
                         other = v->axis[k][a] * e.info.high[k];
            e.low[a] += fmin(one, other);
            e.high[a] += fmax(one, other);
        }
    }
    for (int64_t i = 0; i < v->block_count * FIRN_BLOCK_VOXELS; i++) {
        const int64_t voxel = i % FIRN_BLOCK_VOXELS;
        const uint64_t *active = v->block[i / FIRN_BLOCK_VOXELS].active;
        if (!(active[voxel / 64] >> (voxel % 64) & 1)) continue;
        for (int k = 0; k < v->components; k++) {
            widen(&e.range[k], (double)v->value[i * v->components + k]);
        }
    }
    for (int64_t i = 0; i < v->tile_count; i++) {
        for (int k = 0; k < v->components && v->tile[i].active; k++) {
            widen(&e.range[k], (double)v->tile[i].value[k]);
        }
    }
    return e;
}

/* ---- for people ---- */

static void print_bounds(const firn_column *P, int64_t count)
{
    range r[FIRN_MAX_COMPONENTS];
    find_ranges(P, count, r);
    for (int32_t a = 0; a < P->components; a++) {
        if (r[a].min > r[a].max) return;
    }
    printf("  bounds");
    for (int32_t a = 0; a < P->components; a++) printf(" %.6g", r[a].min);
    printf(" to");
    for (int32_t a = 0; a < P->components; a++) printf(" %.6g", r[a].max);
    for (int32_t a = 0; a < P->components; a++) {
        printf("%s%.6g", a ? " x " : " (", r[a].max - r[a].min);
    }
    printf(" m)\n");
}

static void print_range(const range *r, bool fraction)
{
    if (r->min > r->max) {
        printf("  -");
    } else if (r->min == r->max) {
        printf(fraction ? "  %.6g" : "  %.0f", r->min);
    } else {
        printf(fraction ? "  %.6g..%.6g" : "  %.0f..%.0f", r->min, r->max);
    }
    if (r->odd) printf(" (%lld not finite)", (long long)r->odd);
}

static void print_object(const firn_alembic *a, int32_t object, double fps)
{
    firn_alembic_object o;
    firn_error error = {0};
    if (firn_alembic_get_object(a, object, &o, &error) != FIRN_OK) {
        printf("  %s\n", error.message);
        return;
    }
    printf("  %s  %s", o.path, firn_alembic_kind_name(o.kind));
    if (o.sample_count > 0) {
        printf(", %lld sample%s", (long long)o.sample_count, o.sample_count > 1 ? "s" : "");
        if (o.moves) printf(", %.6g to %.6g s", o.first_time, o.last_time);
        if (o.moves && fps > 0) {
            printf(" (frames %.6g to %.6g)", o.first_time * fps, o.last_time * fps);
        }
    }
    if (o.kind == FIRN_ALEMBIC_MESH || o.kind == FIRN_ALEMBIC_SUBD) {
        printf(", %lld vertices, %lld faces%s", (long long)o.vertex_count, (long long)o.face_count,
               o.constant_topology ? "" : ", which change");
    } else if (o.kind == FIRN_ALEMBIC_POINTS) {
        printf(", %lld points", (long long)o.vertex_count);
    }
    if (!o.visible || o.visible_changes) {
        printf(", %s%s", o.visible ? "visible" : "hidden", o.visible_changes ? " at first" : "");
    }
    printf("\n");
    double low[3], high[3];
    if (find_bounds(a, object, &o, low, high)) {
        printf("    bounds of the first and last sample %.6g %.6g %.6g to %.6g %.6g %.6g\n", low[0],
               low[1], low[2], high[0], high[1], high[2]);
    }
    firn_alembic_attribute at;
    for (int32_t i = 0; firn_alembic_get_attribute(a, object, i, &at); i++) {
        printf("    %-14s %s[%d]%s%s%s%s\n", at.name, at.type, at.components,
               at.scope[0] ? " " : "", at.scope, at.interpretation[0] ? " " : "",
               at.interpretation);
    }
}

static void print_alembic(const subject *s)
{
    const firn_alembic_file f = firn_alembic_get_file(s->alembic);
    printf("%s: %s, %zu bytes, %d objects, by %s%sAlembic %d.%d.%d\n", s->path, s->format, s->size,
           f.object_count, f.application, f.application[0] ? " with " : "", f.version / 10000,
           f.version / 100 % 100, f.version % 100);
    if (f.last_time > f.first_time) {
        printf("  %.6g to %.6g s", f.first_time, f.last_time);
        if (f.fps > 0) {
            printf(", frames %.6g to %.6g at %.6g per second", f.first_time * f.fps,
                   f.last_time * f.fps, f.fps);
        }
        printf("\n");
    }
    for (int32_t i = 0; i < f.object_count; i++) print_object(s->alembic, i, f.fps);
}

static void print_volume(const firn_volume *v)
{
    printf("  %-14s %-7s %s", v->name, v->type, firn_volume_class_name(v->kind));
    if (v->components == 0) {
        printf(", listed only\n");
        return;
    }
    const extent e = extent_of(v);
    if (v->voxel > 0) printf(", voxels of %.6g m", v->voxel);
    printf(", %lld active", (long long)e.info.active);
    for (int k = 0; k < v->components; k++) print_range(&e.range[k], true);
    printf("\n");
    if (e.info.active == 0) return;
    printf("    bounds %.6g %.6g %.6g to %.6g %.6g %.6g m\n", e.low[0], e.low[1], e.low[2],
           e.high[0], e.high[1], e.high[2]);
}

static void print_notes(const firn_volume_note *note, int64_t count, const char *indent)
{
    for (int64_t i = 0; i < count; i++) printf("%s%s: %s\n", indent, note[i].name, note[i].text);
}

static void print_volumes(const subject *s)
{
    const firn_volumes *all = &s->volumes;
    printf("%s: %s, %zu bytes, %d volume%s\n", s->path, s->format, s->size, all->count,
           all->count == 1 ? "" : "s");
    print_notes(all->note, all->note_count, "  ");
    for (int32_t i = 0; i < all->count; i++) {
        print_volume(&all->volume[i]);
        print_notes(all->volume[i].note, all->volume[i].note_count, "    ");
    }
}

static void print_text(const subject *s)
{
    if (s->alembic) {
        print_alembic(s);
        return;
    }
    if (s->has_volumes) {
        print_volumes(s);
        return;
    }
    printf("%s: %s, %zu bytes", s->path, s->format, s->size);
    if (s->has_frame) printf(", frame %.6g", s->frame);
    const firn_column *P = firn_points_find(&s->points, "P");
    if (s->has_mesh) {
        firn_mesh_facts_print(&s->mesh);
    } else {
        printf(", %lld particles\n", (long long)s->points.count);
        if (P) print_bounds(P, s->points.count);
    }
    for (int32_t k = 0; k < s->points.column_count; k++) {
        const firn_column *column = &s->points.column[k];
        char type[32];
        snprintf(type, sizeof type, "%s[%d]", firn_type_name(column->type), column->components);
        printf("  %-14s %-7s", column->name, type);
        range r[FIRN_MAX_COMPONENTS];
        find_ranges(column, s->points.count, r);
        for (int32_t a = 0; a < column->components; a++) print_range(&r[a], is_float(column->type));
        printf("\n");
    }
}

/* ---- as JSON ---- */

static void json_text(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') {
            printf("\\%c", *c);
        } else if (*c < 0x20) {
            printf("\\u%04x", *c);
        } else {
            putchar(*c);
        }
    }
    putchar('"');
}

/* "min": [...], "max": [...]; null where nothing is finite. */
static void json_ranges(const firn_column *column, int64_t count)
{
    range r[FIRN_MAX_COMPONENTS];
    find_ranges(column, count, r);
    const char *digits = !is_float(column->type)         ? "%.0f"
                         : column->type == FIRN_TYPE_f64 ? "%.17g"
                                                         : "%.9g";
    for (int side = 0; side < 2; side++) {
        printf("%s", side ? "], \"max\": [" : "\"min\": [");
        for (int32_t a = 0; a < column->components; a++) {
            if (a) printf(", ");
            if (r[a].min > r[a].max) {
                printf("null");
            } else {
                printf(digits, side ? r[a].max : r[a].min);
            }
        }
    }
    printf("]");
}

static void json_object(const firn_alembic *a, int32_t object)
{
    firn_alembic_object o;
    firn_error error = {0};
    if (firn_alembic_get_object(a, object, &o, &error) != FIRN_OK) {
        printf("{\"error\": ");
        json_text(error.message);
        printf("}");
        return;
    }
    printf("{\"path\": ");
    json_text(o.path);
    printf(", \"kind\": \"%s\", \"samples\": %lld, \"first_time\": %.17g, \"last_time\": %.17g, "
           "\"moves\": %s, \"visible\": %s, \"vertices\": %lld, \"faces\": %lld, "
           "\"constant_topology\": %s",
           firn_alembic_kind_name(o.kind), (long long)o.sample_count, o.first_time, o.last_time,
           o.moves ? "true" : "false", o.visible ? "true" : "false", (long long)o.vertex_count,
           (long long)o.face_count, o.constant_topology ? "true" : "false");
    double low[3], high[3];
    if (find_bounds(a, object, &o, low, high)) {
        printf(", \"bounds\": {\"min\": [%.9g, %.9g, %.9g], \"max\": [%.9g, %.9g, %.9g]}", low[0],
               low[1], low[2], high[0], high[1], high[2]);
    }
    printf(", \"attributes\": [");
    firn_alembic_attribute at;
    for (int32_t i = 0; firn_alembic_get_attribute(a, object, i, &at); i++) {
        printf("%s{\"name\": ", i ? ", " : "");
        json_text(at.name);
        printf(", \"type\": \"%s\", \"components\": %d, \"scope\": \"%s\", "
               "\"interpretation\": \"%s\"}",
               at.type, at.components, at.scope, at.interpretation);
    }
    printf("]}");
}

static void json_alembic(const subject *s)
{
    const firn_alembic_file f = firn_alembic_get_file(s->alembic);
    printf("{\"file\": ");
    json_text(s->path);
    printf(", \"format\": \"%s\", \"bytes\": %zu, \"application\": ", s->format, s->size);
    json_text(f.application);
    printf(", \"version\": %d, \"fps\": %.17g, \"first_time\": %.17g, \"last_time\": %.17g,\n"
           "  \"objects\": [",
           f.version, f.fps, f.first_time, f.last_time);
    for (int32_t i = 0; i < f.object_count; i++) {
        printf("%s\n    ", i ? "," : "");
        json_object(s->alembic, i);
    }
    printf("]}");
}

/* "name": [a, b, c]. */
static void json_numbers(const char *name, const double *number, int count)
{
    printf(", \"%s\": [", name);
    for (int i = 0; i < count; i++) {
        printf(isfinite(number[i]) ? "%s%.9g" : "%snull", i ? ", " : "", number[i]);
    }
    printf("]");
}

static void json_notes(const firn_volume_note *note, int64_t count)
{
    printf(", \"metadata\": {");
    for (int64_t i = 0; i < count; i++) {
        printf("%s", i ? ", " : "");
        json_text(note[i].name);
        printf(": ");
        json_text(note[i].text);
    }
    printf("}");
}

static void json_volume(const firn_volume *v)
{
    printf("\n    {\"name\": ");
    json_text(v->name);
    printf(", \"type\": ");
    json_text(v->type);
    printf(", \"class\": \"%s\", \"components\": %d", firn_volume_class_name(v->kind),
           v->components);
    if (v->components > 0) {
        const extent e = extent_of(v);
        double min[3], max[3];
        for (int k = 0; k < 3; k++) {
            min[k] = e.range[k].min;
            max[k] = e.range[k].max;
        }
        json_numbers("axes", v->axis[0], 9);
        json_numbers("origin", v->origin, 3);
        printf(", \"active\": %lld", (long long)e.info.active);
        json_numbers("low", e.low, 3);
        json_numbers("high", e.high, 3);
        json_numbers("min", min, v->components);
        json_numbers("max", max, v->components);
    }
    json_notes(v->note, v->note_count);
    printf("}");
}

static void print_json(const subject *s)
{
    if (s->alembic) {
        json_alembic(s);
        return;
    }
    printf("{\"file\": ");
    json_text(s->path);
    printf(", \"format\": \"%s\", \"bytes\": %zu", s->format, s->size);
    if (s->has_volumes) {
        json_notes(s->volumes.note, s->volumes.note_count);
        printf(",\n  \"volumes\": [");
        for (int32_t i = 0; i < s->volumes.count; i++) {
            if (i) printf(",");
            json_volume(&s->volumes.volume[i]);
        }
        printf("]}");
        return;
    }
    if (s->has_frame) printf(", \"frame\": %.9g", s->frame);
    const firn_column *P = firn_points_find(&s->points, "P");
    if (s->has_mesh) {
        firn_mesh_facts_json(&s->mesh);
    } else {
        printf(", \"count\": %lld", (long long)s->points.count);
    }
    if (P && !s->has_mesh) {
        printf(",\n  \"bounds\": {");
        json_ranges(P, s->points.count);
        printf("}");
    }
    printf(",\n  \"attributes\": [");
    for (int32_t k = 0; k < s->points.column_count; k++) {
        const firn_column *column = &s->points.column[k];
        printf("%s\n    {\"name\": ", k ? "," : "");
        json_text(column->name);
        printf(", \"type\": \"%s\", \"components\": %d, ", firn_type_name(column->type),
               column->components);
        json_ranges(column, s->points.count);
        printf("}");
    }
    printf("]}");
}

/* ---- files ---- */

static struct {
    firn_words files;
    const char *frame;
    bool json;
} chosen;

/* The mesh of a file; false: it has none. */
static bool examine_mesh(subject *s, firn_error *error)
{
    firn_polygons polygons = {0};
    if (firn_polygons_read(s->path, &polygons, error) != FIRN_OK) return false;
    s->has_mesh = polygons.face_count > 0;
    if (s->has_mesh) s->mesh = firn_mesh_find_facts(&polygons);
    firn_polygons_free(&polygons);
    return s->has_mesh;
}

/* A frame of an Alembic file: its points or, if it has none, all its meshes. */
static bool examine_frame(subject *s, firn_error *error)
{
    char *end = NULL;
    s->has_frame = true;
    s->frame = strtod(chosen.frame, &end);
    if (end == chosen.frame || *end || !isfinite(s->frame)) {
        (void)firn_app_fail(error, FIRN_INVALID, "--frame %s must be a number", chosen.frame);
        return false;
    }
    const firn_alembic_file file = firn_alembic_get_file(s->alembic);
    const double fps = file.fps > 0 ? file.fps : 24, time = s->frame / fps;
    bool has_points = false;
    for (int32_t i = 0; i < file.object_count; i++) {
        firn_alembic_object o;
        has_points = has_points || (firn_alembic_get_object(s->alembic, i, &o, NULL) == FIRN_OK &&
                                    o.kind == FIRN_ALEMBIC_POINTS);
    }
    firn_alembic_close(s->alembic);
    s->alembic = NULL;
    if (has_points) return firn_points_read_at(s->path, time, &s->points, error) == FIRN_OK;
    firn_animation_def def = firn_animation_def_default();
    firn_animation *animation = NULL;
    firn_polygons polygons = {0};
    def.file = s->path;
    if (firn_animation_open(&def, &animation, error) != FIRN_OK) return false;
    const firn_status st = firn_animation_read(animation, time, &polygons, error);
    firn_animation_close(animation);
    s->has_mesh = st == FIRN_OK;
    if (s->has_mesh) s->mesh = firn_mesh_find_facts(&polygons);
    firn_polygons_free(&polygons);
    return s->has_mesh;
}

/* Alembic is told by its name, and read in parts; so are meshes. */
static bool examine(const char *path, subject *s, firn_error *error)
{
    firn_bytes in;
    struct stat about;
    const firn_format_info named = firn_format_find(path, NULL);
    const bool there = stat(path, &about) == 0;
    *s = (subject){.path = path, .size = there ? (size_t)about.st_size : 0};
    if (named.sequence && there) {
        s->format = named.name;
        if (firn_alembic_open(path, &s->alembic, error) != FIRN_OK) return false;
        return !chosen.frame || examine_frame(s, error);
    }
    if (chosen.frame) {
        (void)firn_app_fail(error, FIRN_INVALID, "%s holds one frame: leave out --frame", path);
        return false;
    }
    if (firn_is_mesh_file(path)) {
        s->format = strrchr(path, '.') + 1;
        return examine_mesh(s, error);
    }
    if (firn_bytes_read(path, &in, error) != FIRN_OK) return false;
    s->has_volumes = firn_volumes_recognise(&in);
    if (s->has_volumes) s->format = "vdb";
    const firn_status st = s->has_volumes
                               ? firn_volumes_parse(path, &in, &s->volumes, error)
                               : firn_points_parse(path, &in, &s->points, &s->format, error);
    firn_bytes_free(&in);
    if (st == FIRN_OK && s->format && strcmp(s->format, "ply") == 0) (void)examine_mesh(s, NULL);
    return st == FIRN_OK;
}

static const firn_option options[] = {
    {"FILE...", FIRN_OPTION_WORDS, &chosen.files, NULL,
     "files of particles, meshes or volumes, of any format", 1, INT32_MAX, .files = FIRN_FILES_ANY},
    {"--frame", FIRN_OPTION_TEXT, &chosen.frame, "N",
     .help = "of an Alembic file: its points, or its meshes, in that frame"},
    {"--json", FIRN_OPTION_FLAG, &chosen.json, .help = "a JSON array, an object per file"},
};

static int run(void)
{
    int exit_code = 0;
    int64_t shown = 0;
    if (chosen.json) printf("[");
    for (int64_t i = 0; i < chosen.files.count; i++) {
        firn_error error = {0};
        subject s = {0};
        if (!examine(chosen.files.word[i], &s, &error)) {
            exit_code = firn_options_failure(command_name, error.status, &error);
            continue;
        }
        if (chosen.json && shown > 0) printf(",\n");
        (chosen.json ? print_json : print_text)(&s);
        firn_points_free(&s.points);
        firn_alembic_close(s.alembic);
        firn_volumes_free(&s.volumes);
        shown++;
    }
    if (chosen.json) printf("]\n");
    return exit_code;
}

const firn_command firn_info_command = {
    .name = command_name,
    .line = "print the contents of particle files, meshes and volumes",
    .summary =
        "Prints the contents of files: format, number of particles, bounds, and for every "
        "attribute its type and the range of each component; of Alembic files the objects with "
        "their samples, times, bounds and attributes; of OpenVDB files the volumes, where they are "
        "and what they hold; of OBJ, PLY, STL and binvox meshes the vertices and triangles, their "
        "bounds, and whether they are closed.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
