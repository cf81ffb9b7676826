/* Particle files as objects. Attributes that the engine has (firn_attribute_get) become state; all others
 * are carried along, row by row, for the outputs.
 *
 * The file's id is carried as source_id: ids of a run count particles in the order of adding, so that
 * no two objects share one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/source.h"
#include "run/job.h"

static const double pi = 3.14159265358979323846;
static const char source_id[] = "source_id";

typedef struct importer {
    const firn_scene *scene;
    const firn_scene_object *object;
    const firn_value *where; /* of the file's name */
    const char *path;
    int dim;
    double separation; /* m, of points that come without mass and size */
    firn_points points;
    firn_affine affine;
    double *density, *radius, *J, *Jp, *material; /* NULL where the file has none */
    double *material_of_word;                     /* NULL where materials are numbers */
} importer;

static firn_status fail(const importer *in, firn_error *error, const char *what)
{
    return firn_value_fail(in->where, error, "%s: %s", in->path, what);
}

/* A column as doubles, the first `components` of each particle; NULL when the file has none. */
static firn_status take(const importer *in, const char *name, int components, double **out,
                        firn_error *error)
{
    const firn_column *c = firn_points_find(&in->points, name);
    if (!c) return FIRN_OK;
    if (c->components < components || (c->words && strcmp(name, "material") != 0)) {
        return firn_value_fail(in->where, error, "%s: %s must be %d number%s", in->path, name,
                               components, components > 1 ? "s" : "");
    }
    const int64_t n = in->points.count;
    *out = malloc(((size_t)n * (size_t)components + 1) * sizeof **out);
    if (!*out) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < components; k++) {
            (*out)[i * components + k] = firn_type_get(c->type, c->data, i * c->components + k);
        }
    }
    return FIRN_OK;
}

/* ---- materials ---- */

static firn_status look_up_words(importer *in, firn_error *error)
{
    const firn_column *c = firn_points_find(&in->points, "material");
    if (!c || !c->words) return FIRN_OK;
    in->material_of_word = malloc(((size_t)c->word_count + 1) * sizeof *in->material_of_word);
    if (!in->material_of_word) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    const char *word = c->words;
    for (int32_t w = 0; w < c->word_count; w++, word += strlen(word) + 1) {
        const int32_t found = firn_scene_find_material(in->scene, word, NULL, 0);
        in->material_of_word[w] = found; /* -1 is no mistake until a particle says so */
    }
    return FIRN_OK;
}

static firn_status unknown_word(const importer *in, int64_t particle, int32_t index,
                                firn_error *error)
{
    const firn_column *c = firn_points_find(&in->points, "material");
    const char *word = index >= 0 && index < c->word_count ? c->words : NULL;
    for (int32_t w = 0; word && w < index; w++) word += strlen(word) + 1;
    char near[300] = "";
    (void)firn_scene_find_material(in->scene, word ? word : "", near, sizeof near);
    return firn_value_fail(in->where, error, "%s: particle %lld has material \"%.60s\"%s", in->path,
                           (long long)particle, word ? word : "", near);
}

static firn_status find_material(const importer *in, int64_t i, uint16_t *out, firn_error *error)
{
    const double given = in->material[i];
    const int32_t count = in->scene->material_count;
    double number = given;
    if (in->material_of_word) {
        const firn_column *c = firn_points_find(&in->points, "material");
        number = given >= 0 && given < c->word_count ? in->material_of_word[(int32_t)given] : -1;
        if (number < 0) return unknown_word(in, i, (int32_t)given, error);
    }
    if (!(number >= 0 && number < count && number == floor(number))) {
        return firn_value_fail(in->where, error,
                               "%s: particle %lld has material %g; the scene has 0 to %d, or "
                               "use their names",
                               in->path, (long long)i, given, count - 1);
    }
    *out = (uint16_t)number;
    return FIRN_OK;
}

static firn_status find_materials(const importer *in, firn_batch *b, firn_error *error)
{
    if (!in->material) return FIRN_OK;
    b->material = malloc(((size_t)in->points.count + 1) * sizeof *b->material);
    if (!b->material) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    firn_status st = FIRN_OK;
    for (int64_t i = 0; i < in->points.count && st == FIRN_OK; i++) {
        st = find_material(in, i, &b->material[i], error);
    }
    return st;
}

