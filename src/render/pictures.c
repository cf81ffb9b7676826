/* Where pictures go: series of files, stills, contact sheets, videos. */
#include "render/pictures.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/run.h"

typedef enum kind { SEQUENCE, SINGLE, VIDEO, OTHER } kind;

static bool is_exr(const char *path)
{
    const size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".exr") == 0;
}

static kind kind_of(const char *path)
{
    const size_t n = strlen(path);
    if (firn_video_is(path)) return VIDEO;
    if (n < 5 || (strcmp(path + n - 4, ".png") != 0 && !is_exr(path))) return OTHER;
    return strstr(path, "$F") ? SEQUENCE : SINGLE;
}

bool firn_pictures_is_linear(const firn_pictures_def *def)
{
    return def->path_count > 0 && is_exr(def->path[0]);
}

firn_status firn_pictures_check(const firn_pictures_def *def, firn_error *error)
{
    for (int32_t i = 0; i < def->path_count; i++) {
        if (kind_of(def->path[i]) == OTHER) {
            return firn_fail(error, FIRN_INVALID,
                             "%s: pictures end in .png or .exr ($F4 stands for the frame), videos "
                             "in .mp4 or .webm",
                             def->path[i]);
        }
        if ((kind_of(def->path[i]) == VIDEO && (def->bits == 16 || def->alpha)) ||
            (is_exr(def->path[i]) && def->bits == 16)) {
            return firn_fail(error, FIRN_INVALID,
                             "%s: only PNG has 16 bits, and only PNG and EXR have alpha; drop "
                             "--channels or change the name",
                             def->path[i]);
        }
        if (is_exr(def->path[i]) != firn_pictures_is_linear(def)) {
            return firn_fail(error, FIRN_INVALID,
                             "%s and %s: EXR holds linear light, the others tone-mapped colours; "
                             "make them one after the other",
                             def->path[0], def->path[i]);
        }
    }
    return FIRN_OK;
}

/* out/name.mp4 to out/name.$F4.png. */
static char *sequence_name(const char *video)
{
    const size_t stem = (size_t)(strrchr(video, '.') - video);
    char *name = malloc(stem + 16);
    if (name) snprintf(name, stem + 16, "%.*s.$F4.png", (int)stem, video);
    return name;
}

static firn_status open_one(firn_pictures *pictures, int32_t i, firn_error *error)
{
    const firn_pictures_def *def = &pictures->def;
    const char *path = def->path[i];
    kind k = kind_of(path);
    if (k == VIDEO && !firn_video_possible()) {
        path = pictures->instead[i] = sequence_name(path);
        k = SEQUENCE;
    }
    char *first = path ? firn_frame_path(path, 0) : NULL;
    firn_status st =
        first ? firn_try_path(first, error) : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    free(first);
    if (st != FIRN_OK) return st;
    if (k == SINGLE && def->count > 1 && !pictures->has_sheet) {
        pictures->has_sheet = true;
        return firn_sheet_create(def->columns, def->rows, (def->width + 1) / 2,
                                 (def->height + 1) / 2, &pictures->sheet, error);
    }
    pictures->all = pictures->all || k != SINGLE || def->count == 1;
    if (k != VIDEO) return FIRN_OK;
    return firn_video_open(&pictures->video[i], path, def->width, def->height, def->fps, error);
}

firn_status firn_pictures_create(const firn_pictures_def *def, firn_pictures **out,
                                 firn_error *error)
{
    *out = NULL;
    firn_status st = firn_pictures_check(def, error);
    if (st != FIRN_OK) return st;
    firn_pictures *pictures = calloc(1, sizeof *pictures);
    if (!pictures) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    pictures->def = *def;
    if (def->columns == 0) {
        firn_sheet_arrange(def->count < 9 ? def->count : 9, &pictures->def.columns,
                           &pictures->def.rows);
    }
    for (int32_t i = 0; i < def->path_count && st == FIRN_OK; i++)
        st = open_one(pictures, i, error);
    if (st == FIRN_OK) {
        *out = pictures;
    } else {
        firn_pictures_destroy(pictures);
    }
    return st;
}

