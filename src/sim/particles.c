/* Particles between steps: adding, removing, reading, viewing, hashing. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "sim/sim.h"

firn_particles firn_particles_default(void) { return (firn_particles){.stamp = FIRN_STAMP}; }

firn_field_info firn_field_get_info(firn_field field)
{
#define DIM 2
    enum {
#define COMPONENTS(type, name, NAME, components, ...) NAME##_2D = components,
        FIRN_FIELDS(COMPONENTS)
#undef COMPONENTS
    };
#undef DIM
#define DIM 3
    static const firn_field_info info[FIRN_FIELD_COUNT] = {
#define INFO(type, name, NAME, components, unit, ...)                                              \
    [FIRN_##NAME] = {#name, unit, NAME##_2D, components},
        FIRN_FIELDS(INFO)
#undef INFO
    };
#undef DIM
    return field >= 0 && field < FIRN_FIELD_COUNT ? info[field] : (firn_field_info){0};
}

static int32_t components(const firn_sim *sim, firn_field field)
{
    firn_field_info info = firn_field_get_info(field);
    return sim->store.dim == 2 ? info.components_2d : info.components_3d;
}

static firn_status refuse_heat(firn_error *error)
{
    return firn_fail(error, FIRN_INVALID, "the sim has no heat; set heat.enabled in its def");
}

/* ---- adding ---- */

int32_t firn_sim_body(const firn_sim *sim, uint16_t object)
{
    return object < sim->def.object_count ? sim->def.object_bodies[object] : 0;
}

/* Block and place in it of a position. Rounded to 2^-21 of a cell (which x + 1 keeps exactly for
 * all x of a block), so that the same scene moved by whole blocks gives the same numbers. False
 * when out of reach. */
static bool locate(const firn_sim *sim, const double *position, int32_t coord[3], real local[3])
{
    const double grain = sizeof(real) == 4 ? 0x1p21 : 0x1p48;
    for (int a = 0; a < sim->store.dim; a++) {
        const double cells = position[a] / sim->def.cell_size - firn_spline_shift(sim->def.spline);
        if (!(fabs(cells) < firn_directory_reach(sim->from) - 3 * FIRN_BLOCK)) return false;
        double block = floor(cells / FIRN_BLOCK);
        double in = rint((cells - block * FIRN_BLOCK) * grain) / grain;
        if (in >= FIRN_BLOCK) {
            in -= FIRN_BLOCK;
            block += 1;
        }
        coord[a] = (int32_t)block;
        local[a] = (real)in;
    }
    return true;
}

static firn_status check_numbers(const char *field, const double *value, int64_t count,
                                 int32_t width, firn_error *error)
{
    for (int64_t i = 0; value && i < count * width; i++) {
        if (fabs(value[i]) <= 1e18) continue; /* false for NaN */
        return firn_fail(error, FIRN_INVALID,
                         "%s of particle %lld is %g; it must be finite and below 1e18", field,
                         (long long)(i / width), value[i]);
    }
    return FIRN_OK;
}

static firn_status check_positive(const char *field, const double *value, int64_t count,
                                  firn_error *error)
{
    for (int64_t i = 0; value && i < count; i++) {
        if (value[i] >= 1e-30 && value[i] <= 1e18) continue;
        return firn_fail(error, FIRN_INVALID,
                         "%s of particle %lld is %g; it must be from 1e-30 to 1e18", field,
                         (long long)i, value[i]);
    }
    return FIRN_OK;
}

