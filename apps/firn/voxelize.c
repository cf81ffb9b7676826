/* firn voxelize: meshes of a file as level sets in OpenVDB files, one per frame.
 *
 * Each file has a note of what went into it: a hash of the frame's polygons, their velocities and the
 * options. A frame whose file has the same note is left as it is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <firn/geometry.h>

#include "app.h"
#include "progress.h"

static const char command_name[] = "firn voxelize";
static const char note_name[] = "firn_input";

static struct {
    firn_words file;
    const char *output, *path, *voxel, *thickness, *scale, *frames, *fps, *band;
    bool normals;
    int64_t threads;
} chosen;

static const firn_option options[] = {
    {"MESH", FIRN_OPTION_WORDS, &chosen.file, NULL, "Alembic, OBJ, PLY, STL, OpenVDB or binvox", 1,
     1, .files = FIRN_FILES_ANY},
    {"-o", FIRN_OPTION_TEXT, &chosen.output, "FILE",
     .help = "name.$F4.vdb, or name.vdb if nothing moves", .files = FIRN_FILES_ANY},
    {"--voxel", FIRN_OPTION_TEXT, &chosen.voxel, "M", .help = "edge of the voxels, m"},
    {"--path", FIRN_OPTION_TEXT, &chosen.path, "PATTERN",
     .help = "objects of an Alembic file (all)"},
    {"--thickness", FIRN_OPTION_TEXT, &chosen.thickness, "M",
     .help = "of a sheet, which may be open (0: solid)"},
    {"--scale", FIRN_OPTION_TEXT, &chosen.scale, "X",
     .help = "of its lengths: 0.01 for centimetres (1)"},
    {"--frames", FIRN_OPTION_TEXT, &chosen.frames, "A:B",
     .help = "only these (all that the file has)"},
    {"--fps", FIRN_OPTION_TEXT, &chosen.fps, "X", .help = "frames per second (24)"},
    {"--band", FIRN_OPTION_TEXT, &chosen.band, "N",
     .help = "voxels on each side of the surface (3)"},
    {"--normals", FIRN_OPTION_FLAG, &chosen.normals, .help = "also write normal, unit vectors"},
    FIRN_THREADS_OPTION(chosen.threads),
};

/* ---- what to do ---- */

typedef struct work {
    firn_animation *animation;
    double fps, thickness;
    int64_t first, last; /* frames */
    firn_voxelize_def def;
} work;

/* The number of an option, or its default. */
static firn_status read_number(const char *option, const char *text, double least, double *out,
                               firn_error *error)
{
    char *end;
    if (!text) return FIRN_OK;
    *out = strtod(text, &end);
    if (end != text && *end == 0 && isfinite(*out) && *out >= least && (*out > 0 || least == 0)) {
        return FIRN_OK;
    }
    return firn_app_fail(error, FIRN_INVALID, "%s %s must be a number %s", option, text,
                         least > 0 ? "above 0" : "of at least 0");
}

static firn_status choose_frames(work *w, firn_error *error)
{
    const firn_animation_info info = firn_animation_get_info(w->animation);
    const double most = 1e9; /* frames from 0 */
    w->first = (int64_t)fmax(ceil(info.times[0] * w->fps - 1e-6), -most);
    w->last = (int64_t)fmin(floor(info.times[info.time_count - 1] * w->fps + 1e-6), most);
    if (w->last < w->first) w->last = w->first; /* all samples between two frames */
    if (chosen.frames &&
        !(firn_frames_read(chosen.frames, &w->first, &w->last) && w->first <= w->last)) {
        return firn_app_fail(error, FIRN_INVALID, "--frames %s must be A:B, as 1:48",
                             chosen.frames);
    }
    if (w->first == w->last || strstr(chosen.output, "$F")) return FIRN_OK;
    return firn_app_fail(
        error, FIRN_INVALID,
        "-o %s: there are frames %lld to %lld; put $F4 in the name for their number", chosen.output,
        (long long)w->first, (long long)w->last);
}

