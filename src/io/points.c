/* Columns of particles: numeric types with conversion to and from double, half floats, named
 * columns, columns of words. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "io/io.h"

static const struct {
    const char *name;
    size_t size;
} types[FIRN_TYPE_COUNT] = {
#define ROW(name, bytes) {#name, bytes},
    FIRN_TYPES(ROW)
#undef ROW
};

size_t firn_type_size(firn_type type) { return types[type].size; }
const char *firn_type_name(firn_type type) { return types[type].name; }

float firn_half_to_float(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = half >> 10 & 31u,
                   fraction = half & 1023u;
    uint32_t bits = sign;
    if (exponent == 31) {
        bits |= 0x7f800000u | fraction << 13;
    } else if (exponent > 0) {
        bits |= (exponent + 112) << 23 | fraction << 13;
    } else { /* subnormal: exact as a product */
        const float size = (float)fraction * 0x1p-24f;
        return sign ? -size : size;
    }
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint16_t firn_half_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    const uint32_t size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return sign | 0x7e00u;  /* NaN */
    if (size >= 0x477ff000u) return sign | 0x7c00u; /* rounds to 65536 or more */
    if (size < 0x38800000u) {                       /* below 2^-14: a multiple of 2^-24 */
        return sign | (uint16_t)lrint((double)fabsf(value) * 0x1p24);
    }
    const uint32_t rounded = size + 0xfffu + (size >> 13 & 1u);
    return sign | (uint16_t)((rounded - 0x38000000u) >> 13);
}

double firn_type_get(firn_type type, const void *data, int64_t index)
{
    switch (type) {
    case FIRN_TYPE_f16: return (double)firn_half_to_float(((const uint16_t *)data)[index]);
    case FIRN_TYPE_f32: return (double)((const float *)data)[index];
    case FIRN_TYPE_f64: return ((const double *)data)[index];
    case FIRN_TYPE_i8: return ((const int8_t *)data)[index];
    case FIRN_TYPE_u8: return ((const uint8_t *)data)[index];
    case FIRN_TYPE_i16: return ((const int16_t *)data)[index];
    case FIRN_TYPE_u16: return ((const uint16_t *)data)[index];
    case FIRN_TYPE_i32: return ((const int32_t *)data)[index];
    case FIRN_TYPE_u32: return ((const uint32_t *)data)[index];
    case FIRN_TYPE_i64: return (double)((const int64_t *)data)[index];
    case FIRN_TYPE_u64: return (double)((const uint64_t *)data)[index];
    case FIRN_TYPE_COUNT: break;
    }
    return 0;
}

/* The nearest integer within bounds that doubles hold exactly; 0 for a NaN. */
static double whole(double value, double low, double high)
{
    if (isnan(value)) return 0;
    return fmin(fmax(rint(value), low), high);
}

int64_t firn_whole(double value)
{
    /* The largest double below 2^63. */
    return (int64_t)whole(value, -0x1p63, 0x1.fffffffffffffp62);
}

void firn_type_set(firn_type type, void *data, int64_t index, double value)
{
    switch (type) {
    case FIRN_TYPE_f16: ((uint16_t *)data)[index] = firn_half_from_float((float)value); break;
    case FIRN_TYPE_f32: ((float *)data)[index] = (float)value; break;
    case FIRN_TYPE_f64: ((double *)data)[index] = value; break;
    case FIRN_TYPE_i8: ((int8_t *)data)[index] = (int8_t)whole(value, INT8_MIN, INT8_MAX); break;
    case FIRN_TYPE_u8: ((uint8_t *)data)[index] = (uint8_t)whole(value, 0, UINT8_MAX); break;
    case FIRN_TYPE_i16:
        ((int16_t *)data)[index] = (int16_t)whole(value, INT16_MIN, INT16_MAX);
        break;
    case FIRN_TYPE_u16: ((uint16_t *)data)[index] = (uint16_t)whole(value, 0, UINT16_MAX); break;
    case FIRN_TYPE_i32:
        ((int32_t *)data)[index] = (int32_t)whole(value, INT32_MIN, INT32_MAX);
        break;
    case FIRN_TYPE_u32: ((uint32_t *)data)[index] = (uint32_t)whole(value, 0, UINT32_MAX); break;
    case FIRN_TYPE_i64: ((int64_t *)data)[index] = firn_whole(value); break;
    case FIRN_TYPE_u64: /* the largest double below 2^64 */
        ((uint64_t *)data)[index] = (uint64_t)whole(value, 0, 0x1.fffffffffffffp63);
        break;
    case FIRN_TYPE_COUNT: break;
    }
}

