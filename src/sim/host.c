/* What a program may change between advances: gravity, colliders, materials, bodies, velocities within
 * a region, and memory ahead. Each call checks, then asks for memory, then changes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/sim.h"

static firn_status check_finite(const char *what, const double value[3], firn_error *error)
{
    if (!value) return firn_fail(error, FIRN_INVALID, "%s is NULL; give three numbers", what);
    for (int a = 0; a < 3; a++) {
        if (fabs(value[a]) <= 1e18) continue; /* false for NaN */
        return firn_fail(error, FIRN_INVALID, "%s[%d] %g must be finite and below 1e18", what, a,
                         value[a]);
    }
    return FIRN_OK;
}

firn_status firn_sim_set_gravity(firn_sim *sim, const double gravity[3], firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    const firn_status st = check_finite("gravity", gravity, error);
    if (st != FIRN_OK) return st;
    memcpy(sim->def.gravity, gravity, sizeof sim->def.gravity);
    sim->def.gravity_keys.count = 0;
    sim->gravity_set = true;
    return FIRN_OK;
}

void firn_sim_gravity(const firn_sim *sim, double from, double to, double gravity[3])
{
    memcpy(gravity, sim->def.gravity, sizeof sim->def.gravity);
    if (sim->def.gravity_keys.count) firn_track_mean(&sim->def.gravity_keys, from, to, gravity);
}

firn_status firn_sim_set_damping(firn_sim *sim, double damping, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (!(damping >= 0 && damping <= FIRN_FINITE)) {
        return firn_fail(error, FIRN_INVALID, "damping %g must be 0 or above and finite", damping);
    }
    sim->def.damping = damping;
    return FIRN_OK;
}

firn_status firn_sim_set_contact_friction(firn_sim *sim, double friction, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (!(friction >= 0 && friction <= 1e6)) {
        return firn_fail(error, FIRN_INVALID, "friction %g must be from 0 to 1e6", friction);
    }
    sim->def.contact_friction = friction;
    sim->def.contact_friction_keys.count = 0;
    return FIRN_OK;
}

/* ---- colliders ---- */

firn_status firn_host_check_collider(const firn_sim *sim, int32_t collider, firn_error *error)
{
    const int32_t count = sim->def.collider_count;
    if (collider >= 0 && collider < count && !sim->slots[collider].removed) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "collider %d %s", collider,
                     collider >= 0 && collider < count
                         ? "was removed"
                         : "does not exist; the def's have their index, others what add gave");
}

firn_status firn_host_check_motion(const firn_collider_motion *m, firn_error *error)
{
    firn_status st = check_finite("position", m->position, error);
    if (st == FIRN_OK) st = check_finite("velocity", m->velocity, error);
    if (st == FIRN_OK) st = check_finite("spin", m->spin, error);
    if (st != FIRN_OK) return st;
    double most = 0;
    for (int a = 0; a < 4; a++) most = fmax(most, fabs(m->rotation[a]));
    for (int a = 0; a < 4; a++) {
        if (most > 0 && isfinite(m->rotation[a])) continue;
        return firn_fail(error, FIRN_INVALID,
                         "rotation[%d] %g: a quaternion w, x, y, z must be finite and not zero; "
                         "use 1 0 0 0 for none",
                         a, m->rotation[a]);
    }
    if (!(m->seconds >= 0)) {
        return firn_fail(error, FIRN_INVALID,
                         "seconds %g must be 0 or above; INFINITY goes on until told otherwise",
                         m->seconds);
    }
    return FIRN_OK;
}

firn_status firn_sim_set_motion(firn_sim *sim, int32_t collider, const firn_collider_motion *motion,
                                firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    firn_status st = firn_host_check_collider(sim, collider, error);
    if (st == FIRN_OK && !motion) st = firn_fail(error, FIRN_INVALID, "motion is NULL");
    if (st == FIRN_OK) st = firn_host_check_motion(motion, error);
    if (st != FIRN_OK) return st;
    firn_collider_slot *slot = &sim->slots[collider];
    slot->moved = true;
    slot->motion = *motion;
    slot->begin = sim->time;
    return FIRN_OK;
}

