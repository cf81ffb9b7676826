/* Makes a sim from a scene and keeps it supplied: definitions, filling, emission, sinks, the
 * domain.
 *
 * Warnings count particles that start where they cannot be, or whose spacing does not fit the
 * cells. The order of objects decides who keeps space that several claim. */
#include "run/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "collider/collider.h"
#include <firn/geometry.h>
#include "geometry/random.h"
#include "run/source.h"

static const double degree = 3.14159265358979323846 / 180; /* rad */

/* ---- the sim ---- */

bool firn_job_is_in_particles(const firn_param *parameter)
{
    static const char *const names[] = {
        "density",       "liquid_density", "heat_capacity",        "melting_point",
        "melting_range", "latent_heat",    "liquid_heat_capacity", NULL};
    for (int i = 0; names[i]; i++) {
        if (strcmp(parameter->name, names[i]) == 0) return true;
    }
    return false;
}

firn_collider_def firn_job_collider(const firn_scene_collider *c)
{
    firn_collider_def def = c->def;
    def.shape = c->shape.def.shape;
    memcpy(def.size, c->shape.def.size, sizeof def.size);
    def.points = c->shape.def.points;
    def.point_count = c->shape.def.point_count;
    def.mesh = c->shape.def.mesh;
    def.compound = c->shape.def.compound;
    def.round = c->shape.def.round;
    memcpy(def.position, c->shape.def.position, sizeof def.position);
    memcpy(def.rotation, c->shape.def.rotation, sizeof def.rotation);
    for (int a = 0; a < 3; a++) def.surface_spin[a] = degree * c->surface_spin[a];
    if (c->key_count > 0) {
        def.keys = c->key;
        def.key_count = c->key_count;
    } else {
        memcpy(def.position, c->key->position, sizeof def.position);
        memcpy(def.rotation, c->key->rotation, sizeof def.rotation);
    }
    return def;
}

/* The walls of a domain that stops what would leave. */
static firn_collider_def domain_walls(const firn_scene *scene)
{
    firn_collider_def def = firn_collider_def_default();
    def.shape = FIRN_INSIDE;
    def.boundary = FIRN_SEPARATE;
    def.friction = 0;
    for (int a = 0; a < scene->dimension; a++) {
        def.position[a] = 0.5 * (scene->domain.low[a] + scene->domain.high[a]);
        def.size[a] = 0.5 * (scene->domain.high[a] - scene->domain.low[a]);
    }
    return def;
}

static bool same_body(const firn_scene_object *a, const firn_scene_object *b)
{
    return a == b || (a->body && b->body && strcmp(a->body, b->body) == 0);
}

/* What objects say of the body that they are of. */
typedef struct body_facts {
    int32_t first;                 /* object */
    const firn_scene_object *said; /* the last that says whether it parts; NULL: none does */
    bool elastic;                  /* any of it is */
} body_facts;

/* Gathers the facts of each body at its first object, and that object's index at each of its objects. */
static firn_status find_bodies(const firn_scene *scene, body_facts *facts, firn_names *names,
                               firn_error *error)
{
    for (int32_t i = 0; i < scene->object_count; i++) {
        const firn_scene_object *o = &scene->object[i];
        body_facts *f = o->body ? firn_names_find(names, o->body) : NULL;
        if (!f) {
            f = &facts[i];
            f->first = i;
            if (o->body && !firn_names_add(names, o->body, f)) {
                return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
            }
        }
        facts[i].first = f->first;
        f->elastic |= firn_law_get_info(scene->material[o->material_index].def.law).elastic != 0;
        if (!o->contact) continue;
        if (f->said && f->said->contact != o->contact) {
            char place[FIRN_LOCATION_SIZE];
            return firn_value_fail(
                firn_value_get(o->where, "contact"), error,
                "contact contradicts that of body %.60s at %s; remove one: a body parts as one",
                o->body, firn_value_location(firn_value_get(f->said->where, "contact"), place));
        }
        f->said = o;
    }
    return FIRN_OK;
}

/* Numbers the bodies that part from others; the rest is body 0. *count receives for how many objects that
 * matters: 0 if all are one. */
static firn_status choose_bodies(const firn_scene *scene, uint16_t *body, int32_t *count,
                                 firn_error *error)
{
    int32_t apart = 0;
    firn_names names = {0};
    body_facts *facts = calloc((size_t)scene->object_count + 1, sizeof *facts);
    const firn_status st = facts ? find_bodies(scene, facts, &names, error)
                                 : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    *count = 0;
    for (int32_t i = 0; i < scene->object_count && st == FIRN_OK; i++) {
        const body_facts *f = &facts[i];
        /* As one of its objects says, or if none does, whether any is elastic. */
        const bool parts = f->said ? f->said->contact == 1 : f->elastic;
        if (f->first < i)
            body[i] = body[f->first];
        else
            body[i] = parts ? (uint16_t)(1 + apart++ % UINT16_MAX) : 0;
        if (body[i] != body[0]) *count = scene->object_count;
    }
    firn_names_free(&names);
    free(facts);
    if (st != FIRN_OK) return st;
    const bool projected = scene->simulation.def.pressure == FIRN_PRESSURE_PROJECTION;
    for (int32_t i = 0; i < scene->object_count && *count && projected; i++) {
        const firn_scene_object *o = &scene->object[i];
        if (body[i] == 0) continue;
        return firn_value_fail(
            o->where, error,
            "object %.60s parts from others, as elastic ones do unless told; with "
            "pressure: projection give it contact: merge",
            o->name ? o->name : "without a name");
    }
    return FIRN_OK;
}

