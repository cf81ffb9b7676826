/* Looking at particles between steps: fields by id or as they lie, what follows from them, and the
 * hash of it all. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "sim/sim.h"

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
#define INFO(heat, name, NAME, components, unit, writable)                                         \
    [FIRN_##NAME] = {#name, unit, NAME##_2D, components, heat, writable},
#define COLD(type, name, NAME, components, unit, who, writable)                                    \
    INFO(0, name, NAME, components, unit, writable)
#define WARM(type, name, NAME, components, unit, who, writable)                                    \
    INFO(1, name, NAME, components, unit, writable)
        FIRN_RECORD_FIELDS(COLD) FIRN_SPARE_FIELDS(COLD) FIRN_SIDE_FIELDS(COLD)
            FIRN_HEAT_FIELDS(WARM)
#undef WARM
#undef COLD
#undef INFO
    };
#undef DIM
    return field >= 0 && field < FIRN_FIELD_COUNT ? info[field] : (firn_field_info){0};
}

int32_t firn_sim_components(const firn_sim *sim, firn_field field)
{
    firn_field_info info = firn_field_get_info(field);
    return sim->store.dim == 2 ? info.components_2d : info.components_3d;
}

firn_status firn_sim_refuse_heat(firn_error *error)
{
    return firn_fail(error, FIRN_INVALID, "the sim has no heat; set heat.enabled in its def");
}

int64_t firn_sim_count(const firn_sim *sim) { return sim->store.count; }

/* ---- fields as they are kept ---- */

static int heat_offset(firn_field field)
{
    switch (field) {
    case FIRN_TEMPERATURE_GRADIENT: return FIRN_HEAT_ENTHALPY + 1;
    case FIRN_CONCENTRATION: return FIRN_HEAT_CONCENTRATION;
    case FIRN_CONCENTRATION_GRADIENT: return FIRN_HEAT_CONCENTRATION + 1;
    default: return FIRN_HEAT_ENTHALPY;
    }
}

firn_view firn_sim_stored(const firn_sim *sim, firn_field field)
{
    const firn_store *s = &sim->store;
    const int32_t dim = s->dim;
    firn_view v = {.count = s->count,
                   .components = firn_sim_components(sim, field),
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
#define HEAT(type, name, NAME, ...) case FIRN_##NAME:
        FIRN_HEAT_FIELDS(HEAT)
#undef HEAT
        v.data = s->heat ? s->heat + heat_offset(field) : NULL;
        v.stride = FIRN_HEAT_RECORD * sizeof(real);
        break;
    default: break; /* positions are kept per block */
    }
    return v;
}