firn_status firn_sim_move_collider(firn_sim *sim, int32_t collider, const double position[3],
                                   const double rotation[4], double seconds, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    firn_status st = firn_host_check_collider(sim, collider, error);
    if (st == FIRN_OK && !(seconds > 0 && isfinite(seconds))) {
        st = firn_fail(error, FIRN_INVALID,
                       "seconds %g must be above 0 and finite; firn_sim_set_motion moves at once",
                       seconds);
    }
    if (st == FIRN_OK && !(position && rotation)) {
        st = firn_fail(error, FIRN_INVALID, "position or rotation is NULL; give both");
    }
    if (st != FIRN_OK) return st;
    firn_collider_motion target = {.seconds = 0};
    memcpy(target.position, position, sizeof target.position);
    memcpy(target.rotation, rotation, sizeof target.rotation);
    st = firn_host_check_motion(&target, error);
    if (st != FIRN_OK) return st;
    firn_posed_collider now;
    firn_sim_pose_collider(sim, collider, sim->time, &now);
    const firn_collider_motion way =
        firn_motion_to(&now, sim->store.dim, position, rotation, seconds);
    return firn_sim_set_motion(sim, collider, &way, error);
}

firn_status firn_sim_read_motion(const firn_sim *sim, int32_t collider, firn_collider_motion *out,
                                 firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    const firn_status st = firn_host_check_collider(sim, collider, error);
    if (st != FIRN_OK) return st;
    if (!out) return firn_fail(error, FIRN_INVALID, "out is NULL; give a place for the motion");
    const firn_collider_slot *slot = &sim->slots[collider];
    firn_posed_collider now;
    firn_sim_pose_collider(sim, collider, sim->time, &now);
    *out = (firn_collider_motion){.seconds = INFINITY};
    if (slot->moved) out->seconds = fmax(0, slot->begin + slot->motion.seconds - sim->time);
    memcpy(out->position, now.position, sizeof out->position);
    memcpy(out->rotation, now.turn, sizeof out->rotation);
    memcpy(out->velocity, now.velocity, sizeof out->velocity);
    memcpy(out->spin, now.spin, sizeof out->spin);
    return FIRN_OK;
}

/* Keys, whose memory is the sim's, stay where they are: all of them say the same. */
static void set_all(const firn_track *track, const double value[3])
{
    double *values = (double *)track->values;
    for (int32_t k = 0; k < track->count; k++) memcpy(values + 3 * k, value, 3 * sizeof *value);
}

void firn_host_run_surface(firn_collider_def *def, const double velocity[3], const double spin[3])
{
    memcpy(def->surface_velocity, velocity, sizeof def->surface_velocity);
    memcpy(def->surface_spin, spin, sizeof def->surface_spin);
    set_all(&def->surface_velocity_keys, velocity);
    set_all(&def->surface_spin_keys, spin);
}

firn_status firn_sim_set_surface(firn_sim *sim, int32_t collider, const double velocity[3],
                                 const double spin[3], firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    firn_status st = firn_host_check_collider(sim, collider, error);
    if (st == FIRN_OK) st = check_finite("velocity", velocity, error);
    if (st == FIRN_OK) st = check_finite("spin", spin, error);
    if (st != FIRN_OK) return st;
    firn_host_run_surface(&sim->colliders[collider], velocity, spin);
    sim->slots[collider].runs = true;
    return FIRN_OK;
}

firn_status firn_host_reserve_colliders(firn_sim *sim, int32_t count, firn_error *error)
{
    const size_t n = (size_t)count;
    firn_status st = firn_pool_reserve_slack(sim->allocator, &sim->collider_pool,
                                             n * sizeof *sim->colliders, error);
    sim->def.colliders = sim->colliders = sim->collider_pool.data;
    if (st == FIRN_OK) {
        st =
            firn_pool_reserve_slack(sim->allocator, &sim->slot_pool, n * sizeof *sim->slots, error);
    }
    sim->slots = sim->slot_pool.data;
    if (st == FIRN_OK) {
        st = firn_pool_reserve_slack(sim->allocator, &sim->posed_pool,
                                     n * sizeof(firn_posed_collider), error);
    }
    return st == FIRN_OK ? firn_reaction_reserve(sim, count, error) : st;
}

