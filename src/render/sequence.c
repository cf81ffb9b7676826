/* What pictures are made from: frames of particles on disk, with their scene where there is one. */
#include "render/sequence.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "run/run.h"
#include "scene/scene.h"

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_scene(const char *name) { return ends_in(name, ".yaml") || ends_in(name, ".yml"); }

static bool is_folder(const char *name)
{
    struct stat about;
    return stat(name, &about) == 0 && S_ISDIR(about.st_mode);
}

bool firn_sequence_is_whole(const char *name)
{
    return is_scene(name) || strstr(name, "$F") || is_folder(name);
}

static firn_status no_memory(firn_error *error)
{
    return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
}

/* Takes `path` and `grid` over. */
static firn_status add_frame(firn_sequence *sequence, int64_t number, char *path, char *grid,
                             firn_error *error)
{
    firn_sequence_frame *grown =
        path ? realloc(sequence->frame, ((size_t)sequence->count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(path);
        free(grid);
        return no_memory(error);
    }
    sequence->frame = grown;
    sequence->frame[sequence->count++] = (firn_sequence_frame){number, path, grid};
    return FIRN_OK;
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = ((const firn_sequence_frame *)a)->number,
                  y = ((const firn_sequence_frame *)b)->number;
    return (x > y) - (x < y);
}

/* The name without folders and without what begins with a dot, as a label. */
static char *label_of(const char *name)
{
    size_t length = strlen(name);
    while (length > 1 && name[length - 1] == '/') length--; /* a folder, perhaps */
    size_t begin = length;
    while (begin > 0 && name[begin - 1] != '/') begin--;
    const bool folder = is_folder(name);
    char *label = strndup(name + begin, length - begin);
    if (label && !folder) label[strcspn(label + 1, ".") + 1] = 0;
    return label;
}

/* ---- scenes ---- */

static bool holds_positions(const firn_scene_output *o)
{
    bool P = o->attributes == NULL;
    for (const firn_value *c = P ? NULL : o->attributes->child; c; c = c->next) {
        P = P || strcmp(c->text, "P") == 0;
    }
    const firn_format *format = firn_format_of(o->file, NULL);
    return P && o->of == 0 && (!format || format->read);
}

static firn_status open_scene(firn_sequence *sequence, const char *path,
                              const firn_setting *settings, int64_t count, firn_error *error)
{
    firn_scene_def def = firn_scene_def_default();
    def.path = path;
    def.settings = settings;
    def.setting_count = count;
    firn_status st = firn_scene_create(&def, &sequence->scene, error);
    if (st != FIRN_OK) return st;
    const firn_scene *scene = sequence->scene;
    const firn_scene_output *from = NULL, *grid = NULL;
    for (int32_t i = 0; i < scene->output_count; i++) {
        if (!from && holds_positions(&scene->output[i])) from = &scene->output[i];
        if (!grid && scene->output[i].of == 1) grid = &scene->output[i];
    }
    if (!from) {
        return firn_fail(error, FIRN_INVALID,
                         "%s: no output holds particles with P; add output: [{file: %s.$F4.prt}]",
                         path, scene->name);
    }
    for (int64_t f = scene->frames.start; f <= scene->frames.end && st == FIRN_OK;
         f += from->every) {
        const bool has_grid = grid && (f - scene->frames.start) % grid->every == 0;
        st = add_frame(sequence, f, firn_frame_path(from->file, f),
                       has_grid ? firn_frame_path(grid->file, f) : NULL, error);
    }
    if (st == FIRN_OK && !sequence->label) sequence->label = strdup(scene->name);
    return st;
}

/* ---- files ---- */

/* The last digits of a name before its extension: x.0012.prt to 12. -1: none. */
static int64_t number_of(const char *path)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    int64_t number = -1;
    for (const char *p = name; *p; p++) {
        if (*p < '0' || *p > '9' || (p > name && p[-1] >= '0' && p[-1] <= '9')) continue;
        char *end;
        const long long value = strtoll(p, &end, 10);
        if (*end == '.') number = value; /* x2.prt and x.2.prt, not x.v2b.prt */
    }
    return number;
}

static firn_status open_files(firn_sequence *sequence, const char *const *name, int64_t count,
                              firn_error *error)
{
    firn_status st = FIRN_OK;
    for (int64_t i = 0; i < count && st == FIRN_OK; i++) {
        st = add_frame(sequence, number_of(name[i]), strdup(name[i]), NULL, error);
    }
    if (st != FIRN_OK) return st;
    qsort(sequence->frame, (size_t)sequence->count, sizeof *sequence->frame, by_number);
    bool distinct = true;
    for (int64_t i = 0; i < count; i++) {
        distinct = distinct && sequence->frame[i].number >= 0 &&
                   (i == 0 || sequence->frame[i].number > sequence->frame[i - 1].number);
    }
    for (int64_t i = 0; i < count && !distinct; i++) { /* in the order given, then */
        free(sequence->frame[i].path);
        sequence->frame[i] = (firn_sequence_frame){i + 1, strdup(name[i]), NULL};
        if (!sequence->frame[i].path) return no_memory(error);
    }
    return FIRN_OK;
}

