/* The state as bytes, exactly: particles, their order and bins, time and next step.
 *
 * Raw arrays in storage order, in this machine's byte order and precision. The bins are kept as they
 * are, because the order of sums follows from them: a sim that reads its state back goes on with the
 * same bits as the one that wrote it. The same state is the same bytes: padding is zero,
 * and the part of a bin that 2D does not use is left out. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "sim/sim.h"

enum { VERSION = 6 };
static const char MAGIC[8] = "FIRNSIM";

typedef struct header {
    char magic[8];
    uint32_t version, real_bytes;
    int32_t dim, spline, axis_bits, explicit_left, heat, bodies;
    double cell_size, moved;
    int64_t count;
    uint64_t next_id;
    int32_t blocks, limit_next;
    double time, dt_next;
    int64_t plain_steps;
    double gravity[3];
    int32_t gravity_set, colliders; /* of the latter, how many the host has changed */
} header;

/* What the state has of a firn_body. */
typedef struct saved_body {
    double density;
    int32_t layer, unused;
} saved_body;

/* A collider that the host has changed; of one it added, the def and its keys follow. */
typedef struct changed_collider {
    int32_t collider;
    uint8_t added, removed, moved, runs;
    firn_collider_motion motion;
    double begin;
    double surface_velocity[3], surface_spin[3];
} changed_collider;

/* Arrays by size, the same for saving and loading. X(pointer, bytes); SIDE does it for a side field. */
#define ARRAYS(X, SIDE, s)                                                                         \
    X((s)->record, n *FIRN_RECORD * sizeof(real))                                                  \
    X((s)->spare, n *dd * sizeof(real))                                                            \
    FIRN_SIDE_FIELDS(SIDE)                                                                         \
    X((s)->heat, (s)->has_heat ? n *FIRN_HEAT_RECORD * sizeof(real) : 0)                           \
    X((s)->order[(s)->current], n * sizeof(uint32_t))

/* The bytes of a bin that its dimension uses. */
static size_t bin_bytes(int32_t dim)
{
    const size_t cells = (size_t)firn_pow(FIRN_SHIFTED, dim) + 1;
    return offsetof(firn_bin, cell) + cells * sizeof(uint32_t);
}

static bool is_changed(const firn_collider_slot *s)
{
    return s->added || s->removed || s->moved || s->runs;
}

/* A copy without pointers, whose padding is zero. */
static void copy_collider(const firn_collider_def *from, firn_collider_def *to)
{
#define COPY(type, name, ...) memcpy(&to->name, &from->name, sizeof to->name);
    memset(to, 0, sizeof *to);
    to->shape = from->shape;
    memcpy(to->size, from->size, sizeof to->size);
    to->round = from->round;
    to->point_count = from->point_count;
    memcpy(to->position, from->position, sizeof to->position);
    memcpy(to->rotation, from->rotation, sizeof to->rotation);
    to->key_count = from->key_count;
    to->interpolation = from->interpolation;
    memcpy(to->pivot, from->pivot, sizeof to->pivot);
    memcpy(to->spin, from->spin, sizeof to->spin);
    FIRN_COLLIDER_PARAMS(COPY)
    to->stamp = from->stamp;
#undef COPY
    for (int32_t i = 0; firn_collider_param(i); i++) {
        const size_t at = firn_collider_param(i)->keys;
        if (!at) continue;
        const firn_track *track = (const firn_track *)((const char *)from + at);
        firn_track *copy = (firn_track *)((char *)to + at);
        copy->count = track->count;
        copy->components = track->components;
        copy->interpolation = track->interpolation;
    }
}