void firn_host_place_collider(firn_sim *sim, const firn_collider_def *def, firn_pool keys,
                              firn_deform deform, int32_t place)
{
    if (place == sim->def.collider_count) {
        sim->def.collider_count++;
    } else {
        firn_pool_free(sim->allocator, &sim->slots[place].keys);
        firn_deform_free(&sim->slots[place].deform, sim->allocator);
    }
    sim->slots[place] = (firn_collider_slot){.keys = keys, .deform = deform, .added = true};
    sim->colliders[place] = *def;
    firn_reaction_reset_one(sim, place);
}

firn_status firn_sim_add_collider(firn_sim *sim, const firn_collider_def *def, int32_t *collider,
                                  firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (!def) {
        return firn_fail(error, FIRN_INVALID,
                         "def is NULL; start from firn_collider_def_default()");
    }
    int32_t place = 0;
    while (place < sim->def.collider_count && !sim->slots[place].removed) place++;
    firn_pool keys = {0};
    firn_deform deform = {0};
    char where[32];
    snprintf(where, sizeof where, "colliders[%d]", place);
    if (def->parent) {
        return firn_fail_field(error, FIRN_INVALID,
                               "%s.parent must be NULL for a collider that is added later; move it "
                               "with firn_sim_move_collider",
                               where);
    }
    firn_status st = firn_collider_check(def, sim->store.dim, where, error);
    if (st == FIRN_OK && place == sim->def.collider_count) {
        st = firn_host_reserve_colliders(sim, place + 1, error);
    }
    if (st == FIRN_OK) {
        st = firn_pool_reserve(sim->allocator, &keys, firn_collider_extra(def), error);
    }
    if (st == FIRN_OK) st = firn_deform_create(sim, def, place, &deform, error);
    if (st != FIRN_OK) {
        firn_pool_free(sim->allocator, &keys);
        return st;
    }
    firn_collider_def own = *def;
    if (keys.data) firn_collider_move(&own, keys.data);
    firn_host_place_collider(sim, &own, keys, deform, place);
    if (collider) *collider = place;
    return FIRN_OK;
}

firn_status firn_sim_remove_collider(firn_sim *sim, int32_t collider, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    const firn_status st = firn_host_check_collider(sim, collider, error);
    if (st != FIRN_OK) return st;
    firn_collider_slot *slot = &sim->slots[collider];
    firn_deform_free(&slot->deform, sim->allocator);
    *slot = (firn_collider_slot){.keys = slot->keys, .removed = true};
    return FIRN_OK;
}

/* ---- materials and bodies ---- */

static firn_status check_material(const firn_sim *sim, const firn_material_def *def, int32_t index,
                                  firn_error *error)
{
    if (!def) {
        return firn_fail(error, FIRN_INVALID,
                         "def is NULL; start from firn_material_def_default()");
    }
    const firn_status st = firn_material_check(def, index, error);
    if (st != FIRN_OK || !sim->store.has_heat) return st;
    bool conducts = firn_material_conducts(def);
    for (int32_t i = 0; i < sim->def.material_count; i++) {
        conducts |= i != index && firn_material_conducts(&sim->materials[i]);
    }
    if (conducts) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "conductivity would be 0 in every material: heat would not move");
}

firn_status firn_sim_set_material(firn_sim *sim, int32_t material, const firn_material_def *def,
                                  firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (material < 0 || material >= sim->def.material_count) {
        return firn_fail(error, FIRN_INVALID, "material %d does not exist; there are 0 to %d",
                         material, sim->def.material_count - 1);
    }
    const firn_status st = check_material(sim, def, material, error);
    if (st != FIRN_OK) return st;
    const firn_law_kind law = sim->materials[material].law;
    if (def->law != law) {
        return firn_fail(error, FIRN_INVALID,
                         "materials[%d].law %s must stay %s, which its particles' state is of; add "
                         "a material instead",
                         material, firn_law_name(def->law), firn_law_name(law));
    }
    sim->materials[material] = *def;
    firn_sim_derive_material(sim, material);
    return FIRN_OK;
}

