/* firn render: pictures of what simulations left on disk. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "picture.h"
#include "progress.h"

static const char command_name[] = "firn render";

static struct {
    firn_words inputs;
    firn_texts sets, outs, labels;
    const char *frames;
    firn_picture_words picture;
    int64_t turntable, threads;
    bool compare, quiet;
} chosen;

/* ---- what there is to show ---- */

typedef struct frame {
    firn_points points, grid; /* without columns where there is no file */
} frame;

typedef struct production {
    firn_sequence **sequence;
    int64_t sequence_count;
    int64_t *number; /* of the frames, in order */
    int64_t number_count;
    int64_t picture_count; /* turntables of one frame have more */
    int64_t wanted;        /* of them, by the outputs and where there is a frame */
    firn_renderer *renderer;
    firn_pictures *pictures;
    int32_t width, height;     /* of a panel, pixels */
    int32_t columns, rows;     /* of panels, one per sequence */
    bool *missing;             /* by frame, sequence after sequence */
    frame only;                /* where there is one frame of one sequence: read once */
    int64_t made, first, last; /* pictures; the numbers in the names of files */
    double begin;
    bool terminal;
} production;

/* Words that are whole sequences are one each; others are the frames of one together, unless they are to
 * be compared. */
static firn_status open_words(production *p, const char *const *word, int64_t count,
                              firn_error *error)
{
    bool each = chosen.compare;
    for (int64_t i = 0; i < count; i++) each = each || firn_sequence_is_whole(word[i]);
    p->sequence = calloc((size_t)count, sizeof *p->sequence);
    if (!p->sequence) return firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
    firn_setting settings[FIRN_MOST_TEXTS];
    firn_texts_to_settings(&chosen.sets, settings);
    firn_status st = FIRN_OK;
    const int64_t sequences = each ? count : 1;
    for (int64_t i = 0; i < sequences && st == FIRN_OK; i++) {
        st = firn_sequence_create(word + i, each ? 1 : count, settings, chosen.sets.count,
                                  &p->sequence[i], error);
        p->sequence_count += st == FIRN_OK;
    }
    return st == FIRN_OK ? firn_sequences_align(p->sequence, word, p->sequence_count, error) : st;
}

