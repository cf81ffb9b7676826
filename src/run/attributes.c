/* The state of a job as columns, and the names of files by frame. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/job.h"

static const firn_attribute attributes[] = {
    {"P", FIRN_TYPE_f32, 3, 3, "m", "position", false, false},
    {"v", FIRN_TYPE_f32, 3, 3, "m/s", "velocity", false, false},
    {"id", FIRN_TYPE_i64, 1, 1, "", "the same for a particle in every frame", false, false},
    {"mass", FIRN_TYPE_f32, 1, 1, "kg", "mass", false, false},
    {"pscale", FIRN_TYPE_f32, 1, 1, "m", "radius of a ball (2D: disc) of its volume", false, false},
    {"material", FIRN_TYPE_i32, 1, 1, "", "place in the scene's materials, from 0", false, false},
    {"object", FIRN_TYPE_i32, 1, 1, "", "place in the scene's objects, from 0", false, false},
    {"F", FIRN_TYPE_f32, 9, 9, "", "elastic deformation gradient, row by row", false, false},
    {"J", FIRN_TYPE_f32, 1, 1, "", "volume over rest volume", false, false},
    {"Jp", FIRN_TYPE_f32, 1, 1, "", "permanent part of J, which F does not contain", false, false},
    {"density", FIRN_TYPE_f32, 1, 1, "kg/m3", "mass over present volume", false, false},
    {"pressure", FIRN_TYPE_f32, 1, 1, "Pa", "minus the mean normal stress; 0 in a projected melt",
     false, false},
    {"temperature", FIRN_TYPE_f32, 1, 1, "K", "temperature", true, false},
    {"liquid", FIRN_TYPE_f32, 1, 1, "", "melted fraction, 0 to 1", true, false},
    {"enthalpy", FIRN_TYPE_f32, 1, 1, "J/kg", "heat content; 0 in solid at its melting point", true,
     false},
    {"concentration", FIRN_TYPE_f32, 1, 1, "", "of the dye", true, false},
    {0},
};

static const firn_attribute grid_attributes[] = {
    {"P", FIRN_TYPE_f32, 3, 3, "m", "position of the node", false, false},
    {"v", FIRN_TYPE_f32, 3, 3, "m/s", "velocity", false, false},
    {"mass", FIRN_TYPE_f32, 1, 1, "kg", "mass", false, false},
    {"force", FIRN_TYPE_f32, 3, 3, "N", "from stress", false, false},
    {"cell_class", FIRN_TYPE_i32, 1, 1, "",
     "pressure: projection only. The cell from the node upwards: 0 empty, 1 interior, 2 collider",
     false, true},
    {0},
};

const firn_attribute *firn_attribute_get(int32_t index)
{
    const int32_t count = sizeof attributes / sizeof *attributes - 1;
    return index >= 0 && index < count ? &attributes[index] : NULL;
}

const firn_attribute *firn_grid_attribute_get(int32_t index)
{
    const int32_t count = sizeof grid_attributes / sizeof *grid_attributes - 1;
    return index >= 0 && index < count ? &grid_attributes[index] : NULL;
}

/* ---- which there are ---- */

/* A type that holds what both hold; integers beyond 2^53 beside fractions are rounded. */
static firn_type common_type(firn_type a, firn_type b)
{
    const bool real_a = a <= FIRN_TYPE_f64, real_b = b <= FIRN_TYPE_f64;
    if (a == b) return a;
    if (real_a && real_b) return firn_type_size(a) > firn_type_size(b) ? a : b;
    if (real_a || real_b || a == FIRN_TYPE_u64 || b == FIRN_TYPE_u64) return FIRN_TYPE_f64;
    return FIRN_TYPE_i64;
}

static bool has(const firn_scene *scene, const firn_attribute *a)
{
    return !a->heat || !scene || scene->heat_value;
}

/* Of those of the grid. What auto chooses the sim says, once there is one. */
static bool has_on_grid(const firn_job *job, const firn_attribute *a)
{
    const firn_pressure pressure =
        job->sim ? firn_sim_get_info(job->sim).pressure : job->scene->simulation.def.pressure;
    return !a->projection || pressure != FIRN_PRESSURE_NONE;
}

const firn_attribute *firn_attribute_find(const firn_scene *scene, const char *name)
{
    for (const firn_attribute *a = attributes; a->name; a++) {
        if (strcmp(a->name, name) == 0) return has(scene, a) ? a : NULL;
    }
    return NULL;
}