/* Frictions of pairs of objects as those of their bodies. */
static firn_status choose_contacts(const firn_scene *scene, const uint16_t *body, firn_contact *out,
                                   firn_error *error)
{
    for (int32_t i = 0; i < scene->contact_count; i++) {
        const firn_scene_contact *c = &scene->contact[i];
        const uint16_t one = body[c->object[0]], other = body[c->object[1]];
        const char *first = scene->object[c->object[0]].name,
                   *second = scene->object[c->object[1]].name;
        if (one == other) {
            const bool named =
                same_body(&scene->object[c->object[0]], &scene->object[c->object[1]]);
            return firn_value_fail(c->where, error, "%.60s and %.60s %s", first, second,
                                   named ? "are one body, without friction; remove the contact, or "
                                           "the body of one of them"
                                   : one ? "merge, without friction; more objects are apart than "
                                           "can be told apart"
                                         : "merge, without friction; give one of them contact: "
                                           "apart");
        }
        for (int32_t k = 0; k < i; k++) {
            const uint16_t *before = out[k].body;
            if ((before[0] == one && before[1] == other) ||
                (before[0] == other && before[1] == one)) {
                return firn_value_fail(c->where, error,
                                       "friction between %.60s and %.60s, or what they merge with, "
                                       "is given twice",
                                       first, second);
            }
        }
        out[i] = (firn_contact){{one, other}, c->friction};
    }
    return FIRN_OK;
}

/* Heat as the sim takes it; `sources` has room for the scene's. */
static firn_heat_def heat_def(const firn_props *props, firn_heat_source *sources)
{
    const firn_scene_heat *h = &props->scene->heat;
    for (int32_t i = 0; i < h->source_count; i++) {
        const firn_scene_heat_source *s = &h->source[i];
        sources[i] = (firn_heat_source){firn_props_source(props, i), s->power, s->start, s->end,
                                        s->power_keys};
    }
    firn_heat_def def = h->def;
    def.sources = sources;
    def.source_count = h->source_count;
    return def;
}

bool firn_job_fits(const firn_job *job)
{
    return job->expected * firn_particle_bytes(job->scene) <= firn_memory_most();
}

/* What would not fit is refused before any of it is filled, at the object that has the most. */
static firn_status check_memory(firn_job *job, firn_error *error)
{
    const firn_value *where = job->scene->tree.root;
    double most = 0;
    job->expected = 0;
    for (int32_t i = 0; i < job->scene->object_count; i++) {
        const double count = firn_sources_expected(&job->sources, i);
        job->expected += count;
        if (count > most) where = job->scene->object[i].where;
        most = fmax(most, count);
    }
    if (firn_job_fits(job)) return FIRN_OK;
    const double bytes = job->expected * firn_particle_bytes(job->scene),
                 there = firn_memory_most();
    return firn_value_fail(
        where, error,
        "about %.0f particles, %.0f of them here, would take %.3g GB of memory; there are %.3g GB; "
        "use a resolution or separation at least %.3g times as large, or a smaller count",
        job->expected, most, 1e-9 * bytes, 1e-9 * there,
        pow(bytes / there, 1.0 / (double)job->scene->dimension));
}

/* Files of what stands still are read once; those of meshes that move, sample by sample. */
static firn_status open_sources(firn_job *job, firn_error *error)
{
    if (job->sources.scene) return FIRN_OK;
    firn_status st = firn_sources_open(&job->sources, job->scene, error);
    if (st == FIRN_OK) firn_sources_doubt(&job->sources, &job->log);
    if (st == FIRN_OK) st = check_memory(job, error);
    if (st != FIRN_OK) firn_sources_close(&job->sources);
    return st;
}

static firn_status open_emitters(firn_job *job, firn_error *error)
{
    bool emits = false;
    for (int32_t i = 0; i < job->scene->object_count; i++) {
        const firn_scene_object *o = &job->scene->object[i];
        emits |= o->emits;
        if (o->emits) job->object[i].emission.begin = o->emit.start;
    }
    if (emits) firn_doubt_emitters(job->scene, &job->log);
    const firn_status st = emits ? open_sources(job, error) : FIRN_OK;
    return st == FIRN_OK ? firn_emitters_open(job, error) : st;
}