firn_column *firn_points_find(const firn_points *points, const char *name)
{
    for (int32_t c = 0; c < points->column_count; c++) {
        if (strcmp(points->column[c].name, name) == 0) return &points->column[c];
    }
    return NULL;
}

firn_column *firn_points_add(firn_points *points, const char *name, firn_type type,
                             int32_t components, firn_error *error)
{
    const size_t length = name ? strlen(name) : 0;
    if ((unsigned)type >= FIRN_TYPE_COUNT) {
        firn_fail(error, FIRN_INVALID, "type %d must be a firn_type", (int)type);
        return NULL;
    }
    if (length == 0 || length >= FIRN_NAME_SIZE) {
        firn_fail(error, FIRN_INVALID, "an attribute's name has %zu letters; 1 to %d can be kept",
                  length, FIRN_NAME_SIZE - 1);
        return NULL;
    }
    if (components < 1 || components > FIRN_MAX_COMPONENTS) {
        firn_fail(error, FIRN_INVALID, "attribute %s has %d components; 1 to %d can be kept", name,
                  components, FIRN_MAX_COMPONENTS);
        return NULL;
    }
    if (firn_points_find(points, name)) {
        firn_fail(error, FIRN_INVALID, "attribute %s comes twice", name);
        return NULL;
    }
    if (points->column_count == FIRN_MAX_COLUMNS) {
        firn_fail(error, FIRN_INVALID, "more than %d attributes", FIRN_MAX_COLUMNS);
        return NULL;
    }
    const size_t each = (size_t)components * firn_type_size(type);
    if (points->count < 0 || (uint64_t)points->count > (SIZE_MAX / 2) / each) {
        firn_fail(error, FIRN_NO_MEMORY, "%lld particles do not fit into memory",
                  (long long)points->count);
        return NULL;
    }
    double bytes = (double)points->count * (double)each;
    for (int32_t c = 0; c < points->column_count; c++) {
        const firn_column *other = &points->column[c];
        bytes += (double)points->count * other->components * (double)firn_type_size(other->type);
    }
    if (firn_memory_check(bytes, "the particles", error) != FIRN_OK) return NULL;
    void *data = calloc((size_t)points->count + 1, each); /* never of size 0 */
    firn_column *grown =
        realloc(points->column, ((size_t)points->column_count + 1) * sizeof *grown);
    if (grown) points->column = grown;
    if (!data || !grown) {
        free(data);
        firn_fail(error, FIRN_NO_MEMORY, "out of memory for attribute %s of %lld particles", name,
                  (long long)points->count);
        return NULL;
    }
    firn_column *column = &points->column[points->column_count++];
    *column = (firn_column){.type = type, .components = components, .data = data};
    memcpy(column->name, name, length + 1);
    return column;
}

firn_status firn_column_add_word(firn_column *column, const char *word, firn_error *error)
{
    const size_t used = column->words_size, more = strlen(word) + 1;
    if (!column->words || ((used + more) ^ used) > used) { /* room doubles at powers of two */
        size_t room = 64;
        while (room < 2 * (used + more)) room *= 2;
        char *grown = realloc(column->words, room);
        if (!grown) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for words");
        column->words = grown;
    }
    memcpy(column->words + used, word, more);
    column->words_size += more;
    column->word_count++;
    return FIRN_OK;
}

void firn_points_free(firn_points *points)
{
    for (int32_t c = 0; c < points->column_count; c++) {
        free(points->column[c].data);
        free(points->column[c].words);
    }
    free(points->column);
    *points = (firn_points){0};
}