firn_status firn_sim_add_material(firn_sim *sim, const firn_material_def *def, int32_t *material,
                                  firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    const int32_t index = sim->def.material_count;
    const size_t n = (size_t)index + 1;
    firn_status st = check_material(sim, def, index, error);
    if (st != FIRN_OK) return st;
    if (index > UINT16_MAX) return firn_fail(error, FIRN_INVALID, "there are %d materials", index);
    if (sim->def.integrator == FIRN_IMPLICIT && !sim->kernels->has_tangent((int)def->law)) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "there are no implicit steps for %s; use integrator explicit or auto",
                         firn_law_name(def->law));
    }
    if (sim->def.pressure == FIRN_PRESSURE_PROJECTION &&
        firn_law_get_info(def->law).volume_yields) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "%s cannot join: pressure projection is not for laws whose volume yields",
                         firn_law_name(def->law));
    }
#define RESERVE(pool, type)                                                                        \
    if (st == FIRN_OK)                                                                             \
    st = firn_pool_reserve_slack(sim->allocator, &sim->pool, n * sizeof(type), error)
    RESERVE(material_pool, firn_material_def);
    sim->def.materials = sim->materials = sim->material_pool.data;
    RESERVE(constant_pool, firn_law_constants);
    RESERVE(law_pool, uint8_t);
    RESERVE(shear_pool, uint8_t);
    RESERVE(heat.curve, firn_heat_curve);
#undef RESERVE
    if (st != FIRN_OK) return st;
    sim->materials[index] = *def;
    sim->def.material_count++;
    firn_sim_derive_material(sim, index);
    if (material) *material = index;
    return firn_sim_choose_integrator(sim, error); /* has nothing to refuse */
}

firn_status firn_sim_set_body(firn_sim *sim, uint16_t object, int32_t body, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (body < 0 || body > UINT16_MAX) {
        return firn_fail(error, FIRN_INVALID, "body %d must be from 0 to %d", body, UINT16_MAX);
    }
    if (body == firn_sim_body(sim, object)) return FIRN_OK;
    if (sim->def.pressure == FIRN_PRESSURE_PROJECTION) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "body %d: with pressure projection no object separates from others", body);
    }
    if (sim->from->axis_bits != FIRN_LAYER_AXIS_BITS && sim->store.dim == 3) {
        return firn_fail(error, FIRN_INVALID,
                         "the sim was created without bodies; give its def object_bodies");
    }
    for (int64_t i = 0; i < sim->store.count; i++) {
        if (sim->store.object[i] != object) continue;
        return firn_fail(error, FIRN_INVALID,
                         "object %d has particles, in body %d; remove them first, or use another "
                         "object",
                         object, firn_sim_body(sim, object));
    }
    const int32_t before = sim->def.object_count,
                  after = before > object ? before : (int32_t)object + 1;
    firn_status st = firn_pool_reserve_slack(sim->allocator, &sim->body_pool,
                                             (size_t)after * sizeof(uint16_t), error);
    sim->def.object_bodies = sim->body_pool.data;
    if (st == FIRN_OK) st = firn_layers_reserve(sim, body + 1, error);
    if (st != FIRN_OK) return st;
    uint16_t *bodies = sim->body_pool.data;
    memset(bodies + before, 0, (size_t)(after - before) * sizeof *bodies);
    bodies[object] = (uint16_t)body;
    sim->def.object_count = after;
    return FIRN_OK;
}

static int keep_others(void *user_data, uint64_t id, const double position[3], uint16_t material,
                       uint16_t object)
{
    (void)id, (void)position, (void)material;
    return object != *(const uint16_t *)user_data;
}

firn_status firn_sim_remove_object(firn_sim *sim, uint16_t object, int64_t *removed,
                                   firn_error *error)
{
    return firn_sim_remove(sim, keep_others, &object, removed, error);
}

/* ---- within a region ---- */

