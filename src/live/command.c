/* Reads a command. Members are read by name, whatever command they come with; then those that the command
 * needs must be there. Members nobody knows are passed over. */
#include "live/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/json.h"

/* Members by what they must be. X(NAME, name) */
#define MEMBERS(X)                                                                                 \
    X(DO, do)                                                                                      \
    X(TEXT, text)                                                                                  \
    X(SPEED, speed)                                                                                \
    X(UNIT, unit)                                                                                  \
    X(FRAME, frame)                                                                                \
    X(COLOR, color)                                                                                \
    X(VELOCITY, velocity)                                                                          \
    X(GRID, grid)                                                                                  \
    X(TOTALS, totals)                                                                              \
    X(TOOL, tool)                                                                                  \
    X(AT, at)                                                                                      \
    X(RADIUS, radius)                                                                              \
    X(STRENGTH, strength)                                                                          \
    X(MATERIAL, material)                                                                          \
    X(ID, id)                                                                                      \
    X(TOKEN, token)                                                                                \
    X(ATTRIBUTES, attributes)                                                                      \
    X(PICTURE, picture)
#define CONSTANT(NAME, name) HAS_##NAME,
#define WORD(NAME, name) #name,
enum { MEMBERS(CONSTANT) MEMBER_COUNT };
static const char *const member_names[] = {MEMBERS(WORD) NULL};
static const char *const command_names[] = {FIRN_LIVE_COMMANDS(WORD) NULL};
static const char *const tool_names[] = {"", "grab", "push", "cut", "emit", "heat", NULL};

/* Of commands, the members that they must have; tools are checked apart. */
static const uint64_t needs[FIRN_DO_COUNT] = {
    [FIRN_DO_OPEN] = 1u << HAS_TEXT,  [FIRN_DO_EDIT] = 1u << HAS_TEXT,
    [FIRN_DO_PLAY] = 1u << HAS_SPEED, [FIRN_DO_STEP] = 1u << HAS_UNIT,
    [FIRN_DO_SEEK] = 1u << HAS_FRAME, [FIRN_DO_TOOL] = 1u << HAS_TOOL,
    [FIRN_DO_PROBE] = 1u << HAS_ID,   [FIRN_DO_POINTS] = 1u << HAS_TOKEN,
    [FIRN_DO_HASH] = 1u << HAS_TOKEN, [FIRN_DO_SHOWN] = 1u << HAS_PICTURE,
};

static int find(const char *const *names, const char *name)
{
    int i = 0;
    while (names[i] && strcmp(names[i], name) != 0) i++;
    return names[i] ? i : -1;
}

/* ---- values ---- */

static void read_number(firn_json *in, const char *name, double least, double most, double *out)
{
    firn_json_next(in);
    if (in->kind != FIRN_JSON_INTEGER && in->kind != FIRN_JSON_REAL) {
        firn_json_fail(in, "%s must be a number", name);
    } else if (!(in->real >= least && in->real <= most)) {
        firn_json_fail(in, "%s must be from %g to %g", name, least, most);
    } else {
        *out = in->real;
    }
}

static void read_whole(firn_json *in, const char *name, double least, double most, int64_t *out)
{
    double value = 0;
    read_number(in, name, least, most, &value);
    if (in->status == FIRN_OK && value != floor(value)) {
        firn_json_fail(in, "%s must be a whole number", name);
    }
    *out = (int64_t)value;
}

static void read_flag(firn_json *in, const char *name, bool *out)
{
    firn_json_expect(in, FIRN_JSON_BOOL, name);
    *out = in->integer != 0;
}

static void read_name(firn_json *in, const char *name, char out[FIRN_LIVE_NAME])
{
    firn_json_expect(in, FIRN_JSON_STRING, name);
    if (in->status != FIRN_OK) return;
    if (strlen(in->text) >= FIRN_LIVE_NAME) {
        firn_json_fail(in, "%s has more than %d letters", name, FIRN_LIVE_NAME - 1);
        return;
    }
    strcpy(out, in->text);
}

/* The rest of a vector, whose bracket has been read. */
static void read_rest_of_vector(firn_json *in, const char *name, double out[3])
{
    const double most = 1e9; /* m or m/s: further than any scene */
    for (int a = 0; a < 3; a++) read_number(in, name, -most, most, &out[a]);
    if (in->status == FIRN_OK && firn_json_next(in) != FIRN_JSON_CLOSE) {
        firn_json_fail(in, "%s must be three numbers", name);
    }
}