static firn_status check_particles(const firn_sim *sim, const firn_particles *p, firn_error *error)
{
    const int32_t dim = sim->store.dim;
    if (!p) {
        return firn_fail(error, FIRN_INVALID,
                         "particles is NULL; start from firn_particles_default()");
    }
    firn_status st = firn_check_stamp(p->stamp, "firn_particles", NULL, error);
    if (st != FIRN_OK) return st;
    if (p->count < 0) {
        return firn_fail(error, FIRN_INVALID, "count %lld must not be negative",
                         (long long)p->count);
    }
    if (p->count > FIRN_STORE_MOST - sim->store.count) {
        return firn_fail(error, FIRN_INVALID, "count %lld is too many; one sim holds at most %lld",
                         (long long)p->count, (long long)FIRN_STORE_MOST);
    }
    if (p->count && !p->position)
        return firn_fail(error, FIRN_INVALID, "position is NULL; it is required");
    if (p->count && !p->volume && !(p->each_volume >= 1e-30 && p->each_volume <= 1e18)) {
        return firn_fail(error, FIRN_INVALID,
                         "each_volume %g must be from 1e-30 to 1e18 m3: set it, or give volume per "
                         "particle",
                         p->each_volume);
    }
    if (!sim->store.has_heat && (p->temperature || p->enthalpy || p->concentration)) {
        return refuse_heat(error);
    }
    st = check_numbers("position", p->position, p->count, dim, error);
    if (st == FIRN_OK) st = check_numbers("velocity", p->velocity, p->count, dim, error);
    if (st == FIRN_OK) {
        st = check_numbers("deformation_gradient", p->deformation_gradient, p->count, dim * dim,
                           error);
    }
    if (st == FIRN_OK) {
        st = check_numbers("velocity_gradient", p->velocity_gradient, p->count, dim * dim, error);
    }
    if (st == FIRN_OK) st = check_numbers("state", p->state, p->count, 1, error);
    if (st == FIRN_OK) st = check_numbers("enthalpy", p->enthalpy, p->count, 1, error);
    if (st == FIRN_OK) st = check_numbers("concentration", p->concentration, p->count, 1, error);
    if (st == FIRN_OK) st = check_positive("temperature", p->temperature, p->count, error);
    if (st == FIRN_OK) st = check_positive("volume", p->volume, p->count, error);
    if (st == FIRN_OK) st = check_positive("mass", p->mass, p->count, error);
    for (int64_t i = 0; st == FIRN_OK && i < p->count; i++) {
        const int material = p->material ? p->material[i] : p->each_material;
        if (material >= sim->def.material_count) {
            st = firn_fail(error, FIRN_INVALID,
                           "material of particle %lld is %d; the sim has materials 0 to %d",
                           (long long)i, material, sim->def.material_count - 1);
            break;
        }
        const bool melts = firn_law_get_info(sim->materials[material].law).melts;
        if (melts && p->state && !(fabs(p->state[i]) <= 3)) {
            st = firn_fail(error, FIRN_INVALID,
                           "state of particle %lld is %g; of what melts it is the logarithm of how "
                           "far it is packed, -3 to 3",
                           (long long)i, p->state[i]);
        }
        const firn_heat_curve *curve = sim->heat.curve.data;
        if (p->enthalpy && p->enthalpy[i] < firn_heat_enthalpy(curve + material, 0)) {
            st = firn_fail(error, FIRN_INVALID,
                           "enthalpy of particle %lld is %g J/kg; at absolute zero it is %g",
                           (long long)i, p->enthalpy[i], firn_heat_enthalpy(curve + material, 0));
        }
        const double volume = p->volume ? p->volume[i] : p->each_volume;
        if (st == FIRN_OK && p->mass && !(p->mass[i] / volume <= 1e18)) {
            st = firn_fail(error, FIRN_INVALID,
                           "mass of particle %lld is %g and its volume %g; their quotient must be "
                           "below 1e18",
                           (long long)i, p->mass[i], volume);
        }
        int32_t coord[3];
        real local[3];
        if (st == FIRN_OK && !locate(sim, p->position + i * dim, coord, local)) {
            st = firn_fail(
                error, FIRN_INVALID,
                "position of particle %lld is more than %d cells (%g m) from the origin; use "
                "larger cells or move the scene",
                (long long)i, firn_directory_reach(sim->from),
                firn_directory_reach(sim->from) * sim->def.cell_size);
        }
    }
    return st;
}

