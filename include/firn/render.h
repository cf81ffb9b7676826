/* Pictures of particles: a renderer, frames from disk or from a run, and the files pictures go to.
 *
 * Pictures depend on what is given and on the seed, not on the number of threads. Part of the library
 * firn_render. */
#ifndef FIRN_RENDER_H
#define FIRN_RENDER_H

#include <firn/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- images ---- */

/* Linear light, Rec. 709 primaries, premultiplied alpha, top row first. */
typedef struct firn_image {
    int32_t width, height;
    float *rgba; /* width x height x 4 */
} firn_image;

enum { FIRN_IMAGE_MOST = 32768 }; /* pixels along a side */

FIRN_API void firn_image_free(firn_image *image);

/* Write a file, which appears whole or not at all. PNG: 8 or 16 bits, with alpha if the picture has
 * any. EXR: 16-bit floats, compressed, light as it is. */
FIRN_API FIRN_MUST_CHECK firn_status firn_image_write_png(const char *path, const firn_image *image,
                                                          int bits, firn_error *error);
FIRN_API FIRN_MUST_CHECK firn_status firn_image_write_exr(const char *path, const firn_image *image,
                                                          firn_error *error);

/* ---- the renderer ---- */

typedef enum firn_render_mode {
    FIRN_RENDER_VOLUME,  /* bodies with surfaces, and light inside them */
    FIRN_RENDER_SPHERES, /* a ball per particle */
    FIRN_RENDER_POINTS,  /* a small flat dot per particle: quick */
} firn_render_mode;

typedef enum firn_quality { FIRN_DRAFT, FIRN_FINAL } firn_quality;

enum { FIRN_SAMPLES_MOST = 250 };

typedef struct firn_render_options {
    int32_t width, height;
    int32_t samples; /* per pixel at most, up to FIRN_SAMPLES_MOST; 0: as the quality asks */
    firn_quality quality;
    firn_render_mode mode;
    uint64_t seed;
    int32_t threads;  /* 0: all */
    int32_t up;       /* axis: 1 or 2 */
    bool transparent; /* alpha instead of sky and ground */
    double exposed;   /* s that the shutter is open, for motion blur; 0: none */
} firn_render_options;

/* What pictures can show: bits of firn_renderer_options.show. In 3D, nodes, arrows and blocks that are
 * behind a surface are hidden; without particles all that no collider hides is seen. */
typedef enum firn_layer {
    FIRN_LAYER_PARTICLES,
    FIRN_LAYER_COLLIDERS,
    FIRN_LAYER_GRID,          /* nodes; in flat pictures larger with more mass */
    FIRN_LAYER_VELOCITY,      /* arrows of particles */
    FIRN_LAYER_GRID_VELOCITY, /* arrows of nodes */
    FIRN_LAYER_FORCE,         /* arrows of nodes */
    FIRN_LAYER_SCALE,         /* scale bar, and how long arrows are; in 3D at the camera's target */
    FIRN_LAYER_LEGEND,        /* of colours */
    FIRN_LAYER_CAPTION,
    FIRN_LAYER_BLOCKS,   /* edges of the grid's blocks that hold mass */
    FIRN_LAYER_OUTLINES, /* of colliders, in front of everything */
    FIRN_LAYER_CELLS,    /* by class (firn_cell_class), with projection; in 3D not the empty ones */
    FIRN_LAYER_COUNT
} firn_layer;
FIRN_API const char *const *firn_layer_names(void); /* "particles", ...; ends with NULL */

typedef enum firn_colormap_kind {
    FIRN_SEQUENTIAL,  /* dark violet over green to light yellow, brighter all the way */
    FIRN_DIVERGING,   /* blue, white in the middle, red */
    FIRN_CATEGORICAL, /* one colour for each whole number, neighbours far apart */
    FIRN_COLORMAP_COUNT
} firn_colormap_kind;
FIRN_API const char *const *firn_colormap_names(void); /* "sequential", ...; ends with NULL */

/* Make one with firn_renderer_options_default. */
typedef struct firn_renderer_options {
    firn_render_options render; /* size, samples, quality, ... */
    bool linear;                /* light as it is, for EXR; else as a screen shows it */
    const char *color;          /* attribute, which must outlive the renderer; NULL: looks, in flat
                                   pictures objects */
    int map;                    /* firn_colormap_kind, or -1: the one that suits the attribute */
    bool fixed;                 /* the range of colours is low to high; else that of the frames */
    double low, high;
    const char
        *grid_color; /* attribute of nodes, mass, speed or force, as color; NULL: mass in 3D, one
                               colour in flat pictures */
    bool grid_fixed; /* as fixed, of nodes */
    double grid_low, grid_high;
    unsigned show;       /* bit per firn_layer; 0: what suits the picture */
    bool slice;          /* a flat picture of what is near a plane: */
    int slice_axis;      /* across which it lies */
    double slice_offset; /* m */
    firn_log log; /* gets warnings when settled: of hidden particles, of missing attributes */
} firn_renderer_options;
FIRN_API firn_renderer_options firn_renderer_options_default(void); /* 1280x720, final */