/* The attribute of that name, those carried along included; false when there is none. */
static bool find_attribute(const firn_job *job, const char *name, firn_attribute *out)
{
    const firn_attribute *own = firn_attribute_find(job->scene, name);
    *out = own ? *own : (firn_attribute){0};
    if (own) return true;
    for (int32_t i = 0; job->object && i < job->scene->object_count; i++) {
        const firn_column *c = firn_points_find(&job->object[i].carried, name);
        if (!c) continue;
        out->type = out->name ? common_type(out->type, c->type) : c->type;
        if (c->components > out->components_3d) out->components_3d = c->components;
        out->components_2d = out->components_3d;
        out->name = c->name;
    }
    return out->name != NULL;
}

/* Calls `visit` with every name, until it answers false. */
typedef bool name_visitor(void *context, const char *name);
static void visit_names(const firn_job *job, name_visitor *visit, void *context)
{
    for (const firn_attribute *a = attributes; a->name; a++) {
        if (has(job->scene, a) && !visit(context, a->name)) return;
    }
    for (int32_t i = 0; job->object && i < job->scene->object_count; i++) {
        const firn_points *carried = &job->object[i].carried;
        for (int32_t c = 0; c < carried->column_count; c++) {
            const char *name = carried->column[c].name;
            bool seen = false;
            for (int32_t k = 0; k < i && !seen; k++) {
                seen = firn_points_find(&job->object[k].carried, name) != NULL;
            }
            if (!seen && !visit(context, name)) return;
        }
    }
}

typedef struct name_list {
    const char *name[FIRN_MAX_COLUMNS + 1];
    int count;
} name_list;

static bool list_name(void *context, const char *name)
{
    name_list *list = context;
    list->name[list->count++] = name;
    return list->count < FIRN_MAX_COLUMNS;
}

static const firn_attribute *find_grid_attribute(const char *name)
{
    const firn_attribute *a = grid_attributes;
    while (a->name && strcmp(a->name, name) != 0) a++;
    return a->name ? a : NULL;
}

firn_status firn_attributes_check(const firn_job *job, const firn_scene_output *output,
                                  firn_error *error)
{
    const bool grid = output->of != 0;
    for (const firn_value *c = output->attributes ? output->attributes->child : NULL; c;
         c = c->next) {
        firn_attribute found;
        const char *name = c->kind == FIRN_SCALAR ? c->text : "";
        const firn_attribute *of_grid = grid ? find_grid_attribute(name) : NULL;
        if (grid ? of_grid && has_on_grid(job, of_grid) : find_attribute(job, name, &found))
            continue;
        if (of_grid) {
            return firn_value_fail(c, error,
                                   "only scenes with projection have the attribute %s; add "
                                   "simulation: {pressure: projection}",
                                   name);
        }
        if (!grid && firn_attribute_find(NULL, name)) {
            return firn_value_fail(
                c, error, "only scenes with heat have the attribute %s; add heat: {}", name);
        }
        name_list list = {0};
        if (!grid) visit_names(job, list_name, &list);
        for (const firn_attribute *a = grid_attributes; grid && a->name; a++) {
            if (has_on_grid(job, a)) list_name(&list, a->name);
        }
        char near[200];
        return firn_value_fail(c, error, "there is no attribute \"%.60s\"%s", name,
                               firn_nearest(name, list.name, near, sizeof near));
    }
    return FIRN_OK;
}

/* ---- what they are made of ---- */

double firn_determinant(const double *F, int dim)
{
    if (dim == 2) return F[0] * F[3] - F[1] * F[2];
    return F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) +
           F[2] * (F[3] * F[7] - F[4] * F[6]);
}

/* A field of all particles, on its way into a column. */
typedef void feed(const double *values, int dim, int64_t count, firn_column *to);

/* Numbers of the engine fit the types of its attributes. */
static void copy(const double *values, int dim, int64_t count, firn_column *to)
{
    const int n = to->components == 1 ? 1 : dim, each = to->components;
    float *real = to->data;
    int32_t *whole = to->data;
    int64_t *wide = to->data;
    for (int64_t p = 0; p < count; p++) {
        for (int k = 0; k < n; k++) {
            const double value = values[p * n + k];
            if (to->type == FIRN_TYPE_f32) real[p * each + k] = (float)value;
            if (to->type == FIRN_TYPE_i32) whole[p * each + k] = (int32_t)value;
            if (to->type == FIRN_TYPE_i64) wide[p * each + k] = (int64_t)value;
        }
    }
}

