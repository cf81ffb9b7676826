/* Defs: defaults, checking, and creating and destroying a sim. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/parallel.h"
#include "base/param.h"
#include "sim/sim.h"

static const char *const firn_transfer_words[] = {FIRN_TRANSFERS(FIRN_LIST_NAME) NULL};
static const char *const firn_spline_words[] = {FIRN_SPLINES(FIRN_LIST_NAME) NULL};
static const char *const firn_force_form_words[] = {FIRN_FORCE_FORMS(FIRN_LIST_NAME) NULL};
static const char *const firn_path_words[] = {FIRN_PATHS(FIRN_LIST_NAME) NULL};
static const char *const firn_pressure_words[] = {FIRN_PRESSURES(FIRN_LIST_NAME) NULL};
static const char *const firn_shear_words[] = {FIRN_SHEARS(FIRN_LIST_NAME) NULL};
static const char *const firn_integrator_words[] = {FIRN_INTEGRATORS(FIRN_LIST_NAME) NULL};

const firn_param *firn_sim_param(int32_t index)
{
#define ROW(...) FIRN_PARAM_ROW(firn_sim_def, __VA_ARGS__)
    static const firn_param row[] = {FIRN_SIM_PARAMS(ROW)};
#undef ROW
    return (uint32_t)index < sizeof row / sizeof *row ? &row[index] : NULL;
}

const firn_param *firn_heat_param(int32_t index)
{
#define ROW(...) FIRN_PARAM_ROW(firn_heat_def, __VA_ARGS__)
    static const firn_param row[] = {FIRN_HEAT_PARAMS(ROW)};
#undef ROW
    return (uint32_t)index < sizeof row / sizeof *row ? &row[index] : NULL;
}

firn_sim_def firn_sim_def_default(void)
{
    firn_sim_def def = {.dimension = 3, .stamp = FIRN_STAMP};
    firn_params_default(firn_sim_param, &def);
    firn_params_default(firn_heat_param, &def.heat);
    return def;
}

/* Steps that contradict each other. */
static firn_status check_steps(const firn_sim_def *def, firn_error *error)
{
    if (def->dt > 0 && def->dt < def->dt_min) {
        return firn_fail_field(error, FIRN_INVALID,
                               "dt %g must not be below dt_min %g; lower dt_min", def->dt,
                               def->dt_min);
    }
    if (def->dt_min > def->dt_max) {
        return firn_fail_field(error, FIRN_INVALID, "dt_min %g must not be above dt_max %g",
                               def->dt_min, def->dt_max);
    }
    if (def->integrator != FIRN_EXPLICIT && def->dt_min > def->dt_implicit) {
        return firn_fail_field(error, FIRN_INVALID, "dt_min %g must not be above dt_implicit %g",
                               def->dt_min, def->dt_implicit);
    }
    return FIRN_OK;
}

static firn_status check_counts(const firn_sim_def *def, firn_error *error)
{
    const struct {
        const char *field;
        int32_t value, min, max;
    } checks[] = {
        {"dimension", def->dimension, 2, 3},
        {"material_count", def->material_count, 1, 65536},
        {"collider_count", def->collider_count, 0, INT32_MAX},
        {"force_count", def->force_count, 0, INT32_MAX},
        {"object_count", def->object_count, 0, 65536},
        {"contact_count", def->contact_count, 0, INT32_MAX},
        {"threads", def->threads, 0, 4096},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        if (checks[i].value >= checks[i].min && checks[i].value <= checks[i].max) continue;
        return firn_fail_field(error, FIRN_INVALID, "%s %d must be from %d to %d", checks[i].field,
                               checks[i].value, checks[i].min, checks[i].max);
    }
    if (!def->materials)
        return firn_fail_field(error, FIRN_INVALID, "materials is NULL; give at least one");
    if (def->collider_count && !def->colliders) {
        return firn_fail_field(
            error, FIRN_INVALID,
            "colliders is NULL but collider_count is %d; give them, or set it to 0",
            def->collider_count);
    }
    if (def->force_count && !def->forces) {
        return firn_fail_field(error, FIRN_INVALID,
                               "forces is NULL but force_count is %d; give them, or set it to 0",
                               def->force_count);
    }
    return FIRN_OK;
}