/* The files of a folder, full names, that begin and end so with a number between; all particle files
 * where `end` is empty. */
static firn_status list_folder(const char *folder, const char *begin, const char *end, char ***out,
                               int64_t *count, firn_error *error)
{
    *out = NULL;
    *count = 0;
    DIR *open = opendir(*folder ? folder : ".");
    if (!open) return firn_fail(error, FIRN_INVALID, "%s: no such folder", folder);
    firn_status st = FIRN_OK;
    for (struct dirent *e; st == FIRN_OK && (e = readdir(open));) {
        const char *name = e->d_name;
        if (name[0] == '.' || strncmp(name, begin, strlen(begin)) != 0) continue;
        if (strlen(name) < strlen(begin) + strlen(end) || !ends_in(name, end)) continue;
        const size_t between = strlen(name) - strlen(begin) - strlen(end);
        if (*end && strspn(name + strlen(begin), "0123456789") < between) continue;
        firn_error ignored;
        if (*end == 0 && !firn_format_of(name, &ignored)) continue;
        char **grown = realloc(*out, ((size_t)*count + 1) * sizeof *grown);
        const size_t room = strlen(folder) + strlen(name) + 2;
        char *path = malloc(room);
        if (grown) *out = grown;
        if (!grown || !path) {
            free(path);
            st = no_memory(error);
            break;
        }
        snprintf(path, room, "%s%s%s", folder, *folder ? "/" : "", name);
        (*out)[(*count)++] = path;
    }
    closedir(open);
    return st;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Whether two names differ in their last number only. */
static bool same_sequence(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    a += strspn(a, "0123456789");
    b += strspn(b, "0123456789");
    return strcmp(a, b) == 0;
}

/* Numbers that lie between those found are gaps, which `pattern` gives a name. */
static firn_status fill_gaps(firn_sequence *sequence, const char *pattern, firn_error *error)
{
    firn_status st = FIRN_OK;
    const int64_t found = sequence->count;
    for (int64_t i = 1; i < found && st == FIRN_OK; i++) {
        const int64_t before = sequence->frame[i - 1].number, next = sequence->frame[i].number;
        if (next - before > 100000) {
            return firn_fail(error, FIRN_INVALID, "%s: frame %lld is followed by %lld", pattern,
                             (long long)before, (long long)next);
        }
        for (int64_t f = before + 1; f < next && st == FIRN_OK; f++) {
            st = add_frame(sequence, f, firn_frame_path(pattern, f), NULL, error);
        }
    }
    qsort(sequence->frame, (size_t)sequence->count, sizeof *sequence->frame, by_number);
    return st;
}

/* A pattern with $F, or a folder. */
static firn_status open_pattern(firn_sequence *sequence, const char *name, firn_error *error)
{
    const char *mark = strstr(name, "$F");
    char *folder = strdup(name), *begin = NULL;
    char **path = NULL;
    int64_t count = 0;
    firn_status st = folder ? FIRN_OK : no_memory(error);
    if (st == FIRN_OK && mark) {
        char *slash = strrchr(folder, '/');
        begin = strdup(slash ? slash + 1 : folder);
        if (slash) {
            *slash = 0;
        } else {
            *folder = 0;
        }
        const char *end = mark + 2;
        if (*end >= '1' && *end <= '9') end++;
        if (begin && strchr(mark, '/')) {
            st = firn_fail(error, FIRN_INVALID, "%s: $F must be in the name, not in a folder's",
                           name);
        } else if (begin) {
            *strstr(begin, "$F") = 0;
            st = list_folder(folder, begin, end, &path, &count, error);
        } else {
            st = no_memory(error);
        }
    } else if (st == FIRN_OK) {
        st = list_folder(folder, "", "", &path, &count, error);
    }
    if (st == FIRN_OK && count == 0) {
        st = firn_fail(error, FIRN_INVALID, "%s: no particle files of that name", name);
    }
    if (st == FIRN_OK) {
        qsort(path, (size_t)count, sizeof *path, by_name);
        while (!mark && count > 1 && !same_sequence(path[0], path[count - 1])) free(path[--count]);
        st = open_files(sequence, (const char *const *)path, count, error);
    }
    if (st == FIRN_OK && mark) st = fill_gaps(sequence, name, error);
    for (int64_t i = 0; i < count; i++) free(path[i]);
    free(path);
    free(folder);
    free(begin);
    return st;
}

/* ---- sequences ---- */

firn_status firn_sequence_create(const char *const *name, int64_t name_count,
                                 const firn_setting *settings, int64_t setting_count,
                                 firn_sequence **sequence, firn_error *error)
{
    firn_sequence *out = calloc(1, sizeof *out);
    *sequence = NULL;
    if (!out) return no_memory(error);
    firn_status st;
    char variant[4096];
    const bool folder = name_count == 1 && is_folder(name[0]);
    const bool inside =
        folder &&
        snprintf(variant, sizeof variant, "%s/scene.yaml", name[0]) < (int)sizeof variant &&
        access(variant, R_OK) == 0;
    if (name_count == 1 && (inside || (is_scene(name[0]) && !folder))) {
        if (inside) out->label = label_of(name[0]);
        st = open_scene(out, inside ? variant : name[0], settings, setting_count, error);
    } else if (setting_count > 0) {
        st = firn_fail(error, FIRN_INVALID, "%s is not a scene: --set changes scenes", name[0]);
    } else if (name_count == 1 && firn_sequence_is_whole(name[0])) {
        st = open_pattern(out, name[0], error);
    } else {
        st = open_files(out, name, name_count, error);
    }
    if (st == FIRN_OK && !out->label) out->label = label_of(name[0]);
    if (st == FIRN_OK && !out->label) st = no_memory(error);
    if (st == FIRN_OK) {
        *sequence = out;
    } else {
        firn_sequence_destroy(out);
    }
    return st;
}

void firn_sequence_destroy(firn_sequence *sequence)
{
    if (!sequence) return;
    for (int64_t i = 0; i < sequence->count; i++) {
        free(sequence->frame[i].path);
        free(sequence->frame[i].grid);
    }
    free(sequence->frame);
    free(sequence->label);
    firn_scene_destroy(sequence->scene);
    free(sequence);
}

const firn_scene *firn_sequence_scene(const firn_sequence *sequence) { return sequence->scene; }
const char *firn_sequence_label(const firn_sequence *sequence) { return sequence->label; }
int64_t firn_sequence_count(const firn_sequence *sequence) { return sequence->count; }

int64_t firn_sequence_number(const firn_sequence *sequence, int64_t index)
{
    return sequence->frame[index].number;
}

firn_status firn_sequence_set_label(firn_sequence *sequence, const char *label, firn_error *error)
{
    char *copy = strdup(label);
    if (!copy) return no_memory(error);
    free(sequence->label);
    sequence->label = copy;
    return FIRN_OK;
}

static const firn_sequence_frame *find_frame(const firn_sequence *sequence, int64_t number)
{
    for (int64_t i = 0; i < sequence->count; i++) {
        if (sequence->frame[i].number == number) return &sequence->frame[i];
    }
    return NULL;
}

const char *firn_sequence_path(const firn_sequence *sequence, int64_t number)
{
    const firn_sequence_frame *at = find_frame(sequence, number);
    return at ? at->path : NULL;
}

firn_status firn_sequence_read(const firn_sequence *sequence, int64_t number, firn_points *points,
                               firn_points *grid, firn_error *error)
{
    *points = *grid = (firn_points){0};
    const firn_sequence_frame *at = find_frame(sequence, number);
    if (!at || access(at->path, F_OK) != 0) return FIRN_OK;
    /* Of a file that holds all frames of a scene, this one. */
    const double time = sequence->scene ? (double)number / sequence->scene->frames.fps : NAN;
    firn_status st = firn_points_read_at(at->path, time, points, error);
    if (st == FIRN_OK && at->grid && access(at->grid, F_OK) == 0) {
        st = firn_points_read_at(at->grid, time, grid, error);
    }
    if (st != FIRN_OK) firn_points_free(points);
    return st;
}

/* ---- several ---- */

static bool is_edge(char c) { return c == '/' || c == '.'; }

firn_status firn_sequences_align(firn_sequence *const *sequence, const char *const *name,
                                 int64_t count, firn_error *error)
{
    bool single = true;
    for (int64_t i = 0; i < count; i++) single = single && sequence[i]->count == 1;
    for (int64_t i = 1; i < count && single; i++) {
        sequence[i]->frame[0].number = sequence[0]->frame[0].number;
    }
    bool alike = false;
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < i; j++) {
            alike = alike || (strcmp(sequence[i]->label, sequence[j]->label) == 0 &&
                              strcmp(name[i], name[j]));
        }
    }
    if (!alike) return FIRN_OK;
    const size_t first = strlen(name[0]);
    size_t least = first, begin = first, end = first; /* what all names begin and end with */
    for (int64_t i = 1; i < count; i++) {
        const size_t length = strlen(name[i]);
        size_t n = 0;
        if (length < least) least = length;
        while (n < begin && name[i][n] == name[0][n]) n++;
        begin = n;
        n = 0;
        while (n < end && n < length && name[i][length - 1 - n] == name[0][first - 1 - n]) n++;
        end = n;
    }
    while (begin > 0 && !is_edge(name[0][begin - 1])) begin--;
    if (end > least - begin) end = least - begin;
    while (end > 0 && !is_edge(name[0][first - end])) end--;
    for (int64_t i = 0; i < count; i++) {
        const size_t length = strlen(name[i]) - begin - end;
        char *label = strndup(name[i] + begin, length);
        if (!label) return no_memory(error);
        free(sequence[i]->label);
        sequence[i]->label = label;
    }
    return FIRN_OK;
}