static void radius(const double *volume, int dim, int64_t count, firn_column *to)
{
    const double pi = 3.14159265358979323846;
    float *out = to->data;
    for (int64_t p = 0; p < count; p++) {
        out[p] = (float)(dim == 3 ? cbrt(0.75 * volume[p] / pi) : sqrt(volume[p] / pi));
    }
}

static void nine(const double *F, int dim, int64_t count, firn_column *to)
{
    for (int64_t p = 0; p < count; p++) {
        float *out = (float *)to->data + 9 * p;
        out[8] = 1;
        for (int i = 0; i < dim; i++) {
            for (int j = 0; j < dim; j++) {
                out[3 * i + j] = (float)F[p * dim * dim + i * dim + j];
            }
        }
    }
}

static void determinant(const double *F, int dim, int64_t count, firn_column *to)
{
    float *out = to->data;
    for (int64_t p = 0; p < count; p++) {
        out[p] = (float)firn_determinant(F + p * dim * dim, dim);
    }
}

static void mass_over(const double *mass, int dim, int64_t count, firn_column *to)
{
    (void)dim;
    float *out = to->data;
    for (int64_t p = 0; p < count; p++) out[p] = (float)(mass[p] / (double)out[p]);
}

static void over_volume(const double *volume, int dim, int64_t count, firn_column *to)
{
    (void)dim;
    float *out = to->data;
    for (int64_t p = 0; p < count; p++) out[p] = (float)((double)out[p] / volume[p]);
}

/* What lies behind the first `count` numbers. */
static void second(const double *values, int dim, int64_t count, firn_column *to)
{
    copy(values + count, dim, count, to);
}

static void times(const double *factor, int dim, int64_t count, firn_column *to)
{
    (void)dim;
    float *out = to->data;
    for (int64_t p = 0; p < count; p++) out[p] = (float)((double)out[p] * factor[p]);
}

/* In the order of fields: what an attribute is made of comes in that order. States come as the volume
 * ratio that F does not hold, and behind those as that which is for good. */
static const struct {
    firn_field field;
    const char *attribute;
    feed *feed;
} feeds[] = {
    {FIRN_POSITION, "P", copy},
    {FIRN_VELOCITY, "v", copy},
    {FIRN_DEFORMATION_GRADIENT, "F", nine},
    {FIRN_DEFORMATION_GRADIENT, "J", determinant},
    {FIRN_DEFORMATION_GRADIENT, "density", determinant},
    {FIRN_MASS, "mass", copy},
    {FIRN_MASS, "density", mass_over},
    {FIRN_VOLUME, "pscale", radius},
    {FIRN_VOLUME, "density", over_volume},
    {FIRN_STATE, "J", times},
    {FIRN_STATE, "Jp", second},
    {FIRN_STATE, "density", over_volume},
    {FIRN_MATERIAL, "material", copy},
    {FIRN_OBJECT, "object", copy},
    {FIRN_ID, "id", copy},
    {FIRN_ENTHALPY, "enthalpy", copy},
    {FIRN_CONCENTRATION, "concentration", copy},
};
enum { FEEDS = sizeof feeds / sizeof *feeds };

/* What a particle file gave to those of its particles that are still there. */
static void join(const double *id, int64_t count, const firn_job_object *object, firn_column *to)
{
    const firn_column *from = firn_points_find(&object->carried, to->name);
    if (!from) return;
    const size_t bytes = (size_t)to->components * firn_type_size(to->type);
    const bool same = from->type == to->type && from->components == to->components;
    for (int64_t p = 0; p < count; p++) {
        const double row = id[p] - (double)object->first_id;
        if (row < 0 || row >= (double)object->carried.count) continue;
        if (same) {
            memcpy((char *)to->data + (size_t)p * bytes,
                   (const char *)from->data + (size_t)row * bytes, bytes);
            continue;
        }
        for (int32_t k = 0; k < from->components; k++) {
            const double value =
                firn_type_get(from->type, from->data, (int64_t)row * from->components + k);
            firn_type_set(to->type, to->data, p * to->components + k, value);
        }
    }
}

/* ---- a frame ---- */

