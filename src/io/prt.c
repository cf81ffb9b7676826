/* Krakatoa's PRT: a header, chunks of metadata (version 2), a table of channels, and one zlib
 * stream of packed records, one per particle. All numbers are little-endian, as on every machine
 * Firn runs on.
 *
 * Files of other programs come in other units and with other axes up; chunks say so, and reading
 * turns them into metres and Y up. What is written is version 2 in our own units. The stream is
 * compressed in pieces of fixed size, each on its own, so that its bytes do not depend on how many
 * threads did it; level 1 by ISA-L, which makes the same of it as zlib in a tenth of the time. */
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <isa-l/igzip_lib.h>
#include <zlib.h>

#include "base/error.h"
#include "base/parallel.h"
#include "io/io.h"

enum {
    HEADER_SIZE = 56,
    CHANNEL_SIZE = 44,
    CHANNEL_NAME_SIZE = 32,
    BATCH_SIZE = 1 << 20, /* bytes of records read, or compressed, at a time */
    DEFLATE_RATIO = 1032, /* no stream holds more per byte */
};

static const uint8_t magic[8] = {0xc0, 'P', 'R', 'T', '\r', '\n', 0x1a, '\n'};
static const char signature[32] = "Extensible Particle Format";

/* By the numbers the file uses. */
static const firn_type types[] = {
    FIRN_TYPE_i16, FIRN_TYPE_i32, FIRN_TYPE_i64, FIRN_TYPE_f16, FIRN_TYPE_f32, FIRN_TYPE_f64,
    FIRN_TYPE_u16, FIRN_TYPE_u32, FIRN_TYPE_u64, FIRN_TYPE_i8,  FIRN_TYPE_u8,
};
enum { TYPES = sizeof types / sizeof *types };

static int32_t type_number(firn_type type)
{
    int32_t number = 0;
    while (types[number] != type) number++;
    return number;
}

static bool is_float(firn_type type)
{
    return type == FIRN_TYPE_f16 || type == FIRN_TYPE_f32 || type == FIRN_TYPE_f64;
}

/* What another unit or other axes do to a value. */
typedef enum meaning {
    PLAIN,
    LENGTH,   /* scaled */
    POINT,    /* scaled and turned; velocities too */
    NORMAL,   /* turned */
    ROTATION, /* a quaternion, imaginary parts first, or an axis: turned, mirrored as axes are */
    TENSOR,   /* 3 x 3: both sides turned */
} meaning;

static const struct {
    const char *ours, *theirs;
    meaning meaning;
} names[] = {
    {"P", "Position", POINT},
    {"v", "Velocity", POINT},
    {"Acceleration", "Acceleration", POINT},
    {"N", "Normal", NORMAL},
    {"Tangent", "Tangent", NORMAL},
    {"orient", "Orientation", ROTATION},
    {"Spin", "Spin", ROTATION},
    {"F", "F", TENSOR},
    {"pscale", "Radius", LENGTH},
    {"Cd", "Color", PLAIN},
    {"id", "ID", PLAIN},
    {"density", "Density", PLAIN},
    {"age", "Age", PLAIN},
    {"life", "LifeSpan", PLAIN},
    {"mass", "Mass", PLAIN},
    {"temperature", "Temperature", PLAIN},
    {"enthalpy", "Enthalpy", PLAIN},
    {"concentration", "Concentration", PLAIN},
    {"material", "Material", PLAIN},
    {"object", "Object", PLAIN},
    {"liquid", "Liquid", PLAIN},
    {"pressure", "Pressure", PLAIN},
    {"force", "Force", POINT},
    {"cell_class", "CellClass", PLAIN},
};
enum { NAMES = sizeof names / sizeof *names };

/* Written when no other channel has one component, see plan(); dropped when read. */
static const char padding[] = "FirnPadding";

typedef struct channel {
    char name[CHANNEL_NAME_SIZE];
    firn_type type; /* in the file */
    int32_t components;
    int64_t offset; /* within a record, bytes */
    firn_type column_type;
    void *data; /* the column's; NULL: not kept, or zeros */
} channel;

static size_t channel_bytes(const channel *c)
{
    return (size_t)c->components * firn_type_size(c->type);
}

static int64_t record_bytes(const channel *channels, int32_t count)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < count; i++) {
        const int64_t end = channels[i].offset + (int64_t)channel_bytes(&channels[i]);
        if (end > bytes) bytes = end;
    }
    return bytes;
}

/* ---- reading: header and chunks ---- */