/* ---- sweeps ---- */

/* The cell of a table at *at, without its quotes and ended by 0 in place; *at goes beyond it. */
static char *take_cell(char **at, bool *ends_line)
{
    char *const cell = *at, *from = cell, *to = cell;
    for (bool quoted = false; *from && (quoted || !strchr(",\n", *from)); from++) {
        if (*from != '"') {
            *to++ = *from;
        } else if (quoted && from[1] == '"') {
            *to++ = *from++;
        } else {
            quoted = !quoted;
        }
    }
    *ends_line = *from != ',';
    *at = from + (*from != 0);
    *to = 0;
    return cell;
}

/* "young 1e5, velocity [2, -2, 0]" of a line, and the folder in its last cell. Names of what varies are
 * the first `varies` cells of a head. */
static firn_status read_variant(const char *sweep, char *const *name, int varies, char **at,
                                firn_sweep_folders *out, firn_error *error)
{
    char label[400] = "", *cell = NULL;
    bool ends_line = false;
    for (int i = 0; !ends_line; i++) {
        const size_t used = strlen(label);
        cell = take_cell(at, &ends_line);
        if (i >= varies) continue;
        const char *dot = strrchr(name[i], '.');
        snprintf(label + used, sizeof label - used, "%s%s %s", i ? ", " : "",
                 dot ? dot + 1 : name[i], cell);
    }
    const size_t room = strlen(sweep) + strlen(cell) + 2;
    char **folders = realloc(out->folder, ((size_t)out->count + 1) * sizeof *folders);
    if (folders) out->folder = folders;
    char **labels = realloc(out->label, ((size_t)out->count + 1) * sizeof *labels);
    if (labels) out->label = labels;
    char *folder = malloc(room), *copy = strdup(label);
    if (!folders || !labels || !folder || !copy) {
        free(folder);
        free(copy);
        return no_memory(error);
    }
    snprintf(folder, room, "%s/%s", sweep, cell);
    out->folder[out->count] = folder;
    out->label[out->count++] = copy;
    return FIRN_OK;
}