static firn_status check_forces(const firn_sim_def *def, firn_error *error)
{
    for (int32_t i = 0; i < def->force_count; i++) {
        const firn_acceleration_key *k = &def->forces[i];
        if (!isfinite(k->time) || (i > 0 && !(k->time > k[-1].time))) {
            return firn_fail_field(
                error, FIRN_INVALID,
                "forces[%d].time %g must be finite and above the one before; sort the keys", i,
                k->time);
        }
        for (int a = 0; a < 3; a++) {
            if (!isfinite(k->acceleration[a])) {
                return firn_fail_field(error, FIRN_INVALID,
                                       "forces[%d].acceleration[%d] %g must be finite", i, a,
                                       k->acceleration[a]);
            }
        }
    }
    return FIRN_OK;
}

static firn_status check_contacts(const firn_sim_def *def, firn_error *error)
{
    if (def->object_count && !def->object_bodies) {
        return firn_fail_field(
            error, FIRN_INVALID,
            "object_bodies is NULL but object_count is %d; give them, or set it to 0",
            def->object_count);
    }
    if (def->contact_count && !def->contacts) {
        return firn_fail_field(
            error, FIRN_INVALID,
            "contacts is NULL but contact_count is %d; give them, or set it to 0",
            def->contact_count);
    }
    for (int32_t i = 0; i < def->object_count; i++) {
        if (def->object_bodies[i] < FIRN_MAX_BODIES) continue;
        return firn_fail_field(error, FIRN_INVALID, "object_bodies[%d] %d must be below %d", i,
                               def->object_bodies[i], FIRN_MAX_BODIES);
    }
    for (int32_t i = 0; i < def->contact_count; i++) {
        const firn_contact *c = &def->contacts[i];
        if (!(c->friction >= 0 && c->friction <= 1e6)) { /* as contact_friction */
            return firn_fail_field(error, FIRN_INVALID,
                                   "contacts[%d].friction %g must be from 0 to 1e6", i,
                                   c->friction);
        }
        if (c->body[0] >= FIRN_MAX_BODIES || c->body[1] >= FIRN_MAX_BODIES ||
            c->body[0] == c->body[1]) {
            return firn_fail_field(
                error, FIRN_INVALID,
                "contacts[%d] is of bodies %d and %d; give two different ones below %d", i,
                c->body[0], c->body[1], FIRN_MAX_BODIES);
        }
    }
    return FIRN_OK;
}

static firn_status check_heat(const firn_sim_def *def, firn_error *error)
{
    const firn_heat_def *h = &def->heat;
    bool conducts = false;
    for (int32_t i = 0; i < def->material_count; i++) {
        conducts |= firn_material_conducts(&def->materials[i]);
    }
    if (h->enabled && h->step > 0 && h->step < def->dt_min) {
        return firn_fail_field(
            error, FIRN_INVALID,
            "heat.step %g s must not be below dt_min %g; 0 chooses automatically", h->step,
            def->dt_min);
    }
    if (h->enabled && !conducts) {
        return firn_fail_field(
            error, FIRN_INVALID,
            "heat: conductivity is 0 in every material: heat would not move; give one, or "
            "leave out heat");
    }
    if (h->source_count < 0 || (h->source_count && !h->sources)) {
        return firn_fail_field(
            error, FIRN_INVALID,
            "heat.sources is NULL or heat.source_count %d below 0; give them, or set it to 0",
            h->source_count);
    }
    for (int32_t i = 0; i < h->source_count; i++) {
        const firn_heat_source *s = &h->sources[i];
        char where[40];
        snprintf(where, sizeof where, "heat.sources[%d].shape", i);
        const firn_status st = firn_collider_check(&s->shape, def->dimension, where, error);
        if (st != FIRN_OK) return st;
        static const firn_param power = {.name = "power",
                                         .unit = "W/m3",
                                         .least = -1e18,
                                         .most = 1e18,
                                         .cure = "negative cools"};
        char name[48];
        snprintf(name, sizeof name, "heat.sources[%d].power_keys", i);
        const firn_status keys = firn_track_check(&power, &s->power_keys, name, error);
        if (keys != FIRN_OK) return keys;
        if (!isfinite(s->power) || !(s->end >= s->begin)) {
            return firn_fail_field(
                error, FIRN_INVALID,
                "heat.sources[%d] has %g W/m3 from %g to %g s; give a finite power, and "
                "times in order",
                i, s->power, s->begin, s->end);
        }
    }
    return FIRN_OK;
}