static int32_t get_i32(const uint8_t *p)
{
    int32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static int64_t get_i64(const uint8_t *p)
{
    int64_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* How the file's space becomes ours: component a is sign[a] x the file's component from[a]. */
typedef struct space {
    double scale; /* metres in the file's unit */
    int from[3];
    double sign[3];
} space;

static const space coordinate_systems[] = {
    {1, {0, 1, 2}, {1, 1, 1}},  /* not specified: taken for ours */
    {1, {0, 1, 2}, {1, 1, 1}},  /* right-handed, Y up */
    {1, {0, 2, 1}, {1, 1, -1}}, /* right-handed, Z up */
    {1, {0, 1, 2}, {1, 1, -1}}, /* left-handed, Y up */
    {1, {0, 2, 1}, {1, 1, 1}},  /* left-handed, Z up */
};
enum { COORDINATE_SYSTEMS = sizeof coordinate_systems / sizeof *coordinate_systems };

/* A Meta chunk: channel's name and value's name, each ended by a 0, the value's type, the value.
 * Those of a channel, and file-wide values that change no particle, are passed over. */
static firn_status read_meta(const uint8_t *p, size_t size, size_t at, space *s, firn_error *error)
{
    const uint8_t *first = memchr(p, 0, size);
    const uint8_t *name = first ? first + 1 : p;
    const uint8_t *second = first ? memchr(name, 0, size - (size_t)(name - p)) : NULL;
    if (!second || size - (size_t)(second + 1 - p) < 4) {
        return firn_fail(error, FIRN_INVALID, "the Meta chunk at byte %zu ends before its value",
                         at);
    }
    if (first != p) return FIRN_OK; /* about a channel */
    const int32_t type = get_i32(second + 1);
    const uint8_t *value = second + 5;
    const size_t bytes = size - (size_t)(value - p);
    if (strcmp((const char *)name, "LengthUnitInMicrometers") == 0) {
        double unit = NAN;
        if (type >= 0 && type < TYPES && bytes == firn_type_size(types[type])) {
            uint64_t aligned = 0;
            memcpy(&aligned, value, bytes);
            unit = firn_type_get(types[type], &aligned, 0);
        }
        if (!(unit > 0 && isfinite(unit))) {
            return firn_fail(error, FIRN_INVALID,
                             "LengthUnitInMicrometers at byte %zu is not one number above 0", at);
        }
        s->scale = unit * 1e-6;
    } else if (strcmp((const char *)name, "CoordSys") == 0) {
        const int32_t system = bytes == 4 ? get_i32(value) : -1;
        if (system < 0 || system >= COORDINATE_SYSTEMS) {
            return firn_fail(error, FIRN_INVALID, "CoordSys at byte %zu is not one of 0 to %d", at,
                             COORDINATE_SYSTEMS - 1);
        }
        const double scale = s->scale;
        *s = coordinate_systems[system];
        s->scale = scale;
    }
    return FIRN_OK;
}

static firn_status read_chunks(const firn_bytes *in, size_t end, space *s, firn_error *error)
{
    for (size_t at = HEADER_SIZE; at < end;) {
        const int32_t size = end - at >= 8 ? get_i32(in->data + at + 4) : -1;
        if (size < 0 || (size_t)size > end - at - 8) {
            return firn_fail(error, FIRN_INVALID,
                             "the chunk at byte %zu does not end within the header's %zu bytes", at,
                             end);
        }
        const uint8_t *tag = in->data + at;
        if (memcmp(tag, "Stop", 4) == 0) return FIRN_OK;
        if (memcmp(tag, "Meta", 4) == 0) {
            const firn_status st = read_meta(tag + 8, (size_t)size, at, s, error);
            if (st != FIRN_OK) return st;
        }
        at += 8 + (size_t)size;
    }
    return FIRN_OK;
}

static bool recognise(const firn_bytes *in)
{
    return in->size >= sizeof magic && memcmp(in->data, magic, sizeof magic) == 0;
}

static firn_status read_header(const firn_bytes *in, int64_t *count, size_t *end, space *s,
                               firn_error *error)
{
    if (!recognise(in)) return firn_fail(error, FIRN_INVALID, "is cut off, or not a PRT");
    if (in->size < HEADER_SIZE) {
        return firn_fail(error, FIRN_INVALID, "is cut off: the header ends at byte %zu of %d",
                         in->size, HEADER_SIZE);
    }
    const int32_t length = get_i32(in->data + 8), version = get_i32(in->data + 44);
    *count = get_i64(in->data + 48);
    *end = (size_t)length;
    if (memcmp(in->data + 12, signature, strlen(signature)) != 0) {
        return firn_fail(error, FIRN_INVALID, "\"%s\" is missing at byte 12", signature);
    }
    if (version != 1 && version != 2) {
        return firn_fail(error, FIRN_INVALID, "version %d at byte 44; 1 and 2 can be read",
                         version);
    }
    if (length < HEADER_SIZE || *end > in->size) {
        return firn_fail(error, FIRN_INVALID,
                         "is cut off, or not a PRT: the header is %d bytes long, the file %zu",
                         length, in->size);
    }
    if (*count < 0) {
        return firn_fail(error, FIRN_INVALID,
                         "%lld particles at byte 48: the file was not finished; write it again",
                         (long long)*count);
    }
    return version == 2 ? read_chunks(in, *end, s, error) : FIRN_OK;
}

/* ---- reading: channels ---- */

static firn_status read_channel(const uint8_t *p, size_t at, channel *c, firn_error *error)
{
    memcpy(c->name, p, CHANNEL_NAME_SIZE);
    size_t length = 0;
    while (length < CHANNEL_NAME_SIZE && isgraph((unsigned char)c->name[length])) length++;
    if (length == 0 || length == CHANNEL_NAME_SIZE || c->name[length] != '\0') {
        return firn_fail(error, FIRN_INVALID,
                         "the channel at byte %zu has no name of 1 to %d letters", at,
                         CHANNEL_NAME_SIZE - 1);
    }
    const int32_t type = get_i32(p + 32), arity = get_i32(p + 36), offset = get_i32(p + 40);
    if (type < 0 || type >= TYPES) {
        return firn_fail(error, FIRN_INVALID,
                         "channel %s has type %d at byte %zu; there are 0 to %d", c->name, type,
                         at + 32, TYPES - 1);
    }
    if (arity < 1 || arity > FIRN_MAX_COMPONENTS) {
        return firn_fail(error, FIRN_INVALID,
                         "channel %s has %d components at byte %zu; 1 to %d can be kept", c->name,
                         arity, at + 36, FIRN_MAX_COMPONENTS);
    }
    if (offset < 0) {
        return firn_fail(error, FIRN_INVALID, "channel %s has offset %d at byte %zu", c->name,
                         offset, at + 40);
    }
    c->type = c->column_type = types[type];
    c->components = arity;
    c->offset = offset;
    return FIRN_OK;
}

static firn_status check_overlap(const channel *c, int32_t count, firn_error *error)
{
    for (int32_t i = 0; i < count; i++) {
        for (int32_t j = 0; j < i; j++) {
            const int64_t end_i = c[i].offset + (int64_t)channel_bytes(&c[i]);
            const int64_t end_j = c[j].offset + (int64_t)channel_bytes(&c[j]);
            if (c[i].offset < end_j && c[j].offset < end_i) {
                return firn_fail(error, FIRN_INVALID,
                                 "channels %s and %s overlap: bytes %lld to %lld and %lld to %lld "
                                 "of each particle",
                                 c[j].name, c[i].name, (long long)c[j].offset, (long long)end_j,
                                 (long long)c[i].offset, (long long)end_i);
            }
        }
    }
    return FIRN_OK;
}

/* Reads the table at *at and moves *at behind it. `c` has room for FIRN_MAX_COLUMNS. */
static firn_status read_channels(const firn_bytes *in, size_t *at, channel *c, int32_t *count,
                                 firn_error *error)
{
    if (in->size - *at < 12) {
        return firn_fail(error, FIRN_INVALID, "the channel table is cut off at byte %zu", in->size);
    }
    const int32_t reserved = get_i32(in->data + *at), each = get_i32(in->data + *at + 8);
    *count = get_i32(in->data + *at + 4);
    if (reserved != 4) {
        return firn_fail(error, FIRN_INVALID, "%d at byte %zu, before the channels; 4 is expected",
                         reserved, *at);
    }
    if (*count < 1 || *count > FIRN_MAX_COLUMNS) {
        return firn_fail(error, FIRN_INVALID, "%d channels at byte %zu; 1 to %d can be kept",
                         *count, *at + 4, FIRN_MAX_COLUMNS);
    }
    if (each < CHANNEL_SIZE) {
        return firn_fail(error, FIRN_INVALID,
                         "%d bytes describe a channel, by byte %zu; at least %d are expected", each,
                         *at + 8, CHANNEL_SIZE);
    }
    *at += 12;
    if ((in->size - *at) / (size_t)each < (size_t)*count) {
        return firn_fail(error, FIRN_INVALID,
                         "the file ends at byte %zu, within the table of %d channels", in->size,
                         *count);
    }
    for (int32_t i = 0; i < *count; i++, *at += (size_t)each) {
        const firn_status st = read_channel(in->data + *at, *at, &c[i], error);
        if (st != FIRN_OK) return st;
    }
    return check_overlap(c, *count, error);
}

static const channel *find_channel(const channel *c, int32_t count, const char *name)
{
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(c[i].name, name) == 0) return &c[i];
    }
    return NULL;
}