/* Marks the particles within a region, by record index, in the spare buffer; NULL with an error. */
static const uint8_t *mark_inside(const firn_sim *sim, const firn_collider_def *region,
                                  int64_t *count, firn_error *error)
{
    const firn_store *s = &sim->store;
    *count = 0;
    if (!region) {
        firn_fail(error, FIRN_INVALID, "region is NULL; start from firn_collider_def_default()");
        return NULL;
    }
    firn_error own = {0};
    if (firn_collider_check(region, s->dim, "region", &own) != FIRN_OK) {
        firn_fail(error, FIRN_INVALID, "the region, as of a collider: %.400s", own.message);
        return NULL;
    }
    firn_posed_collider posed;
    firn_collider_pose(region, s->dim, sim->time, &posed);
    uint8_t *inside = s->count ? (uint8_t *)firn_store_key_scratch(s, s->count) : (uint8_t *)"";
    firn_walk w = firn_store_walk(s, sim->from);
    while (firn_walk_next(&w)) {
        double position[3], normal[3];
        firn_sim_position(sim, w.coord, w.particle, position);
        inside[w.particle] = firn_collider_distance(&posed, s->dim, position, normal) < 0;
        *count += inside[w.particle];
    }
    return inside;
}

firn_status firn_sim_find_inside(const firn_sim *sim, const firn_collider_def *region,
                                 int64_t capacity, uint64_t *ids, int64_t *count, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    if (capacity < 0 || (capacity > 0 && !ids)) {
        return firn_fail(error, FIRN_INVALID,
                         "ids is NULL or capacity %lld below 0; capacity 0 only counts",
                         (long long)capacity);
    }
    const firn_store *s = &sim->store;
    const uint32_t *by_id = s->count ? firn_sim_id_order(sim) : NULL; /* before the marks */
    int64_t found;
    const uint8_t *inside = mark_inside(sim, region, &found, error);
    if (!inside) return FIRN_INVALID;
    for (int64_t k = 0, at = 0; k < s->count && at < capacity; k++) {
        if (inside[by_id[k]]) ids[at++] = s->id[by_id[k]];
    }
    if (count) *count = found;
    return FIRN_OK;
}

firn_status firn_sim_apply_impulse(firn_sim *sim, const firn_collider_def *region,
                                   const double impulse[3], int64_t *count, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    const firn_store *s = &sim->store;
    firn_status st = check_finite("impulse", impulse, error);
    if (st != FIRN_OK) return st;
    int64_t found;
    const uint8_t *inside = mark_inside(sim, region, &found, error);
    if (!inside) return FIRN_INVALID;
    double mass = 0;
    for (int64_t i = 0; i < s->count; i++) mass += inside[i] ? (double)s->mass[i] : 0;
    for (int64_t i = 0; i < s->count; i++) {
        real *v = s->record + i * FIRN_RECORD + firn_offset_velocity(s->dim);
        for (int a = 0; a < s->dim && inside[i]; a++) {
            v[a] = (real)((double)v[a] + impulse[a] / mass);
        }
    }
    sim->generation++;
    if (count) *count = found;
    return FIRN_OK;
}

firn_status firn_sim_apply_velocity(firn_sim *sim, const firn_collider_def *region,
                                    const double velocity[3], double strength, int64_t *count,
                                    firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    const firn_store *s = &sim->store;
    const int32_t dim = s->dim;
    firn_status st = check_finite("velocity", velocity, error);
    if (st != FIRN_OK) return st;
    if (!(strength >= 0 && strength <= 1)) {
        return firn_fail(error, FIRN_INVALID, "strength %g must be from 0 to 1", strength);
    }
    int64_t found;
    const uint8_t *inside = mark_inside(sim, region, &found, error);
    if (!inside) return FIRN_INVALID;
    for (int64_t i = 0; i < s->count; i++) {
        if (!inside[i]) continue;
        real *v = s->record + i * FIRN_RECORD + firn_offset_velocity(dim);
        real *gradient = firn_store_gradient(s, i);
        for (int a = 0; a < dim; a++) {
            v[a] = (real)((double)v[a] + strength * (velocity[a] - (double)v[a]));
        }
        for (int c = 0; c < dim * dim; c++) gradient[c] *= (real)(1 - strength);
    }
    sim->generation++;
    if (count) *count = found;
    return FIRN_OK;
}
