/* The bytes of SideFX's binary JSON, shared by its reader and its writer.
 *
 * A value is a byte that says what follows, then its payload in the writer's byte order.
 * Lengths, counts and token numbers are one byte below 0xF1, or LENGTH_16, _32, _64 and then
 * two, four or eight bytes. A string met often is defined once as a token and then named by
 * number. A uniform array is a type byte, a count, and bare values. */
#ifndef FIRN_JSON_CODE_H
#define FIRN_JSON_CODE_H

#include "io/io.h"

enum {
    CODE_NULL = 0x00,
    CODE_BOOL = 0x10,
    CODE_I8 = 0x11,
    CODE_I16 = 0x12,
    CODE_I32 = 0x13,
    CODE_I64 = 0x14,
    CODE_F16 = 0x18,
    CODE_F32 = 0x19,
    CODE_F64 = 0x1a,
    CODE_U8 = 0x21,
    CODE_U16 = 0x22,
    CODE_TOKEN = 0x26,
    CODE_STRING = 0x27,
    CODE_DEFINE = 0x2b,
    CODE_COMMA = 0x2c,
    CODE_UNDEFINE = 0x2d,
    CODE_FALSE = 0x30,
    CODE_TRUE = 0x31,
    CODE_COLON = 0x3a,
    CODE_UNIFORM = 0x40,
    CODE_MAGIC = 0x7f,
    LENGTH_16 = 0xf2,
    LENGTH_32 = 0xf4,
    LENGTH_64 = 0xf8,
};

/* Written in the writer's own byte order, it tells which that is. */
static const uint32_t json_magic = 0x624a534e; /* "NSJb", little end first */

static const uint8_t json_code_of[FIRN_TYPE_COUNT] = {
    [FIRN_TYPE_f16] = CODE_F16, [FIRN_TYPE_f32] = CODE_F32, [FIRN_TYPE_f64] = CODE_F64,
    [FIRN_TYPE_i8] = CODE_I8,   [FIRN_TYPE_u8] = CODE_U8,   [FIRN_TYPE_i16] = CODE_I16,
    [FIRN_TYPE_u16] = CODE_U16, [FIRN_TYPE_i32] = CODE_I32, [FIRN_TYPE_i64] = CODE_I64,
};

#endif