/* ---- deformation ---- */

/* The laws' memory from Jp, which then is the part of J that is not in F. */
static firn_status take_state(importer *in, firn_batch *b, firn_error *error)
{
    const firn_status st = take(in, "Jp", 1, &in->Jp, error);
    if (st != FIRN_OK || !in->Jp) return st;
    b->state = calloc((size_t)in->points.count + 1, sizeof *b->state);
    if (!b->state) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int64_t i = 0; i < in->points.count; i++) {
        const int32_t material = b->material ? b->material[i] : in->object->material_index;
        const firn_state_kind kind = firn_law_state(in->scene->material[material].def.law);
        const bool volume = kind == FIRN_STATE_LOG_VOLUME;
        if (!(in->Jp[i] > 0)) {
            return firn_value_fail(in->where, error,
                                   "%s: particle %lld has Jp %g; it must be above 0, or leave Jp "
                                   "out",
                                   in->path, (long long)i, in->Jp[i]);
        }
        if (volume || kind == FIRN_STATE_LOG_PACKING) b->state[i] = log(in->Jp[i]);
        if (!volume) in->Jp[i] = 1;
    }
    return FIRN_OK;
}

/* F from the file's nine numbers, four in 2D, or from J alone: the same in all directions. */
static firn_status take_deformation(importer *in, firn_batch *b, firn_error *error)
{
    const int dim = in->dim, dd = dim * dim;
    const firn_column *column = firn_points_find(&in->points, "F");
    const bool four = column && dim == 2 && column->components == 4;
    double *nine = NULL;
    firn_status st = take(in, "F", four ? 4 : 9, &nine, error);
    if (st != FIRN_OK || (!nine && !in->J)) return st;
    const int64_t n = in->points.count;
    b->deformation_gradient = malloc(((size_t)n * (size_t)dd + 1) * sizeof *nine);
    if (!in->J) in->J = malloc(((size_t)n + 1) * sizeof *in->J);
    if (!b->deformation_gradient || !in->J) {
        free(nine);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    for (int64_t i = 0; i < n && st == FIRN_OK; i++) {
        double F[9] = {0}, *to = b->deformation_gradient + i * dd;
        const double apart = in->Jp ? in->Jp[i] : 1;
        for (int r = 0; r < dim; r++) {
            if (!nine) F[r * dim + r] = pow(in->J[i] / apart, 1.0 / dim);
            for (int c = 0; nine && c < dim; c++) {
                F[r * dim + c] = four ? nine[4 * i + 2 * r + c] : nine[9 * i + 3 * r + c];
            }
        }
        if (nine) in->J[i] = apart * firn_determinant(F, dim);
        if (!nine && !(in->J[i] > 0)) {
            st = firn_value_fail(in->where, error,
                                 "%s: particle %lld has J %g; without F it must be above 0",
                                 in->path, (long long)i, in->J[i]);
        }
        /* The place scales the shape at rest too: A F S^-1 with A = turn x S. */
        for (int r = 0; r < dim; r++) {
            for (int c = 0; c < dim; c++) {
                double sum = 0;
                for (int k = 0; k < dim; k++) sum += in->affine.matrix[r][k] * F[k * dim + c];
                to[r * dim + c] = sum / in->object->scale[c];
            }
        }
    }
    free(nine);
    return st;
}

/* ---- heat ---- */

/* Fails where the object gives what its file has. */
static firn_status check_given_once(const importer *in, const char *parameter, const char *column,
                                    firn_error *error)
{
    const firn_value *given = firn_value_get(in->object->where, parameter);
    if (!given || !firn_points_find(&in->points, column)) return FIRN_OK;
    return firn_value_fail(given, error, "%s has %s: remove %s here, or that column from the file",
                           in->path, column, parameter);
}

static firn_status check_temperatures(const importer *in, const double *temperature,
                                      firn_error *error)
{
    const firn_param *row = firn_section_object.rows;
    while (strcmp(row->name, "temperature") != 0) row++;
    for (int64_t i = 0; i < in->points.count; i++) {
        if (temperature[i] >= row->least && temperature[i] <= row->most) continue;
        return firn_value_fail(in->where, error,
                               "%s: particle %lld has temperature %g; it must be from %g to %g K, "
                               "and 0 degrees Celsius are 273.15 K",
                               in->path, (long long)i, temperature[i], row->least, row->most);
    }
    return FIRN_OK;
}

/* Files of a run have both, which then agree. Noise in the material is not known here. */
static firn_status check_agreement(const importer *in, const firn_batch *b, firn_error *error)
{
    for (int64_t i = 0; i < in->points.count; i++) {
        const int32_t material = b->material ? b->material[i] : in->object->material_index;
        const firn_scene_material *m = &in->scene->material[material];
        const double of_enthalpy = firn_material_temperature(&m->def, b->enthalpy[i]);
        if (m->noise_count || fabs(of_enthalpy - b->temperature[i]) <= 1e-3 * b->temperature[i]) {
            continue;
        }
        return firn_value_fail(in->where, error,
                               "%s: particle %lld has temperature %g K and enthalpy %g J/kg, which "
                               "is that of %g K; remove one of these columns from the file",
                               in->path, (long long)i, b->temperature[i], b->enthalpy[i],
                               of_enthalpy);
    }
    return FIRN_OK;
}

/* Enthalpy says more than temperature: how far what melts has melted. */
static firn_status take_heat(importer *in, firn_batch *b, firn_error *error)
{
    static const char *const once[][2] = {{"temperature", "temperature"},
                                          {"temperature", "enthalpy"},
                                          {"temperature_noise", "temperature"},
                                          {"temperature_noise", "enthalpy"},
                                          {"concentration", "concentration"}};
    firn_status st = take(in, "temperature", 1, &b->temperature, error);
    if (st == FIRN_OK) st = take(in, "enthalpy", 1, &b->enthalpy, error);
    if (st == FIRN_OK) st = take(in, "concentration", 1, &b->concentration, error);
    for (size_t i = 0; i < sizeof once / sizeof *once && st == FIRN_OK; i++) {
        st = check_given_once(in, once[i][0], once[i][1], error);
    }
    if (st == FIRN_OK && b->temperature) st = check_temperatures(in, b->temperature, error);
    if (st == FIRN_OK && b->temperature && b->enthalpy) {
        st = check_agreement(in, b, error);
        free(b->temperature);
        b->temperature = NULL;
    }
    return st;
}

/* ---- places, masses and volumes ---- */

static void place(const importer *in, int64_t i, firn_batch *b)
{
    const int dim = in->dim;
    double x[3] = {0}, moved[3];
    memcpy(x, b->position + i * dim, (size_t)dim * sizeof *x);
    firn_affine_to_world(&in->affine, x, moved);
    memcpy(b->position + i * dim, moved, (size_t)dim * sizeof *moved);
    if (!b->velocity) return;
    double v[3] = {0}; /* turned, not scaled */
    for (int r = 0; r < dim; r++) {
        for (int c = 0; c < dim; c++) {
            v[r] += in->affine.matrix[r][c] / in->object->scale[c] * b->velocity[i * dim + c];
        }
    }
    memcpy(b->velocity + i * dim, v, (size_t)dim * sizeof *v);
}

/* Volumes are at rest, or as they are where nothing is known of the deformation; densities are now. */
static void weigh(const importer *in, int64_t i, bool has_mass, firn_batch *b)
{
    const int32_t material = b->material ? b->material[i] : in->object->material_index;
    double density = in->density ? in->density[i] * (in->J ? in->J[i] : 1) : 0; /* at rest */
    if (!(density > 0)) density = in->scene->material[material].def.density;
    const double r = in->radius ? in->radius[i] : 0;
    if (has_mass) b->mass[i] *= in->affine.volume;
    if (r > 0) { /* the ball or disc of that radius */
        b->volume[i] = in->affine.volume * (in->dim == 3 ? 4 * pi / 3 * r * r * r : pi * r * r);
    } else if (has_mass) {
        b->volume[i] = b->mass[i] / density * firn_batch_rest_ratio(b, in->scene, in->object, i);
    } else {
        b->volume[i] = pow(in->separation, in->dim);
    }
    if (b->mass && !has_mass) b->mass[i] = density * b->volume[i];
}

/* ---- what is carried ---- */

/* Moves the columns that the engine does not know. Text stays behind: outputs have numbers. */
static firn_status carry(importer *in, firn_points *out, firn_error *error)
{
    firn_points *from = &in->points;
    firn_column *id = firn_points_find(from, "id");
    if (id && !firn_points_find(from, source_id)) memcpy(id->name, source_id, sizeof source_id);
    int32_t kept = 0, left = 0;
    firn_column *column = malloc(((size_t)from->column_count + 1) * sizeof *column);
    if (!column) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int32_t c = 0; c < from->column_count; c++) {
        if (firn_attribute_find(in->scene, from->column[c].name) || from->column[c].words) {
            from->column[left++] = from->column[c];
        } else {
            column[kept++] = from->column[c];
        }
    }
    from->column_count = left;
    *out = (firn_points){.count = from->count, .column_count = kept, .column = column};
    return FIRN_OK;
}

