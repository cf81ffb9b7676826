/* The run loop and `--plan`. A thread of its own writes a frame's files while the next frame is
 * computed; the saved state comes last, so a state on disk implies that the frame's outputs are
 * there, too. A file that holds all frames is finished however the run ends, so that it can be read, and is
 * taken up again on resume. */
#include "run/run.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include <firn/alembic.h>

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor time of all threads: other programs do not add to it. */
static double seconds_used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

firn_run_options firn_run_options_default(const firn_scene *scene)
{
    return (firn_run_options){.first = scene->frames.start, .last = scene->frames.end};
}

/* ---- writing behind the simulation ---- */

enum { MOST_OUTPUTS = 32 };

/* The files of one frame; they are written by a thread of their own while the next frame is
 * computed. The state comes last: when it is there, so are the outputs. */
typedef struct writer {
    const firn_scene *scene;
    const char *folder; /* of states */
    int32_t threads;    /* that compress */
    firn_points points[MOST_OUTPUTS];
    char *path[MOST_OUTPUTS];
    firn_alembic_writer *sequence[MOST_OUTPUTS]; /* of outputs that are one file; else NULL */
    firn_bytes state;                            /* empty: none is due */
    int64_t frame, saved; /* saved: the last one whose state is on disk, or INT64_MIN */
    pthread_t thread;
    bool running;
    firn_status status;
    firn_error error;
} writer;

static void *write_files(void *context)
{
    writer *w = context;
    for (int32_t i = 0; i < w->scene->output_count && w->status == FIRN_OK; i++) {
        const firn_scene_output *o = &w->scene->output[i];
        if (!w->path[i]) continue;
        if (o->sequence) {
            w->status = firn_alembic_writer_points(w->sequence[i], 0, &w->points[i], &w->error);
            if (w->status != FIRN_OK) break;
            w->status = firn_alembic_writer_commit(w->sequence[i], w->frame, &w->error);
            continue;
        }
        const firn_write_options options = {.half = o->half,
                                            .classic = o->classic,
                                            .level = (int32_t)o->level,
                                            .frame = (double)w->frame,
                                            .fps = w->scene->frames.fps,
                                            .voxel = o->voxel,
                                            .threads = w->threads};
        w->status = firn_frame_folder(o->file, w->path[i], &w->error);
        if (w->status != FIRN_OK) break;
        w->status = firn_points_write(w->path[i], &w->points[i], &options, &w->error);
    }
    if (w->status == FIRN_OK && w->state.data) {
        w->status = firn_checkpoint_store(w->scene, w->folder, w->frame, &w->state, &w->error);
        if (w->status == FIRN_OK) w->saved = w->frame;
    }
    return NULL;
}

/* Waits for the files under way; the first failure is the answer. */
static firn_status writer_finish(writer *w, firn_error *error)
{
    if (w->running) pthread_join(w->thread, NULL);
    w->running = false;
    for (int i = 0; i < MOST_OUTPUTS; i++) {
        firn_points_free(&w->points[i]);
        free(w->path[i]);
        w->path[i] = NULL;
    }
    firn_bytes_free(&w->state);
    if (w->status != FIRN_OK && error) *error = w->error;
    return w->status;
}

/* What is to be written is taken from the job here; *files receives how many outputs. */
static firn_status writer_start(writer *w, const firn_job *job, int64_t frame, bool outputs,
                                bool state, int64_t *files, firn_error *error)
{
    firn_status st = writer_finish(w, error);
    w->frame = frame;
    *files = 0;
    for (int32_t i = 0; outputs && i < w->scene->output_count && st == FIRN_OK; i++) {
        const firn_scene_output *o = &w->scene->output[i];
        if ((frame - w->scene->frames.start) % o->every != 0) continue;
        w->path[i] = firn_frame_path(o->file, frame);
        st = !w->path[i]  ? firn_fail(error, FIRN_NO_MEMORY, "out of memory")
             : o->of == 0 ? firn_job_points(job, o->names, INT64_MAX, &w->points[i], error)
                          : firn_job_grid(job, o->names, &w->points[i], error);
        ++*files;
    }
    if (st == FIRN_OK && state) st = firn_checkpoint_make(job, frame, &w->state, error);
    if (st != FIRN_OK || (*files == 0 && !state)) return st;
    if (pthread_create(&w->thread, NULL, write_files, w) == 0) {
        w->running = true;
    } else {
        write_files(w);
    }
    return FIRN_OK;
}

/* Begins the files that hold all frames, or, behind frame `resumed`, goes on with them. `note` receives what
 * is missing in them, or "". */
