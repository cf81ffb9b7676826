/* A collider in motion: where its frame is at a time, and what it does to material that meets it.
 *
 * The velocities given here are exact derivatives of the poses given here, except at the keys. */
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/param.h"
#include "base/quaternion.h"
#include "base/track.h"
#include "collider/collider.h"

/* --- Rotations ------------------------------------------------------------------------------- */

/* The unit quaternion of one that is finite and not zero, of any magnitude; in 2D, about z. */
static void quaternion_of(const double rotation[4], int dimension, double q[4])
{
    double largest = 0, square = 0;
    for (int a = 0; a < 4; a++) largest = fmax(largest, fabs(rotation[a]));
    for (int a = 0; a < 4; a++) q[a] = rotation[a] / largest;
    if (dimension == 2) {
        /* Only the twist about z remains, (w, 0, 0, z), when local z still faces the viewer (R33 =
         * w2 + z2 - x2 - y2 >= 0). Otherwise first turn it back by a half turn about local y,
         * which no shape notices: (w, x, y, z)(0, 0, 1, 0) = (-y, -z, w, x). */
        bool turned = q[0] * q[0] + q[3] * q[3] < q[1] * q[1] + q[2] * q[2];
        double w = turned ? -q[2] : q[0], z = turned ? q[1] : q[3];
        q[0] = w;
        q[1] = q[2] = 0;
        q[3] = z;
    }
    for (int a = 0; a < 4; a++) square += q[a] * q[a];
    for (int a = 0; a < 4; a++) q[a] /= sqrt(square);
}

/* --- Keyframes ------------------------------------------------------------------------------- */

/* One number of all keys, which is `offset` bytes into each. */
static firn_curve curve_of(const firn_collider_def *def, size_t offset)
{
    enum { STEP = sizeof(firn_pose_key) / sizeof(double) };
    _Static_assert(STEP * sizeof(double) == sizeof(firn_pose_key), "keys are doubles");
    return (firn_curve){.time = &def->keys->time,
                        .value = (const double *)((const char *)def->keys + offset),
                        .time_step = STEP,
                        .value_step = STEP,
                        .count = def->key_count,
                        .interpolation = def->interpolation};
}

/* A number at the part s of the way from key k to the next, and its rate per second. */
static double interpolate(const firn_collider_def *def, int32_t k, double s, size_t offset,
                          double *rate)
{
    const firn_curve curve = curve_of(def, offset);
    return firn_curve_between(&curve, k, s, rate);
}

/* What keys say of a time: the frame before it turns by angles, the angles, and their rates. */
typedef struct key_pose {
    double position[3], velocity[3]; /* m, m/s */
    double turn[4], spin[3];         /* rad/s */
    double angle[3], rate[3];        /* rad, rad/s */
} key_pose;

static void pose_between(const firn_collider_def *def, int dimension, int32_t k, double time,
                         key_pose *out)
{
    const firn_pose_key *from = &def->keys[k], *to = from + 1;
    const double span = to->time - from->time, s = (time - from->time) / span;
    double p[4], q[4], arc[3], turn[4];
    quaternion_of(from->rotation, dimension, p);
    quaternion_of(to->rotation, dimension, q);
    firn_quaternion_arc(p, q, arc);
    double part = s, rate = 1 / span;
    if (def->interpolation == FIRN_KEYS_STEP) part = rate = 0;
    if (def->interpolation == FIRN_KEYS_SMOOTH) {
        part = s * s * (3 - 2 * s);
        rate = 6 * s * (1 - s) / span;
    }
    firn_quaternion_exp(arc, part, turn);
    firn_quaternion_multiply(turn, p, out->turn);
    for (int a = 0; a < 3; a++) {
        const size_t step = (size_t)a * sizeof(double);
        out->position[a] =
            interpolate(def, k, s, offsetof(firn_pose_key, position) + step, &out->velocity[a]);
        out->angle[a] =
            interpolate(def, k, s, offsetof(firn_pose_key, angle) + step, &out->rate[a]);
        out->spin[a] = arc[a] * rate;
    }
}

