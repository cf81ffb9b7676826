/* What the options of commands that make pictures ask for. */
#ifndef FIRN_PICTURE_H
#define FIRN_PICTURE_H

#include "options.h"
#include <firn/render.h>

typedef struct firn_picture_words {
    const char *size, *quality, *look, *channels, *color, *map, *range, *show, *slice, *sheet;
    const char *grid_color, *grid_range;
    int64_t samples;
} firn_picture_words;

const char *firn_picture_quality(int32_t index); /* the words of --quality; NULL past the end */

/* The rows that both have; `to` is a firn_picture_words. */
#define FIRN_SIZE_OPTION(to)                                                                       \
    {                                                                                              \
        "--size", FIRN_OPTION_TEXT, &(to).size, "WxH", .help = "pixels of a picture (1280x720)"    \
    }
#define FIRN_QUALITY_OPTION(to)                                                                    \
    {                                                                                              \
        "--quality", FIRN_OPTION_TEXT, &(to).quality, "HOW", "quality of pictures (final)",        \
            .word = firn_picture_quality                                                           \
    }
#define FIRN_COLOR_OPTION(to)                                                                      \
    {                                                                                              \
        "--color", FIRN_OPTION_TEXT, &(to).color, "NAME",                                          \
            .help = "by attribute: speed, J, pressure, object, id, ..."                            \
    }

/* Reads them into the options of a renderer and the files of its pictures, which `option` names. Errors
 * name the option. */
firn_status firn_picture_read(const firn_picture_words *words, const char *option,
                              const firn_texts *files, firn_renderer_options *renderer,
                              firn_pictures_def *pictures, firn_error *error);

#endif
