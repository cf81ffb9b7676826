/* What emitters give. The flow and the amount are masses or volumes by their units. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/quaternion.h"
#include "scene/copies.h"

static firn_status read_quantity(const firn_value *v, const char *name, const char *const *units,
                                 const char *cure, firn_scene_quantity *out, firn_error *error)
{
    int which = 0;
    const firn_status st = firn_read_quantity(v, name, units, cure, &which, &out->value, error);
    if (st != FIRN_OK) return st;
    if (!(out->value > 0 && out->value < 1e18)) {
        return firn_value_fail(v, error, "%s %.60s must be above 0", name, v->text);
    }
    static const firn_measure measures[] = {FIRN_MASS_OF, FIRN_VOLUME_OF, FIRN_COUNT_OF};
    out->measure = measures[which];
    if (out->measure != FIRN_COUNT_OF || out->value == floor(out->value)) return FIRN_OK;
    return firn_value_fail(v, error, "%s %.60s must be a whole number of particles", name, v->text);
}

/* The direction, as copies and groups turn it. */
static firn_status read_direction(const firn_scene *scene, const firn_member *m,
                                  firn_scene_object *o, firn_error *error)
{
    firn_scene_emit *e = &o->emit;
    const firn_value *v = e->direction_value;
    double *d = e->direction, turn[4] = {1, 0, 0, 0}, nowhere[3] = {0};
    int count;
    if (v->kind == FIRN_SCALAR && strcmp(v->text, "outward") == 0) {
        e->outward = true;
        return FIRN_OK;
    }
    if (v->kind != FIRN_LIST) {
        return firn_value_fail(v, error,
                               "direction must be outward, from the shape's surface, or a vector, "
                               "as [0, -1, 0]");
    }
    const firn_status st = firn_read_vector(v, "direction", "", 2, 3, d, &count, error);
    if (st != FIRN_OK) return st;
    if (scene->dimension == 2) d[2] = 0;
    if (d[0] == 0 && d[1] == 0 && d[2] == 0) {
        return firn_value_fail(v, error, "direction [0, 0, 0] leads nowhere; use [0, -1, 0], say");
    }
    firn_quaternion_rotate(m->copy->turn, d, d);
    if (m->frame) firn_frame_place(scene, m->frame, 0, nowhere, turn);
    firn_quaternion_rotate(turn, d, d);
    return FIRN_OK;
}

/* What the speed of the stream comes from. */
static firn_status check_speed(const firn_scene *scene, const firn_scene_object *o,
                               firn_error *error)
{
    const firn_scene_emit *e = &o->emit;
    const firn_value *v = o->emit_value;
    double speed = 0;
    for (int a = 0; a < scene->dimension; a++) speed = hypot(speed, o->velocity[a]);
    if (!e->direction_value) {
        if (e->speed > 0) {
            return firn_value_fail(firn_value_get(v, "speed"), error,
                                   "speed needs a direction; without one, velocity says both");
        }
        if (speed > 0) return FIRN_OK;
        return firn_value_fail(v, error,
                               "an object that emits needs a velocity, to flow out of its shape; "
                               "or a direction with a speed or a flow");
    }
    if (speed > 0) {
        return firn_value_fail(e->direction_value, error,
                               "give velocity or direction, not both; speed says how fast");
    }
    if (e->speed > 0 || e->flow.value > 0) return FIRN_OK;
    return firn_value_fail(e->direction_value, error,
                           "a direction needs a speed, as speed: 2, or a flow, as flow: 1 l/s");
}

firn_status firn_read_emit(const firn_scene *scene, const firn_member *m, firn_scene_object *o,
                           firn_error *error)
{
    static const char *const rates[] = {"kg/s", "m3/s", NULL};
    static const char *const amounts[] = {"kg", "m3", "", NULL};
    const firn_value *v = o->emit_value;
    firn_scene_emit *e = &o->emit;
    if (!v) return FIRN_OK;
    o->emits = true;
    firn_status st = firn_section_read(&firn_section_emit, v, e, error);
    if (st != FIRN_OK) return st;
    if (o->particles) return firn_value_fail(v, error, "particle files cannot be emitted");
    if (!(e->end > e->start)) {
        return firn_value_fail(v, error, "end %g s must be after start %g s", e->end, e->start);
    }
    if (o->pattern == FIRN_BLUE_NOISE || o->refine > 0) {
        const char *name = o->refine > 0 ? "refine" : "pattern";
        return firn_value_fail(firn_value_get(o->where, name), error,
                               "a stream is regular, jittered or random, and everywhere as fine; "
                               "remove %s",
                               name);
    }
    if (firn_value_get(e->flow_value, "keys")) {
        return firn_value_fail(e->flow_value, error,
                               "flow cannot have keys; give the most, and keys to rate, as rate: "
                               "{keys: {0: 0, 1: 1}}");
    }
    if (firn_value_get(e->direction_value, "keys")) {
        return firn_value_fail(
            e->direction_value, error,
            "direction cannot have keys; put the object into a group that turns");
    }
    if (e->flow_value) {
        st = read_quantity(e->flow_value, "flow", rates,
                           "a mass or a volume per second, as 2 kg/s or 0.5 l/s", &e->flow, error);
    }
    if (st == FIRN_OK && e->amount_value) {
        st = read_quantity(e->amount_value, "amount", amounts,
                           "a mass, a volume or a number of particles, as 3 kg, 2 l or 5000",
                           &e->amount, error);
    }
    if (st == FIRN_OK && e->direction_value) st = read_direction(scene, m, o, error);
    if (st == FIRN_OK) st = check_speed(scene, o, error);
    if (st == FIRN_OK && e->speed_keys.count && (e->flow_value || e->rate_keys.count)) {
        st = firn_value_fail(firn_value_get(v, "speed"), error,
                             "with keys of its own, speed says the flow, too: remove %s",
                             e->flow_value ? "flow" : "the keys of rate");
    }
    if (st == FIRN_OK && e->outward && e->spread > 0) {
        st =
            firn_value_fail(firn_value_get(v, "spread"), error,
                            "what leaves a surface spreads with its normals; remove the spread, or "
                            "give a direction");
    }
    if (st == FIRN_OK && e->outward && o->shell_value) {
        st = firn_value_fail(o->shell_value, error,
                             "what leaves a surface was never below it; remove the shell");
    }
    return st;
}