static firn_status prepare(work *w, firn_error *error)
{
    const size_t length = chosen.output ? strlen(chosen.output) : 0;
    if (length < 5 || strcmp(chosen.output + length - 4, ".vdb") != 0) {
        return firn_app_fail(error, FIRN_INVALID, "give -o a name that ends in .vdb");
    }
    if (!chosen.voxel) {
        return firn_app_fail(error, FIRN_INVALID, "give --voxel, the edge of the voxels in metres");
    }
    *w = (work){.fps = 24, .def = firn_voxelize_def_default()};
    w->def.normals = chosen.normals;
    w->def.threads = (int32_t)chosen.threads;
    w->def.name = chosen.file.word[0];
    firn_animation_def def = firn_animation_def_default();
    def.file = chosen.file.word[0];
    def.path = chosen.path;
    const struct {
        const char *option, *text;
        double least, *to;
    } numbers[] = {{"--voxel", chosen.voxel, 1e-30, &w->def.voxel},
                   {"--thickness", chosen.thickness, 0, &w->thickness},
                   {"--scale", chosen.scale, 1e-30, &def.scale},
                   {"--fps", chosen.fps, 1e-30, &w->fps},
                   {"--band", chosen.band, 1e-30, &w->def.band}};
    firn_status st = FIRN_OK;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && st == FIRN_OK; i++) {
        st =
            read_number(numbers[i].option, numbers[i].text, numbers[i].least, numbers[i].to, error);
    }
    def.fps = w->fps;
    if (st == FIRN_OK) st = firn_animation_open(&def, &w->animation, error);
    return st == FIRN_OK ? choose_frames(w, error) : st;
}

/* ---- one frame ---- */

/* Velocities by the frame after, or before at the end, if vertices are the same; else those of the file. */
static firn_status find_velocities(const work *w, double time, firn_polygons *at, firn_error *error)
{
    const firn_animation_info info = firn_animation_get_info(w->animation);
    const double end = info.times[info.time_count - 1], step = 1 / w->fps;
    const double seconds = time + step <= end + 1e-6 ? step : -step;
    if (info.remade || info.time_count == 1) return FIRN_OK;
    firn_polygons other = {0};
    firn_status st = firn_animation_read(w->animation, time + seconds, &other, error);
    if (st == FIRN_OK && firn_polygons_alike(at, &other)) {
        if (!at->velocity) {
            at->velocity = malloc(((size_t)at->vertex_count * 3 + 1) * sizeof *at->velocity);
        }
        if (!at->velocity) st = firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
        for (int64_t i = 0; i < 3 * at->vertex_count && at->velocity; i++) {
            at->velocity[i] = (other.vertex[i] - at->vertex[i]) / seconds;
        }
    }
    firn_polygons_free(&other);
    return st;
}

static uint64_t add_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u; /* FNV-1a */
    return hash;
}

/* All that the result depends on, in words. */
static void describe(const work *w, const firn_polygons *p, char text[128])
{
    uint64_t hash = 0xcbf29ce484222325u;
    const size_t numbers = (size_t)p->vertex_count * 3;
    hash = add_bytes(hash, p->vertex, numbers * sizeof *p->vertex);
    hash = add_bytes(hash, p->face, (size_t)p->face_count * sizeof *p->face);
    hash = add_bytes(hash, p->corner, (size_t)p->corner_count * sizeof *p->corner);
    if (p->velocity) hash = add_bytes(hash, p->velocity, numbers * sizeof *p->velocity);
    snprintf(text, 128, "%s %016llx voxel %.9g band %.9g thickness %.9g%s%s", firn_version(),
             (unsigned long long)hash, w->def.voxel, w->def.band, w->thickness,
             p->velocity ? " v" : "", w->def.normals ? " normal" : "");
}

/* Whether a file is there and has that note. */
static bool is_up_to_date(const char *path, const char *text)
{
    firn_volumes volumes = {0};
    if (firn_volumes_read(path, &volumes, NULL) != FIRN_OK) return false;
    const firn_volume *surface = firn_volumes_find(&volumes, "surface");
    const char *note = surface ? firn_volume_find_note(surface, note_name) : NULL;
    const bool same = note && strcmp(note, text) == 0;
    firn_volumes_free(&volumes);
    return same;
}

