/* Transforms of Alembic: ops with channels, interpolated in time and multiplied up the hierarchy.
 *
 * Matrices are as in the file: row by row, points as rows, so p' = p M. The last op acts first, and a
 * transform acts before those of the objects it is in. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/abc.h"

#define RADIANS (3.14159265358979323846 / 180)

typedef enum op { SCALE, TRANSLATE, ROTATE, MATRIX, ROTATE_X, ROTATE_Y, ROTATE_Z, OPS } op;
static const int channels[OPS] = {3, 3, 4, 16, 1, 1, 1};

/* ---- matrices ---- */

static void set_identity(double m[16])
{
    for (int i = 0; i < 16; i++) m[i] = i % 5 == 0;
}

/* a b; out may be either. */
static void multiply(const double a[16], const double b[16], double out[16])
{
    double product[16] = {0};
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 4; k++) {
            for (int j = 0; j < 4; j++) product[4 * i + j] += a[4 * i + k] * b[4 * k + j];
        }
    }
    memcpy(out, product, sizeof product);
}

void firn_abc_transform(const double m[16], const double p[3], bool is_point, double out[3])
{
    const double x = p[0], y = p[1], z = p[2];
    for (int a = 0; a < 3; a++) {
        out[a] = x * m[a] + y * m[4 + a] + z * m[8 + a] + (is_point ? m[12 + a] : 0);
    }
}

/* Right-handed about an axis of any length; none turns nothing. */
static void set_rotation(const double axis[3], double degrees, double m[16])
{
    set_identity(m);
    const double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    if (!(length > 0)) return;
    const double x = axis[0] / length, y = axis[1] / length, z = axis[2] / length;
    const double c = cos(degrees * RADIANS), s = sin(degrees * RADIANS), d = 1 - c;
    const double rotation[9] = {c + x * x * d,     x * y * d + z * s, x * z * d - y * s,
                                x * y * d - z * s, c + y * y * d,     y * z * d + x * s,
                                x * z * d + y * s, y * z * d - x * s, c + z * z * d};
    for (int i = 0; i < 9; i++) m[4 * (i / 3) + i % 3] = rotation[i];
}

/* ---- matrices between samples ---- */

static double determinant(const double m[9])
{
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
           m[2] * (m[3] * m[7] - m[4] * m[6]);
}

static void inverse_transpose(const double m[9], double out[9])
{
    const double d = determinant(m);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, e = (j + 2) % 3;
            out[3 * i + j] = (m[3 * a + c] * m[3 * b + e] - m[3 * a + e] * m[3 * b + c]) / d;
        }
    }
}

/* m = S R with R a rotation, or m = -S R if m mirrors: Newton's iteration for the polar decomposition
 * (Higham 1986). False if m is singular. */
static bool decompose(const double m[9], double S[9], double R[9])
{
    enum { ITERATIONS = 60 }; /* each halves a stretch until it is near 1 */
    double size = 0;
    for (int i = 0; i < 9; i++) size = fmax(size, fabs(m[i]));
    const double d = determinant(m);
    if (!(isfinite(size) && fabs(d) > 1e-12 * size * size * size)) return false;
    for (int i = 0; i < 9; i++) R[i] = copysign(1, d) * m[i] / size;
    for (int n = 0; n < ITERATIONS; n++) {
        double other[9], change = 0;
        inverse_transpose(R, other);
        for (int i = 0; i < 9; i++) {
            const double next = 0.5 * (R[i] + other[i]);
            change = fmax(change, fabs(next - R[i]));
            R[i] = next;
        }
        if (change < 1e-15) break;
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) { /* m R^T */
            S[3 * i + j] =
                m[3 * i] * R[3 * j] + m[3 * i + 1] * R[3 * j + 1] + m[3 * i + 2] * R[3 * j + 2];
        }
    }
    return true;
}

/* The rotation a fraction of the way from R to Q, about one axis. */
static void rotate_between(const double R[9], const double Q[9], double weight, double out[9])
{
    double D[9]; /* R^T Q: out = R D^weight */
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            D[3 * i + j] = R[i] * Q[j] + R[3 + i] * Q[3 + j] + R[6 + i] * Q[6 + j];
        }
    }
    const double c = fmin(fmax(0.5 * (D[0] + D[4] + D[8] - 1), -1), 1);
    double axis[3] = {D[5] - D[7], D[6] - D[2], D[1] - D[3]}; /* 2 sin(angle) long */
    const double s = 0.5 * sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    if (s < 1e-6 && c < 0) { /* half a turn: D + I has the axis in its longest row */
        double longest = 0;
        for (int i = 0; i < 3; i++) {
            double row[3], square = 0;
            for (int j = 0; j < 3; j++) {
                row[j] = D[3 * i + j] + (i == j);
                square += row[j] * row[j];
            }
            if (square <= longest) continue;
            longest = square;
            memcpy(axis, row, sizeof axis);
        }
    }
    double turn[16];
    set_rotation(axis, weight * atan2(s, c) / RADIANS, turn);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out[3 * i + j] =
                R[3 * i] * turn[j] + R[3 * i + 1] * turn[4 + j] + R[3 * i + 2] * turn[8 + j];
        }
    }
}