/* What the sim has to say, with the names of colliders. */
static void pass_log(void *user_data, firn_log_level level, const char *subject, const char *text)
{
    const firn_job *job = user_data;
    char named[400];
    firn_scene_name_collider(job->scene, text, named, sizeof named);
    const size_t length = strlen(subject);
    const bool twice = strncmp(named, subject, length) == 0 && named[length] == ' ';
    job->log.write(job->log.user_data, level, subject, twice ? named + length + 1 : named);
}

firn_status firn_job_init(firn_job *job, const firn_scene *scene, const firn_job_options *options,
                          firn_error *error)
{
    *job = (firn_job){.scene = scene, .log = options->log};
    const int32_t walls = scene->domain_value && scene->domain.leaving == 0;
    job->object = calloc((size_t)scene->object_count + 1, sizeof *job->object);
    firn_contact *contacts = calloc((size_t)scene->contact_count + 1, sizeof *contacts);
    firn_collider_def *colliders = calloc((size_t)scene->collider_count + 1, sizeof *colliders);
    firn_heat_source *sources = calloc((size_t)scene->heat.source_count + 1, sizeof *sources);
    uint16_t *body = calloc((size_t)scene->object_count + 1, sizeof *body);
    firn_status st = job->object && contacts && colliders && sources && body
                         ? firn_variants_make(&job->variants, scene, error)
                         : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    int32_t parted = 0;
    if (st == FIRN_OK) st = choose_bodies(scene, body, &parted, error);
    if (st == FIRN_OK) st = choose_contacts(scene, body, contacts, error);
    if (st == FIRN_OK) st = firn_props_open(&job->props, scene, 0, options->threads, error);
    if (st == FIRN_OK) {
        for (int32_t i = 0; i < scene->collider_count; i++) {
            firn_prop_doubt(&job->props.collider[i].prop, scene, &job->log);
            colliders[i] = firn_props_collider(&job->props, i);
        }
        if (walls) colliders[scene->collider_count] = domain_walls(scene);
        firn_sim_def def = scene->simulation.def;
        def.materials = job->variants.def;
        def.material_count = job->variants.count;
        def.colliders = colliders;
        def.collider_count = scene->collider_count + walls;
        def.forces = scene->force;
        def.force_count = scene->force_count;
        def.object_bodies = body;
        def.object_count = parted;
        def.contacts = contacts;
        def.contact_count = scene->contact_count;
        if (scene->heat_value) def.heat = heat_def(&job->props, sources);
        def.threads = options->threads;
        def.isa = options->isa;
        if (job->log.write) def.log = (firn_log){pass_log, job};
        def.step_hook = options->step_hook;
        def.step_user_data = options->step_user_data;
        firn_error inner = {0};
        st = firn_sim_create(&def, &job->sim, &inner);
        if (st != FIRN_OK) st = firn_scene_refuse(scene, &inner, error);
    }
    if (st == FIRN_OK) firn_doubt_thin(scene, &job->log);
    if (st == FIRN_OK) firn_doubt_ignored(scene, firn_sim_get_info(job->sim).pressure, &job->log);
    if (st == FIRN_OK) st = firn_props_move(&job->props, job->sim, error);
    free(contacts);
    free(colliders);
    free(sources);
    free(body);
    return st == FIRN_OK ? open_emitters(job, error) : st;
}

void firn_job_deinit(firn_job *job)
{
    firn_sim_destroy(job->sim);
    for (int32_t i = 0; job->object && i < job->scene->object_count; i++) {
        firn_points_free(&job->object[i].carried);
        firn_stream_close(&job->object[i].stream);
    }
    free(job->object);
    firn_props_close(&job->props); /* after the sim, which looks at its meshes */
    firn_variants_free(&job->variants);
    firn_sources_close(&job->sources);
    *job = (firn_job){0};
}

/* ---- particles ---- */