/* Writes particle `i` of the batch to slot `to`, beyond what is visible yet. */
static void write_particle(firn_sim *sim, const firn_particles *p, int64_t i, int64_t to)
{
    firn_store *s = &sim->store;
    const int32_t dim = s->dim, dd = dim * dim;
    real *r = s->record + to * FIRN_RECORD, local[3];
    int32_t coord[3];
    memset(r, 0, FIRN_RECORD * sizeof *r);
    locate(sim, p->position + i * dim, coord, local);
    for (int a = 0; a < dim; a++) {
        r[a] = local[a];
        r[firn_offset_velocity(dim) + a] = p->velocity ? (real)p->velocity[i * dim + a] : 0;
    }
    for (int c = 0; c < dd; c++) {
        const double identity = c % (dim + 1) == 0;
        r[firn_offset_F(dim) + c] =
            (real)(p->deformation_gradient ? p->deformation_gradient[i * dd + c] - identity : 0);
        firn_store_gradient(s, to)[c] =
            p->velocity_gradient ? (real)p->velocity_gradient[i * dd + c] : 0;
    }
    r[firn_offset_state(dim)] = p->state ? (real)p->state[i] : 0;
    s->material[to] = p->material ? p->material[i] : p->each_material;
    s->object[to] = p->object ? p->object[i] : p->each_object;
    const double volume = p->volume ? p->volume[i] : p->each_volume;
    s->volume[to] = (real)volume;
    s->mass[to] = (real)(p->mass ? p->mass[i] : sim->materials[s->material[to]].density * volume);
    s->id[to] = s->next_id + (uint64_t)i;
    if (!s->heat) return;
    real *heat = s->heat + to * FIRN_HEAT_RECORD;
    const firn_heat_curve *curve = firn_heat_curve_of(sim, to);
    const double temperature = p->temperature ? p->temperature[i] : sim->def.heat.ambient;
    memset(heat, 0, FIRN_HEAT_RECORD * sizeof *heat);
    heat[FIRN_HEAT_ENTHALPY] =
        (real)(p->enthalpy ? p->enthalpy[i] : firn_heat_enthalpy(curve, temperature));
    heat[FIRN_HEAT_CONCENTRATION] = (real)(p->concentration ? p->concentration[i] : 0);
    if (p->deformation_gradient) return;
    /* What is already molten has the melt's volume, and no stress. */
    const double J = firn_material_rest_ratio(
        &sim->materials[s->material[to]], (double)r[firn_offset_state(dim)],
        firn_heat_liquid(curve, (double)heat[FIRN_HEAT_ENTHALPY]));
    for (int a = 0; a < dim; a++)
        r[firn_offset_F(dim) + a * (dim + 1)] = (real)(pow(J, 1.0 / dim) - 1);
    s->volume[to] = (real)(volume / J);
    if (!p->mass) s->mass[to] = (real)((double)s->mass[to] / J);
}

/* The bins of `at` and the other order list take over. */
static void commit_bins(firn_sim *sim)
{
    firn_directory *swap = sim->from;
    sim->from = sim->at;
    sim->at = swap;
    sim->store.current ^= 1;
    sim->generation++;
}

/* Of particles first to end - 1, for contact between bodies. */
static void note_densities(firn_sim *sim, int64_t first, int64_t end)
{
    const firn_store *s = &sim->store;
    for (int64_t i = first; i < end; i++) {
        real *most = &sim->body_density[firn_sim_body(sim, s->object[i])];
        if (s->mass[i] / s->volume[i] > *most) *most = s->mass[i] / s->volume[i];
    }
}

firn_status firn_sim_add(firn_sim *sim, const firn_particles *p, uint64_t *first_id,
                         firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    firn_store *s = &sim->store;
    firn_status st = check_particles(sim, p, error);
    if (st != FIRN_OK) return st;
    const int64_t before = s->count, after = before + p->count;
    /* Exactly what a first batch needs; those that come later are likely to be followed by more. */
    const int64_t slack = before > 0 && after > s->capacity ? after / 8 : 0;
    const int64_t wanted = after + slack < FIRN_STORE_MOST ? after + slack : FIRN_STORE_MOST;
    if (wanted > s->capacity) sim->generation++; /* views move, also when only some arrays grow */
    st = firn_store_reserve(s, wanted, sim->allocator, error);
    if (st != FIRN_OK) return st;
    for (int64_t i = 0; i < p->count; i++) write_particle(sim, p, i, before + i);

    uint64_t *key = firn_store_key_scratch(s, after);
    firn_store_keys(s, sim->from, key);
    uint32_t *list = s->order[s->current], *order = s->order[s->current ^ 1];
    for (int64_t i = 0; i < p->count; i++) {
        int32_t coord[3];
        real local[3];
        locate(sim, p->position + i * s->dim, coord, local);
        key[before + i] =
            firn_block_key(sim->from, firn_sim_body(sim, s->object[before + i]), coord);
        list[before + i] = (uint32_t)(before + i);
    }
    st = firn_store_bin(s, sim->at, list, after, key, order, key + after, sim->allocator, error);
    if (st != FIRN_OK) return st;
    if (first_id) *first_id = s->next_id;
    note_densities(sim, before, after);
    s->count = after;
    s->next_id += (uint64_t)p->count;
    commit_bins(sim);
    return FIRN_OK;
}