firn_status firn_sweep_folders_read(const char *folder, firn_sweep_folders *out, firn_error *error)
{
    enum { MOST = 64 }; /* things that vary */
    *out = (firn_sweep_folders){0};
    char path[4096];
    if (snprintf(path, sizeof path, "%s/sweep.csv", folder) >= (int)sizeof path) return FIRN_OK;
    if (access(path, F_OK) != 0) return FIRN_OK;
    firn_bytes bytes = {0};
    firn_status st = firn_bytes_read(path, &bytes, error);
    if (st != FIRN_OK) return st;
    char *text = strndup((const char *)bytes.data, bytes.size), *at = text, *name[MOST];
    firn_bytes_free(&bytes);
    if (!text) return no_memory(error);
    const size_t first = strcspn(firn_statistics_columns(), ",");
    int varies = -1;
    bool ends_line = false;
    for (int i = 0; !ends_line; i++) { /* statistics follow what varies */
        char *cell = take_cell(&at, &ends_line);
        if (i < MOST) name[i] = cell;
        const bool statistics =
            strlen(cell) == first && strncmp(cell, firn_statistics_columns(), first) == 0;
        if (varies < 0 && statistics && i <= MOST) varies = i;
    }
    if (varies < 0) st = firn_fail(error, FIRN_INVALID, "%s: not the table of a sweep", path);
    while (st == FIRN_OK && *at) st = read_variant(folder, name, varies, &at, out, error);
    free(text);
    if (st != FIRN_OK) firn_sweep_folders_free(out);
    return st;
}

void firn_sweep_folders_free(firn_sweep_folders *variants)
{
    for (int64_t i = 0; i < variants->count; i++) {
        free(variants->folder[i]);
        free(variants->label[i]);
    }
    free(variants->folder);
    free(variants->label);
    *variants = (firn_sweep_folders){0};
}