static firn_status make_folder_of(const char *path, firn_error *error)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path) return FIRN_OK;
    char *folder = strndup(path, (size_t)(slash - path));
    const firn_status st = folder ? firn_make_folder(folder, error)
                                  : firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
    free(folder);
    return st;
}

static firn_status write_frame(const work *w, const firn_polygons *p, const char *path,
                               const char *text, firn_error *error)
{
    firn_mesh_def mesh_def = firn_mesh_def_of_polygons(p);
    mesh_def.thickness = w->thickness;
    mesh_def.name = w->def.name;
    firn_voxelize_def def = w->def;
    def.velocities = p->velocity;
    firn_mesh *mesh = NULL;
    firn_volumes volumes = {0};
    firn_status st = firn_mesh_create(&mesh_def, &mesh, error);
    def.mesh = mesh;
    if (st == FIRN_OK) st = firn_volumes_voxelize(&def, &volumes, error);
    if (st == FIRN_OK) st = firn_volume_add_note(&volumes.volume[0], note_name, text, error);
    if (st == FIRN_OK) st = make_folder_of(path, error);
    if (st == FIRN_OK) {
        firn_write_options how = firn_write_options_default();
        how.threads = def.threads;
        st = firn_volumes_write(path, &volumes, &how, error);
    }
    if (st == FIRN_OK) {
        printf("%s  %lld voxels%s\n", path,
               (long long)firn_volume_get_info(&volumes.volume[0]).active,
               p->velocity ? ", velocities" : "");
    }
    firn_volumes_free(&volumes);
    firn_mesh_destroy(mesh);
    return st;
}

static firn_status do_frame(const work *w, int64_t frame, bool *done, firn_error *error)
{
    const double time = (double)frame / w->fps;
    char text[128];
    char *path = firn_frame_path(chosen.output, frame);
    firn_polygons p = {0};
    firn_status st = path ? firn_animation_read(w->animation, time, &p, error)
                          : firn_app_fail(error, FIRN_NO_MEMORY, "out of memory");
    if (st == FIRN_OK) st = find_velocities(w, time, &p, error);
    if (st == FIRN_OK && p.vertex_count == 0) {
        printf("%s  nothing is visible\n", path);
    } else if (st == FIRN_OK) {
        describe(w, &p, text);
        *done = !is_up_to_date(path, text);
        if (*done) st = write_frame(w, &p, path, text, error);
    }
    firn_polygons_free(&p);
    free(path);
    return st;
}

static int run(void)
{
    work w = {0};
    firn_error error = {0};
    int64_t kept = 0;
    const double begin = firn_clock();
    firn_status st = prepare(&w, &error);
    if (st != FIRN_OK) {
        firn_animation_close(w.animation);
        return firn_options_failure(command_name, st, &error);
    }
    for (int64_t f = w.first; f <= w.last && st == FIRN_OK; f++) {
        bool done = false;
        st = do_frame(&w, f, &done, &error);
        kept += !done;
    }
    firn_animation_close(w.animation);
    if (st != FIRN_OK) return firn_options_failure(command_name, st, &error);
    const int64_t frames = w.last - w.first + 1;
    if (kept == frames) {
        printf("nothing to do: %lld file%s up to date\n", (long long)kept,
               kept == 1 ? " is" : "s are");
    } else {
        printf("%lld of %lld frames in %.1f s, %lld up to date\n", (long long)(frames - kept),
               (long long)frames, firn_clock() - begin, (long long)kept);
    }
    return 0;
}

const firn_command firn_voxelize_command = {
    .name = command_name,
    .line = "meshes, still or moving, to level sets in OpenVDB files",
    .summary =
        "Writes the level set `surface` of a mesh for each frame, and velocities `v` if it moves. "
        "Frames whose mesh and options are those of the file there already are left as they are.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run};