static void pose_still(const double position[3], const double rotation[4], const double angle[3],
                       int dimension, key_pose *out)
{
    *out = (key_pose){.velocity = {0}};
    quaternion_of(rotation, dimension, out->turn);
    memcpy(out->position, position, sizeof out->position);
    memcpy(out->angle, angle, sizeof out->angle);
}

int32_t firn_collider_key_before(const firn_collider_def *def, double time)
{
    const firn_curve times = curve_of(def, offsetof(firn_pose_key, time));
    return firn_curve_before(&times, time);
}

static void rotate(const double q[4], const double v[3], double out[3])
{
    double m[3][3];
    firn_quaternion_matrix(q, m);
    for (int a = 0; a < 3; a++) out[a] = m[a][0] * v[0] + m[a][1] * v[1] + m[a][2] * v[2];
}

/* Turns a frame by `turn`, which itself turns by `spin`. */
static void turn_by(const double turn[4], const double spin[3], firn_posed_collider *posed)
{
    double turned[3], q[4];
    rotate(turn, posed->spin, turned);
    firn_quaternion_multiply(turn, posed->turn, q);
    memcpy(posed->turn, q, sizeof q);
    for (int a = 0; a < 3; a++) posed->spin[a] = turned[a] + spin[a];
}

/* A frame from what keys say: its spin and its angles turn it about the pivot. */
static void pose_turned(const firn_collider_def *def, int dimension, double time, const key_pose *k,
                        firn_posed_collider *posed)
{
    memcpy(posed->position, k->position, sizeof posed->position);
    memcpy(posed->velocity, k->velocity, sizeof posed->velocity);
    memcpy(posed->turn, k->turn, sizeof posed->turn);
    memcpy(posed->spin, k->spin, sizeof posed->spin);
    bool turns = false;
    for (int a = dimension == 2 ? 2 : 0; a < 3; a++) {
        turns |= def->spin[a] != 0 || k->angle[a] != 0 || k->rate[a] != 0;
    }
    if (!turns) return;
    double before[3], pivot[3], after[3], turn[4], spin[3] = {0, 0, def->spin[2]};
    rotate(posed->turn, def->pivot, before);
    const double *w = posed->spin;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        pivot[a] = posed->position[a] + before[a];
        posed->velocity[a] += w[b] * before[c] - w[c] * before[b]; /* of the pivot */
        if (dimension == 3) spin[a] = def->spin[a];
    }
    firn_quaternion_exp(spin, time, turn);
    turn_by(turn, spin, posed);
    for (int a = dimension == 2 ? 2 : 0; a < 3; a++) {
        double axis[3] = {0}, rate[3] = {0};
        axis[a] = k->angle[a];
        rate[a] = k->rate[a];
        firn_quaternion_exp(axis, 1, turn);
        turn_by(turn, rate, posed);
    }
    rotate(posed->turn, def->pivot, after);
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        posed->position[a] = pivot[a] - after[a];
        posed->velocity[a] -= w[b] * after[c] - w[c] * after[b];
    }
}

/* What tracks say of a time, written over what the def does. */
static const firn_collider_def *sample(const firn_collider_def *def, double time,
                                       firn_collider_def *now)
{
    if (!firn_collider_is_keyed(def)) return def;
    *now = *def;
    firn_params_sample(firn_collider_param, now, time);
    return now;
}

static void begin_pose(const firn_collider_def *def, int dimension, firn_posed_collider *posed)
{
    posed->shape = firn_shape_get(def->shape);
    posed->boundary = def->boundary;
    posed->friction = def->friction;
    posed->contact_angle = def->contact_angle;
    posed->temperature = def->temperature;
    posed->transfer = def->transfer;
    posed->values = firn_shape_values_of(def, dimension);
    posed->morph = (firn_morph){.from = NULL};
}