static const char *our_name(const channel *c, const channel *all, int32_t count)
{
    for (int i = 0; i < NAMES; i++) {
        if (strcmp(c->name, names[i].theirs) == 0) return names[i].ours;
    }
    const bool size = strcmp(c->name, "Scale") == 0 && c->components == 1 &&
                      !find_channel(all, count, "Radius") && !find_channel(all, count, "pscale");
    return size ? "pscale" : c->name;
}

static meaning meaning_of(const firn_column *column)
{
    if (!is_float(column->type)) return PLAIN;
    for (int i = 0; i < NAMES; i++) {
        if (strcmp(column->name, names[i].ours) != 0) continue;
        const meaning m = names[i].meaning;
        const int32_t n = column->components;
        const bool fits = m == TENSOR ? n == 9 : m == ROTATION ? n == 3 || n == 4 : n == 3;
        return m == LENGTH || fits ? m : PLAIN;
    }
    return PLAIN;
}

/* An empty column for every channel. Halves that will be scaled become floats: their range is
 * narrow. */
static firn_status add_columns(channel *c, int32_t count, const space *s, firn_points *out,
                               firn_error *error)
{
    const channel *position = find_channel(c, count, "Position");
    if (!position || position->components != 3 || !is_float(position->type)) {
        return firn_fail(error, FIRN_INVALID,
                         position ? "channel Position is not three floats"
                                  : "there is no channel Position");
    }
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(c[i].name, padding) == 0) continue;
        firn_column about = {.type = c[i].type, .components = c[i].components};
        const char *name = our_name(&c[i], c, count);
        memcpy(about.name, name, strlen(name) + 1);
        const meaning m = meaning_of(&about);
        const bool scaled = s->scale != 1 && (m == POINT || m == LENGTH);
        if (scaled && c[i].type == FIRN_TYPE_f16) c[i].column_type = FIRN_TYPE_f32;
        const firn_column *column =
            firn_points_add(out, name, c[i].column_type, c[i].components, error);
        if (!column) return error ? error->status : FIRN_INVALID;
        c[i].data = column->data;
    }
    return FIRN_OK;
}