/* A renderer holds what all pictures of a sequence share: camera, colours, size. Survey every frame,
 * settle, then draw frames in any order. */
typedef struct firn_renderer firn_renderer;

FIRN_API FIRN_MUST_CHECK firn_status firn_renderer_create(const firn_renderer_options *options,
                                                          firn_renderer **renderer,
                                                          firn_error *error);
FIRN_API void firn_renderer_destroy(firn_renderer *renderer); /* NULL is fine */

/* One frame. Points need P; v, id, pscale, mass, density, J, material, object and Cd are used where
 * they exist. */
typedef struct firn_renderer_frame {
    const firn_scene *scene;          /* looks, colliders, camera, light; NULL: there is none */
    const firn_points *points, *grid; /* grid may be NULL */
    int64_t number;
    const double *turn; /* degrees around the target, for turntables; or NULL */
} firn_renderer_frame;

FIRN_API FIRN_MUST_CHECK firn_status firn_renderer_survey(firn_renderer *renderer,
                                                          const firn_renderer_frame *frame,
                                                          firn_error *error);
/* Settles camera and colours once all frames are surveyed. Fails if something that is to be shown
 * does not exist. */
FIRN_API FIRN_MUST_CHECK firn_status firn_renderer_settle(firn_renderer *renderer,
                                                          const firn_scene *scene,
                                                          firn_error *error);
/* Draws a new picture, with legend and captions. */
FIRN_API FIRN_MUST_CHECK firn_status firn_renderer_draw(const firn_renderer *renderer,
                                                        const firn_renderer_frame *frame,
                                                        firn_image *out, firn_error *error);

/* Whether pictures have a caption; known once the renderer is settled. */
FIRN_API bool firn_renderer_has_caption(const firn_renderer *renderer);

/* ---- sequences of frames on disk ---- */

typedef struct firn_sequence firn_sequence;

/* Opens one sequence from what a user names:
 *   scene.yaml     the frames of its first output of particles; settings change the scene as in a run
 *   name.$F4.prt   the files of that name, from the first number that exists to the last
 *   folder         a variant of a parameter sweep: its scene.yaml; else the particle files in it, of
 *                  several sequences the one whose name comes first
 *   several files  those, by the last number in their names, or counted from 1 */
FIRN_API FIRN_MUST_CHECK firn_status
firn_sequence_create(const char *const *name, int64_t name_count, const firn_setting *settings,
                     int64_t setting_count, firn_sequence **sequence, firn_error *error);
FIRN_API void firn_sequence_destroy(firn_sequence *sequence); /* NULL is fine */

/* Whether a name stands for a sequence of its own, not for one frame of one. */
FIRN_API bool firn_sequence_is_whole(const char *name);

FIRN_API const firn_scene *firn_sequence_scene(const firn_sequence *sequence); /* or NULL */
FIRN_API const char *firn_sequence_label(const firn_sequence *sequence);
FIRN_API FIRN_MUST_CHECK firn_status firn_sequence_set_label(firn_sequence *sequence,
                                                             const char *label, firn_error *error);
FIRN_API int64_t firn_sequence_count(const firn_sequence *sequence);
/* The number of the index-th frame, in rising order. */
FIRN_API int64_t firn_sequence_number(const firn_sequence *sequence, int64_t index);
/* The file of a frame, by its number; NULL: there is no such frame. */
FIRN_API const char *firn_sequence_path(const firn_sequence *sequence, int64_t number);

/* Reads a frame: its particles, and its grid if there is a file of it (else no columns). A frame that
 * is not on disk is no failure: it has no columns. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sequence_read(const firn_sequence *sequence,
                                                        int64_t number, firn_points *points,
                                                        firn_points *grid, firn_error *error);

/* Prepares sequences to be shown side by side: those with the same label get the part of their names
 * that differs, and if each is a single frame all get the same number. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sequences_align(firn_sequence *const *sequences,
                                                          const char *const *names, int64_t count,
                                                          firn_error *error);

/* The variants of a parameter sweep, in the order of its table. */
typedef struct firn_sweep_folders {
    char **folder, **label; /* sweep/young_1e5, "young 1e5" */
    int64_t count;          /* 0: the folder is not that of a sweep */
} firn_sweep_folders;
FIRN_API FIRN_MUST_CHECK firn_status firn_sweep_folders_read(const char *folder,
                                                             firn_sweep_folders *out,
                                                             firn_error *error);