/* What projection does not serve. */
static firn_status check_projection(const firn_sim_def *def, firn_error *error)
{
    if (def->pressure != FIRN_PRESSURE_PROJECTION) return FIRN_OK;
    for (int32_t i = 0; i < def->material_count; i++) {
        if (!firn_law_get_info(def->materials[i].law).volume_yields) continue;
        return firn_fail_field(error, FIRN_UNSUPPORTED,
                               "materials[%d].law %s: pressure projection is not for laws whose "
                               "volume yields; use pressure none",
                               i, firn_law_name(def->materials[i].law));
    }
    if (def->transfer != FIRN_APIC && def->transfer != FIRN_PIC && def->transfer != FIRN_FLIP &&
        def->transfer != FIRN_TRANSFER_AUTO) {
        return firn_fail_field(error, FIRN_UNSUPPORTED,
                               "transfer %s: pressure projection is for apic, pic and flip",
                               firn_transfer_name(def->transfer));
    }
    if (def->integrator == FIRN_IMPLICIT) {
        return firn_fail_field(error, FIRN_UNSUPPORTED,
                               "integrator implicit is not for pressure projection, which takes "
                               "long steps anyway; use explicit");
    }
    if (def->force_hook) {
        return firn_fail_field(error, FIRN_UNSUPPORTED,
                               "force_hook: pressure projection has no nodes to ask it for; use "
                               "pressure none");
    }
    for (int32_t i = 0; i < def->object_count; i++) {
        if (def->object_bodies[i] == 0) continue;
        return firn_fail_field(error, FIRN_UNSUPPORTED,
                               "object_bodies[%d]: with pressure projection no object separates "
                               "from others; leave out bodies",
                               i);
    }
    return FIRN_OK;
}

static firn_status check_def(const firn_sim_def *def, firn_error *error)
{
    firn_status st = firn_check_stamp(def->stamp, "firn_sim_def", NULL, error);
    if (st == FIRN_OK) st = firn_params_check(firn_sim_param, def, "", error);
    if (st == FIRN_OK) st = firn_params_check(firn_heat_param, &def->heat, "heat", error);
    if (st == FIRN_OK) st = check_steps(def, error);
    if (st == FIRN_OK) st = check_counts(def, error);
    if (st == FIRN_OK) st = check_forces(def, error);
    if (st == FIRN_OK) st = check_contacts(def, error);
    for (int32_t i = 0; st == FIRN_OK && i < def->material_count; i++) {
        st = firn_material_check(&def->materials[i], i, error);
    }
    if (st == FIRN_OK) st = check_projection(def, error);
    if (st == FIRN_OK) st = check_heat(def, error);
    for (int32_t i = 0; st == FIRN_OK && i < def->collider_count; i++) {
        char where[24];
        snprintf(where, sizeof where, "colliders[%d]", i);
        st = firn_collider_check(&def->colliders[i], def->dimension, where, error);
    }
    return st;
}

/* Whether the fused path serves this combination. */
static bool fused_serves(const firn_sim_def *def, const firn_kernels *kernels)
{
    return kernels->fused[0] && def->spline == FIRN_QUADRATIC && def->force_form == FIRN_MLS &&
           !def->force_hook;
}