/* ---- reading: particles ---- */

/* Moves whole records into the columns, from particle `first` on. */
static void unpack(const channel *c, int32_t channels, const uint8_t *records, int64_t record,
                   int64_t first, int64_t count)
{
    for (int32_t k = 0; k < channels; k++) {
        if (!c[k].data) continue;
        const size_t bytes = channel_bytes(&c[k]);
        const uint8_t *from = records + c[k].offset;
        if (c[k].column_type == c[k].type) {
            uint8_t *to = (uint8_t *)c[k].data + (size_t)first * bytes;
            for (int64_t i = 0; i < count; i++, from += record, to += bytes) {
                memcpy(to, from, bytes);
            }
            continue;
        }
        float *to = c[k].data;
        to += first * c[k].components;
        for (int64_t i = 0; i < count; i++, from += record) {
            uint16_t half[FIRN_MAX_COMPONENTS];
            memcpy(half, from, bytes);
            for (int32_t a = 0; a < c[k].components; a++) *to++ = firn_half_to_float(half[a]);
        }
    }
}

/* Inflates exactly `size` bytes. `fed` counts what the stream has been given. */
static firn_status inflate_some(z_stream *z, const firn_bytes *in, size_t *fed, uint8_t *to,
                                size_t size, firn_error *error)
{
    z->next_out = to;
    z->avail_out = (uInt)size;
    while (z->avail_out > 0) {
        if (z->avail_in == 0) {
            const size_t left = in->size - *fed, most = 1u << 30;
            z->next_in = in->data + *fed;
            z->avail_in = (uInt)(left < most ? left : most);
            *fed += z->avail_in;
        }
        const int code = inflate(z, Z_NO_FLUSH);
        const size_t at = *fed - z->avail_in;
        if (code == Z_MEM_ERROR) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        if (code == Z_BUF_ERROR) {
            return firn_fail(error, FIRN_INVALID, "the particles are cut off at byte %zu", at);
        }
        if (code != Z_OK && code != Z_STREAM_END) {
            return firn_fail(error, FIRN_INVALID,
                             "the particles' zlib data is corrupt at byte %zu: %s", at,
                             z->msg ? z->msg : zError(code));
        }
        if (code == Z_STREAM_END) break;
    }
    return FIRN_OK;
}

static firn_status inflate_records(z_stream *z, const firn_bytes *in, size_t at, const channel *c,
                                   int32_t channels, int64_t record, const firn_points *out,
                                   uint8_t *batch, int64_t batch_count, firn_error *error)
{
    for (int64_t first = 0; first < out->count; first += batch_count) {
        const int64_t left = out->count - first, n = left < batch_count ? left : batch_count;
        const firn_status st = inflate_some(z, in, &at, batch, (size_t)n * (size_t)record, error);
        if (st != FIRN_OK) return st;
        if (z->avail_out > 0) {
            return firn_fail(error, FIRN_INVALID,
                             "the header says %lld particles of %lld bytes; the stream ends after "
                             "%lld",
                             (long long)out->count, (long long)record,
                             (long long)(z->total_out / (uint64_t)record));
        }
        unpack(c, channels, batch, record, first, n);
    }
    uint8_t more; /* the stream's end is its checksum: only there it is known to be whole */
    const firn_status st = inflate_some(z, in, &at, &more, 1, error);
    if (st == FIRN_OK && z->avail_out == 0) {
        return firn_fail(error, FIRN_INVALID,
                         "the stream holds more than the %lld particles of %lld bytes that the "
                         "header says",
                         (long long)out->count, (long long)record);
    }
    return st;
}

