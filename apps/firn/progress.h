/* What commands that run scenes share: the clock, what the user sees while one runs, Ctrl-C, and the
 * frames asked for. */
#ifndef FIRN_PROGRESS_H
#define FIRN_PROGRESS_H

#include <firn/scene.h>

/* Seconds on a clock that only goes forwards. */
double firn_clock(void);

typedef struct firn_progress {
    bool notes;     /* say what the run has to say */
    bool lines;     /* a line per frame */
    bool json;      /* both as JSON */
    bool terminal;  /* a line that is written over and over */
    bool line_open; /* something of it is on the screen */
    int64_t first_frame, last_frame, particles;
    double begin, first_shown; /* s: start, and when the first frame was there */
    double shown;              /* s, when the line was last drawn */
} firn_progress;

/* A view that begins now; the progress line only if there is a terminal to draw it on. */
firn_progress firn_progress_make(int64_t last_frame, bool notes, bool lines, bool json);
/* The hooks of a run that is shown so and that Ctrl-C stops. The view must stay where it is. */
firn_run_hooks firn_progress_hooks(firn_progress *view);
/* Takes the progress line away. */
void firn_progress_clear(firn_progress *view);

/* From here on Ctrl-C and SIGTERM ask to stop instead of ending the program. */
void firn_interrupts_catch(void);
bool firn_interrupted(void);

/* Reads "12:48", "12:", ":48" or "30"; what is left open stays as it is. */
bool firn_frames_read(const char *text, int64_t *first, int64_t *last);
/* Reads --frames (so written; NULL: all) into the options. */
firn_status firn_frames_choose(const char *text, const firn_scene *scene, firn_run_options *options,
                               firn_error *error);

/* 754 s as 12:34, 2 h and more as 2:05:10. */
const char *firn_duration(double seconds, char text[32]);

#endif
