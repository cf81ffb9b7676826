/* Rotations as quaternions w, x, y, z. */
#ifndef FIRN_QUATERNION_H
#define FIRN_QUATERNION_H

#include <math.h>

static inline void firn_quaternion_multiply(const double p[4], const double q[4], double out[4])
{
    const double r[4] = {p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
                         p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
                         p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
                         p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]};
    for (int i = 0; i < 4; i++) out[i] = r[i]; /* `out` may be one of them */
}

static inline void firn_quaternion_rotate(const double q[4], const double v[3], double out[3])
{
    const double p[4] = {0, v[0], v[1], v[2]}, back[4] = {q[0], -q[1], -q[2], -q[3]};
    double r[4];
    firn_quaternion_multiply(q, p, r);
    firn_quaternion_multiply(r, back, r);
    for (int a = 0; a < 3; a++) out[a] = r[a + 1];
}

/* The rotation vector (axis times angle, rad, at most half a turn) that takes p to q in world
 * axes: q = exp(arc) p. Slerp is then exp(s arc) p, and its rate arc / duration. */
static inline void firn_quaternion_arc(const double p[4], const double q[4], double arc[3])
{
    double back[4] = {p[0], -p[1], -p[2], -p[3]}, d[4];
    firn_quaternion_multiply(q, back, d);
    double sine = sqrt(d[1] * d[1] + d[2] * d[2] + d[3] * d[3]); /* of half the angle */
    /* d and -d turn alike; the one with w >= 0 takes the shorter way. */
    double sign = d[0] < 0 ? -1 : 1;
    double scale = sine > 1e-8 ? 2 * atan2(sine, fabs(d[0])) / sine : 2;
    for (int a = 0; a < 3; a++) arc[a] = sign * scale * d[a + 1];
}

static inline void firn_quaternion_exp(const double arc[3], double s, double q[4])
{
    double angle = s * sqrt(arc[0] * arc[0] + arc[1] * arc[1] + arc[2] * arc[2]);
    double scale = angle > 1e-8 ? s * sin(angle / 2) / angle : s / 2;
    q[0] = cos(angle / 2);
    for (int a = 0; a < 3; a++) q[a + 1] = scale * arc[a];
}

static inline void firn_quaternion_matrix(const double q[4], double m[3][3])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    m[0][0] = 1 - 2 * (y * y + z * z);
    m[0][1] = 2 * (x * y - w * z);
    m[0][2] = 2 * (x * z + w * y);
    m[1][0] = 2 * (x * y + w * z);
    m[1][1] = 1 - 2 * (x * x + z * z);
    m[1][2] = 2 * (y * z - w * x);
    m[2][0] = 2 * (x * z - w * y);
    m[2][1] = 2 * (y * z + w * x);
    m[2][2] = 1 - 2 * (x * x + y * y);
}

#endif
