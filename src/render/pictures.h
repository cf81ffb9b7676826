/* Where pictures go, inside the library. */
#ifndef FIRN_PICTURES_INTERNAL_H
#define FIRN_PICTURES_INTERNAL_H

#include "render/video.h"

struct firn_pictures {
    firn_pictures_def def;
    char *instead[FIRN_PICTURES_MOST]; /* series in place of videos: ffmpeg is missing */
    firn_video video[FIRN_PICTURES_MOST];
    firn_sheet sheet; /* where one is wanted */
    bool has_sheet, all, numbered;
};

/* Whether the names are of kinds that can be made. */
firn_status firn_pictures_check(const firn_pictures_def *def, firn_error *error);

#endif