/* What follows from where it is. */
static void end_pose(const firn_collider_def *def, int dimension, firn_posed_collider *posed)
{
    const double *v = def->surface_velocity, *w = def->surface_spin;
    const bool flat = dimension == 2;
    if (flat) posed->position[2] = posed->velocity[2] = 0;
    firn_quaternion_matrix(posed->turn, posed->rotation);
    posed->runs = false;
    for (int a = 0; a < 3; a++) {
        const double *R = posed->rotation[a];
        posed->run_velocity[a] = flat && a == 2 ? 0 : R[0] * v[0] + R[1] * v[1] + R[2] * v[2];
        posed->run_spin[a] = flat && a < 2 ? 0 : R[0] * w[0] + R[1] * w[1] + R[2] * w[2];
        posed->runs = posed->runs || posed->run_velocity[a] != 0 || posed->run_spin[a] != 0;
    }
}

static double nowhere(const firn_shape_values *v, const double point[3], double normal[3])
{
    (void)v, (void)point;
    normal[0] = normal[2] = 0;
    normal[1] = 1;
    return INFINITY;
}

void firn_collider_pose_nowhere(firn_posed_collider *posed)
{
    static const firn_shape shape = {.name = "nowhere", .distance = nowhere};
    memset(posed, 0, sizeof *posed);
    posed->shape = &shape;
}

/* Where position, keys and spin of a def take its frame, within that of its parent. */
static void pose_alone(const firn_collider_def *def, int dimension, double time,
                       firn_posed_collider *posed)
{
    static const double none[3] = {0};
    key_pose pose;
    if (def->key_count == 0) {
        pose_still(def->position, def->rotation, none, dimension, &pose);
    } else {
        const int32_t k = firn_collider_key_before(def, time);
        if (k >= 0 && k < def->key_count - 1) {
            pose_between(def, dimension, k, time, &pose);
        } else {
            const firn_pose_key *end = &def->keys[k < 0 ? 0 : k];
            pose_still(end->position, end->rotation, end->angle, dimension, &pose);
        }
    }
    pose_turned(def, dimension, time, &pose, posed);
}

/* Takes a pose within a frame into what that frame is in. */
static void ride(const firn_posed_collider *frame, firn_posed_collider *posed)
{
    const double *w = frame->spin;
    double way[3], velocity[3], spin[3], turn[4];
    rotate(frame->turn, posed->position, way);
    rotate(frame->turn, posed->velocity, velocity);
    rotate(frame->turn, posed->spin, spin);
    firn_quaternion_multiply(frame->turn, posed->turn, turn);
    memcpy(posed->turn, turn, sizeof turn);
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        posed->position[a] = frame->position[a] + way[a];
        posed->velocity[a] = frame->velocity[a] + velocity[a] + w[b] * way[c] - w[c] * way[b];
        posed->spin[a] = w[a] + spin[a];
    }
}

void firn_collider_pose(const firn_collider_def *def, int dimension, double time,
                        firn_posed_collider *posed)
{
    assert(dimension == 2 || dimension == 3);
    if (time >= def->until) {
        firn_collider_pose_nowhere(posed);
        return;
    }
    firn_collider_def own;
    const firn_collider_def *now = sample(def, time, &own);
    begin_pose(now, dimension, posed);
    pose_alone(def, dimension, time, posed);
    for (const firn_collider_def *up = def->parent; up; up = up->parent) {
        firn_posed_collider frame;
        pose_alone(up, dimension, time, &frame);
        ride(&frame, posed);
    }
    end_pose(now, dimension, posed);
}

/* --- Motion as a host sets it ------------------------------------------------------------------ */

void firn_collider_pose_moving(const firn_collider_def *def, const firn_collider_motion *m,
                               int dimension, double time, double elapsed, bool moving,
                               firn_posed_collider *posed)
{
    firn_collider_def own;
    const firn_collider_def *now = sample(def, time, &own);
    double from[4], turn[4];
    const double spin[3] = {dimension == 2 ? 0 : m->spin[0], dimension == 2 ? 0 : m->spin[1],
                            m->spin[2]};
    begin_pose(now, dimension, posed);
    quaternion_of(m->rotation, dimension, from);
    firn_quaternion_exp(spin, elapsed, turn);
    firn_quaternion_multiply(turn, from, posed->turn);
    for (int a = 0; a < 3; a++) {
        posed->position[a] = m->position[a] + elapsed * m->velocity[a];
        posed->velocity[a] = moving ? m->velocity[a] : 0;
        posed->spin[a] = moving ? spin[a] : 0;
    }
    end_pose(now, dimension, posed);
}