static firn_status read_particles(const firn_bytes *in, size_t at, const channel *c,
                                  int32_t channels, int64_t record, const firn_points *out,
                                  firn_error *error)
{
    if (out->count == 0 && at == in->size) return FIRN_OK;
    const int64_t fit = BATCH_SIZE / record, batch_count = fit > 0 ? fit : 1;
    z_stream z = {0};
    uint8_t *batch = out->count > 0 ? malloc((size_t)(batch_count * record)) : NULL;
    if ((out->count > 0 && !batch) || inflateInit(&z) != Z_OK) {
        free(batch);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    const firn_status st =
        inflate_records(&z, in, at, c, channels, record, out, batch, batch_count, error);
    inflateEnd(&z);
    free(batch);
    return st;
}

static void convert_value(const space *s, meaning m, int32_t components, double *value)
{
    double old[FIRN_MAX_COMPONENTS];
    memcpy(old, value, sizeof old);
    if (m == LENGTH) {
        for (int32_t a = 0; a < components; a++) value[a] = s->scale * old[a];
    } else if (m == TENSOR) {
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                value[3 * i + j] = s->sign[i] * s->sign[j] * old[3 * s->from[i] + s->from[j]];
            }
        }
    } else {
        /* Axes of rotation also change sign when handedness does. An exchange of two axes mirrors,
         * and so does each negative sign. */
        const double parity = s->from[1] == 1 ? 1 : -1;
        const double mirror = parity * s->sign[0] * s->sign[1] * s->sign[2];
        const double factor = m == POINT ? s->scale : m == ROTATION ? mirror : 1;
        for (int a = 0; a < 3; a++) value[a] = factor * s->sign[a] * old[s->from[a]];
    }
}

static void convert_space(const space *s, firn_points *points)
{
    const bool turned = s->from[1] != 1 || s->sign[2] != 1;
    for (int32_t k = 0; k < points->column_count; k++) {
        const firn_column *c = &points->column[k];
        const meaning m = meaning_of(c);
        const bool scales = m == LENGTH || m == POINT, turns = m != LENGTH;
        if (m == PLAIN || !((scales && s->scale != 1) || (turns && turned))) continue;
        for (int64_t i = 0; i < points->count; i++) {
            double value[FIRN_MAX_COMPONENTS] = {0};
            const int64_t first = i * c->components;
            for (int32_t a = 0; a < c->components; a++) {
                value[a] = firn_type_get(c->type, c->data, first + a);
            }
            convert_value(s, m, c->components, value);
            for (int32_t a = 0; a < c->components; a++) {
                firn_type_set(c->type, c->data, first + a, value[a]);
            }
        }
    }
}

static firn_status read_points(const firn_bytes *in, firn_points *out, firn_error *error)
{
    space s = coordinate_systems[0];
    size_t at = 0;
    int64_t count = 0;
    int32_t channels = 0;
    channel c[FIRN_MAX_COLUMNS] = {0};
    firn_status st = read_header(in, &count, &at, &s, error);
    if (st == FIRN_OK) st = read_channels(in, &at, c, &channels, error);
    if (st != FIRN_OK) return st;
    const int64_t record = record_bytes(c, channels);
    const uint64_t packed = in->size - at;
    if (packed > INT64_MAX / DEFLATE_RATIO || count > (int64_t)packed * DEFLATE_RATIO / record) {
        return firn_fail(
            error, FIRN_INVALID,
            "the header says %lld particles of %lld bytes; the %llu bytes from byte %zu "
            "on cannot hold them",
            (long long)count, (long long)record, (unsigned long long)packed, at);
    }
    st = firn_check_unpacked((double)count * (double)record, error);
    if (st != FIRN_OK) return st;
    out->count = count;
    st = add_columns(c, channels, &s, out, error);
    if (st == FIRN_OK) st = read_particles(in, at, c, channels, record, out, error);
    if (st == FIRN_OK) convert_space(&s, out);
    return st;
}

/* ---- writing: which channels ---- */

/* Whether half precision can hold what is there: no finite value too large for it, and the largest
 * not so small that its digits are lost. */
static bool fits_half(const firn_column *column, int64_t count)
{
    double largest = 0;
    for (int64_t i = 0; i < count * column->components; i++) {
        const double size = fabs(firn_type_get(column->type, column->data, i));
        if (isfinite(size) && size > largest) largest = size;
    }
    return largest < 65520 && (largest == 0 || largest >= 0x1p-14);
}

