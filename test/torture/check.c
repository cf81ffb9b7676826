/* Runs a scene and checks every frame. What can be checked follows from the scene itself, so that a
 * scene which shrinking has cut is still judged rightly. */
#include "torture.h"

#include <math.h>
#include <stdarg.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TORTURE_NAME(name, claim) #name,
const char *const torture_check_name[CHECK_COUNT + 1] = {TORTURE_CHECKS(TORTURE_NAME) NULL};

/* Generated scenes take some thousands of steps; one that takes so many has all but stopped. */
enum { MOST_STEPS = 200000, MAX_COLLIDERS = 16 };

/* Part of the energy at hand by which it may grow. */
static const double energy_slack = 0.02;
/* Volume over that at rest below which energy is not checked any more: AFLIP and ASFLIP gain some per
 * cent when soft material is crushed so far. The cause is not known. */
static const double least_volume = 0.1;
/* Cells that a particle may be below a surface. */
static const double depth_slack = 0.05;

typedef struct checker {
    const node *tree;
    torture_check sabotage;
    torture_result *result;
    int32_t dim;
    bool keeps;         /* particles: no sinks, no domain that deletes */
    bool emits, closed; /* closed: energy can only fall */
    double h, seconds;  /* m, cell size; s, of the scene */
    firn_collider_def collider[MAX_COLLIDERS];
    int32_t collider_count;
    double *points; /* of polygons */
    /* At the start, and since */
    double mass, gravitational;
    double energy, at_hand; /* energy: the least so far */
    uint8_t *began_inside;  /* by id */
    int64_t known;          /* ids */
} checker;

