/* Asking level sets in motion. */
#include "mesh/morph.h"

#include <math.h>

static const double FAR = 4; /* voxels: from there on distances are lower bounds */

static void to_frame(const firn_morph *f, const double point[3], double y[3])
{
    for (int a = 0; a < 3; a++) {
        y[a] = f->pivot[a];
        for (int b = 0; b < 3; b++) y[a] += f->rotation[b][a] * (point[b] - f->center[b]);
    }
}

static void turn(const firn_morph *f, const double v[3], double out[3])
{
    for (int a = 0; a < 3; a++) {
        const double *R = f->rotation[a];
        out[a] = R[0] * v[0] + R[1] * v[1] + R[2] * v[2];
    }
}

/* What a level set says of y when the surface has gone `way` shifts since; two rounds find the shift where
 * that surface is. Outside of the band, and where no contact is near, one does: the distance is less by as
 * much as the surface may have moved. */
static double ask_moved(const firn_levelset *set, const double y[3], double way, double most,
                        double normal[3], double shift[3])
{
    const double moved = fabs(way) * most;
    double distance = 0, at[3] = {y[0], y[1], y[2]};
    for (int round = 0; round < 3; round++) {
        if (!firn_levelset_ask(set, at, &distance, normal, shift)) {
            return distance > 0 ? fmax(distance - moved, 0.5 * set->band) : distance;
        }
        if (round == 0 && distance - moved > FAR * set->voxel) return distance - moved;
        for (int a = 0; a < 3; a++) at[a] = y[a] - way * shift[a];
    }
    return distance;
}

static double ask(const firn_morph *f, const double y[3], double normal[3], double shift[3])
{
    double distance;
    if (!f->to) {
        firn_levelset_ask(f->from, y, &distance, normal, shift);
        return distance;
    }
    const double s = f->part;
    double other[3], moved[3], square = 0;
    distance = ask_moved(f->from, y, s, f->most, normal, shift);
    if (distance > FAR * f->from->voxel) return distance;
    distance = (1 - s) * distance + s * ask_moved(f->to, y, s - 1, f->most, other, moved);
    for (int a = 0; a < 3; a++) {
        normal[a] = (1 - s) * normal[a] + s * other[a];
        shift[a] = (1 - s) * shift[a] + s * moved[a];
        square += normal[a] * normal[a];
    }
    const double length = sqrt(square);
    for (int a = 0; a < 3; a++) normal[a] = length > 1e-6 ? normal[a] / length : other[a];
    return distance;
}

double firn_morph_distance(const firn_morph *f, const double point[3], double normal[3])
{
    double y[3], n[3], shift[3];
    to_frame(f, point, y);
    const double distance = ask(f, y, n, shift);
    turn(f, n, normal);
    return distance;
}

void firn_morph_velocity(const firn_morph *f, const double point[3], double velocity[3])
{
    double way[3], shift[3] = {0}, carried[3];
    if (f->to && f->rate != 0) {
        double y[3], n[3];
        to_frame(f, point, y);
        ask(f, y, n, shift);
    }
    turn(f, shift, carried);
    for (int a = 0; a < 3; a++) way[a] = point[a] - f->center[a];
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        velocity[a] =
            f->velocity[a] + f->spin[b] * way[c] - f->spin[c] * way[b] + f->rate * carried[a];
    }
}

double firn_morph_speed_bound(const firn_morph *f, const double point[3], double reach)
{
    double frame = 0, spin = 0;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        const double v = f->velocity[a] + f->spin[b] * (point[c] - f->center[c]) -
                         f->spin[c] * (point[b] - f->center[b]);
        frame += v * v;
        spin += f->spin[a] * f->spin[a];
    }
    return sqrt(frame) + reach * sqrt(spin) + f->rate * f->most;
}