/* With the gradient of the turning: affine transfers take from both what a body turns by. */
firn_status firn_job_velocities(const firn_scene_object *o, int dim, const double center[3],
                                firn_batch *b, firn_error *error)
{
    const bool flat = dim == 2;
    const double w[3] = {flat ? 0 : degree * o->spin[0], flat ? 0 : degree * o->spin[1],
                         degree * o->spin[2]};
    const double turn[3][3] = {{0, -w[2], w[1]}, {w[2], 0, -w[0]}, {-w[1], w[0], 0}};
    const bool turns = w[0] != 0 || w[1] != 0 || w[2] != 0;
    const size_t count = (size_t)b->count, d = (size_t)dim;
    if (!b->velocity) b->velocity = calloc(count * d + 1, sizeof *b->velocity);
    if (turns) b->velocity_gradient = malloc((count * d * d + 1) * sizeof *b->velocity_gradient);
    if (!b->velocity || (turns && !b->velocity_gradient)) {
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    for (int64_t i = 0; i < b->count; i++) {
        for (int a = 0; a < dim; a++) {
            double *v = &b->velocity[i * dim + a];
            *v += o->velocity[a];
            for (int c = 0; c < dim && turns; c++) {
                *v += turn[a][c] * (b->position[i * dim + c] - center[c]);
                b->velocity_gradient[(i * dim + a) * dim + c] = turn[a][c];
            }
        }
    }
    return FIRN_OK;
}

static void find_center(const firn_batch *b, int dim, double center[3])
{
    double sum = 0;
    for (int64_t i = 0; i < b->count; i++) {
        sum += b->volume[i];
        for (int a = 0; a < dim; a++) center[a] += b->volume[i] * b->position[i * dim + a];
    }
    for (int a = 0; a < dim && sum > 0; a++) center[a] /= sum;
}

/* Masses, where the file brought none: by the material's density, each particle's own, or `density`. */
static firn_status give_mass(const firn_scene *scene, const firn_scene_object *o, double density,
                             firn_batch *b, firn_error *error)
{
    if (b->mass) return FIRN_OK;
    b->mass = malloc(((size_t)b->count + 1) * sizeof *b->mass);
    if (!b->mass) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int64_t i = 0; i < b->count; i++) {
        const int32_t m = b->material ? b->material[i] : o->material_index;
        b->mass[i] = b->volume[i] * (density > 0 ? density
                                                 : scene->material[m].def.density /
                                                       firn_batch_rest_ratio(b, scene, o, i));
    }
    return FIRN_OK;
}

/* An array with the same number for every particle; NULL: no memory. */
static double *repeat(double value, int64_t count)
{
    double *out = malloc(((size_t)count + 1) * sizeof *out);
    for (int64_t i = 0; out && i < count; i++) out[i] = value;
    return out;
}

/* Temperatures and dye, where the file brought none and the scene says them. Noise goes by where
 * particles are filled. */