firn_status firn_sim_estimate_volumes(firn_sim *sim, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (sim->store.count == 0) return FIRN_OK;
    firn_pass pass;
    const firn_status st = firn_sim_scatter_forces(sim, &pass, error);
    if (st != FIRN_OK) return st;
    firn_grid_sum(sim, false);
    firn_sim_run_pass(sim, &pass, sim->kernels->plain_weigh);
    memset(sim->body_density, 0, sizeof sim->body_density);
    note_densities(sim, 0, sim->store.count);
    sim->generation++;
    return FIRN_OK;
}

/* ---- positions ---- */

void firn_sim_position(const firn_sim *sim, const int32_t coord[3], int64_t i, double out[3])
{
    out[2] = 0;
    for (int a = 0; a < sim->store.dim; a++) {
        out[a] = (FIRN_BLOCK * (double)coord[a] + (double)sim->store.record[i * FIRN_RECORD + a] +
                  firn_spline_shift(sim->def.spline)) *
                 sim->def.cell_size;
    }
}

void firn_sim_positions(const firn_sim *sim, double (*out)[3])
{
    firn_walk w = firn_store_walk(&sim->store, sim->from);
    while (firn_walk_next(&w)) firn_sim_position(sim, w.coord, w.particle, out[w.particle]);
}

double firn_sim_det(const firn_sim *sim, int64_t i)
{
    const int dim = sim->store.dim;
    const real *H = sim->store.record + i * FIRN_RECORD + firn_offset_F(dim);
    double F[9];
    for (int c = 0; c < dim * dim; c++) F[c] = (double)H[c] + (c % (dim + 1) == 0);
    if (dim == 2) return F[0] * F[3] - F[1] * F[2];
    return F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) +
           F[2] * (F[3] * F[7] - F[4] * F[6]);
}

/* ---- removing ---- */

firn_status firn_sim_remove(firn_sim *sim, firn_keep_function *keep, void *user_data,
                            int64_t *removed, firn_error *error)
{
    if (removed) *removed = 0;
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    firn_store *s = &sim->store;
    if (!keep)
        return firn_fail(error, FIRN_INVALID, "keep is NULL; give a function that says which stay");
    if (s->count == 0) return FIRN_OK;
    uint64_t *key = firn_store_key_scratch(s, s->count);
    firn_store_keys(s, sim->from, key);
    uint32_t *list = s->order[s->current], *order = s->order[s->current ^ 1];
    int64_t gone = 0;
    firn_walk w = firn_store_walk(s, sim->from);
    while (firn_walk_next(&w)) {
        const uint32_t i = w.particle;
        double position[3];
        firn_sim_position(sim, w.coord, i, position);
        if (keep(user_data, s->id[i], position, s->material[i], s->object[i])) continue;
        key[i] = FIRN_NO_KEY;
        gone++;
    }
    if (gone == 0) return FIRN_OK;
    firn_status st = firn_store_bin(s, sim->at, list, s->count, key, order, key + s->count,
                                    sim->allocator, error);
    if (st != FIRN_OK) return st;
    firn_store_compact(s, key, order, s->count - gone);
    commit_bins(sim);
    if (removed) *removed = gone;
    return FIRN_OK;
}

int64_t firn_sim_count(const firn_sim *sim) { return sim->store.count; }

/* ---- reading ---- */

static int heat_offset(firn_field field)
{
    switch (field) {
    case FIRN_TEMPERATURE_GRADIENT: return FIRN_HEAT_ENTHALPY + 1;
    case FIRN_CONCENTRATION: return FIRN_HEAT_CONCENTRATION;
    case FIRN_CONCENTRATION_GRADIENT: return FIRN_HEAT_CONCENTRATION + 1;
    default: return FIRN_HEAT_ENTHALPY;
    }
}

/* Where a field is, as it is kept. */
static firn_view stored_view(const firn_sim *sim, firn_field field)
{
    const firn_store *s = &sim->store;
    const int32_t dim = s->dim;
    firn_view v = {.count = s->count,
                   .components = components(sim, field),
                   .bytes = sizeof(real),
                   .stride = FIRN_RECORD * sizeof(real),
                   .generation = sim->generation};
    switch (field) {
    case FIRN_DEFORMATION_GRADIENT:
        v.data = s->record ? s->record + firn_offset_F(dim) : NULL;
        break;
    case FIRN_VELOCITY: v.data = s->record ? s->record + firn_offset_velocity(dim) : NULL; break;
    case FIRN_STATE: v.data = s->record ? s->record + firn_offset_state(dim) : NULL; break;
    case FIRN_VELOCITY_GRADIENT:
        v.data = s->spare;
        v.stride = (size_t)(dim * dim) * sizeof(real);
        break;
#define SIDE(type, name, NAME, ...)                                                                \
    case FIRN_##NAME:                                                                              \
        v.data = s->name;                                                                          \
        v.stride = sizeof(type);                                                                   \
        v.bytes = sizeof(type);                                                                    \
        break;
        FIRN_SIDE_FIELDS(SIDE)
#undef SIDE
    case FIRN_ENTHALPY:
    case FIRN_TEMPERATURE_GRADIENT:
    case FIRN_CONCENTRATION:
    case FIRN_CONCENTRATION_GRADIENT:
        v.data = s->heat ? s->heat + heat_offset(field) : NULL;
        v.stride = FIRN_HEAT_RECORD * sizeof(real);
        break;
    default: break; /* positions are kept per block */
    }
    return v;
}