static firn_status open_sequences(production *p, firn_error *error)
{
    const char *const *word = (const char *const *)chosen.inputs.word;
    if (chosen.inputs.count > 1) return open_words(p, word, chosen.inputs.count, error);
    firn_sweep_folders sweep = {0};
    firn_status st = firn_sweep_folders_read(word[0], &sweep, error);
    if (st == FIRN_OK && sweep.count == 0) return open_words(p, word, 1, error);
    if (st == FIRN_OK) {
        st = open_words(p, (const char *const *)sweep.folder, sweep.count, error);
    }
    for (int64_t i = 0; i < p->sequence_count && st == FIRN_OK; i++) {
        st = firn_sequence_set_label(p->sequence[i], sweep.label[i], error);
    }
    firn_sweep_folders_free(&sweep);
    return st;
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* From the first frame to the last: of scenes what they say, else what there is. */
static void find_span(const production *p, int64_t *first, int64_t *last)
{
    *first = INT64_MAX;
    *last = INT64_MIN;
    for (int64_t r = 0; r < p->sequence_count; r++) {
        const firn_sequence *sequence = p->sequence[r];
        const firn_scene *scene = firn_sequence_scene(sequence);
        int64_t ends[2] = {
            firn_sequence_number(sequence, 0),
            firn_sequence_number(sequence, firn_sequence_count(sequence) - 1),
        };
        if (scene) {
            ends[0] = firn_scene_get_info(scene).first_frame;
            ends[1] = firn_scene_get_info(scene).last_frame;
        }
        if (ends[0] < *first) *first = ends[0];
        if (ends[1] > *last) *last = ends[1];
    }
}

/* The numbers of all sequences within --frames, each once. */
static firn_status choose_frames(production *p, firn_error *error)
{
    int64_t low, high, total = 0, count = 0;
    find_span(p, &low, &high);
    int64_t first = low, last = high;
    if (chosen.frames && !(firn_frames_read(chosen.frames, &first, &last) && first <= last &&
                           first >= low && last <= high)) {
        return firn_app_fail(error, FIRN_INVALID, "--frames %s must be A:B within %lld:%lld",
                             chosen.frames, (long long)low, (long long)high);
    }
    for (int64_t r = 0; r < p->sequence_count; r++) total += firn_sequence_count(p->sequence[r]);
    p->number = malloc(((size_t)total + 1) * sizeof *p->number);
    p->missing = calloc((size_t)(total * p->sequence_count) + 1, sizeof *p->missing);
    if (!p->number || !p->missing) return firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
    for (int64_t r = 0; r < p->sequence_count; r++) {
        for (int64_t i = 0; i < firn_sequence_count(p->sequence[r]); i++) {
            const int64_t number = firn_sequence_number(p->sequence[r], i);
            if (number >= first && number <= last) p->number[count++] = number;
        }
    }
    qsort(p->number, (size_t)count, sizeof *p->number, by_value);
    for (int64_t i = 0; i < count; i++) {
        if (i == 0 || p->number[i] != p->number[i - 1]) p->number[p->number_count++] = p->number[i];
    }
    if (p->number_count == 0) {
        return firn_app_fail(error, FIRN_INVALID, "--frames %s: no output of the scene has these",
                             chosen.frames);
    }
    p->picture_count = p->number_count;
    if (chosen.turntable && p->number_count == 1) p->picture_count = chosen.turntable;
    return FIRN_OK;
}

/* ---- frames ---- */

static void frame_free(frame *f)
{
    firn_points_free(&f->points);
    firn_points_free(&f->grid);
    *f = (frame){0};
}

static bool is_only(const production *p) { return p->sequence_count == 1 && p->number_count == 1; }

/* A frame as the renderer takes it. */
static firn_renderer_frame shown(const firn_sequence *sequence, const frame *f, int64_t number)
{
    return (firn_renderer_frame){.scene = firn_sequence_scene(sequence),
                                 .points = &f->points,
                                 .grid = f->grid.column_count ? &f->grid : NULL,
                                 .number = number};
}

/* ---- progress ---- */

static void clear_line(const production *p)
{
    if (p->terminal) fprintf(stderr, "\r\033[K");
}

static void show_survey(const production *p, int64_t done)
{
    if (p->terminal) {
        fprintf(stderr, "\r\033[Klooking at frame %" PRId64 "/%" PRId64, done + 1, p->number_count);
    }
}

static void show_picture(const production *p, int64_t number, double seconds)
{
    if (chosen.quiet) return;
    const double left = (firn_clock() - p->begin) * ((double)p->wanted / (double)p->made - 1);
    FILE *out = p->terminal ? stderr : stdout;
    fprintf(out, "%spicture %" PRId64 "/%" PRId64 "  frame %" PRId64 "  %.1f s, %.0f s left%s",
            p->terminal ? "\r\033[K" : "", p->made, p->wanted, number, seconds, left,
            p->terminal ? "" : "\n");
    fflush(out);
}

/* ---- pictures ---- */

static firn_status survey(production *p, firn_error *error)
{
    firn_status st = FIRN_OK;
    int64_t found = 0;
    for (int64_t i = 0; i < p->number_count && st == FIRN_OK && !firn_interrupted(); i++) {
        show_survey(p, i);
        for (int64_t r = 0; r < p->sequence_count && st == FIRN_OK; r++) {
            frame f;
            firn_error inner = {0};
            const firn_sequence *sequence = p->sequence[r];
            st = firn_sequence_read(sequence, p->number[i], &f.points, &f.grid, error);
            if (st != FIRN_OK) break;
            if (f.points.column_count) {
                const firn_renderer_frame seen = shown(sequence, &f, p->number[i]);
                st = firn_renderer_survey(p->renderer, &seen, &inner);
                if (st != FIRN_OK) {
                    st = firn_app_fail(error, st, "%s: %s",
                                       firn_sequence_path(sequence, p->number[i]), inner.message);
                }
                found++;
            } else {
                p->missing[r * p->number_count + i] = true;
            }
            if (is_only(p)) {
                p->only = f;
            } else {
                frame_free(&f);
            }
        }
    }
    clear_line(p);
    if (st == FIRN_OK && found == 0 && !firn_interrupted()) {
        const char *path = firn_sequence_path(p->sequence[0], p->number[0]);
        return firn_app_fail(error, FIRN_INVALID, "%s is not there, nor any other frame; %s",
                             path ? path : "the first frame",
                             firn_sequence_scene(p->sequence[0]) ? "firn run makes them"
                                                                 : "check the name");
    }
    if (st == FIRN_OK && !firn_interrupted()) {
        st = firn_renderer_settle(p->renderer, firn_sequence_scene(p->sequence[0]), error);
        firn_pictures_show_numbers(p->pictures, !firn_renderer_has_caption(p->renderer));
    }
    return st;
}

static const char *label_of(const production *p, int64_t sequence)
{
    return sequence < chosen.labels.count ? chosen.labels.text[sequence]
                                          : firn_sequence_label(p->sequence[sequence]);
}

/* The picture of one sequence; without pixels where the frame is not there. */
static firn_status make_panel(const production *p, const firn_sequence *sequence, int64_t number,
                              const double *turn, firn_image *out, firn_error *error)
{
    *out = (firn_image){0};
    frame f = p->only;
    firn_status st = FIRN_OK;
    if (!is_only(p)) st = firn_sequence_read(sequence, number, &f.points, &f.grid, error);
    if (st == FIRN_OK && f.points.column_count) {
        firn_renderer_frame drawn = shown(sequence, &f, number);
        drawn.turn = turn;
        st = firn_renderer_draw(p->renderer, &drawn, out, error);
    }
    if (!is_only(p)) frame_free(&f);
    return st;
}

static firn_status make_picture(const production *p, int64_t number, const double *turn,
                                firn_image *out, firn_error *error)
{
    if (p->sequence_count == 1) return make_panel(p, p->sequence[0], number, turn, out, error);
    firn_sheet sheet;
    firn_status st = firn_sheet_create(p->columns, p->rows, p->width, p->height, &sheet, error);
    for (int64_t r = 0; r < p->sequence_count && st == FIRN_OK; r++) {
        firn_image panel;
        st = make_panel(p, p->sequence[r], number, turn, &panel, error);
        if (st == FIRN_OK) {
            st = firn_sheet_add(&sheet, panel.rgba ? &panel : NULL, label_of(p, r), error);
        }
        firn_image_free(&panel);
    }
    if (st == FIRN_OK) {
        *out = sheet.image;
    } else {
        firn_sheet_free(&sheet);
    }
    return st;
}

/* The place in `number` of a picture's frame. */
static int64_t frame_of(const production *p, int64_t picture)
{
    return p->number_count == 1 ? 0 : picture;
}

static bool wanted(const production *p, int64_t picture)
{
    bool there = false;
    for (int64_t r = 0; r < p->sequence_count; r++) {
        there = there || !p->missing[r * p->number_count + frame_of(p, picture)];
    }
    return there && firn_pictures_wants(p->pictures, picture);
}

static firn_status make_pictures(production *p, firn_error *error)
{
    firn_status st = FIRN_OK;
    p->begin = firn_clock();
    for (int64_t i = 0; i < p->picture_count; i++) p->wanted += wanted(p, i);
    for (int64_t i = 0; i < p->picture_count && st == FIRN_OK && !firn_interrupted(); i++) {
        const int64_t at = frame_of(p, i);
        if (!wanted(p, i)) continue;
        const double turn = chosen.turntable ? 360.0 * (double)i / (double)chosen.turntable : 0;
        const double mark = firn_clock();
        firn_image picture;
        st = make_picture(p, p->number[at], chosen.turntable ? &turn : NULL, &picture, error);
        if (st != FIRN_OK) break;
        if (!picture.rgba) { /* went away since it was looked at */
            p->missing[at] = true;
            continue;
        }
        const int64_t number = p->number_count == 1 && p->picture_count > 1 ? i + 1 : p->number[at];
        st = firn_pictures_add(p->pictures, i, number, &picture, error);
        firn_image_free(&picture);
        if (st != FIRN_OK) break;
        if (p->made++ == 0) p->first = number;
        p->last = number;
        show_picture(p, p->number[at], firn_clock() - mark);
    }
    clear_line(p);
    if (st == FIRN_OK && firn_interrupted()) {
        st = firn_app_fail(error, FIRN_STOPPED, "stopped after %" PRId64 " of %" PRId64 " pictures",
                           p->made, p->wanted);
    }
    return st;
}

/* ---- outputs ---- */

static void show_warning(void *user_data, firn_log_level level, const char *subject,
                         const char *text)
{
    (void)user_data;
    if (level == FIRN_LOG_WARNING) fprintf(stderr, "%s: %s: %s\n", command_name, subject, text);
}

/* What --out asks for; without it a sequence, or a sheet where --sheet is given. */
static firn_status open_pictures(production *p, firn_renderer_options *options,
                                 firn_pictures_def *def, char *fallback, size_t size,
                                 firn_error *error)
{
    const firn_scene *scene = firn_sequence_scene(p->sequence[0]);
    def->width = p->width;
    def->height = p->height;
    def->count = p->picture_count;
    def->fps = scene ? firn_scene_get_info(scene).playback : 24;
    firn_sheet_arrange(p->sequence_count, &p->columns, &p->rows);
    if (p->sequence_count > 1) {
        firn_sheet sheet; /* knows its size */
        firn_status st = firn_sheet_create(p->columns, p->rows, p->width, p->height, &sheet, error);
        if (st != FIRN_OK) return st;
        def->width = sheet.image.width;
        def->height = sheet.image.height;
        firn_sheet_free(&sheet);
    }
    if (def->path_count == 0) {
        const bool one = chosen.picture.sheet || p->picture_count == 1;
        snprintf(fallback, size, one ? "out/%s.png" : "out/%s.$F4.png",
                 p->sequence_count > 1 ? "compare" : firn_sequence_label(p->sequence[0]));
        def->path[def->path_count++] = fallback;
    }
    options->linear = firn_pictures_is_linear(def);
    options->render.threads = (int32_t)chosen.threads;
    if (!chosen.quiet) options->log.write = show_warning;
    const firn_status st = firn_renderer_create(options, &p->renderer, error);
    return st == FIRN_OK ? firn_pictures_create(def, &p->pictures, error) : st;
}

/* Names the frames of a sequence that were not there. */
static int report_missing(const production *p, int64_t sequence)
{
    const bool *missing = p->missing + sequence * p->number_count;
    int64_t count = 0;
    char text[400] = "";
    for (int64_t i = 0; i < p->number_count; i++) {
        if (!missing[i]) continue;
        int64_t last = i;
        while (last + 1 < p->number_count && missing[last + 1]) last++;
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, last > i ? "%s%lld:%lld" : "%s%lld",
                 used ? ", " : "", (long long)p->number[i], (long long)p->number[last]);
        count += last - i + 1;
        i = last;
    }
    if (count == 0) return 0;
    fprintf(stderr, "%s: %s: %" PRId64 " frame%s missing and left out: %s\n", command_name,
            label_of(p, sequence), count, count == 1 ? " is" : "s are", text);
    return FIRN_EXIT_INPUT;
}

