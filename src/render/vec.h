/* Three floats, and random numbers that are functions of what they are for. */
#ifndef FIRN_RENDER_VEC_H
#define FIRN_RENDER_VEC_H

#include <math.h>
#include <stdint.h>

/* Of numbers: one instruction each, which fminf and fmaxf, who care for NaN, are not. */
static inline float f_min(float a, float b) { return a < b ? a : b; }
static inline float f_max(float a, float b) { return a > b ? a : b; }

/* e^x to 3e-7, for x from -87 to 88, else the value there. */
static inline float f_exp(float x)
{
    const float y = f_min(f_max(1.44269504f * x, -126), 127), whole = rintf(y), r = y - whole;
    /* Taylor's series of 2^r for r within a half. */
    const float power =
        1 + r * (0.693147181f +
                 r * (0.240226507f +
                      r * (0.0555041087f +
                           r * (0.00961812911f + r * (0.00133335581f + r * 1.54035304e-4f)))));
    const union {
        uint32_t bits;
        float value;
    } scale = {.bits = (uint32_t)((int32_t)whole + 127) << 23};
    return power * scale.value;
}

typedef struct vec3 {
    float x, y, z;
} vec3;

static inline vec3 v3(float x, float y, float z) { return (vec3){x, y, z}; }
static inline vec3 v3_of(const double v[3]) { return v3((float)v[0], (float)v[1], (float)v[2]); }
static inline vec3 v3_all(float s) { return v3(s, s, s); }
static inline vec3 v3_add(vec3 a, vec3 b) { return v3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline vec3 v3_sub(vec3 a, vec3 b) { return v3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline vec3 v3_mul(vec3 a, vec3 b) { return v3(a.x * b.x, a.y * b.y, a.z * b.z); }
static inline vec3 v3_scale(vec3 a, float s) { return v3(a.x * s, a.y * s, a.z * s); }
/* a + s b */
static inline vec3 v3_along(vec3 a, vec3 b, float s)
{
    return v3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline float v3_dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vec3 v3_cross(vec3 a, vec3 b)
{
    return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline float v3_length(vec3 a) { return sqrtf(v3_dot(a, a)); }
static inline vec3 v3_unit(vec3 a) { return v3_scale(a, 1 / sqrtf(v3_dot(a, a) + 1e-30f)); }
static inline vec3 v3_mix(vec3 a, vec3 b, float t)
{
    return v3_add(v3_scale(a, 1 - t), v3_scale(b, t));
}
static inline vec3 v3_exp(vec3 a) { return v3(f_exp(a.x), f_exp(a.y), f_exp(a.z)); }
static inline float v3_max(vec3 a) { return f_max(a.x, f_max(a.y, a.z)); }
static inline float v3_min(vec3 a) { return f_min(a.x, f_min(a.y, a.z)); }
static inline float v3_mean(vec3 a) { return (a.x + a.y + a.z) * (1 / 3.f); }

static inline float f_clamp(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}
static inline float f_step(float low, float high, float x)
{
    const float t = f_clamp((x - low) / (high - low), 0, 1);
    return t * t * (3 - 2 * t);
}

/* Two unit vectors across n. */
static inline void v3_across(vec3 n, vec3 *a, vec3 *b)
{
    *a = v3_unit(v3_cross(fabsf(n.x) > 0.5f ? v3(0, 1, 0) : v3(1, 0, 0), n));
    *b = v3_cross(n, *a);
}

static inline uint32_t hash32(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
}
static inline uint32_t hash_next(uint32_t *state)
{
    *state = *state * 747796405u + 2891336453u;
    return hash32(*state);
}
/* In [0, 1). */
static inline float hash_unit(uint32_t h) { return (float)(h >> 8) * 0x1p-24f; }

#endif