static firn_status give_heat(const firn_scene *scene, const firn_scene_object *o, firn_batch *b,
                             firn_error *error)
{
    const firn_scene_noise *n = o->temperature_noise_value ? &o->temperature_noise : NULL;
    const bool given = firn_section_given(&firn_section_object, o, "temperature");
    const size_t dim = (size_t)scene->dimension;
    if (!b->temperature && !b->enthalpy && (given || n)) {
        b->temperature = repeat(given ? o->temperature : scene->heat.def.ambient, b->count);
        if (!b->temperature) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        for (int64_t i = 0; n && i < b->count; i++) {
            double x[3] = {0};
            memcpy(x, (b->place ? b->place : b->position) + (size_t)i * dim, dim * sizeof *x);
            b->temperature[i] += n->amount * firn_noise(x, n->feature, (int32_t)n->octaves,
                                                        (uint64_t)(scene->seed + n->seed));
        }
    }
    if (!b->concentration && o->concentration > 0) {
        b->concentration = repeat(o->concentration, b->count);
        if (!b->concentration) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    return FIRN_OK;
}

/* Particles further apart than the cells are wide do not feel each other. Fillings give each an equal
 * part of the volume, which may be a little more than the separation says. */
static void warn_of_coarse(firn_job *job, int32_t index, const firn_batch *b)
{
    const firn_scene *scene = job->scene;
    const firn_value *where = scene->object[index].where;
    const double dim = (double)scene->dimension;
    double largest = 0;
    for (int64_t i = 0; i < b->count; i++) largest = fmax(largest, b->volume[i]);
    if (job->object[index].coarse || largest < 1.2 * pow(scene->cell_size, dim)) return;
    job->object[index].coarse = true;
    if (!job->log.write) return;
    char text[FIRN_LOCATION_SIZE + 300], place[FIRN_LOCATION_SIZE];
    snprintf(text, sizeof text,
             "%s: particles of %.3g m are larger than a cell of %.3g m: the material falls "
             "apart; fill it more finely or raise simulation.cell_size",
             firn_value_location(where, place), pow(largest, 1 / dim), scene->cell_size);
    job->log.write(job->log.user_data, FIRN_LOG_WARNING, "warning", text);
}

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Points of a file that take the resolution for their size, and lie so that the masses are wrong by more
 * than a factor of two. Too heavy goes by how many share a cube of three resolutions, which lattices and
 * random points fill alike; too light by the nearest neighbour, for which thin sheets and threads are as
 * good as bodies. Both are medians over some points. */
static void warn_of_spacing(const firn_job *job, int32_t index, const firn_batch *b)
{
    enum { LOOKS = 31 };
    const firn_scene *scene = job->scene;
    const int dim = (int)scene->dimension;
    if (!b->assumed || b->count < 2 || !job->log.write) return;
    double nearest[LOOKS], near[LOOKS];
    for (int s = 0; s < LOOKS; s++) {
        const uint64_t at = firn_mix((uint64_t)s + 1) % (uint64_t)b->count;
        double least = INFINITY;
        near[s] = 0;
        for (int64_t i = 0; i < b->count; i++) {
            double square = 0, widest = 0;
            for (int a = 0; a < dim; a++) {
                const double d =
                    fabs(b->position[i * dim + a] - b->position[(int64_t)at * dim + a]);
                square += d * d;
                widest = fmax(widest, d);
            }
            near[s] += widest < 1.5 * scene->resolution;
            if (square > 0) least = fmin(least, square);
        }
        nearest[s] = sqrt(least);
    }
    qsort(nearest, LOOKS, sizeof *nearest, rising);
    qsort(near, LOOKS, sizeof *near, rising);
    double apart = nearest[LOOKS / 2];
    if (near[LOOKS / 2] > 2 * pow(3, dim)) {
        apart = 3 * scene->resolution / pow(near[LOOKS / 2], 1.0 / dim);
    } else if (!(isfinite(apart) && pow(apart / scene->resolution, dim) > 2)) {
        return;
    }
    const firn_value *where = firn_value_get(scene->object[index].where, "particles");
    char text[FIRN_LOCATION_SIZE + 300], place[FIRN_LOCATION_SIZE];
    snprintf(text, sizeof text,
             "%s: points lie about %.1g m apart and count as cubes of the resolution, %g m; "
             "give the object its separation, or the file mass or pscale",
             firn_value_location(where, place), apart, scene->resolution);
    job->log.write(job->log.user_data, FIRN_LOG_WARNING, "warning", text);
}

/* Temperatures of a file that are as low as those of a scene which a run points out. */
static void warn_of_celsius(const firn_job *job, int32_t index, const firn_batch *b)
{
    double highest = -INFINITY;
    for (int64_t i = 0; b->temperature && i < b->count; i++) {
        highest = fmax(highest, b->temperature[i]);
    }
    if (!b->temperature || !(highest < 200) || !job->log.write) return;
    const firn_value *where = firn_value_get(job->scene->object[index].where, "particles");
    char text[FIRN_LOCATION_SIZE + 400], place[FIRN_LOCATION_SIZE];
    snprintf(text, sizeof text,
             "%s: temperatures of %.200s are in kelvin, and the highest is %g: add 273.15 if they "
             "are degrees Celsius",
             firn_value_location(where, place), where->text, highest);
    job->log.write(job->log.user_data, FIRN_LOG_WARNING, "warning", text);
}

/* Puts what begins inside a moving collider outside, where the surface moves away from it: the side
 * ahead would strike it as fast as the collider is. Through to the other side, if need be; a solid
 * without one is left as near as can be. */
static void put_behind(const firn_posed_collider *c, int dim, double slack, double x[3])
{
    enum { STEPS = 32 }; /* each as far as the nearest surface: doubles, and then arrives */
    double normal[3], n[3], v[3], at[3], ahead = 0;
    double d = firn_collider_distance(c, dim, x, normal);
    memcpy(at, x, sizeof at);
    firn_collider_surface_velocity(c, x, v);
    for (int a = 0; a < dim; a++) ahead += normal[a] * v[a];
    for (int i = 0; i < STEPS && ahead > 0 && d < 0; i++) {
        for (int a = 0; a < dim; a++) at[a] -= (slack - d) * normal[a];
        d = firn_collider_distance(c, dim, at, n);
    }
    if (d >= 0) {
        memcpy(x, at, sizeof at);
        return;
    }
    d = firn_collider_distance(c, dim, x, n);
    for (int a = 0; a < dim; a++) x[a] += (slack - d) * normal[a];
}

/* A ball around a batch: its radius. */
static double ball_around(const firn_batch *b, int dim, double center[3])
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY},
           square = 0;
    for (int64_t i = 0; i < b->count * dim; i++) {
        low[i % dim] = fmin(low[i % dim], b->position[i]);
        high[i % dim] = fmax(high[i % dim], b->position[i]);
    }
    for (int a = 0; a < dim; a++) {
        center[a] = 0.5 * (low[a] + high[a]);
        square += (high[a] - center[a]) * (high[a] - center[a]);
    }
    return sqrt(square);
}

/* Particles that begin deeper in a collider than half a resolution, which is more than touching, and
 * those that begin beyond the domain. The former do so outside if it moves, unless it holds them. */