static void print_made(const production *p, const char *path)
{
    char *first = firn_frame_path(path, p->first), *last = firn_frame_path(path, p->last);
    if (first && last && strcmp(first, last) != 0) {
        printf("%s to %s, %" PRId64 " files\n", first, last, p->made);
    } else {
        printf("%s\n", first ? first : path);
    }
    free(first);
    free(last);
}

static int render(void)
{
    production p = {.terminal = !chosen.quiet && isatty(STDERR_FILENO)};
    firn_renderer_options options;
    firn_pictures_def def;
    firn_error error = {0};
    char fallback[256];
    firn_status st =
        firn_picture_read(&chosen.picture, "--out", &chosen.outs, &options, &def, &error);
    if (st != FIRN_OK) {
        fprintf(stderr, "%s: %s\n", command_name, error.message);
        return FIRN_EXIT_USAGE;
    }
    st = open_sequences(&p, &error);
    if (st == FIRN_OK) st = choose_frames(&p, &error);
    p.width = options.render.width;
    p.height = options.render.height;
    if (st == FIRN_OK) st = open_pictures(&p, &options, &def, fallback, sizeof fallback, &error);
    firn_interrupts_catch();
    if (st == FIRN_OK) st = survey(&p, &error);
    if (st == FIRN_OK) st = make_pictures(&p, &error);
    if (st == FIRN_OK) st = firn_pictures_finish(p.pictures, &error);
    if (st == FIRN_OK && !chosen.quiet) {
        for (int32_t i = 0; i < def.path_count; i++) print_made(&p, def.path[i]);
    }
    int exit_code = st == FIRN_OK ? 0 : firn_options_failure(command_name, st, &error);
    for (int64_t r = 0; r < p.sequence_count && st == FIRN_OK; r++)
        exit_code |= report_missing(&p, r);
    firn_pictures_destroy(p.pictures);
    firn_renderer_destroy(p.renderer);
    frame_free(&p.only);
    for (int64_t r = 0; r < p.sequence_count; r++) firn_sequence_destroy(p.sequence[r]);
    free(p.sequence);
    free(p.number);
    free(p.missing);
    return exit_code;
}