firn_view firn_sim_view(const firn_sim *sim, firn_field field)
{
    firn_view v = firn_sim_stored(sim, field);
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

/* ---- id order ---- */

/* Storage indices in id order, into the unused end of the spare buffer; ids come in rising runs. */
static const uint64_t *sort_by_id(const firn_store *s)
{
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

const uint32_t *firn_sim_id_order(const firn_sim *sim)
{
    const firn_store *s = &sim->store;
    if (s->by_id->generation != sim->generation) {
        const uint64_t *sorted = sort_by_id(s);
        for (int64_t k = 0; k < s->count; k++) s->by_id->index[k] = (uint32_t)sorted[k];
        s->by_id->generation = sim->generation;
    }
    return s->by_id->index;
}

/* ---- reading ---- */

firn_status firn_sim_read_stress(const firn_sim *sim, int64_t first, int64_t count, double *out,
                                 firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    const firn_status st = firn_sim_check_range(sim, first, count, error);
    if (st != FIRN_OK || count == 0) return st;
    if (!out) return firn_fail(error, FIRN_INVALID, "out is NULL");
    const firn_pass pass = firn_sim_pass(sim);
    sim->kernels->stress(&pass, firn_sim_id_order(sim) + first, count, out);
    return FIRN_OK;
}

firn_status firn_sim_read_pressure(const firn_sim *sim, double *out, firn_error *error)
{
    enum { CHUNK = 256 };
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (!out) return firn_fail(error, FIRN_INVALID, "out is NULL");
    const int32_t dim = sim->store.dim;
    const int64_t end = sim->store.count;
    double stress[CHUNK * 9];
    for (int64_t first = 0; first < end; first += CHUNK) {
        const int64_t count = end - first < CHUNK ? end - first : CHUNK;
        const firn_status st = firn_sim_read_stress(sim, first, count, stress, error);
        if (st != FIRN_OK) return st;
        for (int64_t i = 0; i < count; i++) {
            double trace = 0;
            for (int a = 0; a < dim; a++) trace += stress[(i * dim + a) * dim + a];
            out[first + i] = -trace / dim;
        }
    }
    return FIRN_OK;
}

firn_status firn_sim_read_heat(const firn_sim *sim, double *temperature, double *liquid,
                               firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    const firn_store *s = &sim->store;
    if (!s->has_heat) return firn_sim_refuse_heat(error);
    const uint32_t *by_id = s->count ? firn_sim_id_order(sim) : NULL;
    for (int64_t k = 0; k < s->count; k++) {
        const firn_heat_curve *c = firn_heat_curve_of(sim, by_id[k]);
        const double e = (double)s->heat[(size_t)by_id[k] * FIRN_HEAT_RECORD + FIRN_HEAT_ENTHALPY];
        if (temperature) temperature[k] = firn_heat_temperature(c, e);
        if (liquid) liquid[k] = firn_heat_liquid(c, e);
    }
    return FIRN_OK;
}

firn_status firn_sim_check_range(const firn_sim *sim, int64_t first, int64_t count,
                                 firn_error *error)
{
    if (first >= 0 && count >= 0 && count <= sim->store.count - first) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "%lld particles from %lld on were asked for; there are %lld", (long long)count,
                     (long long)first, (long long)sim->store.count);
}

firn_status firn_sim_check_field(const firn_sim *sim, firn_field field, firn_error *error)
{
    if (field < 0 || field >= FIRN_FIELD_COUNT) {
        return firn_fail(error, FIRN_INVALID, "field %d does not exist; see firn_field",
                         (int)field);
    }
    return firn_field_get_info(field).heat && !sim->store.has_heat ? firn_sim_refuse_heat(error)
                                                                   : FIRN_OK;
}

/* Where numbers go: one of the two. */
typedef struct sink {
    double *wide;
    float *narrow;
} sink;

static inline void put(const sink *to, int64_t at, double value)
{
    if (to->wide)
        to->wide[at] = value;
    else
        to->narrow[at] = (float)value;
}

/* Positions come block by block: ranks of the storage indices, then one walk over the bins. */
static void read_positions(const firn_sim *sim, const uint32_t *by_id, int64_t first, int64_t count,
                           const sink *to)
{
    const firn_store *s = &sim->store;
    uint32_t *rank = (uint32_t *)firn_store_key_scratch(s, s->count);
    for (int64_t k = 0; by_id && k < s->count; k++) rank[by_id[k]] = (uint32_t)k;
    firn_walk w = firn_store_walk(s, sim->from);
    while (firn_walk_next(&w)) {
        const int64_t at = (int64_t)(by_id ? rank[w.particle] : w.particle) - first;
        if (at < 0 || at >= count) continue;
        double position[3];
        firn_sim_position(sim, w.coord, w.particle, position);
        for (int a = 0; a < s->dim; a++) put(to, at * s->dim + a, position[a]);
    }
}

static firn_status read_field(const firn_sim *sim, firn_field field, firn_order order,
                              int64_t first, int64_t count, const sink *to, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    firn_status st = firn_sim_check_field(sim, field, error);
    if (st == FIRN_OK) st = firn_sim_check_range(sim, first, count, error);
    if (st != FIRN_OK || count == 0) return st;
    if (!to->wide && !to->narrow) return firn_fail(error, FIRN_INVALID, "out is NULL");
    if ((unsigned)order >= FIRN_ORDER_COUNT) {
        return firn_fail(error, FIRN_INVALID,
                         "order %d must be FIRN_ORDER_ID or FIRN_ORDER_STORAGE", (int)order);
    }
    const uint32_t *by_id = order == FIRN_ORDER_ID ? firn_sim_id_order(sim) : NULL;
    if (field == FIRN_POSITION) {
        read_positions(sim, by_id, first, count, to);
        return FIRN_OK;
    }
    const int32_t width = firn_sim_components(sim, field);
    const firn_view v = firn_sim_stored(sim, field);
    enum { AHEAD = 16 }; /* particles: in id order memory is met at random */
    for (int64_t k = 0; k < count; k++) {
        if (by_id && k + AHEAD < count) {
            __builtin_prefetch((const char *)v.data + by_id[first + k + AHEAD] * v.stride);
        }
        const int64_t i = by_id ? by_id[first + k] : first + k;
        for (int32_t c = 0; c < width; c++) {
            put(to, k * width + c, stored_value(&v, field, i, c));
        }
    }
    return FIRN_OK;
}

firn_status firn_sim_read(const firn_sim *sim, firn_field field, int64_t first, int64_t count,
                          double *out, firn_error *error)
{
    return read_field(sim, field, FIRN_ORDER_ID, first, count, &(sink){.wide = out}, error);
}

firn_status firn_sim_read_float(const firn_sim *sim, firn_field field, firn_order order,
                                int64_t first, int64_t count, float *out, firn_error *error)
{
    return read_field(sim, field, order, first, count, &(sink){.narrow = out}, error);
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
    const int32_t bodies = sim->layers.count > 128 ? sim->layers.count : 128; /* as it always was */
    for (int32_t i = 0; i < bodies; i++) hash_word(&h, bits_of(firn_layers_density(sim, i)));
    if (s->count) {
        const uint32_t *by_id = firn_sim_id_order(sim);
        uint64_t *key = firn_store_key_scratch(s, s->count);
        firn_store_keys(s, sim->from, key);
        for (int64_t k = 0; k < s->count; k++) {
            const int64_t i = by_id[k];
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