static firn_status name_channel(const firn_column *column, channel *c, firn_error *error)
{
    const char *name = column->name;
    for (int i = 0; i < NAMES; i++) {
        if (strcmp(name, names[i].ours) == 0) name = names[i].theirs;
    }
    const size_t length = strlen(name);
    bool fine = length < CHANNEL_NAME_SIZE && !isdigit((unsigned char)name[0]);
    for (size_t i = 0; i < length; i++) {
        const unsigned char letter = (unsigned char)name[i];
        fine = fine && letter < 128 && (isalnum(letter) || letter == '_');
    }
    if (!fine) {
        return firn_fail(error, FIRN_INVALID,
                         "attribute %s: names in PRT files are up to %d letters, digits and _, and "
                         "begin with no digit; leave it out",
                         name, CHANNEL_NAME_SIZE - 1);
    }
    memcpy(c->name, name, length + 1);
    if (c->name[0] >= 'a' && c->name[0] <= 'z') c->name[0] = (char)(c->name[0] - 'a' + 'A');
    return FIRN_OK;
}

static firn_status plan_channel(const firn_points *points, const firn_column *column, bool half,
                                channel *c, int32_t *count, firn_error *error)
{
    channel *mine = &c[*count];
    const firn_status st = name_channel(column, mine, error);
    if (st != FIRN_OK) return st;
    if (find_channel(c, *count, mine->name)) {
        return firn_fail(error, FIRN_INVALID,
                         "two attributes would be called %s in a PRT file; leave out %s",
                         mine->name, column->name);
    }
    mine->components = column->components;
    mine->type = mine->column_type = column->type;
    mine->data = column->data;
    const bool position = strcmp(column->name, "P") == 0;
    if (position && column->type == FIRN_TYPE_f16) mine->type = FIRN_TYPE_f32;
    if (half && !position && is_float(column->type) && fits_half(column, points->count)) {
        mine->type = FIRN_TYPE_f16;
    }
    ++*count;
    return FIRN_OK;
}

/* P comes first and a channel of one component last: Partio takes the record to end one component
 * after the last channel's offset. `c` has room for one more than FIRN_MAX_COLUMNS. */
static firn_status plan(const firn_points *points, bool half, channel *c, int32_t *count,
                        firn_error *error)
{
    const firn_column *position = firn_points_find(points, "P"), *last = NULL;
    if (!position || position->components != 3 || !is_float(position->type)) {
        return firn_fail(error, FIRN_INVALID, "PRT files need an attribute P of three floats");
    }
    for (int32_t i = 0; i < points->column_count; i++) {
        if (points->column[i].components == 1) last = &points->column[i];
    }
    firn_status st = plan_channel(points, position, half, c, count, error);
    for (int32_t i = 0; i < points->column_count && st == FIRN_OK; i++) {
        const firn_column *column = &points->column[i];
        if (column == position || column == last) continue;
        st = plan_channel(points, column, half, c, count, error);
    }
    if (last && st == FIRN_OK) st = plan_channel(points, last, half, c, count, error);
    if (!last) {
        c[*count] = (channel){.type = FIRN_TYPE_i32, .components = 1};
        memcpy(c[(*count)++].name, padding, sizeof padding);
    }
    for (int32_t i = 1; i < *count; i++) {
        c[i].offset = c[i - 1].offset + (int64_t)channel_bytes(&c[i - 1]);
    }
    return st;
}

/* ---- writing: header ---- */

typedef struct header {
    uint8_t data[512];
    size_t size;
} header;

static void put(header *h, const void *data, size_t size)
{
    memcpy(h->data + h->size, data, size);
    h->size += size;
}

static void put_i32(header *h, int32_t value) { put(h, &value, sizeof value); }

static void put_meta(header *h, const char *name, firn_type type, const void *value, size_t size)
{
    const size_t name_size = strlen(name) + 1;
    put(h, "Meta", 4);
    put_i32(h, (int32_t)(1 + name_size + 4 + size));
    put(h, "", 1); /* about the file, not a channel */
    put(h, name, name_size);
    put_i32(h, type_number(type));
    put(h, value, size);
}

static void put_bounds(header *h, const firn_points *points)
{
    const firn_column *P = firn_points_find(points, "P");
    float box[6] = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * points->count; i++) {
        const float x = (float)firn_type_get(P->type, P->data, i);
        const int64_t a = i % 3;
        if (x < box[a]) box[a] = x;
        if (x > box[3 + a]) box[3 + a] = x;
    }
    const bool empty = box[0] > box[3] || box[1] > box[4] || box[2] > box[5];
    if (!empty) put_meta(h, "BoundBox", FIRN_TYPE_f32, box, sizeof box);
}

