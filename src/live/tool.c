/* Hands on the material: grab, push, cut, emit, heat, within a ball (2D: a disc). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <firn/host.h>

#include "base/error.h"
#include "collider/collider.h"
#include "live/live.h"

firn_status firn_live_check_tool(const firn_live *live, const firn_live_tool *tool,
                                 firn_error *error)
{
    if (tool->kind == FIRN_TOOL_HEAT && !live->scene->heat_value) {
        return firn_fail(error, FIRN_INVALID, "the scene has no heat; add heat: {} to it");
    }
    char near[200];
    if (tool->kind == FIRN_TOOL_EMIT &&
        firn_scene_find_material(live->scene, tool->material, near, sizeof near) < 0) {
        return firn_fail(error, FIRN_INVALID, "there is no material \"%.60s\"%s", tool->material,
                         near);
    }
    return FIRN_OK;
}

static firn_collider_def region_of(const firn_live_tool *tool)
{
    firn_collider_def def = firn_collider_def_default();
    def.shape = FIRN_SPHERE;
    def.size[0] = tool->radius;
    memcpy(def.position, tool->at, sizeof def.position);
    return def;
}

/* ---- cut ---- */

typedef struct ball {
    double at[3], radius;
    int dim;
} ball;

static bool holds(const ball *b, const double x[3])
{
    double square = 0;
    for (int a = 0; a < b->dim; a++) square += (x[a] - b->at[a]) * (x[a] - b->at[a]);
    return square < b->radius * b->radius;
}

static int keep_outside(void *user_data, uint64_t id, const double position[3], uint16_t material,
                        uint16_t object)
{
    (void)id, (void)material, (void)object;
    return !holds(user_data, position);
}

/* ---- heat ---- */