static void read_attributes(firn_json *in, firn_live_command *c)
{
    firn_json_expect(in, FIRN_JSON_ARRAY, "attributes");
    for (int i = 0; c->attributes && c->attributes[i]; i++) free(c->attributes[i]);
    free(c->attributes);
    c->attributes = calloc(FIRN_MAX_COLUMNS + 1, sizeof *c->attributes);
    for (int i = 0; in->status == FIRN_OK; i++) {
        firn_json_next(in);
        if (in->kind == FIRN_JSON_CLOSE) break;
        if (in->kind != FIRN_JSON_STRING || i >= FIRN_MAX_COLUMNS) {
            firn_json_fail(in, "attributes must be at most %d names", FIRN_MAX_COLUMNS);
        } else if (!c->attributes || !(c->attributes[i] = strdup(in->text))) {
            in->status = firn_fail(in->error, FIRN_NO_MEMORY, "out of memory");
        }
    }
}

static void read_tool(firn_json *in, firn_live_command *c)
{
    firn_json_next(in);
    const int tool = in->kind == FIRN_JSON_NULL     ? 0
                     : in->kind == FIRN_JSON_STRING ? find(tool_names, in->text)
                                                    : -1;
    if (tool < 0) firn_json_fail(in, "tool must be grab, push, cut, emit, heat or null");
    if (tool >= 0) c->tool.kind = (firn_live_tool_kind)tool;
}

static void read_do(firn_json *in, firn_live_command *c)
{
    firn_json_expect(in, FIRN_JSON_STRING, "do");
    if (in->status != FIRN_OK) return;
    const int what = find(command_names, in->text);
    char near[200];
    if (what < 0) {
        firn_json_fail(in, "there is no command \"%.60s\"%s", in->text,
                       firn_nearest(in->text, command_names, near, sizeof near));
    } else {
        c->what = (firn_live_do)what;
    }
}

static void read_unit(firn_json *in, firn_live_command *c)
{
    firn_json_expect(in, FIRN_JSON_STRING, "unit");
    c->substep = strcmp(in->text, "substep") == 0;
    if (in->status == FIRN_OK && !c->substep && strcmp(in->text, "frame") != 0) {
        firn_json_fail(in, "unit must be frame or substep");
    }
}

/* An id, or null: none. */
static void read_id(firn_json *in, int64_t *out)
{
    const double exact = 0x1p53;
    firn_json_next(in);
    *out = -1;
    if (in->kind == FIRN_JSON_NULL) return;
    if (in->kind != FIRN_JSON_INTEGER || in->integer < 0 || in->real > exact) {
        firn_json_fail(in, "id must be a particle's number, or null");
    } else {
        *out = in->integer;
    }
}

/* Of `want` a flag, of `tool` a vector. */
static void read_velocity(firn_json *in, firn_live_command *c)
{
    firn_json_next(in);
    if (in->kind == FIRN_JSON_BOOL) {
        c->want.velocity = in->integer != 0;
    } else if (in->kind == FIRN_JSON_ARRAY) {
        read_rest_of_vector(in, "velocity", c->tool.velocity);
    } else {
        firn_json_fail(in, "velocity must be true, false or three numbers");
    }
}

static void read_member(firn_json *in, int member, firn_live_command *c)
{
    const double exact = 0x1p53;
    switch (member) {
    case HAS_DO: read_do(in, c); break;
    case HAS_TEXT:
        firn_json_expect(in, FIRN_JSON_STRING, "text");
        free(c->text);
        c->text = firn_json_whole_text(in, &c->text_size);
        break;
    case HAS_SPEED: read_number(in, "speed", 0, 1e6, &c->speed); break;
    case HAS_UNIT: read_unit(in, c); break;
    case HAS_FRAME: read_whole(in, "frame", -exact, exact, &c->frame); break;
    case HAS_COLOR: read_name(in, "color", c->want.color); break;
    case HAS_VELOCITY: read_velocity(in, c); break;
    case HAS_GRID: read_flag(in, "grid", &c->want.grid); break;
    case HAS_TOTALS: read_flag(in, "totals", &c->want.totals); break;
    case HAS_TOOL: read_tool(in, c); break;
    case HAS_AT:
        firn_json_expect(in, FIRN_JSON_ARRAY, "at");
        read_rest_of_vector(in, "at", c->tool.at);
        break;
    case HAS_RADIUS: read_number(in, "radius", 1e-9, 1e9, &c->tool.radius); break;
    case HAS_STRENGTH: read_number(in, "strength", -1e12, 1e12, &c->tool.strength); break;
    case HAS_MATERIAL: read_name(in, "material", c->tool.material); break;
    case HAS_ID: read_id(in, &c->id); break;
    case HAS_TOKEN: read_whole(in, "token", 0, UINT32_MAX, &c->token); break;
    case HAS_ATTRIBUTES: read_attributes(in, c); break;
    case HAS_PICTURE: read_whole(in, "picture", 0, UINT32_MAX, &c->picture); break;
    }
}