static firn_status read_batch(importer *in, firn_batch *b, firn_error *error)
{
    firn_error inner = {0};
    const firn_placement placement = firn_object_placement(in->object);
    firn_status st = firn_points_read(in->path, &in->points, &inner);
    if (st == FIRN_OK) st = firn_placement_resolve(&placement, in->dim, &in->affine, &inner);
    if (st != FIRN_OK) return firn_value_pass(in->where, &inner, error);
    if (!firn_points_find(&in->points, "P")) return fail(in, error, "has no positions (P)");
    st = take(in, "P", in->dim, &b->position, error);
    if (st == FIRN_OK) st = take(in, "v", in->dim, &b->velocity, error);
    if (st == FIRN_OK) st = take(in, "mass", 1, &b->mass, error);
    if (st == FIRN_OK) st = take(in, "density", 1, &in->density, error);
    if (st == FIRN_OK) st = take(in, "pscale", 1, &in->radius, error);
    if (st == FIRN_OK) st = take(in, "J", 1, &in->J, error);
    if (st == FIRN_OK) st = take(in, "material", 1, &in->material, error);
    if (st == FIRN_OK) st = look_up_words(in, error);
    if (st == FIRN_OK) st = find_materials(in, b, error);
    if (st == FIRN_OK) st = take_state(in, b, error);
    if (st == FIRN_OK) st = take_deformation(in, b, error);
    if (st == FIRN_OK && in->scene->heat_value) st = take_heat(in, b, error);
    if (st != FIRN_OK) return st;
    const bool has_mass = b->mass != NULL;
    const bool given = firn_section_given(&firn_section_object, in->object, "separation");
    in->separation = given ? in->object->separation : in->scene->resolution;
    b->assumed = !given && !has_mass && !in->radius;
    b->count = in->points.count;
    const size_t n = (size_t)b->count + 1;
    b->volume = malloc(n * sizeof *b->volume);
    if (in->density && !b->mass) b->mass = malloc(n * sizeof *b->mass);
    if (!b->volume || (in->density && !b->mass)) {
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    for (int64_t i = 0; i < b->count && st == FIRN_OK; i++) {
        place(in, i, b);
        if (has_mass && !(b->mass[i] > 0)) {
            st = firn_value_fail(in->where, error,
                                 "%s: particle %lld has mass %g; it must be above 0 kg, or leave "
                                 "mass out",
                                 in->path, (long long)i, b->mass[i]);
        }
        if (st == FIRN_OK) weigh(in, i, has_mass, b);
    }
    return st == FIRN_OK ? carry(in, &b->carried, error) : st;
}

firn_status firn_import(const firn_scene *scene, const firn_scene_object *object, const char *path,
                        firn_batch *out, firn_error *error)
{
    importer in = {.scene = scene,
                   .object = object,
                   .where = firn_value_get(object->where, "particles"),
                   .path = path,
                   .dim = (int)scene->dimension};
    const firn_status st = read_batch(&in, out, error);
    free(in.density);
    free(in.radius);
    free(in.J);
    free(in.Jp);
    free(in.material);
    free(in.material_of_word);
    firn_points_free(&in.points);
    return st;
}