static void find_misplaced(firn_job *job, int32_t index, firn_batch *b)
{
    const firn_scene *scene = job->scene;
    const int dim = (int)scene->dimension;
    firn_job_object *o = &job->object[index];
    double center[3] = {0}, unused[3];
    const double radius = ball_around(b, dim, center);
    for (int32_t c = 0; c < scene->collider_count; c++) {
        const firn_collider_def def = firn_props_collider(&job->props, c);
        firn_posed_collider posed;
        int64_t inside = 0;
        if (def.boundary == FIRN_HOLD || job->props.collider[c].hidden) continue;
        firn_collider_pose(&def, dim, 0, &posed);
        if (firn_collider_distance(&posed, dim, center, unused) > 1.05 * radius) continue;
        const bool moves = firn_prop_moves(&job->props.collider[c].prop) ||
                           posed.velocity[0] != 0 || posed.velocity[1] != 0 ||
                           posed.velocity[2] != 0 || posed.spin[0] != 0 || posed.spin[1] != 0 ||
                           posed.spin[2] != 0;
        for (int64_t i = 0; i < b->count; i++) {
            double x[3] = {0}, normal[3];
            memcpy(x, b->position + i * dim, (size_t)dim * sizeof *x);
            if (firn_collider_distance(&posed, dim, x, normal) >= -0.5 * scene->resolution)
                continue;
            inside++;
            if (!moves) continue;
            put_behind(&posed, dim, 1e-3 * scene->resolution, x);
            memcpy(b->position + i * dim, x, (size_t)dim * sizeof *x);
        }
        if (inside > o->inside) {
            o->inside = inside;
            o->collider = c;
            o->put_out = moves;
        }
    }
    for (int64_t i = 0; scene->domain_value && i < b->count; i++) {
        bool out = false;
        for (int a = 0; a < dim; a++) {
            const double x = b->position[i * dim + a];
            out |= x < scene->domain.low[a] || x > scene->domain.high[a];
        }
        o->outside += out;
    }
}

/* Gives particles of an object what the engine needs of them, all but their velocities. */
static firn_status complete(firn_job *job, int32_t index, firn_batch *b, firn_error *error)
{
    const firn_scene *scene = job->scene;
    const firn_scene_object *o = &scene->object[index];
    warn_of_celsius(job, index, b); /* so far they are those of a file */
    firn_status st = give_heat(scene, o, b, error);
    if (st == FIRN_OK) {
        const bool given = firn_section_given(&firn_section_object, o, "density");
        st = give_mass(scene, o, given ? o->density : 0, b, error);
    }
    if (st == FIRN_OK) {
        const int32_t threads = firn_sim_get_info(job->sim).threads;
        st = firn_variants_apply(&job->variants, &job->sources, index, threads, b, error);
    }
    if (st == FIRN_OK && firn_sim_time(job->sim) == 0)
        find_misplaced(job, index, b); /* later hosts may move colliders */
    return st;
}

static firn_particles particles_of(const firn_job *job, int32_t index, const firn_batch *b)
{
    firn_particles p = firn_particles_default();
    p.count = b->count;
    p.position = b->position;
    p.velocity = b->velocity;
    p.velocity_gradient = b->velocity_gradient;
    p.volume = b->volume;
    p.mass = b->mass;
    p.deformation_gradient = b->deformation_gradient;
    p.state = b->state;
    p.temperature = b->temperature;
    p.enthalpy = b->enthalpy;
    p.concentration = b->concentration;
    p.material = b->material;
    p.each_material = (uint16_t)job->scene->object[index].material_index;
    p.each_object = (uint16_t)index;
    return p;
}

/* What the sim refuses of an object's particles is wrong in the scene. */
static firn_status refuse(const firn_job *job, int32_t index, const char *message,
                          firn_error *error)
{
    const firn_scene_object *o = &job->scene->object[index];
    const firn_value *file = firn_value_get(o->where, "particles");
    return firn_value_fail(file ? file : o->where, error, "%s%s%s", file ? file->text : "",
                           file ? ": " : "", message);
}

/* Particles of an object are in the sim. */
static void note_added(firn_job *job, int32_t index, firn_batch *b, uint64_t first_id)
{
    firn_job_object *w = &job->object[index];
    warn_of_coarse(job, index, b);
    warn_of_spacing(job, index, b);
    w->first_id = first_id;
    w->particles += b->count;
    w->dropped += b->dropped;
    if (!job->scene->object[index].particles) return;
    w->carried = b->carried;
    b->carried = (firn_points){0};
}

/* ---- objects that are completed one after the other, and added together ---- */

struct firn_filled {
    firn_batch batch;
    int32_t object;
};

firn_status firn_queue_put(firn_job *job, firn_queue *q, int32_t index, firn_batch *b,
                           firn_error *error)
{
    if (q->count == q->room) {
        const int64_t room = 2 * q->room + 16;
        firn_filled *grown = realloc(q->filled, (size_t)room * sizeof *grown);
        if (!grown) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for objects");
        q->filled = grown;
        q->room = room;
    }
    const firn_status st = complete(job, index, b, error);
    if (st != FIRN_OK) return st;
    q->filled[q->count++] = (firn_filled){*b, index};
    q->particles += b->count;
    *b = (firn_batch){0};
    return FIRN_OK;
}

