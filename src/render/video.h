/* Videos, made by ffmpeg: a program that is started, given raw pictures through a socket, and waited
 * for. The file appears whole or not at all. */
#ifndef FIRN_VIDEO_H
#define FIRN_VIDEO_H

#include "render/image.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* Whether a name ends as a video does: .mp4 or .webm. */
bool firn_video_is(const char *path);
/* Whether ffmpeg is there. */
bool firn_video_possible(void);

typedef struct firn_video {
    bool open;
    char *path, *temporary;
    int socket;
    pid_t process;
    FILE *words; /* what ffmpeg says about errors */
    int32_t width, height;
    uint8_t *pixels;
} firn_video;

/* FIRN_UNSUPPORTED, with how to get it, when there is no ffmpeg. */
firn_status firn_video_open(firn_video *video, const char *path, int32_t width, int32_t height,
                            double fps, firn_error *error);
/* A picture of the size given. */
firn_status firn_video_add(firn_video *video, const firn_image *picture, firn_error *error);
/* Either way the video is closed. */
firn_status firn_video_commit(firn_video *video, firn_error *error);
void firn_video_discard(firn_video *video); /* does nothing after a commit */

#endif