/* As much heat as warms the material by so many kelvin while it does not melt. */
static firn_status heat(firn_live *live, const firn_live_tool *tool, double kelvin,
                        firn_error *error)
{
    const firn_job *job = live->job;
    const firn_collider_def region = region_of(tool);
    const size_t all = (size_t)firn_sim_count(job->sim);
    const double coldest = 1; /* K */
    uint64_t *ids = malloc((all + 1) * sizeof *ids);
    double *id = malloc((all + 1) * 3 * sizeof *id);
    if (!ids || !id) {
        free(ids);
        free(id);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    double *enthalpy = id + all, *material = id + 2 * all;
    const int64_t n = (int64_t)all;
    int64_t inside = 0;
    firn_status st = firn_sim_find_inside(job->sim, &region, n, ids, &inside, error);
    if (st == FIRN_OK) st = firn_sim_read(job->sim, FIRN_ID, 0, n, id, error);
    if (st == FIRN_OK) st = firn_sim_read(job->sim, FIRN_ENTHALPY, 0, n, enthalpy, error);
    if (st == FIRN_OK) st = firn_sim_read(job->sim, FIRN_MATERIAL, 0, n, material, error);
    for (int64_t i = 0, k = 0; st == FIRN_OK && k < inside; i++) { /* both rise */
        if ((uint64_t)id[i] != ids[k]) continue;
        const firn_material_def *m = &job->variants.def[(int)material[i]];
        const bool melted = firn_material_liquid(m, enthalpy[i]) >= 1;
        const double warmer =
            enthalpy[i] + kelvin * (melted ? m->liquid_heat_capacity : m->heat_capacity);
        enthalpy[k++] = fmax(warmer, firn_material_enthalpy(m, coldest));
    }
    if (st == FIRN_OK && inside > 0) {
        st = firn_sim_write_ids(job->sim, FIRN_ENTHALPY, inside, ids, enthalpy, error);
    }
    free(ids);
    free(id);
    return st;
}

/* ---- emit ---- */

/* The cells of a lattice around the ball: it stands still in space, so that what is emitted at one place
 * does not overlap. A cell is free if its middle is in the ball, away from all particles and outside
 * of colliders. */
typedef struct lattice {
    const firn_live *live;
    ball ball;
    double spacing;
    int64_t low[3], size[3];
    int64_t count;
    uint8_t *taken;
} lattice;

static void middle(const lattice *l, int64_t index, double x[3])
{
    int64_t rest = index;
    for (int a = 0; a < 3; a++) {
        const int64_t cell = l->low[a] + rest % l->size[a];
        x[a] = a < l->ball.dim ? ((double)cell + 0.5) * l->spacing : 0;
        rest /= l->size[a];
    }
}

static firn_status make_lattice(lattice *l, firn_error *error)
{
    const double most = 1 << 22;
    double cells = 1;
    for (int a = 0; a < 3; a++) {
        const bool flat = a >= l->ball.dim;
        const double low = flat ? 0 : floor((l->ball.at[a] - l->ball.radius) / l->spacing);
        const double high = flat ? 0 : floor((l->ball.at[a] + l->ball.radius) / l->spacing);
        cells *= high - low + 1;
        if (!(cells <= most) || fabs(low) > 1e15) {
            return firn_fail(error, FIRN_INVALID,
                             "radius %g m is too large to emit particles %g m apart",
                             l->ball.radius, l->spacing);
        }
        l->low[a] = (int64_t)low;
        l->size[a] = (int64_t)(high - low) + 1;
    }
    l->count = (int64_t)cells;
    l->taken = calloc((size_t)l->count, 1);
    return l->taken ? FIRN_OK : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
}

/* Takes the cells whose middle is near a particle. */
static void take_around(lattice *l, const double x[3])
{
    const double apart = 0.8 * l->spacing;
    int64_t first[3] = {0}, last[3] = {0};
    for (int a = 0; a < l->ball.dim; a++) {
        const double low = floor(x[a] / l->spacing) - 1 - (double)l->low[a], high = low + 2;
        if (!(high >= 0 && low < (double)l->size[a])) return;
        first[a] = (int64_t)fmax(low, 0);
        last[a] = (int64_t)fmin(high, (double)l->size[a] - 1);
    }
    for (int64_t i = first[2]; i <= last[2]; i++) {
        for (int64_t j = first[1]; j <= last[1]; j++) {
            for (int64_t k = first[0]; k <= last[0]; k++) {
                const int64_t index = (i * l->size[1] + j) * l->size[0] + k;
                double at[3], square = 0;
                middle(l, index, at);
                for (int a = 0; a < l->ball.dim; a++) square += (at[a] - x[a]) * (at[a] - x[a]);
                l->taken[index] |= square < apart * apart;
            }
        }
    }
}

static firn_status take_particles(lattice *l, firn_error *error)
{
    const firn_sim *sim = l->live->job->sim;
    const size_t count = (size_t)firn_sim_count(sim);
    double(*position)[3] = malloc((count + 1) * sizeof *position);
    if (!position) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    firn_sim_positions(sim, position);
    for (size_t i = 0; i < count; i++) take_around(l, position[i]);
    free(position);
    return FIRN_OK;
}

/* Takes the cells outside of the ball and inside of colliders, where they are now. */
static void take_solids(lattice *l)
{
    const firn_job *job = l->live->job;
    const double now = firn_sim_time(job->sim);
    double x[3], normal[3];
    for (int64_t i = 0; i < l->count; i++) {
        middle(l, i, x);
        l->taken[i] |= !holds(&l->ball, x);
    }
    for (int32_t c = 0; c < l->live->scene->collider_count; c++) {
        firn_collider_def def = firn_props_collider(&job->props, c);
        firn_collider_motion motion;
        firn_posed_collider posed;
        if (now >= def.until || def.boundary == FIRN_HOLD ||
            (def.shape == FIRN_MESH && !def.mesh) ||
            firn_sim_read_motion(job->sim, c, &motion, NULL) != FIRN_OK) {
            continue;
        }
        memcpy(def.position, motion.position, sizeof def.position);
        memcpy(def.rotation, motion.rotation, sizeof def.rotation);
        def.key_count = 0;
        def.parent = NULL;
        memset(def.spin, 0, sizeof def.spin); /* it has turned that far already */
        firn_collider_pose(&def, l->ball.dim, now, &posed);
        for (int64_t i = 0; i < l->count; i++) {
            if (l->taken[i]) continue;
            middle(l, i, x);
            l->taken[i] =
                firn_collider_distance(&posed, l->ball.dim, x, normal) < 0.25 * l->spacing;
        }
    }
}

static firn_status add_free(const lattice *l, const firn_live_tool *tool, firn_error *error)
{
    firn_sim *sim = l->live->job->sim;
    const size_t dim = (size_t)l->ball.dim;
    int64_t room = 0;
    for (int64_t i = 0; i < l->count; i++) room += !l->taken[i];
    if (room == 0) return FIRN_OK;
    if (firn_sim_count(sim) + room > l->live->options.most_particles) {
        return firn_fail(error, FIRN_INVALID, "there are %lld particles; no more can be emitted",
                         (long long)firn_sim_count(sim));
    }
    double *position = malloc((size_t)room * dim * 2 * sizeof *position);
    if (!position) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    double *velocity = position + (size_t)room * dim;
    size_t n = 0;
    for (int64_t i = 0; i < l->count; i++) {
        double x[3];
        if (l->taken[i]) continue;
        middle(l, i, x);
        memcpy(position + n * dim, x, dim * sizeof *x);
        memcpy(velocity + n * dim, tool->velocity, dim * sizeof *x);
        n++;
    }
    firn_particles p = firn_particles_default();
    p.count = room;
    p.position = position;
    p.velocity = velocity;
    p.each_volume = pow(l->spacing, l->ball.dim);
    p.each_material = (uint16_t)firn_scene_find_material(l->live->scene, tool->material, NULL, 0);
    p.each_object = (uint16_t)l->live->scene->object_count; /* of none */
    const firn_status st = firn_sim_add(sim, &p, NULL, error);
    free(position);
    return st;
}

static firn_status emit(firn_live *live, const firn_live_tool *tool, const ball *where,
                        firn_error *error)
{
    lattice l = {.live = live, .ball = *where, .spacing = live->scene->resolution};
    firn_status st = make_lattice(&l, error);
    if (st == FIRN_OK) st = take_particles(&l, error);
    if (st == FIRN_OK) {
        take_solids(&l);
        st = add_free(&l, tool, error);
    }
    free(l.taken);
    return st;
}

/* ---- grab ---- */

void firn_live_let_go(firn_live *live)
{
    free(live->hold.id);
    free(live->hold.offset);
    live->hold = (firn_live_hold){0};
}

/* Ids, positions and velocities of all particles in the order of their ids, each count x dim; free it. */
static double *read_motion(const firn_sim *sim, size_t dim, firn_error *error)
{
    const int64_t n = firn_sim_count(sim);
    const size_t all = (size_t)n;
    double *id = malloc((all + 1) * (1 + 2 * dim) * sizeof *id);
    if (!id) {
        firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        return NULL;
    }
    firn_status st = firn_sim_read(sim, FIRN_ID, 0, n, id, error);
    if (st == FIRN_OK) st = firn_sim_read(sim, FIRN_POSITION, 0, n, id + all, error);
    if (st == FIRN_OK) st = firn_sim_read(sim, FIRN_VELOCITY, 0, n, id + all + all * dim, error);
    if (st == FIRN_OK) return id;
    free(id);
    return NULL;
}

static firn_status take_hold(firn_live *live, const firn_live_tool *tool, firn_error *error)
{
    const firn_sim *sim = live->job->sim;
    const firn_collider_def region = region_of(tool);
    const size_t all = (size_t)firn_sim_count(sim), dim = (size_t)live->scene->dimension;
    firn_live_hold *h = &live->hold;
    firn_live_let_go(live);
    h->id = malloc((all + 1) * sizeof *h->id);
    if (!h->id) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    firn_status st = firn_sim_find_inside(sim, &region, (int64_t)all, h->id, &h->count, error);
    double *motion = st == FIRN_OK ? read_motion(sim, dim, error) : NULL;
    h->offset = malloc(((size_t)h->count + 1) * sizeof *h->offset);
    if (!motion || !h->offset) {
        free(motion);
        firn_live_let_go(live);
        return st != FIRN_OK ? st : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    for (size_t i = 0, k = 0; i < all && k < (size_t)h->count; i++) { /* both rise */
        if ((uint64_t)motion[i] != h->id[k]) continue;
        for (size_t a = 0; a < dim; a++) {
            h->offset[k][a] = motion[all + dim * i + a] - tool->at[a];
        }
        k++;
    }
    free(motion);
    return FIRN_OK;
}

/* What was under the pointer when it was grabbed follows it. */
static firn_status grab(firn_live *live, const firn_live_tool *tool, double seconds,
                        firn_error *error)
{
    const double grip = 60, pull = 10; /* 1/s: how fast speeds follow, and places */
    const double fastest = 30 * tool->radius, part = 1 - exp(-grip * seconds);
    const size_t all = (size_t)firn_sim_count(live->job->sim), dim = (size_t)live->scene->dimension;
    firn_live_hold *h = &live->hold;
    firn_status st = h->count ? FIRN_OK : take_hold(live, tool, error);
    if (st != FIRN_OK || h->count == 0) return st;
    double *motion = read_motion(live->job->sim, dim, error);
    double *velocity = malloc((size_t)h->count * dim * sizeof *velocity);
    uint64_t *id = malloc((size_t)h->count * sizeof *id);
    size_t n = 0; /* some may be gone */
    for (size_t i = 0, k = 0; motion && velocity && id && i < all; i++) {
        while (k < (size_t)h->count && h->id[k] < (uint64_t)motion[i]) k++;
        if (k == (size_t)h->count) break;
        if (h->id[k] != (uint64_t)motion[i]) continue;
        const double *x = motion + all + dim * i, *v = motion + all + dim * (all + i);
        double want[3], square = 0;
        for (size_t a = 0; a < dim; a++) {
            want[a] = tool->velocity[a] + pull * (tool->at[a] + h->offset[k][a] - x[a]);
            square += want[a] * want[a];
        }
        const double scale = fmin(1, fastest / sqrt(fmax(square, 1e-300)));
        for (size_t a = 0; a < dim; a++) {
            velocity[dim * n + a] = v[a] + part * (scale * want[a] - v[a]);
        }
        id[n++] = h->id[k];
    }
    if (!motion || !velocity || !id) st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    if (st == FIRN_OK && n > 0) {
        st = firn_sim_write_ids(live->job->sim, FIRN_VELOCITY, (int64_t)n, id, velocity, error);
    }
    free(motion);
    free(velocity);
    free(id);
    return st;
}

/* ---- all ---- */

/* `strength` newtons along the tool's velocity. */
static firn_status push(firn_live *live, const firn_live_tool *tool, double seconds,
                        firn_error *error)
{
    const firn_collider_def region = region_of(tool);
    const double *v = tool->velocity, length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    double impulse[3];
    if (length == 0) return FIRN_OK;
    for (int a = 0; a < 3; a++) impulse[a] = tool->strength * seconds * v[a] / length;
    return firn_sim_apply_impulse(live->job->sim, &region, impulse, NULL, error);
}

firn_status firn_live_apply_tool(firn_live *live, double seconds, firn_error *error)
{
    const firn_live_tool *t = &live->tool;
    ball where = {.radius = t->radius, .dim = (int)live->scene->dimension};
    memcpy(where.at, t->at, sizeof where.at);
    if (t->kind != FIRN_TOOL_NONE) firn_live_alter(live);
    switch (t->kind) {
    case FIRN_TOOL_GRAB: return grab(live, t, seconds, error);
    case FIRN_TOOL_PUSH: return push(live, t, seconds, error);
    case FIRN_TOOL_CUT: return firn_sim_remove(live->job->sim, keep_outside, &where, NULL, error);
    case FIRN_TOOL_EMIT: return emit(live, t, &where, error);
    case FIRN_TOOL_HEAT: return heat(live, t, t->strength * seconds, error);
    default: return FIRN_OK;
    }
}