static bool save_colliders(const firn_sim *sim, firn_write_function *write, void *user_data)
{
    for (int32_t i = 0; i < sim->def.collider_count; i++) {
        const firn_collider_slot *slot = &sim->slots[i];
        if (!is_changed(slot)) continue;
        firn_collider_def def;
        copy_collider(&sim->colliders[i], &def);
        changed_collider c;
        memset(&c, 0, sizeof c); /* padding too: same state, same bytes */
        c.collider = i;
        c.added = slot->added;
        c.removed = slot->removed;
        c.moved = slot->moved;
        c.runs = slot->runs;
        if (c.moved) c.motion = slot->motion;
        c.begin = slot->begin;
        memcpy(c.surface_velocity, def.surface_velocity, sizeof c.surface_velocity);
        memcpy(c.surface_spin, def.surface_spin, sizeof c.surface_spin);
        if (write(user_data, &c, sizeof c) != 0) return false;
        if (!c.added) continue;
        const size_t size = firn_collider_extra(&def);
        if (write(user_data, &def, sizeof def) != 0) return false;
        if (size && write(user_data, slot->keys.data, size) != 0) return false;
    }
    return true;
}

/* One that was read: checked, and not in the sim yet. */
typedef struct loaded_collider {
    changed_collider c;
    firn_collider_def def; /* of one that was added */
    firn_pool keys;
} loaded_collider;

static firn_status refuse_collider(int32_t collider, firn_error *error)
{
    return firn_fail(error, FIRN_INVALID,
                     "the state is cut short or damaged at collider %d, or the sim was made with "
                     "others than the one it is of",
                     collider);
}

/* `count` is how many colliders there are once those before it have their places. */
static firn_status read_collider(const firn_sim *sim, int32_t *count, firn_read_function *read,
                                 void *user_data, loaded_collider *to, firn_error *error)
{
    enum { MOST_KEYS = 1 << 24 };
    changed_collider *c = &to->c;
    firn_collider_def *def = &to->def;
    if (read(user_data, c, sizeof *c) != 0) return refuse_collider(*count, error);
    bool fine = c->collider >= 0 && c->collider < *count + (c->added || c->removed) &&
                c->added <= 1 && c->removed <= 1 && c->moved <= 1 && c->runs <= 1 &&
                isfinite(c->begin);
    for (int a = 0; a < 3; a++) {
        fine = fine && isfinite(c->surface_velocity[a]) && isfinite(c->surface_spin[a]);
    }
    if (!fine) return refuse_collider(c->collider, error);
    *def = firn_collider_def_default(); /* what a removed one was does not matter */
    if (c->collider == *count) ++*count;
    if (c->moved) {
        const firn_status st = firn_host_check_motion(&c->motion, error);
        if (st != FIRN_OK) return st;
    }
    if (!c->added) return FIRN_OK;
    if (read(user_data, def, sizeof *def) != 0 || def->key_count < 0 ||
        def->key_count > MOST_KEYS || def->point_count < 0 || def->point_count > MOST_KEYS)
        return refuse_collider(c->collider, error);
    for (int32_t i = 0; firn_collider_param(i); i++) {
        const firn_param *p = firn_collider_param(i);
        const firn_track *track = (const firn_track *)((const char *)def + p->keys);
        if (p->keys && (track->count < 0 || track->count > MOST_KEYS || track->components < 0 ||
                        track->components > FIRN_TRACK_COMPONENTS))
            return refuse_collider(c->collider, error);
    }
    def->keys = NULL;
    def->points = NULL;
    def->parent = NULL;
    const size_t size = firn_collider_extra(def);
    const firn_status st = firn_pool_reserve(sim->allocator, &to->keys, size, error);
    if (st != FIRN_OK) return st;
    if (size && read(user_data, to->keys.data, size) != 0)
        return refuse_collider(c->collider, error);
    if (size) firn_collider_attach(def, to->keys.data);
    def->mesh = NULL;
    const bool known =
        c->collider < sim->def.collider_count && sim->colliders[c->collider].shape == FIRN_COMPOUND;
    def->compound = known ? sim->colliders[c->collider].compound : NULL; /* its place's own */
    if (def->shape == FIRN_MESH) {                                       /* its mesh comes later */
        firn_collider_def rest = *def;
        rest.shape = FIRN_PLANE;
        return firn_collider_check(&rest, sim->store.dim, "state.collider", error);
    }
    return firn_collider_check(def, sim->store.dim, "state.collider", error);
}