/* ---- the whole ---- */

static bool has(const firn_live_command *c, int member) { return c->has >> member & 1; }

static firn_status check(const firn_live_command *c, firn_error *error)
{
    uint64_t missing = 1u << HAS_DO;
    if (has(c, HAS_DO)) missing = needs[c->what];
    if (c->what == FIRN_DO_TOOL && c->tool.kind != FIRN_TOOL_NONE) {
        missing |= 1u << HAS_AT | 1u << HAS_RADIUS;
        if (c->tool.kind == FIRN_TOOL_EMIT) missing |= 1u << HAS_MATERIAL;
        if (c->tool.kind == FIRN_TOOL_HEAT) missing |= 1u << HAS_STRENGTH;
        if (c->tool.kind == FIRN_TOOL_PUSH) missing |= 1u << HAS_STRENGTH | 1u << HAS_VELOCITY;
    }
    missing &= ~c->has;
    for (int i = 0; i < MEMBER_COUNT; i++) {
        if (!(missing >> i & 1)) continue;
        return firn_fail(error, FIRN_INVALID, "the command %s%shas no \"%s\"",
                         has(c, HAS_DO) ? command_names[c->what] : "", has(c, HAS_DO) ? " " : "",
                         member_names[i]);
    }
    return FIRN_OK;
}

static void read(firn_json *in, firn_live_command *c)
{
    firn_json_expect(in, FIRN_JSON_MAP, "a command");
    while (in->status == FIRN_OK && firn_json_key(in)) {
        const int member = find(member_names, in->text);
        if (member < 0) {
            firn_json_skip(in);
        } else {
            read_member(in, member, c);
            c->has |= (uint64_t)1 << member;
        }
    }
    while (in->status == FIRN_OK && in->at < in->size) {
        if (!strchr(" \t\r\n", in->data[in->at]) || !in->data[in->at]) {
            firn_json_fail(in, "something follows the command");
        }
        in->at++;
    }
}

firn_live_command *firn_live_command_read(const char *json, size_t size, firn_error *error)
{
    firn_live_command *c = calloc(1, sizeof *c);
    const firn_bytes bytes = {(uint8_t *)json, size};
    if (!c || !json || firn_json_is_binary(&bytes)) {
        if (!c) firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        if (c) firn_fail(error, FIRN_INVALID, "a command must be JSON text");
        free(c);
        return NULL;
    }
    firn_error inner = {0};
    firn_json in;
    firn_json_open(&in, &bytes, &inner);
    read(&in, c);
    firn_status st = in.status;
    firn_json_close(&in);
    if (st != FIRN_OK) {
        firn_fail(error, st, "not a command: %s", inner.message);
    } else {
        st = check(c, error);
    }
    if (st == FIRN_OK) return c;
    firn_live_command_free(c);
    return NULL;
}

void firn_live_command_free(firn_live_command *c)
{
    if (!c) return;
    for (int i = 0; c->attributes && c->attributes[i]; i++) free(c->attributes[i]);
    free(c->attributes);
    free(c->text);
    free(c);
}

void firn_live_command_want(const firn_live_command *c, firn_live_want *to)
{
    if (has(c, HAS_COLOR)) strcpy(to->color, c->want.color);
    if (has(c, HAS_VELOCITY)) to->velocity = c->want.velocity;
    if (has(c, HAS_GRID)) to->grid = c->want.grid;
    if (has(c, HAS_TOTALS)) to->totals = c->want.totals;
}