firn_collider_motion firn_motion_to(const firn_posed_collider *from, int dimension,
                                    const double position[3], const double rotation[4],
                                    double seconds)
{
    firn_collider_motion m = {.seconds = seconds};
    double to[4], arc[3];
    quaternion_of(rotation, dimension, to);
    firn_quaternion_arc(from->turn, to, arc);
    memcpy(m.rotation, from->turn, sizeof m.rotation);
    for (int a = 0; a < 3; a++) {
        m.position[a] = from->position[a];
        m.velocity[a] = (position[a] - from->position[a]) / seconds;
        m.spin[a] = arc[a] / seconds;
    }
    return m;
}

/* --- Contact --------------------------------------------------------------------------------- */

/* The point in the shape's frame. */
static void to_local(const firn_posed_collider *c, int dimension, const double point[3],
                     double local[3])
{
    const double(*R)[3] = c->rotation;
    double x = point[0] - c->position[0];
    double y = point[1] - c->position[1];
    double z = dimension == 2 ? 0 : point[2] - c->position[2];
    for (int a = 0; a < 3; a++) local[a] = R[0][a] * x + R[1][a] * y + R[2][a] * z;
}

static void to_world(const firn_posed_collider *c, const double n[3], double normal[3])
{
    const double(*R)[3] = c->rotation;
    for (int a = 0; a < 3; a++) normal[a] = R[a][0] * n[0] + R[a][1] * n[1] + R[a][2] * n[2];
}

double firn_collider_distance(const firn_posed_collider *c, int dimension, const double point[3],
                              double normal[3])
{
    double local[3], n[3];
    to_local(c, dimension, point, local);
    const double d = c->morph.from ? firn_morph_distance(&c->morph, local, n)
                                   : c->shape->distance(&c->values, local, n);
    to_world(c, n, normal);
    return d;
}

int firn_collider_faces(const firn_posed_collider *c, int dimension, const double point[3],
                        double slack, firn_face face[FIRN_MAX_FACES])
{
    if (!c->shape->faces) {
        face[0].depth = -firn_collider_distance(c, dimension, point, face[0].normal);
        return face[0].depth >= -slack;
    }
    double local[3];
    to_local(c, dimension, point, local);
    const int count = c->shape->faces(&c->values, local, slack, face);
    for (int i = 0; i < count; i++) {
        const double n[3] = {face[i].normal[0], face[i].normal[1], face[i].normal[2]};
        to_world(c, n, face[i].normal);
    }
    return count;
}

static void frame_velocity(const firn_posed_collider *c, const double point[3], double velocity[3])
{
    const double *w = c->spin;
    double x = point[0] - c->position[0];
    double y = point[1] - c->position[1];
    double z = point[2] - c->position[2];
    velocity[0] = c->velocity[0] + w[1] * z - w[2] * y;
    velocity[1] = c->velocity[1] + w[2] * x - w[0] * z;
    velocity[2] = c->velocity[2] + w[0] * y - w[1] * x;
}

void firn_collider_surface_velocity(const firn_posed_collider *c, const double point[3],
                                    double velocity[3])
{
    frame_velocity(c, point, velocity);
    if (!c->morph.from) return;
    double local[3], own[3], turned[3];
    to_local(c, 3, point, local);
    firn_morph_velocity(&c->morph, local, own);
    to_world(c, own, turned);
    for (int a = 0; a < 3; a++) velocity[a] += turned[a];
}