/* As a fraction: whole, of television (24000/1001), or in thousandths. */
static void put_rate(header *h, double fps)
{
    if (!(fps > 0 && fps < 4e6)) return;
    uint32_t rate[2] = {(uint32_t)lrint(fps), 1};
    const double television = rint(fps * 1.001) * 1000;
    if (fabs(fps - rate[0]) > 1e-9) {
        const bool close = fabs(fps - television / 1001) < 1e-3;
        rate[0] = (uint32_t)lrint(close ? television : fps * 1000);
        rate[1] = close ? 1001 : 1000;
    }
    if (rate[0] > 0) put_meta(h, "FrameRate", FIRN_TYPE_u32, rate, sizeof rate);
}

static void write_header(const firn_points *points, const channel *c, int32_t channels, double fps,
                         firn_output *out)
{
    header h = {0};
    put(&h, magic, sizeof magic);
    put_i32(&h, 0); /* the length, known below */
    put(&h, signature, sizeof signature);
    put_i32(&h, 2);
    put(&h, &points->count, sizeof points->count);
    put_meta(&h, "CoordSys", FIRN_TYPE_i32, &(int32_t){1}, 4);
    put_meta(&h, "LengthUnitInMicrometers", FIRN_TYPE_f64, &(double){1e6}, 8);
    put_bounds(&h, points);
    put_rate(&h, fps);
    put(&h, "Stop", 4);
    put_i32(&h, 0);
    const int32_t length = (int32_t)h.size;
    memcpy(h.data + sizeof magic, &length, sizeof length);
    put_i32(&h, 4);
    put_i32(&h, channels);
    put_i32(&h, CHANNEL_SIZE);
    firn_output_write(out, h.data, h.size);
    for (int32_t k = 0; k < channels; k++) {
        h.size = 0;
        put(&h, c[k].name, CHANNEL_NAME_SIZE);
        put_i32(&h, type_number(c[k].type));
        put_i32(&h, c[k].components);
        put_i32(&h, (int32_t)c[k].offset);
        firn_output_write(out, h.data, h.size);
    }
}

/* ---- writing: particles ---- */

typedef struct piece {
    uint8_t *packed;
    size_t packed_size;
    uLong checksum; /* of the records */
    z_off_t size;   /* of the records */
    bool failed;
} piece;

/* What a thread works with. */
typedef struct worker {
    uint8_t *records; /* of one piece */
    uint8_t *tables;
    struct isal_zstream stream;
} worker;

typedef struct packing {
    const channel *c;
    int32_t channels, level;
    int64_t count, record, piece_count; /* particles, bytes of one, particles in a piece */
    int64_t pieces, first;              /* in all, and the first of this round */
    piece *piece;                       /* of this round */
    size_t packed_room;
    worker *worker; /* per thread */
} packing;

static void pack(const channel *c, int32_t channels, int64_t first, int64_t count, int64_t record,
                 uint8_t *records)
{
    for (int32_t k = 0; k < channels; k++) {
        const size_t bytes = channel_bytes(&c[k]);
        uint8_t *to = records + c[k].offset;
        const size_t from_bytes = (size_t)c[k].components * firn_type_size(c[k].column_type);
        const uint8_t *from = c[k].data;
        if (from) from += (size_t)first * from_bytes;
        for (int64_t i = 0; i < count; i++, to += record) {
            if (!from) {
                memset(to, 0, bytes);
            } else if (c[k].type == c[k].column_type) {
                memcpy(to, from, bytes);
            } else { /* to half, or P from half */
                _Alignas(8) uint8_t value[FIRN_MAX_COMPONENTS * 8];
                for (int32_t a = 0; a < c[k].components; a++) {
                    firn_type_set(c[k].type, value, a, firn_type_get(c[k].column_type, from, a));
                }
                memcpy(to, value, bytes);
            }
            if (from) from += from_bytes;
        }
    }
}

/* Both end on a whole byte, so that pieces can stand one after another; only the last ends the
 * stream. */
static bool deflate_fast(worker *w, piece *mine, size_t room, bool last)
{
    struct isal_zstream *z = &w->stream;
    isal_deflate_init(z);
    z->level = 1;
    z->level_buf = w->tables;
    z->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
    z->flush = last ? NO_FLUSH : SYNC_FLUSH;
    z->end_of_stream = last;
    z->next_in = w->records;
    z->avail_in = (uint32_t)mine->size;
    z->next_out = mine->packed;
    z->avail_out = (uint32_t)room;
    const int code = isal_deflate(z);
    mine->packed_size = room - z->avail_out;
    return code == COMP_OK && z->avail_in == 0 && z->avail_out > 0;
}