static const firn_option options[] = {
    {"INPUT...", FIRN_OPTION_WORDS, &chosen.inputs, NULL,
     "scene, particle files, name.$F4.prt or folder", 1, INT64_MAX, .files = FIRN_FILES_ANY},
    {"--out", FIRN_OPTION_TEXTS, &chosen.outs, "FILE",
     .help = "name.$F4.png, name.png (sheet or still), .exr, .mp4, .webm"},
    {"--frames", FIRN_OPTION_TEXT, &chosen.frames, "A:B", .help = "only these frames"},
    FIRN_SIZE_OPTION(chosen.picture),
    FIRN_QUALITY_OPTION(chosen.picture),
    {"--samples", FIRN_OPTION_COUNT, &chosen.picture.samples, "N", "samples per pixel (by quality)",
     .min = 1, .max = FIRN_SAMPLES_MOST},
    {"--look", FIRN_OPTION_TEXT, &chosen.picture.look, "HOW",
     .help = "volume, spheres or points (volume)"},
    {"--channels", FIRN_OPTION_TEXT, &chosen.picture.channels, "KIND",
     .help = "rgb, rgba (no sky, no ground), rgb16, rgba16 (rgb)"},
    FIRN_COLOR_OPTION(chosen.picture),
    {"--range", FIRN_OPTION_TEXT, &chosen.picture.range, "A:B",
     .help = "range of the attribute (nearly all values)"},
    {"--map", FIRN_OPTION_TEXT, &chosen.picture.map, "KIND",
     .help = "sequential, diverging, categorical (by attribute)"},
    {"--show", FIRN_OPTION_TEXT, &chosen.picture.show, "A,B",
     .help = "particles, velocity, grid=speed, ...: see doc/rendering.md"},
    {"--slice", FIRN_OPTION_TEXT, &chosen.picture.slice, "AXIS=M",
     .help = "a flat picture of a thin slice at a plane, as z=0"},
    {"--sheet", FIRN_OPTION_TEXT, &chosen.picture.sheet, "CxR",
     .help = "cells of a contact sheet (to fit, at most nine)"},
    {"--turntable", FIRN_OPTION_COUNT, &chosen.turntable, "N",
     "circle the scene in N pictures, around one frame or all", .min = 1, .max = 100000},
    {"--compare", FIRN_OPTION_FLAG, &chosen.compare,
     .help = "one panel per input, side by side, synchronised"},
    {"--label", FIRN_OPTION_TEXTS, &chosen.labels, "TEXT",
     .help = "label of the next panel (its name)"},
    {"--set", FIRN_OPTION_TEXTS, &chosen.sets, "PATH=VALUE",
     .help = "change the scene, as in a run"},
    FIRN_THREADS_OPTION(chosen.threads),
    {"--quiet", FIRN_OPTION_FLAG, &chosen.quiet, .help = "print only errors"},
};

const firn_command firn_render_command = {
    .name = command_name,
    .line = "pictures and videos of caches",
    .summary = "Makes pictures of a scene's caches, or of any particle files.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = render};