/* Says what there is instead, if anything: a build for other processors may have none for this. */
static firn_status refuse_isa(const char *isa, firn_error *error)
{
    char known[128] = "";
    for (int32_t i = 0; firn_isa_name(i); i++) {
        size_t used = strlen(known);
        if (used + strlen(firn_isa_name(i)) + 2 < sizeof known) {
            strcat(known, used ? " " : "");
            strcat(known, firn_isa_name(i));
        }
    }
    if (known[0]) {
        return firn_fail_field(error, FIRN_UNSUPPORTED,
                               "isa \"%s\" is not available; this machine runs: %s", isa, known);
    }
    return firn_fail(error, FIRN_UNSUPPORTED,
                     "no isa of this build runs on this machine; use a build that has scalar");
}

/* AUTO projects what has most to gain: long steps through liquids, and melt that does not lock. */
static firn_pressure choose_pressure(const firn_sim_def *def)
{
    if (def->pressure != FIRN_PRESSURE_AUTO) return def->pressure;
    firn_sim_def projected = *def;
    projected.pressure = FIRN_PRESSURE_PROJECTION;
    bool gains = check_projection(&projected, NULL) == FIRN_OK;
    for (int32_t i = 0; i < def->material_count; i++) {
        gains &= def->materials[i].law == FIRN_LIQUID || def->materials[i].law == FIRN_MELTING;
    }
    return gains ? FIRN_PRESSURE_PROJECTION : FIRN_PRESSURE_NONE;
}

/* AUTO lets loose pieces part. */
static firn_transfer choose_transfer(const firn_sim_def *def)
{
    if (def->transfer != FIRN_TRANSFER_AUTO) return def->transfer;
    for (int32_t i = 0; i < def->material_count; i++) {
        if (firn_law_get_info(def->materials[i].law).crumbles) return FIRN_ASFLIP;
    }
    return FIRN_APIC;
}

/* Whether all laws have tangents: an implicit step needs them, and AUTO goes without and says so. */
firn_status firn_sim_choose_integrator(firn_sim *sim, firn_error *error)
{
    const firn_sim_def *def = &sim->def;
    sim->integrator = def->integrator;
    const int first = (int)def->materials[0].law;
    sim->implicit.differential_law = first;
    for (int32_t i = 0; i < def->material_count; i++) {
        const int law = (int)def->materials[i].law;
        if (!sim->kernels->same_differential(law, first)) sim->implicit.differential_law = -1;
        if (sim->kernels->has_tangent(law)) continue;
        const bool refuse = def->integrator == FIRN_IMPLICIT;
        char why[160];
        snprintf(why, sizeof why, "materials[%d]%s%s: there are no implicit steps for %s; %s", i,
                 def->materials[i].name[0] ? " " : "", def->materials[i].name,
                 firn_law_name(def->materials[i].law),
                 refuse ? "use integrator explicit or auto" : "all are explicit");
        if (refuse) return firn_fail_field(error, FIRN_UNSUPPORTED, "%s", why);
        if (sim->integrator == FIRN_INTEGRATOR_AUTO && def->log.write) {
            def->log.write(def->log.user_data, FIRN_LOG_INFO, "integrator", why);
        }
        sim->integrator = FIRN_EXPLICIT;
    }
    return FIRN_OK;
}

static firn_status choose_kernels(firn_sim *sim, firn_error *error)
{
    const firn_sim_def *def = &sim->def;
    sim->kernels = firn_kernels_find(def->isa, def->dimension);
    if (!sim->kernels) return refuse_isa(def->isa, error);
    if (def->path == FIRN_PATH_FUSED && !sim->kernels->fused[0]) {
        return firn_fail_field(error, FIRN_UNSUPPORTED,
                               "path fused is for single precision and this build is in double; "
                               "use path auto");
    }
    bool fused = fused_serves(def, sim->kernels);
    if (def->path == FIRN_PATH_FUSED && !fused) {
        return firn_fail_field(
            error, FIRN_UNSUPPORTED,
            "path fused serves quadratic splines with MLS forces and no force hook; "
            "use path auto");
    }
    sim->path = fused && def->path != FIRN_PATH_PLAIN ? FIRN_PATH_FUSED : FIRN_PATH_PLAIN;
    sim->planes = sim->path == FIRN_PATH_PLAIN || firn_transfer_is_flip(def->transfer) ? 2 : 1;
    sim->workers = (firn_workers){
        .count = def->threads ? def->threads : firn_parallel_max_threads(), .hook = def->tasks};
    return FIRN_OK;
}