static bool deflate_well(const worker *w, piece *mine, size_t room, bool last, int32_t level)
{
    z_stream z = {.next_in = w->records,
                  .avail_in = (uInt)mine->size,
                  .next_out = mine->packed,
                  .avail_out = (uInt)room};
    if (deflateInit2(&z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) return false;
    const int code = deflate(&z, last ? Z_FINISH : Z_SYNC_FLUSH);
    mine->packed_size = room - z.avail_out;
    const bool fine = code == (last ? Z_STREAM_END : Z_OK) && z.avail_in == 0 && z.avail_out > 0;
    deflateEnd(&z);
    return fine;
}

static void deflate_piece(void *context, int64_t index, int32_t thread)
{
    const packing *all = context;
    piece *mine = &all->piece[index];
    worker *w = &all->worker[thread];
    const int64_t number = all->first + index, from = number * all->piece_count;
    const int64_t left = all->count - from, n = left < all->piece_count ? left : all->piece_count;
    const bool last = number == all->pieces - 1;
    pack(all->c, all->channels, from, n, all->record, w->records);
    mine->size = (z_off_t)(n * all->record);
    mine->checksum = adler32_z(adler32(0, NULL, 0), w->records, (size_t)mine->size);
    mine->failed = !(all->level == 1 ? deflate_fast(w, mine, all->packed_room, last)
                                     : deflate_well(w, mine, all->packed_room, last, all->level));
}

static firn_status write_rounds(packing *all, int64_t round, int32_t threads, firn_output *out,
                                firn_error *error)
{
    uLong checksum = adler32(0, NULL, 0);
    firn_output_write(out, "\x78\x01", 2); /* zlib, window of 32 KiB */
    for (all->first = 0; all->first < all->pieces; all->first += round) {
        const int64_t left = all->pieces - all->first, n = left < round ? left : round;
        firn_parallel_for(threads, n, 1, deflate_piece, all);
        for (int64_t i = 0; i < n; i++) {
            const piece *p = &all->piece[i];
            if (p->failed) return firn_fail(error, FIRN_NO_MEMORY, "out of memory to compress in");
            checksum = adler32_combine(checksum, p->checksum, p->size);
            firn_output_write(out, p->packed, p->packed_size);
        }
    }
    const uint8_t end[4] = {(uint8_t)(checksum >> 24), (uint8_t)(checksum >> 16),
                            (uint8_t)(checksum >> 8), (uint8_t)checksum};
    firn_output_write(out, end, sizeof end);
    return FIRN_OK;
}

static firn_status write_particles(packing *all, int32_t threads, firn_output *out,
                                   firn_error *error)
{
    assert(all->record > 0); /* P is there */
    const int64_t fit = BATCH_SIZE / all->record;
    all->piece_count = fit > 0 ? fit : 1;
    all->pieces = all->count > 0 ? (all->count - 1) / all->piece_count + 1 : 1;
    const int64_t most = 4 * (int64_t)threads, round = all->pieces < most ? all->pieces : most;
    const size_t size = (size_t)(all->piece_count * all->record);
    all->packed_room = size + size / 8 + 1024; /* more than deflate and a flush can need */
    all->piece = calloc((size_t)round, sizeof *all->piece);
    all->worker = calloc((size_t)threads, sizeof *all->worker);
    bool room = all->piece && all->worker;
    for (int64_t i = 0; i < round && room; i++) {
        room = (all->piece[i].packed = malloc(all->packed_room)) != NULL;
    }
    for (int32_t t = 0; t < threads && room; t++) {
        all->worker[t].records = malloc(size);
        all->worker[t].tables = malloc(ISAL_DEF_LVL1_DEFAULT);
        room = all->worker[t].records && all->worker[t].tables;
    }
    const firn_status st = room ? write_rounds(all, round, threads, out, error)
                                : firn_fail(error, FIRN_NO_MEMORY, "out of memory to compress in");
    for (int64_t i = 0; i < round && all->piece; i++) free(all->piece[i].packed);
    for (int32_t t = 0; t < threads && all->worker; t++) {
        free(all->worker[t].records);
        free(all->worker[t].tables);
    }
    free(all->piece);
    free(all->worker);
    return st;
}

static firn_status write_points(const firn_points *points, const firn_write_options *options,
                                firn_output *out, firn_error *error)
{
    if (options->level < 0 || options->level > 9) {
        return firn_fail(error, FIRN_INVALID, "level %d of compression; PRT files have 1 to 9",
                         options->level);
    }
    channel c[FIRN_MAX_COLUMNS + 1] = {0};
    int32_t channels = 0;
    const firn_status st = plan(points, options->half, c, &channels, error);
    if (st != FIRN_OK) return st;
    write_header(points, c, channels, options->fps, out);
    packing all = {.c = c,
                   .channels = channels,
                   .level = options->level > 0 ? options->level : 1,
                   .count = points->count,
                   .record = record_bytes(c, channels)};
    return write_particles(&all, options->threads, out, error);
}

const firn_format firn_format_prt = {
    .name = "prt",
    .extensions = ".prt",
    .help = "Krakatoa particles, compressed; any attributes",
    .recognise = recognise,
    .read = read_points,
    .write = write_points,
};