static bool takes(const firn_column *column, int f, firn_field field)
{
    return feeds[f].field == field && strcmp(column->name, feeds[f].attribute) == 0;
}

static bool is_carried(const firn_job *job, const firn_column *column)
{
    return !firn_attribute_find(job->scene, column->name);
}

/* The engine's materials as those of the scene; those that the caller added keep their numbers. */
static void to_scene_materials(const firn_job *job, int64_t count, double *material)
{
    for (int64_t p = 0; p < count; p++) {
        const int m = (int)material[p];
        if (m < job->variants.count) material[p] = job->variants.of[m];
    }
}

/* Turns states into the volume ratios they stand for, 1 where the law keeps something else there: first
 * those of J, then as many of Jp. */
static firn_status to_volume_ratios(const firn_job *job, int64_t count, double *state,
                                    firn_error *error)
{
    double *material = state + count;
    const firn_status st = firn_sim_read(job->sim, FIRN_MATERIAL, 0, count, material, error);
    for (int64_t p = 0; p < count && st == FIRN_OK; p++) {
        const int m = (int)material[p];
        const firn_state_kind kind =
            m < job->variants.count ? firn_law_state(job->variants.def[m].law) : FIRN_STATE_NONE;
        const bool volume = kind == FIRN_STATE_LOG_VOLUME;
        material[p] = volume || kind == FIRN_STATE_LOG_PACKING ? exp(state[p]) : 1;
        state[p] = volume ? material[p] : 1;
    }
    return st;
}

/* Reads a field, once, if any column of `out` wants it, and feeds them all. */
static firn_status feed_field(const firn_job *job, firn_field field, firn_points *out,
                              double *scratch, firn_error *error)
{
    bool wanted = false;
    for (int32_t c = 0; c < out->column_count; c++) {
        const bool carried = is_carried(job, &out->column[c]);
        for (int f = 0; f < FEEDS && !carried; f++)
            wanted = wanted || takes(&out->column[c], f, field);
        wanted = wanted || (field == FIRN_ID && carried);
    }
    if (!wanted) return FIRN_OK;
    firn_status st = firn_sim_read(job->sim, field, 0, out->count, scratch, error);
    if (st == FIRN_OK && field == FIRN_STATE) {
        st = to_volume_ratios(job, out->count, scratch, error);
    }
    if (st != FIRN_OK) return st;
    if (field == FIRN_MATERIAL) to_scene_materials(job, out->count, scratch);
    for (int32_t c = 0; c < out->column_count; c++) {
        firn_column *to = &out->column[c];
        for (int f = 0; f < FEEDS && !is_carried(job, to); f++) {
            if (takes(to, f, field)) {
                feeds[f].feed(scratch, (int)job->scene->dimension, out->count, to);
            }
        }
        if (field != FIRN_ID || !is_carried(job, to)) continue;
        for (int32_t i = 0; i < job->scene->object_count; i++) {
            join(scratch, out->count, &job->object[i], to);
        }
    }
    return FIRN_OK;
}

/* What is of the law, not of a field. */
static const char *const derived[] = {"pressure", "temperature", "liquid"};

static firn_status feed_derived(const firn_job *job, int which, firn_points *out, firn_error *error)
{
    firn_column *to = firn_points_find(out, derived[which]);
    if (!to || is_carried(job, to)) return FIRN_OK;
    double *all = malloc(((size_t)firn_sim_count(job->sim) + 1) * sizeof *all);
    if (!all) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for a frame");
    const firn_status st = which == 0 ? firn_sim_read_pressure(job->sim, all, error)
                                      : firn_sim_read_heat(job->sim, which == 1 ? all : NULL,
                                                           which == 2 ? all : NULL, error);
    if (st == FIRN_OK) copy(all, 1, out->count, to);
    free(all);
    return st;
}

typedef struct adding {
    const firn_job *job;
    firn_points *to;
    firn_error *error;
    bool failed;
} adding;

static bool add_column(void *context, const char *name)
{
    adding *a = context;
    firn_attribute about;
    const int dim = (int)a->job->scene->dimension;
    if (!find_attribute(a->job, name, &about)) {
        firn_fail(a->error, FIRN_INVALID, "there is no attribute %.60s", name);
        a->failed = true;
        return false;
    }
    a->failed = !firn_points_add(a->to, name, about.type,
                                 dim == 3 ? about.components_3d : about.components_2d, a->error);
    return !a->failed;
}