void firn_pictures_destroy(firn_pictures *pictures)
{
    if (!pictures) return;
    for (int i = 0; i < FIRN_PICTURES_MOST; i++) {
        firn_video_discard(&pictures->video[i]);
        free(pictures->instead[i]);
    }
    firn_sheet_free(&pictures->sheet);
    free(pictures);
}

void firn_pictures_show_numbers(firn_pictures *pictures, bool show) { pictures->numbered = show; }

/* Cells are evenly spread over the pictures, from the first to the last. */
static bool on_sheet(const firn_pictures *pictures, int64_t index)
{
    const int64_t cells = (int64_t)pictures->def.columns * pictures->def.rows,
                  count = pictures->def.count;
    if (!pictures->has_sheet) return false;
    if (count <= cells || cells <= 1) return cells > 1 || index == count - 1;
    const int64_t cell = (index * (cells - 1) + (count - 1) / 2) / (count - 1);
    return (cell * (count - 1) + (cells - 1) / 2) / (cells - 1) == index;
}

bool firn_pictures_wants(const firn_pictures *pictures, int64_t index)
{
    return pictures->all || on_sheet(pictures, index);
}

static firn_status write_image(const firn_pictures *pictures, const char *path,
                               const firn_image *image, firn_error *error)
{
    if (is_exr(path)) return firn_image_write_exr(path, image, error);
    return firn_image_write_png(path, image, pictures->def.bits, error);
}

static firn_status write_picture(const firn_pictures *pictures, const char *pattern, int64_t number,
                                 const firn_image *picture, firn_error *error)
{
    char *path = firn_frame_path(pattern, number);
    if (!path) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    firn_status st = firn_frame_folder(pattern, path, error);
    if (st == FIRN_OK) st = write_image(pictures, path, picture, error);
    free(path);
    return st;
}

firn_status firn_pictures_add(firn_pictures *pictures, int64_t index, int64_t number,
                              const firn_image *picture, firn_error *error)
{
    firn_status st = FIRN_OK;
    for (int32_t i = 0; i < pictures->def.path_count && st == FIRN_OK; i++) {
        const char *path = pictures->instead[i] ? pictures->instead[i] : pictures->def.path[i];
        const kind k = kind_of(path);
        if (k == VIDEO) {
            st = firn_video_add(&pictures->video[i], picture, error);
        } else if (k == SEQUENCE || pictures->def.count == 1) {
            st = write_picture(pictures, path, number, picture, error);
        }
    }
    if (st == FIRN_OK && on_sheet(pictures, index)) {
        char label[32];
        snprintf(label, sizeof label, "%lld", (long long)number);
        st = firn_sheet_add(&pictures->sheet, picture, pictures->numbered ? label : NULL, error);
    }
    return st;
}

firn_status firn_pictures_finish(firn_pictures *pictures, firn_error *error)
{
    firn_status st = FIRN_OK;
    for (int32_t i = 0; i < pictures->def.path_count && st == FIRN_OK; i++) {
        const char *path = pictures->def.path[i];
        if (pictures->video[i].open) {
            st = firn_video_commit(&pictures->video[i], error);
        } else if (kind_of(path) == SINGLE && pictures->has_sheet) {
            st = write_image(pictures, path, &pictures->sheet.image, error);
        }
    }
    for (int32_t i = 0; i < pictures->def.path_count && st == FIRN_OK; i++) {
        if (!pictures->instead[i]) continue;
        st = firn_fail(error, FIRN_OUTPUT,
                       "%s: videos are made by ffmpeg, which is not installed (apt install "
                       "ffmpeg); the pictures are %s",
                       pictures->def.path[i], pictures->instead[i]);
    }
    return st;
}