void firn_collider_contact_velocity(const firn_posed_collider *c, const double point[3],
                                    const double normal[3], double velocity[3])
{
    firn_collider_surface_velocity(c, point, velocity);
    if (!c->runs) return;
    const double *w = c->run_spin;
    double run[3], way[3], through = 0;
    for (int a = 0; a < 3; a++) way[a] = point[a] - c->position[a];
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, d = (a + 2) % 3;
        run[a] = c->run_velocity[a] + w[b] * way[d] - w[d] * way[b];
        through += run[a] * normal[a];
    }
    for (int a = 0; a < 3; a++) velocity[a] += run[a] - through * normal[a];
}

bool firn_collider_respond(const firn_posed_collider *c, const double point[3],
                           const double normal[3], double velocity[3])
{
    double surface[3];
    firn_collider_contact_velocity(c, point, normal, surface);
    double relative[3], along[3]; /* to the surface; its part along the surface */
    for (int a = 0; a < 3; a++) relative[a] = velocity[a] - surface[a];
    double vn = relative[0] * normal[0] + relative[1] * normal[1] + relative[2] * normal[2];
    for (int a = 0; a < 3; a++) along[a] = relative[a] - vn * normal[a];

    double keep = 0; /* fraction of `along` that remains; nothing of vn ever does */
    bool changed = true;
    switch (c->boundary) {
    case FIRN_STICKY:
    case FIRN_HOLD: changed = relative[0] != 0 || relative[1] != 0 || relative[2] != 0; break;
    case FIRN_SLIP:
        changed = vn != 0;
        keep = 1;
        break;
    default: { /* FIRN_SEPARATE: Coulomb, with the impulse that stops vn as the pressure */
        if (!(vn < 0)) return false;
        double vt = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]);
        if (vt > -c->friction * vn) keep = 1 + c->friction * vn / vt;
    }
    }
    if (changed)
        for (int a = 0; a < 3; a++) velocity[a] = surface[a] + keep * along[a];
    return changed;
}

double firn_collider_speed_bound(const firn_posed_collider *c, const double center[3], double reach)
{
    /* |v + w x (p - x)| <= |v + w x (center - x)| + |w| |p - center|, and the same for a surface that
     * runs along itself, of which contact takes a part. */
    double v[3], run[3] = {0}, own = 0;
    frame_velocity(c, center, v);
    if (c->morph.from) {
        double local[3];
        to_local(c, 3, center, local);
        own = firn_morph_speed_bound(&c->morph, local, reach);
    }
    double spin = sqrt(c->spin[0] * c->spin[0] + c->spin[1] * c->spin[1] + c->spin[2] * c->spin[2]);
    if (c->runs) {
        const firn_posed_collider still = {
            .velocity = {c->run_velocity[0], c->run_velocity[1], c->run_velocity[2]},
            .spin = {c->run_spin[0], c->run_spin[1], c->run_spin[2]},
            .position = {c->position[0], c->position[1], c->position[2]}};
        frame_velocity(&still, center, run);
        spin += sqrt(c->run_spin[0] * c->run_spin[0] + c->run_spin[1] * c->run_spin[1] +
                     c->run_spin[2] * c->run_spin[2]);
    }
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) +
           sqrt(run[0] * run[0] + run[1] * run[1] + run[2] * run[2]) + own + reach * spin;
}

void firn_impulse_add(const firn_impulses *to, const firn_posed_collider *colliders, int32_t i,
                      const double position[3], const double p[3])
{
    int32_t k = 0;
    while (k < to->count && to->first[k].collider != i) k++;
    if (k == to->count) return;
    double r[3];
    for (int a = 0; a < 3; a++) r[a] = position[a] - colliders[i].position[a];
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        to->first[k].linear[a] += p[a];
        to->first[k].angular[a] += r[b] * p[c] - r[c] * p[b];
    }
}