firn_view firn_sim_view(const firn_sim *sim, firn_field field)
{
    firn_view v = stored_view(sim, field);
    if (field == FIRN_DEFORMATION_GRADIENT) v.data = NULL; /* kept less the identity */
    return v;
}

/* One component of a stored field as a double. */
static double stored_value(const firn_view *v, firn_field field, int64_t i, int32_t c)
{
    assert(v->data); /* positions are read elsewhere */
    const void *at = (const char *)v->data + (size_t)i * v->stride + (size_t)(c * v->bytes);
    switch (field) {
    case FIRN_MATERIAL:
    case FIRN_OBJECT: return *(const uint16_t *)at;
    case FIRN_ID: return (double)*(const uint64_t *)at;
    case FIRN_DEFORMATION_GRADIENT:
        return (double)*(const real *)at + (c % (v->components == 4 ? 3 : 4) == 0);
    default: return (double)*(const real *)at;
    }
}

/* Storage indices in id order, into the unused end of the spare buffer; ids come in rising runs. */
static const uint64_t *order_by_id(const firn_sim *sim)
{
    const firn_store *s = &sim->store;
    uint64_t *pair = firn_store_key_scratch(s, s->count);
    uint64_t least = UINT64_MAX, most = 0, differ = 0;
    for (int64_t i = 0; i < s->count; i++) {
        if (s->id[i] < least) least = s->id[i];
        if (s->id[i] > most) most = s->id[i];
        differ |= s->id[i] ^ s->id[0];
    }
    /* Few are missing: straight to their places. */
    if (s->count > 0 && most - least < 2 * (uint64_t)s->count) {
        const int64_t span = (int64_t)(most - least) + 1;
        memset(pair, 0xff, (size_t)span * sizeof *pair);
        for (int64_t i = 0; i < s->count; i++) pair[s->id[i] - least] = (uint64_t)i;
        int64_t kept = 0;
        for (int64_t k = 0; k < span; k++) {
            if (pair[k] != UINT64_MAX) pair[kept++] = pair[k];
        }
        if (kept == s->count) return pair;
    }
    /* Ranks by id: ids are unique but may have gaps, so sort (id, index) through the id alone. */
    uint64_t *scratch = pair + s->count;
    uint64_t *from = pair, *to = scratch;
    for (int64_t i = 0; i < s->count; i++) from[i] = (uint64_t)i;
    for (int shift = 0; shift < 64; shift += 8) {
        if (!(differ >> shift & 255u)) continue;
        int64_t at[257] = {0};
        for (int64_t i = 0; i < s->count; i++) at[(s->id[from[i]] >> shift & 255u) + 1]++;
        for (int b = 0; b < 256; b++) at[b + 1] += at[b];
        for (int64_t i = 0; i < s->count; i++) to[at[s->id[from[i]] >> shift & 255u]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

firn_status firn_sim_read_pressure(const firn_sim *sim, double *out, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (!out) return firn_fail(error, FIRN_INVALID, "out is NULL");
    if (sim->store.count == 0) return FIRN_OK;
    const firn_pass pass = firn_sim_pass(sim);
    sim->kernels->pressure(&pass, order_by_id(sim), sim->store.count, out);
    return FIRN_OK;
}

firn_status firn_sim_read_heat(const firn_sim *sim, double *temperature, double *liquid,
                               firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    const firn_store *s = &sim->store;
    if (!s->has_heat) return refuse_heat(error);
    const uint64_t *by_id = s->count ? order_by_id(sim) : NULL;
    for (int64_t k = 0; k < s->count; k++) {
        const firn_heat_curve *c = firn_heat_curve_of(sim, (int64_t)by_id[k]);
        const double e = (double)s->heat[by_id[k] * FIRN_HEAT_RECORD + FIRN_HEAT_ENTHALPY];
        if (temperature) temperature[k] = firn_heat_temperature(c, e);
        if (liquid) liquid[k] = firn_heat_liquid(c, e);
    }
    return FIRN_OK;
}

firn_status firn_sim_read(const firn_sim *sim, firn_field field, int64_t first, int64_t count,
                          double *out, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    const firn_store *s = &sim->store;
    if (field < 0 || field >= FIRN_FIELD_COUNT) {
        return firn_fail(error, FIRN_INVALID, "field %d does not exist; see firn_field",
                         (int)field);
    }
    if (first < 0 || count < 0 || count > s->count - first) {
        return firn_fail(error, FIRN_INVALID,
                         "%lld particles from %lld on were asked for; there are %lld",
                         (long long)count, (long long)first, (long long)s->count);
    }
    if (count == 0) return FIRN_OK;
    if (!out) return firn_fail(error, FIRN_INVALID, "out is NULL");
    if (field >= FIRN_ENTHALPY && !s->heat) return refuse_heat(error);
    const int32_t width = components(sim, field);
    const uint64_t *by_id = order_by_id(sim);
    if (field == FIRN_POSITION) {
        /* Ranks of the storage places, then one walk over the bins. */
        uint64_t *rank = firn_store_key_scratch(s, s->count) + 2 * s->count;
        for (int64_t k = 0; k < s->count; k++) rank[by_id[k]] = (uint64_t)k;
        firn_walk w = firn_store_walk(s, sim->from);
        while (firn_walk_next(&w)) {
            const int64_t to = (int64_t)rank[w.particle] - first;
            if (to < 0 || to >= count) continue;
            double position[3];
            firn_sim_position(sim, w.coord, w.particle, position);
            memcpy(out + to * width, position, (size_t)width * sizeof *out);
        }
        return FIRN_OK;
    }
    const firn_view v = stored_view(sim, field);
    enum { AHEAD = 16 }; /* particles: in id order memory is met at random */
    for (int64_t k = 0; k < count; k++) {
        if (k + AHEAD < count) {
            __builtin_prefetch((const char *)v.data + by_id[first + k + AHEAD] * v.stride);
        }
        for (int32_t c = 0; c < width; c++) {
            out[k * width + c] = stored_value(&v, field, (int64_t)by_id[first + k], c);
        }
    }
    return FIRN_OK;
}

/* ---- hash ---- */

/* Two multiply-and-fold streams over 64-bit words. */
static void hash_word(firn_hash *h, uint64_t word)
{
    h->word[0] = (h->word[0] ^ word) * 0x9e3779b97f4a7c15u;
    h->word[0] ^= h->word[0] >> 29;
    h->word[1] = (h->word[1] + word) * 0xd6e8feb86659fd93u;
    h->word[1] ^= h->word[1] >> 32;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

firn_status firn_sim_hash(firn_sim *sim, firn_hash *hash, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (!hash) return firn_fail(error, FIRN_INVALID, "hash is NULL; give a place for it");
    firn_store *s = &sim->store;
    firn_hash h = {{0x243f6a8885a308d3u, 0x13198a2e03707344u}};
    hash_word(&h, bits_of(sim->time));
    hash_word(&h, bits_of(sim->dt_next));
    hash_word(&h, (uint64_t)s->count);
    for (int f = 0; f < FIRN_MAX_BODIES; f++) hash_word(&h, bits_of((double)sim->body_density[f]));
    if (s->count) {
        const uint64_t *by_id = order_by_id(sim);
        uint64_t *key = firn_store_key_scratch(s, s->count) + 2 * s->count;
        firn_store_keys(s, sim->from, key);
        for (int64_t k = 0; k < s->count; k++) {
            const int64_t i = (int64_t)by_id[k];
            hash_word(&h, key[i]);
            for (int c = 0; c < FIRN_RECORD; c++)
                hash_word(&h, bits_of((double)s->record[i * FIRN_RECORD + c]));
            for (int c = 0; c < s->dim * s->dim; c++)
                hash_word(&h, bits_of((double)firn_store_gradient(s, i)[c]));
#define SIDE(type, name, NAME, ...) hash_word(&h, bits_of((double)s->name[i]));
            FIRN_SIDE_FIELDS(SIDE)
#undef SIDE
            for (int c = 0; s->heat && c < FIRN_HEAT_RECORD; c++)
                hash_word(&h, bits_of((double)s->heat[i * FIRN_HEAT_RECORD + c]));
        }
    }
    *hash = h;
    return FIRN_OK;
}