static bool fail(checker *c, torture_check check, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(checker *c, torture_check check, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(c->result->message, sizeof c->result->message, format, list);
    va_end(list);
    c->result->outcome = FAILED;
    c->result->check = check;
    return false;
}

/* ---- what a scene says ---- */

static bool any_entry(const node *list, const char *key)
{
    for (const node *n = list ? list->child : NULL; n; n = n->next) {
        if (node_get(n, key)) return true;
    }
    return false;
}

static void learn_scene(checker *c)
{
    const node *t = c->tree, *objects = node_get(t, "objects"),
               *colliders = node_get(t, "colliders"), *domain = node_get(t, "domain");
    const node *leaving = node_get(domain, "leaving");
    const bool deletes = leaving && strcmp(leaving->value, "delete") == 0;
    c->emits = any_entry(objects, "emit");
    c->keeps = !node_get(t, "sinks") && !deletes;
    c->closed = c->keeps && !c->emits && !node_get(t, "heat") && !node_get(t, "forces") &&
                !any_entry(colliders, "keys") && !any_entry(colliders, "surface_velocity") &&
                !any_entry(colliders, "surface_spin");
}

/* The shape and size of a collider as the engine has them; its place is asked of the sim. */
static bool learn_shape(checker *c, const node *shape, firn_collider_def *def, double **points)
{
    static const struct {
        const char *word;
        firn_shape_kind kind;
        const char *size[2]; /* keys of the first two sizes, or of all */
        double times[2];
    } rows[] = {{"plane", FIRN_PLANE, {NULL}, {0}},
                {"box", FIRN_BOX, {"size"}, {0.5}},
                {"rectangle", FIRN_BOX, {"size"}, {0.5}},
                {"inside", FIRN_INSIDE, {"size"}, {0.5}},
                {"ellipsoid", FIRN_ELLIPSOID, {"radii"}, {1}},
                {"sphere", FIRN_SPHERE, {"radius"}, {1}},
                {"disc", FIRN_SPHERE, {"radius"}, {1}},
                {"capsule", FIRN_CAPSULE, {"radius"}, {1}},
                {"cylinder", FIRN_CYLINDER, {"radius", "height"}, {1, 0.5}},
                {"cone", FIRN_CONE, {"radius", "height"}, {1, 1}},
                {"torus", FIRN_TORUS, {"radius", "tube"}, {1, 1}},
                {"ring", FIRN_RING, {"radius", "inner"}, {1, 1}},
                {"polygon", FIRN_POLYGON, {NULL}, {0}}};
    size_t row = 0;
    if (!shape || !shape->child) return false;
    const node *s = shape->child;
    while (row < sizeof rows / sizeof *rows && strcmp(rows[row].word, s->key) != 0) row++;
    if (row == sizeof rows / sizeof *rows) return false;
    *def = firn_collider_def_default();
    def->shape = rows[row].kind;
    for (int i = 0; i < 2 && rows[row].size[i]; i++) {
        const node *size = node_get(s, rows[row].size[i]);
        if (!size) return false;
        if (size->list) {
            node_get_vector(s, rows[row].size[i], def->size);
            for (int a = 0; a < 3; a++) def->size[a] *= rows[row].times[i];
        } else {
            def->size[i] = rows[row].times[i] * strtod(size->value, NULL);
        }
    }
    if (def->shape == FIRN_CAPSULE) {
        double from[3] = {0}, to[3] = {0};
        node_get_vector(s, "from", from);
        node_get_vector(s, "to", to);
        if (c->dim == 2) from[2] = to[2] = 0;
        def->size[1] =
            0.5 * sqrt(pow(to[0] - from[0], 2) + pow(to[1] - from[1], 2) + pow(to[2] - from[2], 2));
    }
    if (def->shape == FIRN_POLYGON) {
        def->points = *points;
        for (const node *p = node_get(s, "points")->child; p; p = p->next) {
            for (const node *x = p->child; x; x = x->next) *(*points)++ = strtod(x->value, NULL);
            def->point_count++;
        }
    }
    return true;
}

static bool learn_colliders(checker *c)
{
    double *points = c->points = calloc(1 << 14, sizeof *points);
    if (!points) abort();
    const node *list = node_get(c->tree, "colliders"), *domain = node_get(c->tree, "domain");
    const node *leaving = node_get(domain, "leaving");
    for (const node *n = list ? list->child : NULL; n; n = n->next) {
        if (c->collider_count == MAX_COLLIDERS) return false;
        if (!learn_shape(c, node_get(n, "shape"), &c->collider[c->collider_count++], &points)) {
            return false;
        }
    }
    if (domain && !(leaving && strcmp(leaving->value, "delete") == 0)) {
        double low[3] = {-1e6, -1e6, -1e6}, high[3] = {1e6, 1e6, 1e6};
        if (c->collider_count == MAX_COLLIDERS) return false;
        node_get_vector(domain, "low", low);
        node_get_vector(domain, "high", high);
        firn_collider_def *def = &c->collider[c->collider_count++];
        *def = firn_collider_def_default();
        def->shape = FIRN_INSIDE;
        for (int a = 0; a < 3; a++) def->size[a] = 0.5 * (high[a] - low[a]);
    }
    return true;
}

/* ---- checks ---- */

/* Row-major, of a unit quaternion. */
static void matrix_of(const double q[4], double R[3][3])
{
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double rows[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                               {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                               {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(R, rows, sizeof rows);
}

typedef struct pose {
    double position[3], R[3][3];
} pose;

/* Signed distances of a point to all colliders. */
static void distances(const checker *c, const pose *poses, const double x[3], double *out)
{
    for (int32_t k = 0; k < c->collider_count; k++) {
        const pose *p = &poses[k];
        double local[3] = {0}, normal[3];
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++) local[a] += p->R[b][a] * (x[b] - p->position[b]);
        }
        out[k] = firn_shape_distance(&c->collider[k], c->dim, local, normal);
    }
}

static bool read_field(checker *c, firn_sim *sim, firn_field field, double **out)
{
    const firn_field_info info = firn_field_get_info(field);
    const int64_t count = firn_sim_count(sim);
    const int32_t n = c->dim == 2 ? info.components_2d : info.components_3d;
    *out = calloc((size_t)(count * n) + 1, sizeof **out);
    if (!*out) abort();
    firn_error error = {0};
    if (firn_sim_read(sim, field, 0, count, *out, &error) != FIRN_OK) {
        return fail(c, CHECK_advance, "reading %s: %s", info.name, error.message);
    }
    return true;
}

static bool check_fields(checker *c, firn_sim *sim, int64_t frame)
{
    const int64_t count = firn_sim_count(sim);
    bool good = true;
    for (int f = 0; f < FIRN_FIELD_COUNT && good; f++) {
        const firn_field_info info = firn_field_get_info((firn_field)f);
        if (info.heat && !node_get(c->tree, "heat")) continue;
        const int32_t n = c->dim == 2 ? info.components_2d : info.components_3d;
        double *values = NULL;
        good = read_field(c, sim, (firn_field)f, &values);
        if (c->sabotage == CHECK_finite && f == FIRN_VELOCITY && count > 0) values[0] = NAN;
        if (c->sabotage == CHECK_ids && f == FIRN_ID && count > 1) values[1] = values[0];
        for (int64_t i = 0; i < count * n && good; i++) {
            if (!isfinite(values[i])) {
                good = fail(c, CHECK_finite, "frame %lld: %s of particle %lld is %g",
                            (long long)frame, info.name, (long long)(i / n), values[i]);
            } else if (f == FIRN_ID && i > 0 && !(values[i] > values[i - 1])) {
                good = fail(c, CHECK_ids, "frame %lld: id %.0f follows id %.0f", (long long)frame,
                            values[i], values[i - 1]);
            }
        }
        free(values);
    }
    return good;
}

/* Particles may be inside if they began there, and where two colliders leave no space. */
static bool check_colliders(checker *c, firn_sim *sim, int64_t frame, int64_t outside)
{
    if (c->collider_count == 0) return true;
    pose poses[MAX_COLLIDERS] = {0};
    firn_error error = {0};
    for (int32_t k = 0; k < c->collider_count; k++) {
        firn_collider_motion motion;
        if (firn_sim_read_motion(sim, k, &motion, &error) != FIRN_OK) {
            return fail(c, CHECK_advance, "reading the motion of collider %d: %s", (int)k,
                        error.message);
        }
        memcpy(poses[k].position, motion.position, sizeof poses[k].position);
        matrix_of(motion.rotation, poses[k].R);
    }
    double *position = NULL, *ids = NULL;
    bool good = read_field(c, sim, FIRN_POSITION, &position) && read_field(c, sim, FIRN_ID, &ids);
    const int64_t count = firn_sim_count(sim);
    int64_t inside = 0;
    if (good && count > 0 && (int64_t)ids[count - 1] >= c->known) {
        const int64_t known = (int64_t)ids[count - 1] + 1;
        uint8_t *longer = realloc(c->began_inside, (size_t)known);
        if (!longer) abort();
        c->began_inside = longer;
        memset(c->began_inside + c->known, 2, (size_t)(known - c->known));
        c->known = known;
    }
    for (int64_t i = 0; i < count && good; i++) {
        double x[3] = {0}, d[MAX_COLLIDERS];
        memcpy(x, position + i * c->dim, (size_t)c->dim * sizeof *x);
        distances(c, poses, x, d);
        int32_t deepest = 0;
        int near = 0;
        bool in = false;
        for (int32_t k = 0; k < c->collider_count; k++) {
            if (d[k] < d[deepest]) deepest = k;
            near += d[k] < c->h;
            in |= d[k] < 0;
        }
        inside += in;
        uint8_t *began = &c->began_inside[(int64_t)ids[i]];
        if (*began == 2) *began = d[deepest] < 0; /* seen for the first time */
        if (!*began && near < 2) c->result->depth = fmax(c->result->depth, -d[deepest] / c->h);
        if (c->result->depth > depth_slack) {
            good = fail(c, CHECK_collider,
                        "frame %lld: particle %.0f is %.3g cells inside collider %d",
                        (long long)frame, ids[i], -d[deepest] / c->h, (int)deepest);
        }
    }
    if (good && inside != outside) { /* a mistake of this file */
        good = fail(c, CHECK_collider,
                    "frame %lld: %lld particles are inside of colliders by shapes, %lld by the sim",
                    (long long)frame, (long long)inside, (long long)outside);
    }
    free(position);
    free(ids);
    return good;
}

/* What gravity can give over a height. */
static bool fall_energy(checker *c, firn_sim *sim, double mass, double *out)
{
    double *x = NULL, low = INFINITY, high = -INFINITY;
    if (!read_field(c, sim, FIRN_POSITION, &x)) return false;
    double gravity[3] = {0, -9.81, 0};
    const node *up = node_get(c->tree, "up"), *simulation = node_get(c->tree, "simulation");
    if (up && strcmp(up->value, "z") == 0) gravity[1] = 0, gravity[2] = -9.81;
    node_get_vector(simulation, "gravity", gravity);
    for (int64_t i = 0; i < firn_sim_count(sim); i++) {
        double y = 0;
        for (int a = 0; a < c->dim; a++) y -= x[i * c->dim + a] * gravity[a];
        low = fmin(low, y);
        high = fmax(high, y);
    }
    free(x);
    *out = mass * fmax(0, high - low);
    return true;
}

/* Energy may only fall. At hand is the most that there was of motion and of strain, and what
 * gravity gives over the height of the material. */
static bool check_energy(checker *c, firn_sim *sim, int64_t frame, const firn_totals *t)
{
    const double total = t->kinetic + t->elastic + t->gravitational;
    double fall = 0;
    if (!fall_energy(c, sim, t->mass, &fall)) return false;
    c->at_hand = fmax(c->at_hand, t->kinetic + t->elastic + fall);
    if (frame == 0) {
        /* Rounding moves what is at rest. All material moving a thousandth of a cell counts as
         * none. */
        c->at_hand = fmax(c->at_hand, 0.5 * t->mass * pow(1e-3 * c->h / c->seconds, 2));
        c->energy = total;
        c->gravitational = t->gravitational;
        c->result->closed = t->outside == 0;
        return true;
    }
    if (t->min_J < least_volume) c->result->closed = false;
    if (!c->result->closed) return true;
    const double gain = (total - c->energy) / c->at_hand;
    c->result->gain = fmax(c->result->gain, gain);
    c->energy = fmin(c->energy, total);
    if (gain > energy_slack) {
        return fail(c, CHECK_energy, "frame %lld: energy rose by %.3g %% of %.3g J",
                    (long long)frame, 100 * gain, c->at_hand);
    }
    return true;
}

/* No particle moves faster than all of the energy at hand, and what gravity gave since, would
 * make it. */
static bool check_speed(checker *c, firn_sim *sim, int64_t frame, const firn_totals *t)
{
    const double most = c->at_hand + fmax(0, c->gravitational - t->gravitational);
    double *v = NULL, *mass = NULL;
    bool good = read_field(c, sim, FIRN_VELOCITY, &v) && read_field(c, sim, FIRN_MASS, &mass);
    for (int64_t i = 0; i < firn_sim_count(sim) && good && frame > 0; i++) {
        double kinetic = 0;
        for (int a = 0; a < c->dim; a++) {
            kinetic += 0.5 * mass[i] * v[i * c->dim + a] * v[i * c->dim + a];
        }
        if (kinetic > (1 + energy_slack) * most) {
            good = fail(c, CHECK_speed, "frame %lld: a particle has %.3g J of %.3g J",
                        (long long)frame, kinetic, most);
        }
    }
    free(v);
    free(mass);
    return good;
}

static int keep_all_but_first(void *user_data, uint64_t id, const double position[3],
                              uint16_t material, uint16_t object)
{
    (void)position;
    (void)material;
    (void)object;
    const uint64_t *gone = user_data;
    return id != *gone;
}

/* Multiplies the velocity of the first `count` particles, and pushes them. */
static void disturb(checker *c, firn_sim *sim, int64_t count, double factor)
{
    double *v = NULL;
    firn_error error;
    if (!read_field(c, sim, FIRN_VELOCITY, &v)) return;
    for (int64_t i = 0; i < count * c->dim; i++) v[i] = factor * (v[i] + 1e-3 * c->h);
    if (firn_sim_write(sim, FIRN_VELOCITY, 0, count, v, &error) != FIRN_OK) abort();
    free(v);
}

/* Breaks what a check looks at. */
static void break_frame(checker *c, firn_sim *sim, int64_t frame)
{
    firn_error error;
    uint64_t first = 0;
    if (frame != 1) return;
    if (c->sabotage == CHECK_count &&
        firn_sim_remove(sim, keep_all_but_first, &first, NULL, &error) != FIRN_OK) {
        abort();
    }
    if (c->sabotage == CHECK_mass) {
        const double heavy = 1e3;
        if (firn_sim_write(sim, FIRN_MASS, 0, 1, &heavy, &error) != FIRN_OK) abort();
    }
    if (c->sabotage == CHECK_collider) { /* over the material */
        firn_collider_motion m;
        if (firn_sim_read_motion(sim, 0, &m, &error) != FIRN_OK) abort();
        m.position[1] += 0.6;
        m.seconds = 0;
        if (firn_sim_set_motion(sim, 0, &m, &error) != FIRN_OK) abort();
    }
    if (c->sabotage == CHECK_energy) disturb(c, sim, firn_sim_count(sim), 1.5);
    if (c->sabotage == CHECK_speed) disturb(c, sim, 1, 1e4);
    if (c->sabotage == CHECK_crash) raise(SIGSEGV);
    if (c->sabotage == CHECK_hang) {
        for (;;) continue;
    }
}

static bool check_frame(checker *c, firn_sim *sim, int64_t frame, int64_t expected)
{
    firn_totals t;
    firn_error error = {0};
    break_frame(c, sim, frame);
    if (firn_sim_measure(sim, &t, &error) != FIRN_OK) {
        return fail(c, CHECK_advance, "measuring: %s", error.message);
    }
    const int64_t count = firn_sim_count(sim);
    if (!check_fields(c, sim, frame)) return false;
    if (c->keeps ? count != expected : count > expected) {
        return fail(c, CHECK_count, "frame %lld: %lld particles, where there should be %lld",
                    (long long)frame, (long long)count, (long long)expected);
    }
    if (frame == 0) c->mass = t.mass;
    if (c->keeps && !c->emits && fabs(t.mass - c->mass) > 1e-9 * c->mass) {
        return fail(c, CHECK_mass, "frame %lld: mass is %.9g times that at the start",
                    (long long)frame, t.mass / c->mass);
    }
    if (!check_colliders(c, sim, frame, t.outside)) return false;
    if (!c->closed) return true;
    /* Speed first: what breaks it breaks energy too. */
    if (c->result->closed && !check_speed(c, sim, frame, &t)) return false;
    return check_energy(c, sim, frame, &t);
}

/* ---- runs ---- */

typedef struct runner {
    checker *c;
    const firn_scene *scene;
    firn_scene_info info;
    int64_t frames;
} runner;

static int count_step(void *user_data, const firn_report *report)
{
    (void)report;
    checker *c = user_data;
    c->result->steps++;
    return c->result->steps > (c->sabotage == CHECK_steps ? 3 : MOST_STEPS);
}

/* An error before the first step refuses the scene, unless it is about memory. */
static bool refuse(checker *c, firn_status status, const firn_error *error)
{
    if (status != FIRN_INVALID && status != FIRN_UNSUPPORTED) {
        return fail(c, CHECK_advance, "before the first step: %s", error->message);
    }
    snprintf(c->result->message, sizeof c->result->message, "%s", error->message);
    c->result->outcome = REFUSED;
    return false;
}

static bool open_job(runner *r, int32_t threads, bool fill, firn_job **job)
{
    firn_job_options options = firn_job_options_default();
    options.threads = threads;
    options.step_hook = count_step;
    options.step_user_data = r->c;
    firn_error error = {0};
    firn_status st = firn_job_create(r->scene, &options, job, &error);
    if (st == FIRN_OK && fill) st = firn_job_fill(*job, &error);
    return st == FIRN_OK || refuse(r->c, st, &error);
}

static bool advance(runner *r, firn_job *job, int64_t frame)
{
    firn_error error = {0};
    const firn_status st = firn_job_advance(job, (double)frame / r->info.fps, NULL, &error);
    if (st == FIRN_OK) return true;
    if (st == FIRN_STOPPED) {
        return fail(r->c, CHECK_steps, "frame %lld: more than %d steps", (long long)frame,
                    MOST_STEPS);
    }
    return fail(r->c, CHECK_advance, "frame %lld: %s", (long long)frame, error.message);
}

static bool hash_of(runner *r, firn_job *job, firn_hash *hash)
{
    firn_error error = {0};
    if (firn_sim_hash(firn_job_sim(job), hash, &error) == FIRN_OK) return true;
    return fail(r->c, CHECK_advance, "hash: %s", error.message);
}

/* Runs the scene again, from frame `from` of a checkpoint if it is above 0, and compares the
 * end. */
static bool run_again(runner *r, torture_check check, int64_t from, const char *path,
                      firn_hash expected)
{
    checker *c = r->c;
    firn_job *job = NULL;
    firn_hash hash = {{0}};
    firn_error error = {0};
    c->result->steps = 0;
    bool good = open_job(r, check == CHECK_threads ? 2 : 1, from == 0, &job);
    if (good && from > 0 && firn_job_load(job, path, NULL, &error) != FIRN_OK) {
        good = fail(c, check, "loading frame %lld: %s", (long long)from, error.message);
    }
    for (int64_t f = from + 1; f <= r->frames && good; f++) {
        if (c->sabotage == check && f == r->frames) disturb(c, firn_job_sim(job), 1, 1.001);
        good = advance(r, job, f);
    }
    good = good && hash_of(r, job, &hash);
    if (good && memcmp(&hash, &expected, sizeof hash) != 0) {
        good = fail(c, check, "the last frame is another");
    }
    firn_job_destroy(job);
    return good;
}

static bool run_frames(runner *r, bool twice)
{
    checker *c = r->c;
    firn_job *job = NULL;
    firn_hash hash;
    firn_error error = {0};
    char path[80];
    snprintf(path, sizeof path, "/tmp/firn_torture.%ld.ckpt", (long)getpid());
    if (!open_job(r, 1, true, &job)) {
        firn_job_destroy(job);
        return false;
    }
    firn_sim *sim = firn_job_sim(job);
    c->result->particles = firn_sim_count(sim);
    bool good = check_frame(c, sim, 0, c->result->particles);
    const int64_t middle = (r->frames + 1) / 2;
    for (int64_t f = 1; f <= r->frames && good; f++) {
        const int64_t expected = firn_job_count_at(job, (double)f / r->info.fps);
        good = advance(r, job, f) && check_frame(c, sim, f, expected);
        if (good && twice && f == middle && firn_job_save(job, f, path, &error) != FIRN_OK) {
            good = fail(c, CHECK_checkpoint, "saving: %s", error.message);
        }
    }
    good = good && hash_of(r, job, &hash);
    const int64_t steps = c->result->steps;
    firn_job_destroy(job);
    if (good && twice) {
        good = run_again(r, CHECK_threads, 0, NULL, hash) &&
               run_again(r, CHECK_checkpoint, middle, path, hash);
        c->result->steps = steps;
    }
    if (twice) unlink(path);
    return good;
}

torture_result torture_run(const node *tree, bool twice, torture_check sabotage)
{
    torture_result result = {.outcome = PASSED, .check = CHECK_COUNT};
    checker c = {.tree = tree, .sabotage = sabotage, .result = &result};
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory) abort();
    node_write(tree, memory);
    fclose(memory);
    firn_scene_def def = firn_scene_def_default();
    def.path = "scene";
    def.text = text;
    def.text_size = size;
    runner r = {.c = &c};
    firn_scene *scene = NULL;
    firn_error error = {0};
    const firn_status st = firn_scene_create(&def, &scene, &error);
    if (st != FIRN_OK) {
        refuse(&c, st, &error);
    } else {
        r.scene = scene;
        r.info = firn_scene_get_info(scene);
        r.frames = r.info.last_frame - r.info.first_frame;
        c.dim = r.info.dimension;
        c.h = r.info.cell_size;
        c.seconds = (double)r.frames / r.info.fps;
        learn_scene(&c);
        if (learn_colliders(&c)) {
            run_frames(&r, twice);
        } else {
            result.outcome = REFUSED;
            snprintf(result.message, sizeof result.message,
                     "this program does not know the shape or size of a collider");
        }
    }
    firn_scene_destroy(scene);
    free(c.points);
    free(c.began_inside);
    free(text);
    return result;
}
