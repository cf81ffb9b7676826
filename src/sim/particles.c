/* Particles between steps: adding, writing and removing them. */
#include <math.h>
#include <string.h>

#include "sim/sim.h"

firn_particles firn_particles_default(void) { return (firn_particles){.stamp = FIRN_STAMP}; }

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

/* What of a particle's numbers must fit together; of state, enthalpy and mass those that are given. */
static firn_status check_one(const firn_sim *sim, int64_t i, int material, const double *state,
                             const double *enthalpy, const double *mass, double volume,
                             firn_error *error)
{
    const bool melts = firn_law_get_info(sim->materials[material].law).melts != 0;
    if (melts && state && !(fabs(*state) <= 3)) {
        return firn_fail(error, FIRN_INVALID,
                         "state of particle %lld is %g; of what melts it is the logarithm of how "
                         "far it is packed, -3 to 3",
                         (long long)i, *state);
    }
    const firn_heat_curve *curve = (const firn_heat_curve *)sim->heat.curve.data + material;
    if (enthalpy && *enthalpy < firn_heat_enthalpy(curve, 0)) {
        return firn_fail(error, FIRN_INVALID,
                         "enthalpy of particle %lld is %g J/kg; at absolute zero it is %g",
                         (long long)i, *enthalpy, firn_heat_enthalpy(curve, 0));
    }
    if (mass && !(*mass / volume <= 1e18)) {
        return firn_fail(error, FIRN_INVALID,
                         "mass of particle %lld is %g and its volume %g; their quotient must be "
                         "below 1e18",
                         (long long)i, *mass, volume);
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
        return firn_sim_refuse_heat(error);
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
        st = check_one(sim, i, material, p->state ? p->state + i : NULL,
                       p->enthalpy ? p->enthalpy + i : NULL, p->mass ? p->mass + i : NULL,
                       p->volume ? p->volume[i] : p->each_volume, error);
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
    double temperature = sim->def.heat.ambient;
    if (sim->def.heat.ambient_keys.count)
        firn_track_sample(&sim->def.heat.ambient_keys, sim->time, &temperature);
    if (p->temperature) temperature = p->temperature[i];
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

/* Rounds of scatter and gather from which gradients come. Two cells inside a turning body they are right
 * within 3 %; those of the outermost particles, which nothing surrounds, converge slowly and matter
 * little: a ball of 4 cells' radius loses 7e-4 of its energy in the first step instead of 5 to 7 %. */
#define GRADIENT_ROUNDS 20

firn_status firn_sim_estimate_gradients(firn_sim *sim, uint64_t first_id, int64_t count,
                                        firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (count < 0) return firn_fail(error, FIRN_INVALID, "count is %lld", (long long)count);
    if (count == 0 || !firn_transfer_is_affine(sim->def.transfer)) return FIRN_OK;
    for (int i = 0; i < GRADIENT_ROUNDS; i++) {
        firn_pass pass;
        const firn_status st = firn_sim_scatter_forces(sim, &pass, error);
        if (st != FIRN_OK) return st;
        firn_grid_sum(sim, false);
        pass.first_id = first_id;
        pass.id_count = (uint64_t)count;
        firn_sim_run_pass(sim, &pass, sim->kernels->plain_turn);
    }
    sim->generation++;
    return FIRN_OK;
}

/* ---- writing ---- */

/* Whether one particle may have a value; `shown` is its number in messages. */
static firn_status check_written(const firn_sim *sim, firn_field field, int64_t i, double value,
                                 int64_t shown, firn_error *error)
{
    const firn_store *s = &sim->store;
    int material = s->material[i];
    double state = (double)s->record[i * FIRN_RECORD + firn_offset_state(s->dim)];
    double enthalpy = s->heat ? (double)s->heat[i * FIRN_HEAT_RECORD + FIRN_HEAT_ENTHALPY] : 0;
    double mass = (double)s->mass[i], volume = (double)s->volume[i];
    const bool whole = field == FIRN_MATERIAL || field == FIRN_OBJECT;
    const double most = field == FIRN_MATERIAL ? sim->def.material_count - 1 : UINT16_MAX;
    if (whole && !(value >= 0 && value <= most && value == floor(value))) {
        return firn_fail(error, FIRN_INVALID,
                         "%s of particle %lld is %g; it must be a whole number from 0 to %g",
                         firn_field_get_info(field).name, (long long)shown, value, most);
    }
    switch (field) {
    case FIRN_OBJECT:
        if (firn_sim_body(sim, (uint16_t)value) == firn_sim_body(sim, s->object[i])) return FIRN_OK;
        return firn_fail(error, FIRN_INVALID,
                         "object %g of particle %lld is of body %d and the particle of %d; remove "
                         "it and add it anew",
                         value, (long long)shown, firn_sim_body(sim, (uint16_t)value),
                         firn_sim_body(sim, s->object[i]));
    case FIRN_MATERIAL: material = (int)value; break;
    case FIRN_STATE: state = value; break;
    case FIRN_ENTHALPY: enthalpy = value; break;
    case FIRN_MASS: mass = value; break;
    case FIRN_VOLUME: volume = value; break;
    default: return FIRN_OK;
    }
    return check_one(sim, shown, material, &state, s->heat ? &enthalpy : NULL, &mass, volume,
                     error);
}

static firn_status check_write(const firn_sim *sim, firn_field field, int64_t count,
                               const double *values, firn_error *error)
{
    firn_status st = firn_sim_check_field(sim, field, error);
    if (st != FIRN_OK) return st;
    const firn_field_info info = firn_field_get_info(field);
    if (!info.writable) {
        return firn_fail(error, FIRN_INVALID, "%s cannot be written; remove and add particles",
                         info.name);
    }
    if (count && !values) return firn_fail(error, FIRN_INVALID, "values is NULL");
    st = check_numbers(info.name, values, count, firn_sim_components(sim, field), error);
    if (st == FIRN_OK && (field == FIRN_MASS || field == FIRN_VOLUME)) {
        st = check_positive(info.name, values, count, error);
    }
    return st;
}

/* Writes what has been checked but for what each particle may have, at record indices `at`. */
static firn_status write_at(firn_sim *sim, firn_field field, int64_t count, const uint32_t *at,
                            const double *values, firn_error *error)
{
    const int32_t width = firn_sim_components(sim, field), dim = sim->store.dim;
    firn_status st = FIRN_OK;
    for (int64_t k = 0; st == FIRN_OK && width == 1 && k < count; k++) {
        st = check_written(sim, field, at[k], values[k], k, error);
    }
    if (st != FIRN_OK) return st;
    const firn_view v = firn_sim_stored(sim, field);
    for (int64_t k = 0; k < count; k++) {
        char *to = (char *)v.data + at[k] * v.stride;
        for (int32_t c = 0; c < width; c++) {
            const bool less = field == FIRN_DEFORMATION_GRADIENT && c % (dim + 1) == 0;
            const double value = values[k * width + c];
            if (v.bytes == sizeof(uint16_t))
                *(uint16_t *)to = (uint16_t)value;
            else
                ((real *)to)[c] = (real)(value - less);
        }
    }
    if (field == FIRN_MASS || field == FIRN_VOLUME) note_densities(sim, 0, sim->store.count);
    sim->generation++;
    return FIRN_OK;
}

firn_status firn_sim_write(firn_sim *sim, firn_field field, int64_t first, int64_t count,
                           const double *values, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    firn_status st = firn_sim_check_range(sim, first, count, error);
    if (st == FIRN_OK) st = check_write(sim, field, count, values, error);
    if (st != FIRN_OK || count == 0) return st;
    return write_at(sim, field, count, firn_sim_id_order(sim) + first, values, error);
}

firn_status firn_sim_write_ids(firn_sim *sim, firn_field field, int64_t count, const uint64_t *ids,
                               const double *values, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    const firn_store *s = &sim->store;
    firn_status st = firn_sim_check_range(sim, 0, count, error);
    if (st == FIRN_OK) st = check_write(sim, field, count, values, error);
    if (st != FIRN_OK || count == 0) return st;
    if (!ids) return firn_fail(error, FIRN_INVALID, "ids is NULL");
    const uint32_t *by_id = firn_sim_id_order(sim);
    uint32_t *at = (uint32_t *)firn_store_key_scratch(s, s->count);
    for (int64_t k = 0; k < count; k++) {
        int64_t low = 0, high = s->count - 1; /* it is within, if it is there */
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (s->id[by_id[middle]] < ids[k])
                low = middle + 1;
            else
                high = middle;
        }
        at[k] = by_id[low];
        if (s->id[at[k]] == ids[k]) continue;
        return firn_fail(error, FIRN_INVALID, "ids[%lld]: there is no particle %llu", (long long)k,
                         (unsigned long long)ids[k]);
    }
    return write_at(sim, field, count, at, values, error);
}

firn_status firn_sim_write_temperature(firn_sim *sim, int64_t first, int64_t count,
                                       const double *temperature, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    firn_status st = firn_sim_check_range(sim, first, count, error);
    if (st == FIRN_OK) st = check_write(sim, FIRN_ENTHALPY, count, temperature, error);
    if (st == FIRN_OK) st = check_positive("temperature", temperature, count, error);
    if (st != FIRN_OK || count == 0) return st;
    const uint32_t *by_id = firn_sim_id_order(sim);
    for (int64_t k = 0; k < count; k++) {
        sim->store.heat[(size_t)by_id[first + k] * FIRN_HEAT_RECORD + FIRN_HEAT_ENTHALPY] =
            (real)firn_heat_enthalpy(firn_heat_curve_of(sim, by_id[first + k]), temperature[k]);
    }
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