/* Copies `size` bytes of the caller's into a pool. */
static firn_status copy_in(firn_sim *sim, firn_pool *pool, const void *from, size_t size,
                           firn_error *error)
{
    if (size == 0) return FIRN_OK;
    firn_status st = firn_pool_reserve(sim->allocator, pool, size, error);
    if (st == FIRN_OK && from) memcpy(pool->data, from, size);
    return st;
}

/* Keys and points of heat sources, one after the other, and the pointers to them. */
static firn_status copy_sources(firn_sim *sim, firn_error *error)
{
    firn_heat_def *heat = &sim->def.heat;
    firn_heat_source *source = sim->heat.source.data;
    size_t size = 0;
    for (int32_t i = 0; i < heat->source_count; i++) {
        size += firn_collider_extra(&source[i].shape) + firn_track_extra(&source[i].power_keys);
    }
    const firn_status st = copy_in(sim, &sim->heat.source_key, NULL, size, error);
    if (st != FIRN_OK) return st;
    void *rest = sim->heat.source_key.data;
    for (int32_t i = 0; i < heat->source_count && size; i++) {
        rest = firn_collider_move(&source[i].shape, rest);
        rest = firn_track_move(&source[i].power_keys, rest);
    }
    heat->sources = source;
    return FIRN_OK;
}

/* Keys of gravity, contact and heat. */
static firn_status copy_tracks(firn_sim *sim, firn_error *error)
{
    firn_sim_def *def = &sim->def;
    const size_t size =
        firn_params_extra(firn_sim_param, def) + firn_params_extra(firn_heat_param, &def->heat);
    const firn_status st = copy_in(sim, &sim->track_pool, NULL, size, error);
    if (st != FIRN_OK || size == 0) return st;
    double *rest = firn_params_move(firn_sim_param, def, sim->track_pool.data);
    (void)firn_params_move(firn_heat_param, &def->heat, rest);
    return FIRN_OK;
}

/* Whether steps with pressure projection solve for a material's shear. A liquid's viscosity has to limit
 * the longest step before that pays. */
static bool shears_implicitly(const firn_sim_def *def, const firn_material_def *m)
{
    if (def->shear != FIRN_SHEAR_AUTO) return def->shear == FIRN_SHEAR_IMPLICIT;
    const double h = def->cell_size;
    const bool thick = 4 * def->dimension * m->viscosity * def->dt_max > h * h * m->density;
    return m->law == FIRN_MELTING || (m->law == FIRN_LIQUID && thick);
}

void firn_sim_derive_material(firn_sim *sim, int32_t i)
{
    const firn_material_def *m = &sim->materials[i];
    firn_material_constants(m, (firn_law_constants *)sim->constant_pool.data + i);
    ((firn_heat_curve *)sim->heat.curve.data)[i] = firn_material_heat_curve(m);
    ((uint8_t *)sim->law_pool.data)[i] = (uint8_t)m->law;
    sim->rest_density |= sim->kernels->has_rest_density((int)m->law);
    const bool implicit = shears_implicitly(&sim->def, m);
    ((uint8_t *)sim->shear_pool.data)[i] = implicit;
    sim->project.shears |= implicit;
    sim->project.solids |= m->law != FIRN_LIQUID;
    for (int32_t j = 0; j < sim->def.material_count; j++) {
        sim->project.solids |= m->surface_tension != sim->materials[j].surface_tension;
    }
}