static firn_status sequences_open(writer *w, int64_t resumed, char *note, size_t size,
                                  firn_error *error)
{
    const firn_alembic_writer_def def = {.fps = w->scene->frames.fps};
    firn_status st = FIRN_OK;
    note[0] = 0;
    for (int32_t i = 0; i < w->scene->output_count && st == FIRN_OK; i++) {
        const firn_scene_output *o = &w->scene->output[i];
        if (!o->sequence) continue;
        st = resumed == INT64_MIN
                 ? firn_alembic_writer_create(o->file, &def, &w->sequence[i], error)
                 : firn_alembic_writer_resume(o->file, &def, resumed, &w->sequence[i], error);
        if (st != FIRN_OK) return st;
        int64_t last;
        const int64_t frames = firn_alembic_writer_frames(w->sequence[i], &last);
        if (resumed != INT64_MIN && !(frames > 0 && last > resumed - o->every)) {
            snprintf(note, size, "%s lacks frames before %lld", o->file, (long long)resumed + 1);
        }
        int32_t first;
        st = firn_alembic_writer_add(w->sequence[i], FIRN_ALEMBIC_POINTS,
                                     o->of == 0 ? "particles" : "grid", &first, error);
    }
    return st;
}

/* Finishes them, all if possible; the first failure is the answer. */
static firn_status sequences_close(writer *w, firn_error *error)
{
    firn_status st = FIRN_OK;
    for (int i = 0; i < MOST_OUTPUTS; i++) {
        firn_error inner = {0};
        if (!w->sequence[i]) continue;
        const firn_status finished = firn_alembic_writer_finish(w->sequence[i], &inner);
        if (finished != FIRN_OK && st == FIRN_OK) {
            st = finished;
            *error = inner;
        }
        firn_alembic_writer_destroy(w->sequence[i]);
    }
    return st;
}

static firn_status check_attributes(const firn_job *job, firn_error *error)
{
    firn_status st = FIRN_OK;
    for (int32_t i = 0; i < job->scene->output_count && st == FIRN_OK; i++) {
        st = firn_attributes_check(job, &job->scene->output[i], error);
    }
    return st;
}

/* What the scene says about outputs. */
static firn_status check_outputs(const firn_scene *scene, firn_error *error)
{
    if (scene->output_count > MOST_OUTPUTS) {
        return firn_value_fail(scene->output_value, error, "more than %d outputs", MOST_OUTPUTS);
    }
    for (int32_t i = 0; i < scene->output_count; i++) {
        const firn_scene_output *o = &scene->output[i];
        firn_error inner = {0};
        if (!firn_format_of(o->file, &inner)) {
            return firn_value_pass(firn_value_get(o->where, "file"), &inner, error);
        }
    }
    /* What particle files bring along is known only once they are read. */
    for (int32_t i = 0; i < scene->object_count; i++) {
        if (scene->object[i].particles) return FIRN_OK;
    }
    return check_attributes(&(firn_job){.scene = scene}, error);
}

/* ---- statistics ---- */

/* The file's lines are kept and written anew every frame: it is never half a file. */
typedef struct statistics {
    const char *path; /* NULL: none asked for */
    char *text;
    size_t used, room;
} statistics;

static const char columns[] =
    "frame,time,particles,substeps,retries,dt_least,dt_last,limiter,max_speed,kinetic,elastic,"
    "gravitational,momentum_x,momentum_y,momentum_z,min_J,max_J,seconds,integrator,iterations,"
    "residual,heat,liquid,min_temperature,max_temperature,front,heat_steps,heat_iterations,"
    "heat_seconds";

const char *firn_statistics_columns(void) { return columns; }

__attribute__((format(printf, 2, 3))) static bool add_line(statistics *s, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (s->used + (size_t)n + 1 > s->room) {
        const size_t room = 2 * (s->used + (size_t)n + 1) + 4096;
        char *grown = realloc(s->text, room);
        if (!grown) return false;
        s->text = grown;
        s->room = room;
    }
    memcpy(s->text + s->used, line, (size_t)n + 1);
    s->used += (size_t)n;
    return true;
}

/* Starts with the header, and on resume with the lines up to that frame. */
static firn_status statistics_open(statistics *s, const firn_scene *scene, int64_t resumed,
                                   firn_error *error)
{
    if (!scene->statistics) return FIRN_OK;
    s->path = scene->statistics;
    firn_bytes old = {0};
    if (resumed != INT64_MIN && access(s->path, F_OK) == 0) {
        const firn_status st = firn_bytes_read(s->path, &old, error);
        if (st != FIRN_OK) return st;
    }
    bool fine = add_line(s, "%s\n", firn_statistics_columns());
    if (old.size > 0) {
        const char *p = (const char *)old.data, *end = p + old.size;
        while (p < end && fine) {
            const char *stop = memchr(p, '\n', (size_t)(end - p));
            if (!stop) break;
            char *after = NULL;
            const long long frame = strtoll(p, &after, 10);
            if (after != p && *after == ',' && frame <= resumed && stop - p < 1000) {
                fine = add_line(s, "%.*s\n", (int)(stop - p), p);
            }
            p = stop + 1;
        }
    }
    firn_bytes_free(&old);
    return fine ? FIRN_OK : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
}