bool firn_collider_respond_all(const firn_posed_collider *c, int32_t count, int32_t dim,
                               double slack, const double position[3], double velocity[3],
                               double mass, const firn_impulses *taken)
{
    int hits = 0;
    if (taken) count = taken->count;
    for (int round = 0; round < 2 && (round == 0 || hits > 1); round++) {
        for (int32_t k = 0; k < count; k++) {
            const int32_t i = firn_impulse_collider(taken, k);
            firn_face face[FIRN_MAX_FACES];
            const int n = firn_collider_faces(&c[i], dim, position, slack, face);
            if (n == 0) continue;
            double lost[3] = {velocity[0], velocity[1], velocity[2]};
            for (int f = 0; f < n; f++) {
                firn_collider_respond(&c[i], position, face[f].normal, velocity);
            }
            hits += n;
            if (!taken) continue;
            for (int a = 0; a < 3; a++) lost[a] = a < dim ? mass * (lost[a] - velocity[a]) : 0;
            firn_impulse_add(taken, c, i, position, lost);
        }
    }
    return hits > 0;
}

/* Where a point that moves with the collider has come to in dt seconds (midpoint rule). */
static void carry(const firn_posed_collider *c, const double before[3], double dt, double to[3])
{
    double v[3], middle[3];
    firn_collider_surface_velocity(c, before, v);
    for (int a = 0; a < 3; a++) middle[a] = before[a] + 0.5 * dt * v[a];
    firn_collider_surface_velocity(c, middle, v);
    for (int a = 0; a < 3; a++) to[a] = before[a] + dt * v[a];
}

/* Takes a particle that has passed through a thin solid back into its near half, from where it is
 * pushed out to the side it came from. On its way the nearest surface changes sides: within the solid,
 * or beside it, where it may go on. */
static void stop_in_solid(const firn_posed_collider *c, int32_t dim, const double before[3],
                          double dt, double position[3])
{
    if (c->shape->thick || c->boundary == FIRN_HOLD) return;
    double from[3], way[3], length = 0, near[3], far[3];
    const double past = firn_collider_distance(c, dim, position, far);
    /* Where it came from, as seen from the collider, which has moved by then. */
    carry(c, before, dt, from);
    for (int a = 0; a < 3; a++) {
        way[a] = position[a] - from[a];
        length += way[a] * way[a];
    }
    length = sqrt(length);
    if (past > length) return;
    const double start = firn_collider_distance(c, dim, from, near);
    const double turn = near[0] * far[0] + near[1] * far[1] + near[2] * far[2];
    if (turn >= 0 || fmax(start, 0) + fmax(past, 0) > length) return;
    double low = 0, high = 1, depth = -start, at[3], normal[3];
    for (int i = 0; i < 40; i++) {
        const double middle = 0.5 * (low + high);
        for (int a = 0; a < 3; a++) at[a] = from[a] + middle * way[a];
        const double d = firn_collider_distance(c, dim, at, normal);
        if (near[0] * normal[0] + near[1] * normal[1] + near[2] * normal[2] < 0) {
            high = middle;
        } else {
            low = middle;
            depth = -d;
        }
    }
    for (int a = 0; a < dim && depth > 0; a++) position[a] = from[a] + low * way[a];
}

bool firn_collide_particle(const firn_posed_collider *colliders, int32_t count, int32_t dim,
                           double slack, const double before[3], double dt, double position[3],
                           double velocity[3], double mass, const firn_impulses *taken)
{
    if (taken) count = taken->count;
    for (int32_t k = 0; k < count; k++) {
        stop_in_solid(&colliders[firn_impulse_collider(taken, k)], dim, before, dt, position);
    }
    if (!firn_collider_respond_all(colliders, count, dim, 0, position, velocity, mass, taken))
        return false;
    for (int32_t k = 0; k < count; k++) {
        const int32_t i = firn_impulse_collider(taken, k);
        double normal[3];
        double distance = firn_collider_distance(&colliders[i], dim, position, normal);
        if (distance >= 0) continue;
        if (colliders[i].boundary == FIRN_HOLD) {
            double to[3];
            carry(&colliders[i], before, dt, to);
            for (int a = 0; a < dim; a++) position[a] = to[a];
            continue;
        }
        for (int a = 0; a < dim; a++) position[a] += (slack - distance) * normal[a];
    }
    return true;
}