static firn_status copy_def(firn_sim *sim, firn_error *error)
{
    firn_sim_def *def = &sim->def;
    const size_t materials = (size_t)def->material_count, colliders = (size_t)def->collider_count;
    firn_status st = copy_in(sim, &sim->material_pool, def->materials,
                             materials * sizeof *def->materials, error);
#define COPY(pool, from, size)                                                                     \
    if (st == FIRN_OK) st = copy_in(sim, &sim->pool, from, size, error)
    COPY(collider_pool, def->colliders, colliders * sizeof *def->colliders);
    COPY(force_pool, def->forces, (size_t)def->force_count * sizeof *def->forces);
    COPY(constant_pool, NULL, materials * sizeof(firn_law_constants));
    COPY(law_pool, NULL, materials);
    COPY(shear_pool, NULL, materials);
    COPY(body_pool, def->object_bodies, (size_t)def->object_count * sizeof *def->object_bodies);
    COPY(contact_pool, def->contacts, (size_t)def->contact_count * sizeof *def->contacts);
    COPY(heat.source, def->heat.sources,
         (size_t)def->heat.source_count * sizeof *def->heat.sources);
    COPY(heat.curve, NULL, materials * sizeof(firn_heat_curve));
    COPY(posed_pool, NULL, colliders * sizeof(firn_posed_collider));
    COPY(slot_pool, NULL, colliders * sizeof(firn_collider_slot));
    COPY(scratch_pool, NULL, (size_t)sim->workers.count * sizeof(firn_scratch));
#undef COPY
    if (st == FIRN_OK) st = firn_reaction_reserve(sim, def->collider_count, error);
    if (st != FIRN_OK) return st;
    def->materials = sim->materials = sim->material_pool.data;
    def->colliders = sim->colliders = sim->collider_pool.data;
    def->forces = sim->forces = sim->force_pool.data;
    def->object_bodies = sim->body_pool.data;
    def->contacts = sim->contact_pool.data;
    st = copy_sources(sim, error);
    if (st == FIRN_OK) st = copy_tracks(sim, error);
    if (st != FIRN_OK) return st;
    sim->scratch = sim->scratch_pool.data;
    memset(sim->scratch, 0, (size_t)sim->workers.count * sizeof *sim->scratch);
    for (int32_t i = 0; i < def->material_count; i++) firn_sim_derive_material(sim, i);
    if (colliders) {
        sim->slots = sim->slot_pool.data;
        memset(sim->slots, 0, colliders * sizeof *sim->slots);
    }
    for (size_t i = 0; i < colliders && st == FIRN_OK; i++) {
        firn_collider_def *c = &sim->colliders[i];
        const size_t size = firn_collider_extra(c);
        st = copy_in(sim, &sim->slots[i].keys, NULL, size, error);
        if (st == FIRN_OK && size) firn_collider_move(c, sim->slots[i].keys.data);
        if (st == FIRN_OK) {
            st = firn_deform_create(sim, c, (int32_t)i, &sim->slots[i].deform, error);
        }
    }
    firn_reaction_reset(sim);
    return st;
}

firn_status firn_sim_create(const firn_sim_def *def, firn_sim **out, firn_error *error)
{
    if (!out) return firn_fail(error, FIRN_INVALID, "sim is NULL; give a place for the handle");
    *out = NULL;
    if (!def)
        return firn_fail(error, FIRN_INVALID, "def is NULL; start from firn_sim_def_default()");
    firn_status st = check_def(def, error);
    if (st != FIRN_OK) return st;

    const firn_allocator allocator =
        def->allocator.reallocate ? def->allocator : firn_allocator_default();
    firn_sim *sim = allocator.reallocate(allocator.user_data, NULL, 0, sizeof *sim, FIRN_ALIGN);
    if (!sim)
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory: %zu bytes asked for", sizeof *sim);
    memset(sim, 0, sizeof *sim);
    sim->def = *def;
    sim->def.allocator = allocator;
    sim->allocator = &sim->def.allocator;
    sim->store.dim = def->dimension;
    sim->store.has_heat = def->heat.enabled != 0;
    sim->from = &sim->directory[0];
    sim->at = &sim->directory[1];
    sim->limit_next = FIRN_LIMIT_MAXIMUM;
    sim->def.transfer = choose_transfer(def);
    sim->def.pressure = choose_pressure(def);
    /* Where cubic splines would have them, stencils of all staggered lattices lie upwards of a
     * particle's cell; heat, on nodes, then has cubic ones. */
    if (sim->def.pressure == FIRN_PRESSURE_PROJECTION) sim->def.spline = FIRN_CUBIC;
    st = choose_kernels(sim, error);
    if (st == FIRN_OK) st = firn_sim_choose_integrator(sim, error);
    if (st == FIRN_OK) st = copy_def(sim, error);
    /* Only in 3D do bodies take bits from the axes. */
    for (int i = 0; i < 4; i++) {
        sim->directory[i].axis_bits =
            def->object_count && def->dimension == 3 ? FIRN_BODY_AXIS_BITS : FIRN_AXIS_BITS;
        sim->directory[i].stencil = sim->def.spline == FIRN_QUADRATIC ? 3 : 4;
    }
    if (st == FIRN_OK) {
        st = firn_directory_init(sim->from, def->dimension, NULL, 0, sim->allocator, error);
    }
    if (st != FIRN_OK) {
        firn_sim_destroy(sim);
        return st;
    }
    sim->def.isa = sim->kernels->isa; /* the caller's string need not outlive the call */
    *out = sim;
    return FIRN_OK;
}