static void take_collider(firn_sim *sim, loaded_collider *from)
{
    const changed_collider *c = &from->c;
    if (c->added || c->collider == sim->def.collider_count) {
        firn_host_place_collider(sim, &from->def, from->keys, (firn_deform){.moves = false},
                                 c->collider);
        from->keys = (firn_pool){0};
    }
    firn_collider_slot *slot = &sim->slots[c->collider];
    slot->added = c->added;
    slot->removed = c->removed;
    slot->moved = c->moved;
    slot->runs = c->runs;
    slot->motion = c->motion;
    slot->begin = c->begin;
    if (!c->runs) return;
    firn_host_run_surface(&sim->colliders[c->collider], c->surface_velocity, c->surface_spin);
}

/* All or none. */
static firn_status load_colliders(firn_sim *sim, int32_t count, firn_read_function *read,
                                  void *user_data, firn_error *error)
{
    firn_pool pool = {0};
    int32_t after = sim->def.collider_count, done = 0;
    firn_status st = FIRN_OK;
    for (; st == FIRN_OK && done < count; done++) {
        st = firn_pool_reserve_slack(sim->allocator, &pool,
                                     (size_t)(done + 1) * sizeof(loaded_collider), error);
        if (st != FIRN_OK) break;
        loaded_collider *to = (loaded_collider *)pool.data + done;
        to->keys = (firn_pool){0};
        st = read_collider(sim, &after, read, user_data, to, error);
    }
    if (st == FIRN_OK && after > 0) st = firn_host_reserve_colliders(sim, after, error);
    loaded_collider *loaded = pool.data;
    for (int32_t k = 0; k < done; k++) {
        if (st == FIRN_OK) take_collider(sim, &loaded[k]);
        firn_pool_free(sim->allocator, &loaded[k].keys);
    }
    firn_pool_free(sim->allocator, &pool);
    return st;
}

firn_status firn_sim_save(const firn_sim *sim, firn_write_function *write, void *user_data,
                          firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (!write) return firn_fail(error, FIRN_INVALID, "write is NULL; give a function");
    const firn_store *s = &sim->store;
    const firn_directory *d = sim->from;
    const size_t n = (size_t)s->count, dd = (size_t)(s->dim * s->dim);
    header h = {.version = VERSION,
                .real_bytes = sizeof(real),
                .dim = s->dim,
                .spline = (int32_t)sim->def.spline,
                .axis_bits = d->axis_bits,
                .explicit_left = sim->explicit_left,
                .heat = s->has_heat,
                .bodies = sim->layers.count,
                .cell_size = sim->def.cell_size,
                .moved = sim->layers.moved,
                .count = s->count,
                .next_id = s->next_id,
                .blocks = d->count,
                .limit_next = (int32_t)sim->limit_next,
                .time = sim->time,
                .dt_next = sim->dt_next,
                .plain_steps = sim->plain_steps,
                .gravity_set = sim->gravity_set};
    for (int32_t i = 0; i < sim->def.collider_count; i++) h.colliders += is_changed(&sim->slots[i]);
    memcpy(h.gravity, sim->def.gravity, sizeof h.gravity);
    memcpy(h.magic, MAGIC, sizeof h.magic);
    bool fine = write(user_data, &h, sizeof h) == 0;
    for (int32_t i = 0; fine && i < h.bodies; i++) {
        const firn_body *b = (const firn_body *)sim->layers.body.data + i;
        const saved_body saved = {(double)b->density, b->layer, 0};
        fine = write(user_data, &saved, sizeof saved) == 0;
    }
#define SAVE(array, bytes)                                                                         \
    if (fine && (bytes) > 0) fine = write(user_data, (array), (bytes)) == 0;
#define SAVE_SIDE(type, name, ...) SAVE(s->name, n * sizeof(type))
    ARRAYS(SAVE, SAVE_SIDE, s)
#undef SAVE_SIDE
#undef SAVE
    const size_t blocks = (size_t)d->count;
    if (fine && blocks) fine = write(user_data, d->key, blocks * sizeof *d->key) == 0;
    static const firn_bin empty; /* bins of blocks without particles were never written */
    for (size_t b = 0; fine && b < blocks; b++) {
        const firn_bin *bin = d->bin[b].count ? &d->bin[b] : &empty;
        fine = write(user_data, bin, bin_bytes(s->dim)) == 0;
    }
    if (fine) fine = save_colliders(sim, write, user_data);
    if (!fine) return firn_fail(error, FIRN_OUTPUT, "the state could not be written");
    return FIRN_OK;
}