/* Mean height above the lowest particle of what is partly melted; not a number where nothing is. */
static firn_status find_front(const firn_job *job, double *front, firn_error *error)
{
    const int64_t n = firn_sim_count(job->sim);
    const int dim = (int)job->scene->dimension;
    const int up = job->scene->up == 1 && dim == 3 ? 2 : 1;
    double *position = malloc(((size_t)n * (size_t)dim + 1) * sizeof *position);
    double *mass = malloc(((size_t)n + 1) * sizeof *mass);
    double *liquid = malloc(((size_t)n + 1) * sizeof *liquid);
    firn_status st = position && mass && liquid
                         ? firn_sim_read(job->sim, FIRN_POSITION, 0, n, position, error)
                         : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    if (st == FIRN_OK) st = firn_sim_read(job->sim, FIRN_MASS, 0, n, mass, error);
    if (st == FIRN_OK) st = firn_sim_read_heat(job->sim, NULL, liquid, error);
    double lowest = INFINITY, sum = 0, moment = 0;
    for (int64_t i = 0; st == FIRN_OK && i < n; i++) {
        const double height = position[i * dim + up];
        lowest = fmin(lowest, height);
        if (!(liquid[i] > 0 && liquid[i] < 1)) continue;
        sum += mass[i];
        moment += mass[i] * height;
    }
    *front = sum > 0 ? moment / sum - lowest : NAN;
    free(position);
    free(mass);
    free(liquid);
    return st;
}

/* The cells of heat; empty in scenes without, and where nothing melts. */
static firn_status heat_cells(const firn_job *job, const firn_totals *t, const firn_run_frame *f,
                              char *text, size_t size, firn_error *error)
{
    snprintf(text, size, ",,,,,,,");
    if (!job->scene->heat_value) return FIRN_OK;
    double front = NAN;
    const firn_status st = find_front(job, &front, error);
    char height[32] = "";
    if (isfinite(front)) snprintf(height, sizeof height, "%.6g", front);
    snprintf(text, size, "%.9g,%.9g,%.6g,%.6g,%s,%lld,%lld,%.3f", t->heat, t->liquid,
             t->min_temperature, t->max_temperature, height, (long long)f->report.heat_steps,
             (long long)f->report.heat_iterations, f->heat_seconds);
    return st;
}