void firn_sim_destroy(firn_sim *sim)
{
    if (!sim) return;
    const firn_allocator a = *sim->allocator;
    firn_store_free(&sim->store, &a);
    for (int i = 0; i < 4; i++) firn_directory_free(&sim->directory[i], &a);
    if (sim->scratch) {
        for (int32_t t = 0; t < sim->workers.count; t++) firn_pool_free(&a, &sim->scratch[t].pool);
    }
    for (int32_t i = 0; sim->slots && i < sim->def.collider_count; i++) {
        firn_pool_free(&a, &sim->slots[i].keys);
        firn_deform_free(&sim->slots[i].deform, &a);
    }
    firn_nearby_free(&sim->nearby, &a);
    firn_pool *pools[] = {
#define CHANNEL(name) &sim->grid.name,
        FIRN_CHANNELS(CHANNEL)
#undef CHANNEL
            & sim->grid.arena,
        &sim->grid.mirror,
        &sim->grid.mirror_range,
        &sim->grid.touched,
        &sim->snapshot.velocity,
        &sim->material_pool,
        &sim->collider_pool,
        &sim->force_pool,
        &sim->track_pool,
        &sim->constant_pool,
        &sim->law_pool,
        &sim->shear_pool,
        &sim->posed_pool,
        &sim->body_pool,
        &sim->contact_pool,
        &sim->slot_pool,
        &sim->reaction_pool,
        &sim->grid.impulse,
        &sim->grid.impulse_first,
        &sim->scratch_pool,
        &sim->key_scratch,
        &sim->extremes_pool,
        &sim->partial_pool,
        &sim->heat.source,
        &sim->heat.source_key,
        &sim->heat.curve,
        &sim->heat.particle,
        &sim->heat.result,
        &sim->heat.node,
        &sim->heat.link,
        &sim->heat.temperature,
        &sim->heat.change,
        &sim->heat.residual,
        &sim->heat.direction,
        &sim->heat.image,
        &sim->implicit.tangents,
        &sim->implicit.group,
        &sim->implicit.cell,
        &sim->implicit.wall,
        &sim->implicit.wall_first,
        &sim->implicit.partial,
        &sim->implicit.inverse_mass,
    };
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) firn_pool_free(&a, pools[i]);
    firn_project_free(&sim->project, &a);
    firn_coarse_free(&sim->implicit.coarse, &a);
    a.reallocate(a.user_data, sim, sizeof *sim, 0, FIRN_ALIGN);
}

firn_sim_info firn_sim_get_info(const firn_sim *sim)
{
    return (firn_sim_info){.isa = sim->kernels->isa,
                           .lanes = sim->kernels->lanes,
                           .threads = sim->workers.count,
                           .path = sim->path,
                           .pressure = sim->def.pressure,
                           .real_bytes = sizeof(real)};
}

double firn_sim_time(const firn_sim *sim) { return sim->time; }