/* Whether bins and list describe every particle once, in range. */
static bool bins_are_sound(const firn_store *s, const firn_directory *d, uint8_t *seen)
{
    const int cells = firn_pow(FIRN_SHIFTED, d->dim);
    const uint32_t *order = s->order[s->current];
    int64_t total = 0;
    for (int32_t b = 0; b < d->count; b++) {
        const firn_bin *bin = &d->bin[b];
        if (firn_directory_layer(d, b) >= FIRN_MAX_LAYERS) return false;
        if (bin->cell[0] != 0 || bin->cell[cells] != bin->count) return false;
        for (int c = 0; c < cells; c++) {
            if (bin->cell[c] > bin->cell[c + 1]) return false;
        }
        if ((int64_t)bin->start + bin->count > s->count) return false;
        for (uint32_t k = 0; k < bin->count; k++) {
            const uint32_t i = order[bin->start + k];
            if ((int64_t)i >= s->count || seen[i]) return false;
            seen[i] = 1;
        }
        total += bin->count;
    }
    return total == s->count;
}

/* Whether a particle is in the shifted cell that its bin has it in: which nodes there are follows
 * from the bins, and which are written from positions. */
static bool is_in_cell(const firn_store *s, uint32_t particle, int cell)
{
    const real *x = s->record + (size_t)particle * FIRN_RECORD;
    for (int a = s->dim - 1; a >= 0; a--, cell /= FIRN_SHIFTED) {
        /* The last of the block below, 1 to 4, or the first of the block above. */
        const int own = (cell % FIRN_SHIFTED + FIRN_BLOCK - 1) % FIRN_BLOCK + 1;
        if ((int)(x[a] + 1) != own) return false;
    }
    return true;
}

static bool numbers_are_sound(const firn_sim *sim)
{
    const firn_store *s = &sim->store;
    for (int64_t i = 0; i < s->count; i++) {
        const real *r = s->record + i * FIRN_RECORD;
        for (int c = 0; c < FIRN_RECORD; c++) {
            if (!isfinite(r[c])) return false;
        }
        for (int a = 0; a < s->dim; a++) {
            if (!(r[a] >= 0 && r[a] + 1 < FIRN_BLOCK + 1)) return false; /* x + 1 gives the cell */
        }
        for (int c = 0; c < s->dim * s->dim; c++) {
            if (!isfinite(firn_store_gradient(s, i)[c])) return false;
        }
        for (int c = 0; s->heat && c < FIRN_HEAT_RECORD; c++) {
            if (!isfinite(s->heat[i * FIRN_HEAT_RECORD + c])) return false;
        }
        if (!(s->mass[i] > 0 && isfinite(s->mass[i]))) return false;
        if (!(s->volume[i] > 0 && isfinite(s->volume[i]))) return false;
        if (s->id[i] >= s->next_id) return false;
    }
    return true;
}