firn_status firn_queue_add(firn_job *job, firn_queue *q, firn_error *error)
{
    if (q->count == 0) return FIRN_OK;
    const size_t n = (size_t)q->count;
    firn_particles *p = malloc(n * sizeof *p);
    uint64_t *first_id = malloc(n * sizeof *first_id);
    int64_t refused = -1;
    firn_error inner = {0};
    firn_status st =
        p && first_id ? FIRN_OK : firn_fail(&inner, FIRN_NO_MEMORY, "out of memory for objects");
    for (int64_t i = 0; st == FIRN_OK && i < q->count; i++)
        p[i] = particles_of(job, q->filled[i].object, &q->filled[i].batch);
    if (st == FIRN_OK) st = firn_sim_add_batches(job->sim, p, q->count, first_id, &refused, &inner);
    for (int64_t i = 0; i < q->count; i++) {
        firn_filled *f = &q->filled[i];
        if (st == FIRN_OK) note_added(job, f->object, &f->batch, first_id[i]);
        firn_batch_free(&f->batch);
    }
    if (refused >= 0) {
        st = refuse(job, q->filled[refused].object, inner.message, error);
    } else if (st != FIRN_OK && error) {
        *error = inner;
    }
    q->count = q->particles = 0;
    free(p);
    free(first_id);
    return st;
}

void firn_queue_free(firn_queue *q)
{
    for (int64_t i = 0; i < q->count; i++) firn_batch_free(&q->filled[i].batch);
    free(q->filled);
    *q = (firn_queue){0};
}

/* Whether a batch brings velocities that are not all the same. */
static bool moves_within(const firn_batch *b, int dim)
{
    for (int64_t i = dim; b->velocity && i < b->count * dim; i++) {
        if (b->velocity[i] != b->velocity[i - dim]) return true;
    }
    return false;
}

static firn_status fill_object(firn_job *job, int32_t index, firn_queue *q, firn_error *error)
{
    const firn_scene_object *o = &job->scene->object[index];
    const int dim = (int)job->scene->dimension;
    firn_batch b = {0};
    double center[3] = {0};
    firn_status st = firn_sources_fill(&job->sources, index, true, &b, error);
    if (st == FIRN_OK && b.count == 0 && !o->emits) {
        st = firn_value_fail(o->where, error, "the object holds no particle: %s",
                             b.dropped      ? "earlier objects take all of its space"
                             : o->particles ? "its file has none"
                                            : "make it larger or resolution finer");
    }
    find_center(&b, dim, center);
    job->object[index].turning = moves_within(&b, dim);
    if (st == FIRN_OK) st = firn_job_velocities(o, dim, center, &b, error);
    if (st == FIRN_OK && b.count > 0) st = firn_queue_put(job, q, index, &b, error);
    firn_batch_free(&b);
    return st;
}

/* Fills all objects that emit, or all that do not. What waits to be added is at most a fourth of what the sim
 * has, or little. */
static firn_status fill_objects(firn_job *job, bool emit, firn_error *error)
{
    enum { LITTLE = 65536 };
    const firn_scene *scene = job->scene;
    firn_queue q = {0};
    firn_status st = FIRN_OK;
    for (int32_t i = 0; i < scene->object_count && st == FIRN_OK; i++) {
        if (scene->object[i].emits != emit) continue;
        st = fill_object(job, i, &q, error);
        if (st == FIRN_OK && q.particles > LITTLE && q.particles > firn_sim_count(job->sim) / 4)
            st = firn_queue_add(job, &q, error);
    }
    if (st == FIRN_OK) st = firn_queue_add(job, &q, error);
    firn_queue_free(&q);
    return st;
}

firn_status firn_job_fill(firn_job *job, firn_error *error)
{
    FIRN_REQUIRE(job, error);
    if (job->filled) return firn_fail(error, FIRN_INVALID, "the job is filled already");
    job->filled = true;
    const firn_scene *scene = job->scene;
    firn_status st = open_sources(job, error);
    bool later = scene->sink_count > 0; /* whether sources are needed again */
    for (int32_t i = 0; i < scene->object_count; i++) later = later || scene->object[i].emits;
    if (st == FIRN_OK) st = fill_objects(job, false, error);
    if (!later) firn_sources_close(&job->sources);
    if (st == FIRN_OK && scene->simulation.volumes == 1) {
        st = firn_sim_estimate_volumes(job->sim, error);
    }
    for (int32_t i = 0; i < scene->object_count && st == FIRN_OK; i++) {
        const firn_job_object *w = &job->object[i];
        if (w->turning) {
            st = firn_sim_estimate_gradients(job->sim, w->first_id, w->particles, error);
        }
    }
    return st;
}

/* ---- time ---- */

firn_status firn_job_try_emitters(firn_job *job, firn_error *error)
{
    return fill_objects(job, true, error);
}

typedef struct keeper {
    const firn_job *job;
    double time;
} keeper;

static int keep(void *user_data, uint64_t id, const double position[3], uint16_t material,
                uint16_t object)
{
    (void)id;
    (void)material;
    (void)object;
    const keeper *k = user_data;
    const firn_scene *scene = k->job->scene;
    for (int a = 0; scene->domain_value && scene->domain.leaving == 1 && a < scene->dimension;
         a++) {
        if (position[a] < scene->domain.low[a] || position[a] > scene->domain.high[a]) return 0;
    }
    for (int32_t i = 0; i < scene->sink_count; i++) {
        const firn_scene_sink *s = &scene->sink[i];
        if (k->time < s->start || k->time > s->end) continue;
        if (firn_sources_in_sink(&k->job->sources, i, position)) return 0;
    }
    return 1;
}

