/* Time: ticks of play, steps, and keeping to the clock.
 *
 * A frame is played in as many equal parts as make some fifty pictures a second of the clock; at speed 0,
 * and by a step, it is one advance, with the bytes of `firn run`. Where the parts end depends on nothing
 * but the scene and the speed, so that play from a state gives the same bytes again. */
#include <math.h>
#include <string.h>

#include <firn/host.h>

#include "base/error.h"
#include "live/live.h"

static const double NEAR = 1e-6; /* parts of a frame: times are rounded */

double firn_live_frame_time(const firn_live *live, int64_t frame)
{
    const firn_scene_frames *f = &live->scene->frames;
    return (double)(frame - f->start) / f->fps;
}

int64_t firn_live_frame(const firn_live *live, double *part)
{
    const firn_scene_frames *f = &live->scene->frames;
    const double frames = firn_sim_time(live->job->sim) * f->fps, whole = floor(frames + NEAR);
    if (part) *part = fmax(frames - whole, 0);
    return f->start + (int64_t)whole;
}

bool firn_live_at_frame(const firn_live *live)
{
    double part;
    firn_live_frame(live, &part);
    return part < NEAR;
}

bool firn_live_done(const firn_live *live)
{
    return firn_live_frame(live, NULL) >= live->scene->frames.end;
}

/* ---- advancing ---- */

int firn_live_step_hook(void *user_data, const firn_report *report)
{
    (void)report;
    const double poll_every = 0.01; /* s */
    firn_live *live = user_data;
    const double now = firn_live_clock();
    if (live->options.poll) {
        if (now - live->polled >= poll_every) {
            live->options.poll(live->options.user_data);
            live->polled = firn_live_clock();
        }
        return live->interrupt;
    }
    return !live->patient && now - live->advance_begin > live->options.patience;
}

static void begin(firn_live *live)
{
    live->advancing = true;
    live->interrupt = false;
    live->advance_begin = live->polled = firn_live_clock();
}

/* Books what an advance did. */
static void end(firn_live *live, const firn_report *report, double from)
{
    live->advancing = false;
    live->report = *report;
    live->steps += report->steps;
    live->seconds += firn_live_clock() - live->advance_begin;
    live->simulated += firn_sim_time(live->job->sim) - from;
}

/* A tool that cannot act is let go; time goes on. */
static void use_tool(firn_live *live, double seconds)
{
    firn_error error = {0};
    if (firn_live_apply_tool(live, seconds, &error) == FIRN_OK) return;
    live->tool.kind = FIRN_TOOL_NONE;
    firn_live_complain(live, "command", &error);
}

static firn_status advance(firn_live *live, double target, firn_error *error)
{
    const double from = firn_sim_time(live->job->sim);
    if (!(target > from)) return FIRN_OK; /* by rounding */
    if (live->goal != FIRN_GOAL_SEEK) use_tool(live, target - from);
    firn_report report = {0};
    begin(live);
    const firn_status st = firn_job_advance(live->job, target, &report, error);
    end(live, &report, from);
    return st;
}

/* Before time goes on from a frame: its state, and none of other futures. */
static void leave_frame(firn_live *live)
{
    firn_live_keep(live);
    if (live->goal != FIRN_GOAL_SEEK) firn_live_forget_later(live);
}

firn_status firn_live_advance_frame(firn_live *live, int64_t frame, int32_t parts,
                                    firn_error *error)
{
    double part;
    const int64_t from = firn_live_frame(live, &part);
    const int64_t index = from - live->scene->frames.start;
    if (from >= frame) return FIRN_OK;
    if (part < NEAR) {
        leave_frame(live);
        if (index < live->kept.count) live->kept.frame[index].parts = parts;
    }
    const double next = floor(part * parts + NEAR * parts) + 1; /* of the parts */
    const double target =
        next < parts ? firn_live_frame_time(live, from) + next / (parts * live->scene->frames.fps)
                     : firn_live_frame_time(live, from + 1);
    return advance(live, target, error);
}

/* ---- play ---- */

/* Parts of a frame at this speed. */
static int32_t parts_of_frame(const firn_live *live)
{
    const double pictures = 50, most = 256; /* a second */
    if (live->speed == 0) return 1;
    return (int32_t)fmin(ceil(pictures / (live->scene->frames.fps * fmin(live->speed, 1))), most);
}

void firn_live_anchor(firn_live *live)
{
    live->anchor_clock = firn_live_clock();
    live->anchor_time = live->job && !live->advancing ? firn_sim_time(live->job->sim) : -1;
}

double firn_live_until_due(firn_live *live)
{
    if (live->speed == 0) return 0;
    if (live->anchor_time < 0) firn_live_anchor(live); /* play came within an advance */
    const double part = 1 / (live->scene->frames.fps * parts_of_frame(live));
    const double ahead = firn_sim_time(live->job->sim) + part - live->anchor_time;
    const double wait = live->anchor_clock + ahead / live->speed - firn_live_clock();
    if (wait < -2 * part / live->speed) firn_live_anchor(live); /* late: not to be made up for */
    return fmax(wait, 0);
}

static firn_status tick_goal(firn_live *live, firn_error *error)
{
    const bool seeks = live->goal == FIRN_GOAL_SEEK;
    const int64_t from = firn_live_frame(live, NULL), index = from - live->scene->frames.start;
    firn_status st = FIRN_OK;
    if (from < live->goal_frame) {
        const int32_t parts = seeks && index < live->kept.count ? live->kept.frame[index].parts : 1;
        live->patient = !seeks;
        st = firn_live_advance_frame(live, live->goal_frame, parts > 0 ? parts : 1, error);
        live->patient = false;
    }
    if (st != FIRN_OK || firn_live_frame(live, NULL) < live->goal_frame) return st;
    live->goal = FIRN_GOAL_NONE;
    firn_live_anchor(live);
    firn_live_show(live);
    return FIRN_OK;
}

firn_status firn_live_tick(firn_live *live, firn_error *error)
{
    if (live->goal != FIRN_GOAL_NONE) return tick_goal(live, error);
    firn_status st = FIRN_OK;
    if (!firn_live_done(live)) {
        st = firn_live_advance_frame(live, live->scene->frames.end, parts_of_frame(live), error);
    }
    if (firn_live_done(live)) live->playing = false;
    firn_live_show(live);
    return st;
}

/* One step, which ends at a frame at the latest. */
firn_status firn_live_substep(firn_live *live, firn_error *error)
{
    const double from = firn_sim_time(live->job->sim);
    const double end_time = firn_live_frame_time(live, firn_live_frame(live, NULL) + 1);
    if (firn_live_at_frame(live)) leave_frame(live);
    use_tool(live, fmin(live->report.dt_next, end_time - from));
    firn_report report = {0};
    begin(live);
    const firn_status st = firn_job_step(live->job, end_time, &report, error);
    end(live, &report, from);
    return st == FIRN_STOPPED ? FIRN_OK : st; /* a step is whole when it stops */
}