static firn_status check_header(const firn_sim *sim, const header *h, firn_error *error)
{
    if (memcmp(h->magic, MAGIC, sizeof h->magic) != 0) {
        return firn_fail(error, FIRN_INVALID, "this is not a saved state");
    }
    if (h->version != VERSION) {
        return firn_fail(error, FIRN_INVALID,
                         "the state has version %u and this program reads version %d", h->version,
                         VERSION);
    }
    if (h->real_bytes != sizeof(real)) {
        return firn_fail(error, FIRN_INVALID,
                         "the state has %u-byte numbers and this build %zu-byte ones",
                         h->real_bytes, sizeof(real));
    }
    if (h->dim != sim->def.dimension) {
        return firn_fail(error, FIRN_INVALID, "the state is %dD and the sim %dD", h->dim,
                         sim->def.dimension);
    }
    if (h->cell_size != sim->def.cell_size || h->spline != (int32_t)sim->def.spline) {
        return firn_fail(
            error, FIRN_INVALID,
            "the state has cells of %g m and %s splines, the sim %g m and %s ones: use the "
            "resolution and spline it was made with",
            h->cell_size, h->spline == FIRN_CUBIC ? "cubic" : "quadratic", sim->def.cell_size,
            sim->def.spline == FIRN_CUBIC ? "cubic" : "quadratic");
    }
    if (h->axis_bits != sim->from->axis_bits) {
        return firn_fail(error, FIRN_INVALID,
                         "in 3D the state and the sim must both have bodies that can separate, "
                         "or neither");
    }
    if (h->heat != (int32_t)sim->store.has_heat) {
        return firn_fail(error, FIRN_INVALID, "the state was made %s heat and the sim is %s it",
                         h->heat ? "with" : "without", h->heat ? "without" : "with");
    }
    if (h->count < 0 || h->count > FIRN_STORE_MOST || h->blocks < 0 || h->blocks > INT32_MAX / 64 ||
        !(h->time >= 0) || !(h->time + sim->def.dt_min > h->time) || /* or time stands still */
        !isfinite(h->dt_next) || h->dt_next < 0 || h->limit_next < 0 ||
        h->limit_next >= FIRN_LIMIT_COUNT || h->plain_steps < 0 || h->plain_steps > INT64_MAX / 2 ||
        h->explicit_left < -1 || h->colliders < 0 || h->bodies < 1 || h->bodies > UINT16_MAX + 1 ||
        !(h->moved >= 0) || !isfinite(h->moved) || !isfinite(h->gravity[0]) ||
        !isfinite(h->gravity[1]) || !isfinite(h->gravity[2])) {
        return firn_fail(error, FIRN_INVALID, "the state is damaged: its header makes no sense");
    }
    return FIRN_OK;
}

/* Into a sim without particles. */
static bool load_bodies(firn_sim *sim, int32_t count, firn_read_function *read, void *user_data)
{
    for (int32_t i = 0; i < count; i++) {
        saved_body saved;
        firn_body *b = (firn_body *)sim->layers.body.data + i;
        if (read(user_data, &saved, sizeof saved) != 0) return false;
        if (!(saved.density >= 0) || !isfinite(saved.density)) return false;
        if (saved.layer < 0 || saved.layer >= (i ? FIRN_MAX_LAYERS : 1)) return false;
        b->density = (real)saved.density;
        b->layer = (uint8_t)saved.layer;
    }
    return true;
}

static void forget_bodies(firn_sim *sim)
{
    for (int32_t i = 0; i < sim->layers.count; i++) {
        firn_body *b = (firn_body *)sim->layers.body.data + i;
        b->density = 0;
        b->layer = 0;
    }
}