static firn_status remove_leavers(firn_job *job, firn_error *error)
{
    const firn_scene *scene = job->scene;
    if (!scene->sink_count && !(scene->domain_value && scene->domain.leaving == 1)) return FIRN_OK;
    const keeper k = {job, firn_sim_time(job->sim)};
    firn_status st = scene->sink_count ? open_sources(job, error) : FIRN_OK;
    if (st == FIRN_OK && scene->sink_count) {
        st = firn_sources_move_sinks(&job->sources, k.time, error);
    }
    return st == FIRN_OK ? firn_sim_remove(job->sim, keep, (void *)&k, NULL, error) : st;
}

/* What is due now: emissions, and the next parts of meshes' motions. */
static firn_status begin_advance(firn_job *job, double target, firn_error *error)
{
    const double now = firn_sim_time(job->sim);
    if (!(target >= now && isfinite(target))) {
        return firn_fail(error, FIRN_INVALID, "time %g s must not be before %g s, where the job is",
                         target, now);
    }
    const firn_status st = firn_emitters_emit(job, now, false, error);
    return st == FIRN_OK ? firn_props_move(&job->props, job->sim, error) : st;
}

/* How far the sim can go at once. */
static double next_stop(const firn_job *job, double target)
{
    double until = fmin(target, firn_props_next(&job->props));
    for (int32_t i = 0; i < job->scene->object_count; i++) {
        until = fmin(until, firn_emitters_next(job, i));
    }
    return until;
}

/* Sinks also act where a hook has stopped the sim. */
static firn_status end_advance(firn_job *job, firn_status st, firn_error *error)
{
    if (st != FIRN_OK && st != FIRN_STOPPED) return st;
    const firn_status removed = remove_leavers(job, error);
    return removed == FIRN_OK ? st : removed;
}

firn_status firn_job_advance(firn_job *job, double target, firn_report *report, firn_error *error)
{
    FIRN_REQUIRE(job, error);
    firn_report own;
    if (!report) report = &own;
    *report = (firn_report){.dt_least = INFINITY};
    firn_status st = begin_advance(job, target, error);
    while (st == FIRN_OK && target - firn_sim_time(job->sim) > 1e-9 * target) {
        const double until = next_stop(job, target);
        firn_report part = {0};
        st = firn_sim_advance(job->sim, until - firn_sim_time(job->sim), &part, error);
        const int64_t steps = report->steps, retries = report->retries,
                      iterations = report->iterations, heat_steps = report->heat_steps,
                      heat_iterations = report->heat_iterations;
        const double least = report->dt_least, residual = report->residual,
                     divergence = report->divergence;
        double phases[FIRN_PHASES];
        memcpy(phases, report->phase_seconds, sizeof phases);
        *report = part;
        report->steps += steps;
        report->retries += retries;
        report->iterations += iterations;
        report->heat_steps += heat_steps;
        report->heat_iterations += heat_iterations;
        report->dt_least = fmin(least, part.dt_least);
        report->residual = fmax(residual, part.residual);
        report->divergence = fmax(divergence, part.divergence);
        for (int p = 0; p < FIRN_PHASES; p++) report->phase_seconds[p] += phases[p];
        if (st == FIRN_OK) st = firn_emitters_emit(job, until, until == target, error);
        if (st == FIRN_OK) st = firn_props_move(&job->props, job->sim, error);
    }
    return end_advance(job, st, error);
}

firn_status firn_job_step(firn_job *job, double target, firn_report *report, firn_error *error)
{
    *report = (firn_report){0};
    firn_status st = begin_advance(job, target, error);
    if (st != FIRN_OK) return st;
    const double until = next_stop(job, target), left = until - firn_sim_time(job->sim);
    st = firn_sim_step_within(job->sim, left, report, error);
    if (st == FIRN_OK && until - firn_sim_time(job->sim) <= 1e-9 * until) {
        st = firn_emitters_emit(job, until, until == target, error);
    }
    return end_advance(job, st, error);
}

/* ---- the handle ---- */

firn_job_options firn_job_options_default(void) { return (firn_job_options){0}; }

firn_status firn_job_create(const firn_scene *scene, const firn_job_options *options,
                            firn_job **out, firn_error *error)
{
    FIRN_REQUIRE(out, error);
    *out = NULL;
    FIRN_REQUIRE(scene, error);
    FIRN_REQUIRE(options, error);
    firn_job *job = calloc(1, sizeof *job);
    if (!job) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    const firn_status st = firn_job_init(job, scene, options, error);
    if (st == FIRN_OK) {
        *out = job;
    } else {
        firn_job_destroy(job);
    }
    return st;
}

void firn_job_destroy(firn_job *job)
{
    if (!job) return;
    firn_job_deinit(job);
    free(job);
}

firn_sim *firn_job_sim(const firn_job *job) { return job->sim; }