FIRN_API void firn_sweep_folders_free(firn_sweep_folders *folders);

/* ---- where pictures go ---- */

/* Many pictures on one: contact sheets, and panels side by side. */
typedef struct firn_sheet {
    firn_image image;
    int32_t columns, rows, width, height; /* the last two: of a cell, pixels */
    int32_t used;                         /* cells */
} firn_sheet;

/* Columns and rows for `count` pictures (at least 1): nearly square, rather wide than high. */
FIRN_API void firn_sheet_arrange(int64_t count, int32_t *columns, int32_t *rows);
FIRN_API FIRN_MUST_CHECK firn_status firn_sheet_create(int32_t columns, int32_t rows, int32_t width,
                                                       int32_t height, firn_sheet *out,
                                                       firn_error *error);
FIRN_API void firn_sheet_free(firn_sheet *sheet);
/* Fills the next cell with a picture shrunk to its size, and a label in its upper right corner (NULL:
 * none). A NULL picture leaves the cell empty except for the label. */
FIRN_API FIRN_MUST_CHECK firn_status firn_sheet_add(firn_sheet *sheet, const firn_image *picture,
                                                    const char *label, firn_error *error);

enum { FIRN_PICTURES_MOST = 16 };

/* Files for a series of pictures. Their names say what they become:
 *   name.$F4.png     a file per picture
 *   name.png         the picture, or a contact sheet of several
 *   name.mp4, .webm  a video
 * .exr works as .png and holds light as it is. Without ffmpeg a video becomes a series of pictures,
 * and firn_pictures_finish fails and says so. */
typedef struct firn_pictures_def {
    const char *path[FIRN_PICTURES_MOST]; /* must outlive the pictures */
    int32_t path_count;
    int32_t columns, rows; /* of contact sheets; 0: as many as there are pictures, at most nine */
    int32_t width, height; /* of a picture */
    int64_t count;         /* of pictures */
    int32_t bits;          /* of PNG: 8 or 16 */
    bool alpha;            /* without sky and ground */
    double fps;
} firn_pictures_def;

typedef struct firn_pictures firn_pictures;

/* Whether the names ask for light as it is. */
FIRN_API bool firn_pictures_is_linear(const firn_pictures_def *def);

/* Checks the names, creates folders, tries whether files can be written, starts videos. */
FIRN_API FIRN_MUST_CHECK firn_status firn_pictures_create(const firn_pictures_def *def,
                                                          firn_pictures **pictures,
                                                          firn_error *error);
/* Drops what is not complete; pictures that are files already stay. NULL is fine. */
FIRN_API void firn_pictures_destroy(firn_pictures *pictures);

/* Whether cells of a contact sheet show the numbers of their pictures; they do not at first. */
FIRN_API void firn_pictures_show_numbers(firn_pictures *pictures, bool show);
/* Whether the picture of that index (from 0) goes anywhere: contact sheets take some of them. */
FIRN_API bool firn_pictures_wants(const firn_pictures *pictures, int64_t index);
/* Adds a picture; `number` replaces $F. They come in rising order, and some may be missing. */
FIRN_API FIRN_MUST_CHECK firn_status firn_pictures_add(firn_pictures *pictures, int64_t index,
                                                       int64_t number, const firn_image *picture,
                                                       firn_error *error);
/* Completes sheets and videos. Nothing can be added afterwards. */
FIRN_API FIRN_MUST_CHECK firn_status firn_pictures_finish(firn_pictures *pictures,
                                                          firn_error *error);

/* ---- pictures of a run under way ---- */

typedef struct firn_preview firn_preview;

typedef struct firn_preview_def {
    const firn_scene *scene;      /* as it will run */
    const firn_scene_def *source; /* what it was created from */
    const firn_run_options *run;
    firn_renderer_options renderer;
    firn_pictures_def pictures; /* size, count and fps follow from the others */
} firn_preview_def;

/* Opens the files. The camera has to show what has not happened yet: unless the scene places it, a
 * coarse copy of the scene runs first, which takes about a hundredth of a long run. `hooks` are those of
 * the run, or NULL; they receive notes and can stop the copy. */
FIRN_API FIRN_MUST_CHECK firn_status firn_preview_create(const firn_preview_def *def,
                                                         const firn_run_hooks *hooks,
                                                         firn_preview **preview, firn_error *error);
FIRN_API void firn_preview_destroy(firn_preview *preview); /* NULL is fine */
/* Adds the pictures to the hooks of a run. */
FIRN_API void firn_preview_attach(firn_preview *preview, firn_run_hooks *hooks);
/* Completes the files after a run that went well. */
FIRN_API FIRN_MUST_CHECK firn_status firn_preview_finish(firn_preview *preview, firn_error *error);

#ifdef __cplusplus
}
#endif
#endif
