/* Gradient noise (Perlin 2002): a random slope at each lattice point, blended by a quintic. The slopes
 * come from an integer hash of the lattice point, and the arithmetic is additions, products and floor:
 * no table, no library function, nothing that differs between machines. */
#include <firn/geometry.h>

#include <math.h>

#include "geometry/random.h"

/* Slope along one of the twelve edges of a cube, times the way from the lattice point. */
static double slope(uint64_t hash, const double d[3])
{
    const uint64_t edge = (hash >> 32) % 12;
    const int a = (int)(edge / 4), b = (a + 1) % 3;
    const double u = edge & 1 ? -d[a] : d[a], v = edge & 2 ? -d[b] : d[b];
    return u + v;
}

static double quintic(double t) { return t * t * t * (t * (t * 6 - 15) + 10); }

static double mix(double a, double b, double t) { return a + t * (b - a); }

/* One octave; the largest value these slopes can give is 1.0364 (found by search). */
static double octave(const double p[3], uint64_t seed)
{
    int64_t cell[3];
    double in[3], t[3];
    for (int a = 0; a < 3; a++) {
        const double low = floor(p[a]);
        /* Beyond 2^53 all positions are whole numbers. */
        cell[a] = fabs(low) < 0x1p53 ? (int64_t)low : 0;
        in[a] = fabs(low) < 0x1p53 ? p[a] - low : 0;
        t[a] = quintic(in[a]);
    }
    double plane[2];
    for (int z = 0; z < 2; z++) {
        double line[2];
        for (int y = 0; y < 2; y++) {
            double at[2];
            for (int x = 0; x < 2; x++) {
                const double d[3] = {in[0] - x, in[1] - y, in[2] - z};
                at[x] = slope(firn_random_bits(seed, cell[0] + x, cell[1] + y, cell[2] + z, 0), d);
            }
            line[y] = mix(at[0], at[1], t[0]);
        }
        plane[z] = mix(line[0], line[1], t[1]);
    }
    return mix(plane[0], plane[1], t[2]) / 1.0364;
}

double firn_noise(const double position[3], double feature, int32_t octaves, uint64_t seed)
{
    /* Noise is zero at lattice points: the shift keeps those off the planes that scenes like, such as
     * z = 0 in 2D. */
    static const double shift[3] = {0.3127, 0.7351, 0.5689};
    double sum = 0, most = 0, strength = 1, frequency = 1 / feature;
    for (int32_t o = 0; o < octaves; o++) {
        double p[3];
        for (int a = 0; a < 3; a++) p[a] = position[a] * frequency + shift[a];
        sum += strength * octave(p, firn_mix(seed + (uint64_t)o));
        most += strength;
        strength *= 0.5;
        frequency *= 2;
    }
    return fmin(fmax(sum / most, -1), 1);
}