firn_status firn_sim_load(firn_sim *sim, firn_read_function *read, void *user_data,
                          firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (!read) return firn_fail(error, FIRN_INVALID, "read is NULL; give a function");
    firn_store *s = &sim->store;
    firn_directory *d = sim->at;
    if (s->count > 0 || sim->time > 0) {
        return firn_fail(error, FIRN_INVALID,
                         "the sim has been used: load into one that was just created");
    }
    header h;
    if (read(user_data, &h, sizeof h) != 0) {
        return firn_fail(error, FIRN_INVALID, "the state ends within its header");
    }
    firn_status st = check_header(sim, &h, error);
    if (st == FIRN_OK) st = firn_store_reserve(s, h.count, sim->allocator, error);
    if (st == FIRN_OK) st = firn_directory_reserve(d, h.blocks, sim->allocator, error);
    if (st == FIRN_OK) st = firn_layers_reserve(sim, h.bodies, error);
    if (st != FIRN_OK) return st;

    const size_t n = (size_t)h.count, dd = (size_t)(s->dim * s->dim), blocks = (size_t)h.blocks;
    bool fine = load_bodies(sim, h.bodies, read, user_data);
#define LOAD(array, bytes)                                                                         \
    if (fine && (bytes) > 0) fine = read(user_data, (array), (bytes)) == 0;
#define LOAD_SIDE(type, name, ...) LOAD(s->name, n * sizeof(type))
    ARRAYS(LOAD, LOAD_SIDE, s)
#undef LOAD_SIDE
#undef LOAD
    firn_pool keys = {0};
    if (fine && blocks) {
        st = firn_pool_reserve(sim->allocator, &keys, blocks * sizeof(uint64_t), error);
        if (st != FIRN_OK) forget_bodies(sim);
        if (st != FIRN_OK) return st;
        fine = read(user_data, keys.data, blocks * sizeof(uint64_t)) == 0;
    }
    for (size_t b = 1; fine && b < blocks; b++) {
        fine = ((uint64_t *)keys.data)[b] > ((uint64_t *)keys.data)[b - 1];
    }
    if (fine) {
        st = firn_directory_init(d, s->dim, keys.data, h.blocks, sim->allocator, error);
        for (size_t b = 0; st == FIRN_OK && fine && b < blocks; b++)
            fine = read(user_data, &d->bin[b], bin_bytes(s->dim)) == 0;
    }
    firn_pool_free(sim->allocator, &keys);
    if (st != FIRN_OK) forget_bodies(sim);
    if (st != FIRN_OK) return st;
    s->count = h.count;
    s->next_id = h.next_id;
    firn_pool seen = {0};
    if (fine && n > 0) {
        st = firn_pool_reserve(sim->allocator, &seen, n, error);
        if (st == FIRN_OK) {
            memset(seen.data, 0, n);
            fine = bins_are_sound(s, d, seen.data) && numbers_are_sound(sim);
        }
        firn_pool_free(sim->allocator, &seen);
    }
    for (size_t i = 0; fine && st == FIRN_OK && i < n; i++) {
        if (s->material[i] < sim->def.material_count) continue;
        st = firn_fail(error, FIRN_INVALID,
                       "the state has particles of material %d and the sim %d materials",
                       s->material[i], sim->def.material_count);
    }
    firn_walk w = firn_store_walk(s, d);
    while (fine && st == FIRN_OK && firn_walk_next(&w)) {
        fine = is_in_cell(s, w.particle, w.cell - 1);
        if (w.layer == firn_sim_layer(sim, s->object[w.particle])) continue;
        st = firn_fail(error, FIRN_INVALID,
                       "object %d is of body %d in the sim and of another one in the state: the "
                       "same objects must be able to separate",
                       s->object[w.particle], firn_sim_body(sim, s->object[w.particle]));
    }
    if (st == FIRN_OK && !fine) {
        st = firn_fail(error, FIRN_INVALID, "the state is cut short or damaged");
    }
    if (st == FIRN_OK) st = load_colliders(sim, h.colliders, read, user_data, error);
    if (st != FIRN_OK) { /* as it was: empty */
        s->count = 0;
        s->next_id = 0;
        d->count = d->super_count = 0;
        forget_bodies(sim);
        return st;
    }
    for (int32_t b = 0; b < d->count; b++) firn_directory_count_leaving(d, b);
    sim->at = sim->from;
    sim->from = d;
    sim->time = sim->reaction_from = h.time;
    if (h.gravity_set) {
        memcpy(sim->def.gravity, h.gravity, sizeof h.gravity);
        sim->def.gravity_keys.count = 0;
    }
    sim->gravity_set = h.gravity_set != 0;
    sim->heat.owed = 0;
    sim->dt_next = h.dt_next;
    sim->explicit_left = h.explicit_left;
    sim->limit_next = (firn_limit)h.limit_next;
    sim->plain_steps = h.plain_steps;
    firn_layers_look(sim, false);
    firn_layers_use(sim);
    sim->layers.moved = h.moved;
    sim->generation++;
    return FIRN_OK;
}