static firn_status statistics_add(statistics *s, const firn_job *job, const firn_run_frame *f,
                                  firn_error *error)
{
    if (!s->path) return FIRN_OK;
    firn_sim *sim = job->sim;
    const firn_report *r = &f->report;
    firn_totals t;
    char heat[256];
    firn_status st = firn_sim_measure(sim, &t, error);
    if (st == FIRN_OK) st = heat_cells(job, &t, f, heat, sizeof heat, error);
    if (st != FIRN_OK) return st;
    if (!add_line(s,
                  "%lld,%.9g,%lld,%lld,%lld,%.6g,%.6g,%s,%.6g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.6g,"
                  "%.6g,%.3f,%s,%lld,%.3g,%s\n",
                  (long long)f->frame, firn_sim_time(sim), (long long)f->particles,
                  (long long)r->steps, (long long)r->retries, r->dt_least, r->dt,
                  firn_limit_name(r->limit), t.max_speed, t.kinetic, t.elastic, t.gravitational,
                  t.momentum[0], t.momentum[1], t.momentum[2], t.min_J, t.max_J, f->seconds,
                  firn_integrator_name(r->integrator), (long long)r->iterations, r->residual,
                  heat)) {
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    firn_output out;
    st = firn_output_open(&out, s->path, error);
    if (st != FIRN_OK) return st;
    firn_output_write(&out, s->text, s->used);
    return firn_output_commit(&out, error);
}

/* ---- the loop ---- */

typedef struct run {
    const firn_scene *scene;
    const firn_run_options *options;
    const firn_run_hooks *hooks;
    firn_job job;
    writer writer;
    statistics statistics;
    firn_targets targets;
    int64_t frame;     /* under way */
    int64_t particles; /* at the end of the one before */
    bool resumed;
} run;

__attribute__((format(printf, 2, 3))) static void note(const run *r, const char *format, ...)
{
    if (!r->hooks->note) return;
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    r->hooks->note(r->hooks->user_data, text);
}

static void pass_log(void *user_data, firn_log_level level, const char *subject, const char *text)
{
    if (level != FIRN_LOG_DETAIL) note(user_data, "%s: %s", subject, text);
}

static bool asked_to_stop(const run *r)
{
    return r->hooks->stop && r->hooks->stop(r->hooks->user_data);
}

/* A frame that is cut short is computed again on resume, so it is only cut when the one before is on
 * disk; else it is finished first. */
static int after_step(void *user_data, const firn_report *report)
{
    run *r = user_data;
    if (r->hooks->step) r->hooks->step(r->hooks->user_data, r->frame, report);
    if (!asked_to_stop(r)) return 0;
    /* A failure is kept, and comes out at the end. */
    return writer_finish(&r->writer, NULL) == FIRN_OK && r->writer.saved == r->frame - 1;
}

/* Whether a line of the scene is about particles that are there already, which a resumed run leaves as they
 * are: what an object was filled with, or what particles have from their material. */
static bool is_past(const firn_scene *scene, const char *line, size_t length)
{
    static const char *const lasting[] = {"name", "material", "contact", "body", "emit", NULL};
    char key[80];
    int32_t index = 0;
    const firn_param *p;
    if (sscanf(line, "objects[%9" SCNd32 "].%79[a-z_]", &index, key) == 2) {
        for (int i = 0; lasting[i]; i++) {
            if (strcmp(key, lasting[i]) == 0) return false;
        }
        const firn_value *entry = scene->objects_value ? scene->objects_value->child : NULL;
        while (entry && index-- > 0) entry = entry->next;
        /* Of copies the first tells. */
        for (int32_t i = 0; entry && i < scene->object_count; i++) {
            if (scene->object[i].where == entry) return !scene->object[i].emits;
        }
        return false;
    }
    for (int32_t i = 0; i < scene->material_count; i++) {
        char path[200];
        snprintf(path, sizeof path, "materials.%.150s.", scene->material[i].name);
        const size_t n = strlen(path);
        if (n >= length || strncmp(line, path, n) != 0) continue;
        for (int32_t k = 0; (p = firn_material_param(k)); k++) {
            const size_t m = strlen(p->name);
            if (firn_job_is_in_particles(p) && strncmp(line + n, p->name, m) == 0 &&
                line[n + m] == ':') {
                return true;
            }
        }
    }
    return false;
}

/* Says which lines differ between the checkpoint's scene and this one. */
static void say_changes(const run *r, const char *before)
{
    char *now = firn_scene_lines(r->scene);
    const char *sides[2] = {before, now};
    for (int side = 0; now && side < 2; side++) {
        const char *p = sides[side], *other = sides[1 - side];
        while (*p) {
            const size_t n = strcspn(p, "\n");
            const char *q = other;
            while (*q && !(strcspn(q, "\n") == n && strncmp(q, p, n) == 0)) {
                q += strcspn(q, "\n");
                q += *q == '\n';
            }
            if (!*q && n > 0) {
                note(r, "scene %s %.*s%s", side ? "has now" : "had", (int)n, p,
                     side && is_past(r->scene, p, n)
                         ? ": no effect on the particles there are; run it from the start"
                         : "");
            }
            p += n;
            p += *p == '\n';
        }
    }
    free(now);
}

static firn_status make_job(run *r, const char *isa, firn_error *error)
{
    const firn_job_options o = {.threads = r->options->threads,
                                .isa = isa,
                                .log = {pass_log, r},
                                .step_hook = after_step,
                                .step_user_data = r};
    const firn_status st = firn_job_init(&r->job, r->scene, &o, error);
    const double speed = r->scene->heat_value ? r->scene->heat.def.speed : 1;
    if (st == FIRN_OK && speed != 1) {
        note(r, "heat runs %g times %s than motion", speed > 1 ? speed : 1 / speed,
             speed > 1 ? "faster" : "slower");
    }
    /* While the simulation steps, compressing has a quarter of its threads: with the attributes of an
     * ordinary file it takes about a quarter of the work of a frame. */
    if (st == FIRN_OK) r->writer.threads = (firn_sim_get_info(r->job.sim).threads + 3) / 4;
    return st;
}

/* What an entry of a list is called: its name, or its number from 0. */
static const char *called(const char *name, int32_t index, char number[24])
{
    snprintf(number, 24, "%d", index);
    return name ? name : number;
}

/* Grains that hardly rub are rarely meant. */
static void hint_at_degrees(const run *r)
{
    for (int32_t i = 0; i < r->scene->material_count; i++) {
        const firn_scene_material *m = &r->scene->material[i];
        if (!firn_section_given(&firn_section_material, m, "friction_angle")) continue;
        if (m->def.friction_angle >= 3) continue;
        const firn_value *angle = firn_value_get(m->where, "friction_angle");
        char place[FIRN_LOCATION_SIZE];
        note(r, "%s: friction_angle %g of material %s is nearly 0: angles are in degrees",
             firn_value_location(angle, place), m->def.friction_angle, m->name);
    }
}

/* A temperature so low that degrees Celsius may be meant; 77K says that they are not. */
static void hint_at_low(const run *r, const firn_param *row, const firn_value *v)
{
    char *end = NULL, place[FIRN_LOCATION_SIZE];
    if (v->kind != FIRN_SCALAR || !(strtod(v->text, &end) < 200) || end == v->text || *end) return;
    note(r, "%s: %s %s is in kelvin: for degrees Celsius write %sC", firn_value_location(v, place),
         row->name, v->text, v->text);
}

static void hint_at_kelvin(const run *r, const firn_section *section, const firn_value *map)
{
    const firn_param *row;
    for (int i = 0; (row = firn_section_row(section, i, NULL)); i++) {
        const firn_value *v = row->kind == FIRN_TEMPERATURE ? firn_value_get(map, row->name) : NULL;
        const firn_value *keys = v ? firn_value_get(v, "keys") : NULL;
        if (v) hint_at_low(r, row, v);
        for (const firn_value *k = keys ? keys->child : NULL; k; k = k->next)
            hint_at_low(r, row, k);
    }
}

static void hint_at_heat(const run *r)
{
    const firn_scene *scene = r->scene;
    hint_at_kelvin(r, &firn_section_heat, scene->heat_value);
    for (int32_t i = 0; i < scene->material_count; i++) {
        const firn_scene_material *m = &scene->material[i];
        char place[FIRN_LOCATION_SIZE];
        hint_at_kelvin(r, &firn_section_material, m->where);
        if (!firn_law_get_info(m->def.law).melts || scene->heat_value) continue;
        note(r, "%s: material %s stays as it is, as the scene has no heat; add heat: {}",
             firn_value_location(m->where, place), m->name);
    }
    for (int32_t i = 0; i < scene->object_count; i++) {
        hint_at_kelvin(r, &firn_section_object, scene->object[i].where);
    }
    for (int32_t i = 0; i < scene->collider_count; i++) {
        hint_at_kelvin(r, &firn_section_collider, scene->collider[i].where);
    }
}

/* Fills, and says what each object lost to those before it, and what of it begins where it cannot be. */
static firn_status fill_job(run *r, firn_error *error)
{
    const firn_scene *scene = r->scene;
    const firn_status st = firn_job_fill(&r->job, error);
    if (st == FIRN_OK) hint_at_degrees(r);
    if (st == FIRN_OK) hint_at_heat(r);
    for (int32_t i = 0; i < scene->object_count && st == FIRN_OK; i++) {
        const firn_job_object *o = &r->job.object[i];
        const firn_value *where = scene->object[i].where;
        char number[24], other[24], place[FIRN_LOCATION_SIZE];
        const char *name = called(scene->object[i].name, i, number);
        if (o->dropped > 0) {
            note(r, "object %s: %lld of %lld particles left out: earlier objects take their space",
                 name, (long long)o->dropped, (long long)(o->dropped + o->particles));
        }
        if (o->inside > 0) {
            note(r, "%s: object %s: %lld of %lld particles start inside collider %s%s",
                 firn_value_location(where, place), name, (long long)o->inside,
                 (long long)o->particles,
                 called(scene->collider[o->collider].name, o->collider, other),
                 o->put_out ? ", which moves: they are put outside, behind it" : "");
        }
        if (o->outside > 0) {
            note(r, "%s: object %s: %lld of %lld particles start outside the domain",
                 firn_value_location(where, place), name, (long long)o->outside,
                 (long long)o->particles);
        }
    }
    return st;
}

/* From a checkpoint if there is one to go on from, else by filling. */
static firn_status begin(run *r, firn_error *error)
{
    firn_checkpoint c = {.frame = INT64_MIN};
    r->frame = r->scene->frames.start;
    if (r->options->resume) {
        char notes[2048];
        const firn_status found = firn_checkpoint_find(
            r->targets.folder, r->scene->name, r->options->last, &c, notes, sizeof notes, error);
        if (found != FIRN_OK) return found;
        for (char *p = notes; *p; p += strcspn(p, "\n"), p += *p == '\n') {
            note(r, "%.*s; trying an older one", (int)strcspn(p, "\n"), p);
        }
        if (c.frame == INT64_MIN)
            note(r, "no checkpoint in %s: starting from the first frame", r->targets.folder);
    }
    if (c.frame == INT64_MIN) {
        firn_status st = make_job(r, r->options->isa, error);
        return st == FIRN_OK ? fill_job(r, error) : st;
    }
    if (r->options->isa && strcmp(r->options->isa, c.isa) != 0) {
        note(r, "the checkpoint was computed with %s: with %s the results will differ", c.isa,
             r->options->isa);
    }
    firn_status st = make_job(r, r->options->isa ? r->options->isa : c.isa, error);
    if (st == FIRN_OK) st = firn_checkpoint_load(&c, &r->job, error);
    const double due = (double)(c.frame - r->scene->frames.start) / r->scene->frames.fps;
    if (st == FIRN_OK && fabs(firn_sim_time(r->job.sim) - due) > 1e-6 * fmax(due, 1)) {
        st = firn_fail(
            error, FIRN_INVALID,
            "the checkpoint's frame %lld was at %g s and the scene has it at %g s: fps and "
            "start of frames cannot change; run it from the start",
            (long long)c.frame, firn_sim_time(r->job.sim), due);
    }
    if (st == FIRN_OK) {
        note(r, "continuing from frame %lld", (long long)c.frame);
        say_changes(r, c.scene);
        r->frame = r->writer.saved = c.frame;
        r->resumed = true;
    }
    firn_checkpoint_free(&c);
    return st;
}

/* Files, statistics, checkpoint and report of the frame just computed. */
static firn_status finish_frame(run *r, firn_run_frame *f, firn_error *error)
{
    firn_status st = FIRN_OK;
    f->particles = firn_sim_count(r->job.sim);
    if (f->particles == 0 && r->particles > 0) {
        note(r, "no particles are left at frame %lld", (long long)f->frame);
    }
    r->particles = f->particles;
    const int64_t every = r->scene->checkpoint.every;
    const bool due = every > 0 && ((f->frame - r->scene->frames.start) % every == 0 ||
                                   f->frame == r->options->last || asked_to_stop(r));
    /* The state comes last: a run that is cut off between the two would resume without them. */
    if (f->frame >= r->options->first && r->hooks->look) {
        st = r->hooks->look(r->hooks->look_data, &r->job, f->frame, error);
    }
    if (st == FIRN_OK) st = statistics_add(&r->statistics, &r->job, f, error);
    if (st == FIRN_OK)
        st = writer_start(&r->writer, &r->job, f->frame, f->frame >= r->options->first, due,
                          &f->files, error);
    if (st == FIRN_OK && r->options->hash) {
        f->has_hash = true;
        st = firn_sim_hash(r->job.sim, &f->hash, error);
    }
    /* Nothing is computed before it is sure that a frame and its state can be written, and that the
     * states of an earlier run are gone. */
    if (st == FIRN_OK && f->frame == f->first) st = writer_finish(&r->writer, error);
    if (st == FIRN_OK && r->hooks->frame) r->hooks->frame(r->hooks->user_data, f);
    return st;
}

static firn_status loop(run *r, firn_error *error)
{
    const firn_scene_frames *frames = &r->scene->frames;
    firn_run_frame f = {.frame = r->frame, .first = frames->start, .last = r->options->last};
    firn_status st = FIRN_OK;
    if (!r->resumed) st = finish_frame(r, &f, error); /* time zero */
    while (st == FIRN_OK && r->frame < r->options->last) {
        if (asked_to_stop(r)) {
            int64_t none;
            st = writer_finish(&r->writer, error); /* it says which state is saved */
            if (st == FIRN_OK && r->scene->checkpoint.every > 0 && r->writer.saved != r->frame)
                st = writer_start(&r->writer, &r->job, r->frame, false, true, &none, error);
            if (st != FIRN_OK) return st;
            return firn_fail(error, FIRN_STOPPED, "stopped after frame %lld", (long long)r->frame);
        }
        r->frame++;
        f = (firn_run_frame){.frame = r->frame, .first = frames->start, .last = r->options->last};
        const double begin_seconds = seconds_now();
        const double target = (double)(r->frame - frames->start) / frames->fps;
        st = firn_job_advance(&r->job, target, &f.report, error);
        if (st == FIRN_STOPPED) {
            return firn_fail(error, FIRN_STOPPED, "stopped within frame %lld", (long long)r->frame);
        }
        f.seconds = seconds_now() - begin_seconds;
        f.heat_seconds = f.report.phase_seconds[FIRN_PHASE_HEAT];
        if (f.report.steps) f.dt = 1 / (frames->fps * (double)f.report.steps);
        if (st == FIRN_OK) st = finish_frame(r, &f, error);
    }
    return st;
}

/* Before the first step is spent, and after all that the scene could have wrong. */
static firn_status try_outputs(run *r, firn_error *error)
{
    char doubt[512] = "";
    const int64_t next = r->frame + r->resumed;
    firn_needs needs;
    firn_status st = firn_needs_find(&r->job, r->targets.folder,
                                     next > r->options->first ? next : r->options->first,
                                     r->options->last, &needs, error);
    if (st == FIRN_OK) st = firn_targets_try(&r->targets, r->scene, error);
    if (st == FIRN_OK) st = firn_needs_check(&needs, doubt, sizeof doubt, error);
    if (doubt[0]) note(r, "%s", doubt);
    if (st == FIRN_OK) st = firn_targets_lock(&r->targets, r->scene, doubt, sizeof doubt, error);
    if (st == FIRN_OK && doubt[0]) note(r, "%s", doubt);
    if (st == FIRN_OK) {
        const int64_t resumed = r->resumed ? r->frame : INT64_MIN;
        st = sequences_open(&r->writer, resumed, doubt, sizeof doubt, error);
        if (st == FIRN_OK && doubt[0] && r->frame >= r->options->first) note(r, "%s", doubt);
    }
    firn_needs_free(&needs);
    return st;
}

static firn_status open_run(run *r, firn_error *error)
{
    const firn_status st = firn_targets_init(&r->targets, r->scene, error);
    r->writer = (writer){.scene = r->scene, .folder = r->targets.folder, .saved = INT64_MIN};
    return st == FIRN_OK ? check_outputs(r->scene, error) : st;
}

static const firn_run_hooks no_hooks = {0};

static firn_status check_run(const firn_scene *scene, const firn_run_options *options,
                             firn_error *error)
{
    FIRN_REQUIRE(scene, error);
    FIRN_REQUIRE(options, error);
    const firn_scene_frames *f = &scene->frames;
    if (options->first >= f->start && options->first <= options->last && options->last <= f->end) {
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_INVALID,
                     "first %lld and last %lld must be frames of the scene, %lld to %lld",
                     (long long)options->first, (long long)options->last, (long long)f->start,
                     (long long)f->end);
}

firn_status firn_run_check(const firn_scene *scene, const firn_run_options *options,
                           firn_error *error)
{
    firn_status st = check_run(scene, options, error);
    firn_targets targets = {0};
    if (st == FIRN_OK) st = firn_targets_init(&targets, scene, error);
    firn_targets_free(&targets);
    if (st == FIRN_OK) st = check_outputs(scene, error);
    firn_job job = {0};
    const firn_job_options how = {.threads = options->threads, .isa = options->isa};
    if (st == FIRN_OK) st = firn_job_init(&job, scene, &how, error);
    firn_job_deinit(&job);
    firn_sources sources = {0};
    if (st == FIRN_OK) st = firn_sources_open(&sources, scene, error);
    firn_sources_close(&sources);
    return st;
}

firn_status firn_run(const firn_scene *scene, const firn_run_options *options,
                     const firn_run_hooks *hooks, firn_error *error)
{
    firn_status st = check_run(scene, options, error);
    if (st != FIRN_OK) return st;
    run r = {.scene = scene, .options = options, .hooks = hooks ? hooks : &no_hooks};
    st = open_run(&r, error);
    if (st == FIRN_OK) st = begin(&r, error);
    if (st == FIRN_OK) st = check_attributes(&r.job, error);
    if (st == FIRN_OK) st = try_outputs(&r, error);
    if (st == FIRN_OK) st = statistics_open(&r.statistics, scene, r.writer.saved, error);
    if (st == FIRN_OK) st = loop(&r, error);
    firn_error written = {0};
    firn_status files = writer_finish(&r.writer, &written);
    firn_error closed = {0};
    const firn_status sequences = sequences_close(&r.writer, &closed);
    if (files == FIRN_OK && sequences != FIRN_OK) {
        files = sequences;
        written = closed;
    }
    if (files != FIRN_OK && (st == FIRN_OK || st == FIRN_STOPPED)) {
        st = files;
        if (error) *error = written;
    }
    firn_job_deinit(&r.job);
    free(r.statistics.text);
    firn_targets_free(&r.targets);
    return st;
}

static const double STEADY_LEAST = 0.6, STEADY_MOST = 2, MOVING_LEAST = 0.3, MOVING_MOST = 6;

/* Between which numbers the substeps will be. Stiffness limits steps by hardly less later, and by more as
 * material packs or is pressed; what is limited by motion may come to rest, or become faster. The factors hold
 * for the scenes of the collection, see doc/scenes.md. */
static void find_range(const firn_scene *scene, const firn_report *report, firn_plan *plan)
{
    const bool steady = report->integrator == FIRN_EXPLICIT && !scene->heat_value &&
                        (report->limit == FIRN_LIMIT_WAVE || report->limit == FIRN_LIMIT_PARTICLE ||
                         report->limit == FIRN_LIMIT_VISCOSITY);
    const bool fixed = report->limit == FIRN_LIMIT_FIXED;
    plan->steps_least = fmax(floor((fixed    ? 1
                                    : steady ? STEADY_LEAST
                                             : MOVING_LEAST) *
                                   plan->steps),
                             (double)(plan->frames - 1));
    plan->steps_most = ceil((fixed    ? 1.1
                             : steady ? STEADY_MOST
                                      : MOVING_MOST) *
                            plan->stiffening * plan->steps);
}

firn_status firn_run_plan(const firn_scene *scene, const firn_run_options *options,
                          const firn_run_hooks *hooks, firn_plan *plan, firn_error *error)
{
    FIRN_REQUIRE(plan, error);
    *plan = (firn_plan){0};
    firn_status st = check_run(scene, options, error);
    if (st != FIRN_OK) return st;
    run r = {.scene = scene, .options = options, .hooks = hooks ? hooks : &no_hooks};
    st = open_run(&r, error);
    if (st == FIRN_OK) st = make_job(&r, options->isa, error);
    if (st == FIRN_OK) st = fill_job(&r, error);
    plan->frames = options->last - scene->frames.start + 1;
    plan->memory_most = firn_memory_most();
    if (st != FIRN_OK && r.job.scene && !firn_job_fits(&r.job)) {
        plan->particles = plan->particles_end = (int64_t)fmin(r.job.expected, 0x1p62);
        plan->memory = r.job.expected * firn_particle_bytes(scene);
        firn_job_deinit(&r.job);
        firn_targets_free(&r.targets);
        return FIRN_OK;
    }
    if (st == FIRN_OK) {
        plan->particles = firn_sim_count(r.job.sim);
        plan->particles_end =
            firn_job_count_at(&r.job, (double)(plan->frames - 1) / scene->frames.fps);
        plan->memory = firn_particle_bytes(scene) * (double)plan->particles_end;
        double bytes = 0; /* of a state on its way to the disk */
        if (scene->checkpoint.every > 0) {
            st = firn_checkpoint_size(&r.job, plan->particles_end, &bytes, error);
        }
        plan->memory += bytes;
    }
    firn_needs needs = {0};
    if (st == FIRN_OK) st = check_attributes(&r.job, error);
    if (st == FIRN_OK) {
        st =
            firn_needs_find(&r.job, r.targets.folder, options->first, options->last, &needs, error);
    }
    plan->disk_least = needs.least;
    plan->disk_most = needs.most;
    firn_needs_free(&needs);
    double spent = 0, particles = 0;
    if (st == FIRN_OK) {
        particles = firn_frames_particles(&r.job, scene->frames.start, options->last, 1);
        if (plan->particles == 0) st = firn_job_try_emitters(&r.job, error);
    }
    firn_report report = {0};
    if (st == FIRN_OK) st = firn_sim_step(r.job.sim, &report, error); /* finds dt */
    /* As long as heat waits, or as a run's advances are: the last step of each is what is left. */
    const double frame = 1 / scene->frames.fps;
    const double stretch = !scene->heat_value         ? fmin(25 * report.dt, frame)
                           : scene->heat.def.step > 0 ? fmax(scene->heat.def.step, report.dt)
                                                      : fmin(25 * report.dt, 8e-3);
    const double threads = st == FIRN_OK ? (double)firn_sim_get_info(r.job.sim).threads : 1;
    double tried = 0, slowest = 0, busy = 0;
    for (int i = 0; i < 4 && tried < 1 && st == FIRN_OK; i++) {
        const double mark = seconds_now(), used = seconds_used();
        st = firn_sim_advance(r.job.sim, stretch, &report, error);
        if (st != FIRN_OK || report.steps == 0) break;
        const double took = seconds_now() - mark, each = took / (double)report.steps,
                     worked = (seconds_used() - used) / threads / (double)report.steps;
        spent = i == 0 ? each : fmin(spent, each);
        busy = i == 0 ? worked : fmin(busy, worked);
        slowest = fmax(slowest, each);
        tried += took;
        plan->dt = stretch / (double)report.steps;
        plan->cells = report.blocks * (scene->dimension == 3 ? 64 : 16);
    }
    if (st == FIRN_OK && plan->dt > 0)
        st = firn_sim_step(r.job.sim, &report, error); /* its limit */
    if (st == FIRN_OK && plan->dt > 0) {
        const firn_sim_info info = firn_sim_get_info(r.job.sim);
        plan->transfer = firn_transfer_name(scene->simulation.def.transfer);
        plan->integrator = firn_integrator_name(report.integrator);
        plan->pressure = info.pressure == FIRN_PRESSURE_PROJECTION ? "projection" : "none";
        plan->isa = info.isa;
        plan->limit = firn_limit_name(report.limit);
        const double length = (double)(plan->frames - 1) / scene->frames.fps;
        plan->steps = ceil(length / plan->dt);
        plan->stiffening = 1;
        const bool bound = report.integrator == FIRN_EXPLICIT && report.limit != FIRN_LIMIT_FIXED;
        for (int32_t i = 0; bound && i < scene->material_count; i++) {
            const firn_material_def *m = &scene->material[i].def;
            if (!firn_law_get_info(m->law).packs) continue;
            const double most = fmin(exp(m->hardening), m->hardening_cap); /* of young */
            plan->stiffening = fmax(plan->stiffening, sqrt(most));
        }
        find_range(scene, &report, plan);
        const double few = 1000; /* particles: steps of fewer take hardly less */
        const double usual = fmax(particles / (double)plan->frames, few),
                     now = fmax((double)firn_sim_count(r.job.sim), few);
        plan->seconds = plan->steps * spent * usual / now;
        plan->seconds_least = plan->steps_least * fmin(busy, spent) * usual / now;
        plan->seconds_most = plan->steps_most * slowest * usual / now;
    }
    firn_job_deinit(&r.job);
    firn_targets_free(&r.targets);
    return st;
}