/* Rotation by its angle, the rest linearly; all linearly where there is no rotation to be had. */
static void matrix_between(const double a[16], const double b[16], double weight, double out[16])
{
    double A[9], B[9], SA[9], SB[9], RA[9], RB[9];
    for (int i = 0; i < 9; i++) {
        A[i] = a[4 * (i / 3) + i % 3];
        B[i] = b[4 * (i / 3) + i % 3];
    }
    for (int i = 0; i < 16; i++) out[i] = a[i] + weight * (b[i] - a[i]);
    if ((determinant(A) < 0) != (determinant(B) < 0)) return;
    if (!decompose(A, SA, RA) || !decompose(B, SB, RB)) return;
    double R[9];
    rotate_between(RA, RB, weight, R);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++) {
                const double stretch = SA[3 * i + k] + weight * (SB[3 * i + k] - SA[3 * i + k]);
                sum += stretch * R[3 * k + j];
            }
            out[4 * i + j] = sum;
        }
    }
}

/* ---- ops ---- */

/* The matrix of one op from its channels in two samples. */
static void set_op(op type, const double *a, const double *b, double weight, double m[16])
{
    if (type == MATRIX) {
        matrix_between(a, b, weight, m);
        return;
    }
    double c[4];
    for (int i = 0; i < channels[type]; i++) c[i] = a[i] + weight * (b[i] - a[i]);
    set_identity(m);
    switch (type) {
    case SCALE:
        for (int i = 0; i < 3; i++) m[5 * i] = c[i];
        break;
    case TRANSLATE: memcpy(m + 12, c, 3 * sizeof *c); break;
    case ROTATE: set_rotation(c, c[3], m); break;
    case ROTATE_X: set_rotation((double[3]){1, 0, 0}, c[0], m); break;
    case ROTATE_Y: set_rotation((double[3]){0, 1, 0}, c[0], m); break;
    case ROTATE_Z: set_rotation((double[3]){0, 0, 1}, c[0], m); break;
    case MATRIX:
    case OPS: break;
    }
}

/* Ops and values as flat lists, whichever of a scalar or an array the file has. */
static firn_status load_list(const firn_alembic *a, const firn_abc_property *p, int64_t sample,
                             double **list, int64_t *count, firn_error *error)
{
    const firn_status st = firn_abc_load_numbers(a, p, sample, 0, list, count, error);
    *count *= p->extent;
    return st;
}

static firn_status combine(const firn_abc_object *o, const double *ops, int64_t op_count,
                           const double *low, const double *high, int64_t count, double weight,
                           double matrix[16], firn_error *error)
{
    int64_t used = 0;
    set_identity(matrix);
    for (int64_t i = 0; i < op_count; i++) {
        const int type = (int)ops[i] >> 4;
        if (type < 0 || type >= OPS || count - used < channels[type]) {
            return firn_fail(error, FIRN_INVALID,
                             "is damaged: op %lld of %.200s is %d, with %lld of %lld values left",
                             (long long)i, o->path, (int)ops[i], (long long)(count - used),
                             (long long)count);
        }
        double m[16];
        set_op((op)type, low + used, high + used, weight, m);
        multiply(m, matrix, matrix);
        used += channels[type];
    }
    return FIRN_OK;
}

static firn_status local_matrix(const firn_alembic *a, const firn_abc_object *o, double time,
                                double matrix[16], bool *inherits, firn_error *error)
{
    const firn_abc_property *schema = firn_abc_schema(a, o);
    const firn_abc_property *ops = firn_abc_part(a, schema, ".ops"),
                            *vals = firn_abc_part(a, schema, ".vals"),
                            *flag = firn_abc_part(a, schema, ".inherits");
    double *op_list = NULL, *low = NULL, *high = NULL, *given = NULL;
    int64_t op_count = 0, count = 0, high_count = 0, flags = 0;
    firn_status st = FIRN_OK;
    *inherits = true;
    set_identity(matrix);
    if (flag && flag->samples > 0) {
        const int64_t sample = firn_abc_moment_at(a, flag, time).low;
        st = load_list(a, flag, sample, &given, &flags, error);
        if (st == FIRN_OK && flags > 0) *inherits = given[0] != 0;
    }
    if (ops && vals && ops->samples > 0 && vals->samples > 0) {
        const firn_abc_moment at = firn_abc_moment_at(a, vals, time);
        if (st == FIRN_OK) {
            st =
                load_list(a, ops, firn_abc_moment_at(a, ops, time).low, &op_list, &op_count, error);
        }
        if (st == FIRN_OK) st = load_list(a, vals, at.low, &low, &count, error);
        if (st == FIRN_OK) st = load_list(a, vals, at.high, &high, &high_count, error);
        if (st == FIRN_OK && high_count < count) count = high_count;
        if (st == FIRN_OK) {
            st = combine(o, op_list, op_count, low, high, count, at.weight, matrix, error);
        }
    }
    free(op_list);
    free(low);
    free(high);
    free(given);
    return st;
}

firn_status firn_abc_matrix(const firn_alembic *a, int32_t object, double time, double matrix[16],
                            firn_error *error)
{
    set_identity(matrix);
    bool inherits = true;
    for (int32_t i = object; i >= 0 && inherits; i = a->object[i].parent) {
        if (a->object[i].kind != FIRN_ALEMBIC_XFORM) continue;
        double local[16];
        const firn_status st = local_matrix(a, &a->object[i], time, local, &inherits, error);
        if (st != FIRN_OK) return st;
        multiply(matrix, local, matrix);
    }
    return FIRN_OK;
}