firn_status firn_job_points(const firn_job *job, const char *const *wanted, int64_t most,
                            firn_points *out, firn_error *error)
{
    FIRN_REQUIRE(job, error);
    FIRN_REQUIRE(out, error);
    const int64_t count = firn_sim_count(job->sim);
    *out = (firn_points){.count = count < most ? count : most};
    firn_error own = {0};
    adding a = {job, out, &own, false};
    for (int i = 0; wanted && wanted[i] && !a.failed; i++) add_column(&a, wanted[i]);
    if (!wanted) visit_names(job, add_column, &a);
    firn_status st = a.failed ? firn_fail(error, own.status, "%s", own.message) : FIRN_OK;
    double *scratch = malloc(((size_t)out->count + 1) * 9 * sizeof *scratch);
    if (st == FIRN_OK && !scratch) {
        st = firn_fail(error, FIRN_NO_MEMORY, "out of memory for a frame");
    }
    for (firn_field f = 0; f < FIRN_FIELD_COUNT && st == FIRN_OK; f++) {
        st = feed_field(job, f, out, scratch, error);
    }
    for (int i = 0; i < 3 && st == FIRN_OK; i++) st = feed_derived(job, i, out, error);
    free(scratch);
    if (st != FIRN_OK) firn_points_free(out);
    return st;
}

/* ---- the grid ---- */

typedef struct nodes {
    firn_points *points;
    int64_t count;    /* visited so far */
    double cell_size; /* m */
} nodes;

static void count_node(void *user_data, const firn_grid_node *node)
{
    (void)node;
    ((nodes *)user_data)->count++;
}

static void copy_node(void *user_data, const firn_grid_node *node)
{
    nodes *n = user_data;
    double value[3];
    for (int32_t i = 0; i < n->points->column_count; i++) {
        const firn_column *c = &n->points->column[i];
        const bool of_cell = strcmp(c->name, "cell_class") == 0;
        for (int a = 0; a < 3; a++) value[a] = n->cell_size * (double)node->index[a];
        if (of_cell) value[0] = (double)node->cell_class;
        const double *from = strcmp(c->name, "v") == 0       ? node->velocity
                             : strcmp(c->name, "force") == 0 ? node->force
                             : strcmp(c->name, "mass") == 0  ? &node->mass
                                                             : value;
        for (int32_t k = 0; k < c->components; k++) {
            firn_type_set(c->type, c->data, n->count * c->components + k, from[k]);
        }
    }
    n->count++;
}

firn_status firn_job_grid(const firn_job *job, const char *const *wanted, firn_points *out,
                          firn_error *error)
{
    FIRN_REQUIRE(job, error);
    FIRN_REQUIRE(out, error);
    *out = (firn_points){0};
    nodes n = {.points = out, .cell_size = job->scene->cell_size};
    firn_status st = firn_sim_visit_grid(job->sim, count_node, &n, error);
    out->count = n.count;
    for (const firn_attribute *a = grid_attributes; a->name && st == FIRN_OK; a++) {
        bool asked = wanted == NULL && has_on_grid(job, a);
        for (int i = 0; wanted && wanted[i] && !asked; i++) {
            asked = strcmp(wanted[i], a->name) == 0;
        }
        if (asked && !firn_points_add(out, a->name, a->type, a->components_3d, error)) {
            st = FIRN_NO_MEMORY;
        }
    }
    n.count = 0;
    if (st == FIRN_OK) st = firn_sim_visit_grid(job->sim, copy_node, &n, error);
    if (st != FIRN_OK) firn_points_free(out);
    return st;
}

/* ---- names of files ---- */

char *firn_frame_path(const char *pattern, int64_t frame)
{
    const size_t room = 12 * strlen(pattern) + 32; /* $F becomes at most 20 digits and a sign */
    char *path = malloc(room);
    if (!path) return NULL;
    size_t used = 0;
    while (*pattern) {
        if (pattern[0] == '$' && pattern[1] == 'F') {
            pattern += 2;
            int width = 0;
            if (*pattern >= '1' && *pattern <= '9') width = *pattern++ - '0';
            used += (size_t)snprintf(path + used, room - used, "%0*lld", width, (long long)frame);
        } else {
            path[used++] = *pattern++;
        }
    }
    path[used] = 0;
    return path;
}
