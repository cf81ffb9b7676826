/* Emitters at work. A layer of a stream is added once all of it has entered, and what of it has entered whenever the
 * job stops for a frame. Particles are where their flight has taken them since, so counts and flows do not depend on
 * where the job stops; bytes do. */
#include "run/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <firn/host.h>

#include "base/error.h"
#include "collider/collider.h"

static const double rounding = 1e-6; /* particles: those due at a time itself have entered */

/* ---- the stream of an emitter ---- */

/* Layers that are added at once: a cell's worth where steps may cross a cell. */
static int64_t layers_at_once(const firn_job *job, const firn_stream *s)
{
    const firn_sim_def *def = &job->scene->simulation.def;
    const double thickness = s->count * s->volume / s->area;
    const bool large =
        def->pressure == FIRN_PRESSURE_PROJECTION || def->integrator != FIRN_EXPLICIT;
    return large ? (int64_t)fmax(floor(job->scene->cell_size / thickness + rounding), 1) : 1;
}

/* Of what an object emits, kg/m3; where it varies, about the mean. */
static double density_of(const firn_job *job, const firn_scene_object *o)
{
    const firn_batch plain = {0};
    if (firn_section_given(&firn_section_object, o, "density")) return o->density;
    return job->scene->material[o->material_index].def.density /
           firn_batch_rest_ratio(&plain, job->scene, o, 0);
}

/* A flow or an amount as a volume, m3 or per second. */
static double volume_of(const firn_job *job, const firn_scene_object *o,
                        const firn_scene_quantity *q)
{
    return q->measure == FIRN_MASS_OF ? q->value / density_of(job, o) : q->value;
}

/* What keys the flow, and the value at which the stream is as its definition says; NULL: nothing does. */
static const firn_track *keys_of(const firn_scene_object *o, double *whole)
{
    const firn_scene_emit *e = &o->emit;
    *whole = 1;
    if (e->speed_keys.count == 0) return e->rate_keys.count ? &e->rate_keys : NULL;
    for (int32_t k = 0; k < e->speed_keys.count; k++) {
        *whole = k ? fmax(*whole, e->speed_keys.values[k]) : e->speed_keys.values[0];
    }
    return &e->speed_keys;
}

/* The part of the flow that enters at all times, apart from keys. */
static double rate_of(const firn_scene_object *o)
{
    return o->emit.rate_keys.count ? 1 : o->emit.rate;
}

/* Whether the flow says the speed, at all times. */
static bool says_speed(const firn_scene_object *o)
{
    return o->emit.direction_value && o->emit.speed == 0;
}

/* The stream at the time that its layer begins; without particles where its mesh is hidden, and after the end. */
static firn_status open_stream(firn_job *job, int32_t index, firn_error *error)
{
    const firn_scene_object *o = &job->scene->object[index];
    firn_job_object *w = &job->object[index];
    const double begin = w->emission.begin;
    firn_status st = firn_sources_move(&job->sources, index, begin, error);
    if (st != FIRN_OK) return st;
    firn_stream_close(&w->stream);
    w->opened = begin;
    if (begin > o->emit.end) return FIRN_OK;
    const firn_region *region = firn_sources_region(&job->sources, index);
    if (!region) return FIRN_OK;
    double whole;
    (void)keys_of(o, &whole);
    firn_stream_def def = {.speed = o->emit.speed_keys.count ? whole : o->emit.speed,
                           .flow = volume_of(job, o, &o->emit.flow),
                           .spread = o->emit.spread,
                           .speed_spread = o->emit.speed_spread,
                           .separation = firn_sources_separation(&job->sources, index),
                           .pattern = (firn_pattern)o->pattern,
                           .seed = firn_sources_seed(&job->sources, index)};
    const size_t vector = (size_t)job->scene->dimension * sizeof *def.velocity;
    memcpy(def.velocity, o->velocity, vector);
    memcpy(def.direction, o->emit.direction, vector);
    firn_error inner = {0};
    st = firn_stream_open(&w->stream, region, &def, &inner);
    return st == FIRN_OK ? st : firn_value_pass(o->emit_value, &inner, error);
}

/* The same, unless it is that already: what comes next must be the same after a resume. */
static firn_status follow(firn_job *job, int32_t index, firn_error *error)
{
    const firn_job_object *w = &job->object[index];
    const bool stale = firn_sources_moves(&job->sources, index) && w->opened != w->emission.begin;
    return stale ? open_stream(job, index, error) : FIRN_OK;
}

/* What a flow or a direction comes to. */
static void tell(const firn_job *job, int32_t index)
{
    const firn_scene_object *o = &job->scene->object[index];
    const firn_stream *s = &job->object[index].stream;
    if (!job->log.write || s->count == 0 || !(o->emit.flow_value || o->emit.direction_value))
        return;
    const double flow = s->count * s->volume / s->seconds;
    char text[200];
    snprintf(text, sizeof text, "%s%.4g kg/s (%.4g m3/s), %.4g particles/s at %.4g m/s",
             keys_of(o, &(double){0}) ? "up to " : "", flow * density_of(job, o) * rate_of(o),
             flow * rate_of(o), s->count / s->seconds * rate_of(o),
             s->speed * (says_speed(o) ? rate_of(o) : 1));
    job->log.write(job->log.user_data, FIRN_LOG_INFO, o->name ? o->name : "an emitter", text);
}

firn_status firn_emitters_open(firn_job *job, firn_error *error)
{
    enum { TELL = 8 }; /* of copies, a few are enough */
    firn_status st = FIRN_OK;
    int32_t told = 0;
    for (int32_t i = 0; i < job->scene->object_count && st == FIRN_OK; i++) {
        if (!job->scene->object[i].emits) continue;
        st = open_stream(job, i, error);
        if (st == FIRN_OK && told++ < TELL && job->object[i].emission.emitted == 0) tell(job, i);
    }
    return st;
}

/* How many particles are left of the amount, from the start of the layer under way on. */
static double left_of(const firn_job *job, int32_t index)
{
    const firn_scene_object *o = &job->scene->object[index];
    const firn_job_object *w = &job->object[index];
    const firn_emission *e = &w->emission;
    const firn_scene_quantity *amount = &o->emit.amount;
    double left = INFINITY;
    if (amount->measure == FIRN_COUNT_OF) left = amount->value - (double)(e->emitted - e->within);
    if (amount->measure == FIRN_MASS_OF || amount->measure == FIRN_VOLUME_OF) {
        left = rint((volume_of(job, o, amount) - e->given) / w->stream.volume);
    }
    return fmax(left, 0);
}

/* ---- when ---- */

/* Layers that enter from the time that the one under way began, to a later one. */
static double layers_by(const firn_job *job, int32_t index, double time)
{
    const firn_scene_object *o = &job->scene->object[index];
    const firn_job_object *w = &job->object[index];
    double whole, mean;
    const firn_track *keys = keys_of(o, &whole);
    const double layers = rate_of(o) * ((time - w->emission.begin) / w->stream.seconds);
    if (!keys || !(layers > 0)) return layers;
    firn_track_mean(keys, w->emission.begin, time, &mean);
    return layers * mean / whole;
}

/* When so many layers have entered, since the one under way began; INFINITY: never. */
static double time_of(const firn_job *job, int32_t index, double layers)
{
    enum { HALVES = 100 };
    const firn_scene_object *o = &job->scene->object[index];
    const firn_job_object *w = &job->object[index];
    double whole, value, low = w->emission.begin, high;
    const firn_track *keys = keys_of(o, &whole);
    const double seconds = w->stream.seconds / rate_of(o);
    if (!keys) return low + layers * seconds;
    int32_t k = 0;
    while (k < keys->count &&
           (keys->times[k] <= low || layers_by(job, index, keys->times[k]) < layers)) {
        low = fmax(low, keys->times[k++]);
    }
    high = k < keys->count ? keys->times[k] : INFINITY;
    if (isinf(high)) { /* from the last key on */
        const double left = layers - fmax(layers_by(job, index, low), 0);
        firn_track_sample(keys, low, &value);
        return value > 0 ? low + left * seconds * whole / value : INFINITY;
    }
    for (int i = 0; i < HALVES && low < high; i++) {
        const double middle = 0.5 * (low + high);
        if (!(middle > low && middle < high)) break;
        *(layers_by(job, index, middle) < layers ? &low : &high) = middle;
    }
    return high;
}

/* What the speed of a particle that enters at a time is, over that of the stream. */
static double pace_at(const firn_job *job, int32_t index, double time)
{
    const firn_scene_object *o = &job->scene->object[index];
    double whole, value = o->emit.rate;
    const firn_track *keys = keys_of(o, &whole);
    if (!says_speed(o) && o->emit.speed_keys.count == 0) return 1;
    if (keys) firn_track_sample(keys, time, &value);
    return value / whole;
}

/* How many particles of a stream enter by a time, from the start of the layer under way on. */
static double entered(const firn_job *job, int32_t index, double time)
{
    const double end = job->scene->object[index].emit.end,
                 layers = layers_by(job, index, fmin(time, end));
    return fmin(floor(fmax(layers, 0) * job->object[index].stream.count + 0.5 + rounding),
                left_of(job, index));
}

double firn_emitters_next(const firn_job *job, int32_t index)
{
    const firn_scene_object *o = &job->scene->object[index];
    const firn_job_object *w = &job->object[index];
    const firn_emission *e = &w->emission;
    if (!o->emits || e->begin > o->emit.end) return INFINITY;
    if (w->stream.count == 0) return e->begin; /* hidden: look again */
    if (entered(job, index, INFINITY) <= (double)e->within) return INFINITY;
    /* Nothing flies for longer than what fills the room takes for so many layers. */
    const int64_t layers = layers_at_once(job, &w->stream);
    const double first = ((double)e->within + 0.5) / w->stream.count,
                 flight = (double)layers * w->stream.full * w->stream.seconds,
                 full = time_of(job, index, (double)(layers - e->layer % layers));
    return fmin(fmin(full, time_of(job, index, first) + flight), o->emit.end);
}

int64_t firn_job_count_at(const firn_job *job, double time)
{
    double count = (double)firn_sim_count(job->sim);
    for (int32_t i = 0; i < job->scene->object_count; i++) {
        const firn_scene_object *o = &job->scene->object[i];
        const firn_job_object *w = &job->object[i];
        if (!o->emits || w->stream.count == 0) continue;
        count += fmax(entered(job, i, time) - (double)w->emission.within, 0);
    }
    return (int64_t)fmin(count, 0x1p62);
}

/* ---- particles ---- */

/* How deep below the surface the line through a place along the stream comes at most, m, up to `limit`. */
static double depth_of(const firn_job *job, int32_t index, const double from[3], double limit)
{
    const firn_stream *s = &job->object[index].stream;
    double most = 0;
    for (double at = 0; at <= s->extent && most < limit; at += 0.5 * s->def.separation) {
        double x[3];
        for (int a = 0; a < 3; a++) x[a] = from[a] + at * s->along[a];
        most = fmax(most, firn_sources_depth(&job->sources, index, x, limit));
    }
    return most;
}

/* How long it has flown by a time, s. */
static double flight_time(const firn_job *job, int32_t index, int64_t n, double time)
{
    const firn_job_object *w = &job->object[index];
    const double part = ((double)n + 0.5) / w->stream.count;
    double whole;
    if (keys_of(&job->scene->object[index], &whole)) {
        return fmax(time - time_of(job, index, part), 0);
    }
    const double seconds = w->stream.seconds / rate_of(&job->scene->object[index]);
    return fmax(time - w->emission.begin - part * seconds, 0);
}

/* Takes particles [first, first + b->count) of the layer along with the mesh, from when the layer began. */
static firn_status carry(const firn_job *job, int32_t index, int64_t first, firn_batch *b,
                         firn_error *error)
{
    const firn_job_object *w = &job->object[index];
    if (!firn_sources_moves(&job->sources, index)) return FIRN_OK;
    double *velocity = malloc((3 * (size_t)b->count + 1) * sizeof *velocity);
    if (!velocity) return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    const firn_status st =
        firn_sources_velocities(&job->sources, index, b->count, b->position, velocity, error);
    for (int64_t i = 0; i < 3 * b->count; i++) {
        const double part = ((double)(first + i / 3) + 0.5) / w->stream.count;
        b->position[i] += velocity[i] * (time_of(job, index, part) - w->emission.begin);
    }
    free(velocity);
    return st;
}

/* Where particles [first, first + b->count) of the layer enter, and how fast. */
static firn_status let_in(firn_job *job, int32_t index, int64_t first, firn_batch *b,
                          firn_error *error)
{
    const firn_scene *scene = job->scene;
    const firn_job_object *w = &job->object[index];
    firn_scene_object o = scene->object[index];
    firn_stream *s = &job->object[index].stream;
    const int dim = (int)scene->dimension;
    const size_t count = (size_t)b->count, vector = (size_t)dim * sizeof(double);
    b->position = malloc(count * vector);
    b->place = malloc(count * vector);
    b->volume = malloc(count * sizeof *b->volume);
    if (o.shell_value) b->depth = malloc(count * sizeof *b->depth);
    double *own = malloc(count * vector); /* velocities */
    if (!b->position || !b->place || !b->volume || (o.shell_value && !b->depth) || !own) {
        free(own);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    for (int64_t i = 0; i < b->count; i++) {
        const int32_t n = (int32_t)(first + i);
        const double gone = (w->emission.given + (n + 0.5) * s->volume) / s->area;
        const double pace = pace_at(job, index, time_of(job, index, (n + 0.5) / w->stream.count));
        double x[3], way[3], v[3];
        firn_stream_enter(s, w->emission.layer, n, x, way, v);
        memcpy(b->position + i * dim, x, vector);
        for (int a = 0; a < dim; a++) {
            own[i * dim + a] = pace * v[a];
            b->place[i * dim + a] = x[a] - gone * way[a];
        }
        b->volume[i] = s->volume;
        if (b->depth) b->depth[i] = depth_of(job, index, x, o.shell.thickness);
    }
    const firn_region *region = firn_sources_region(&job->sources, index);
    double center[3];
    for (int a = 0; a < 3; a++) center[a] = 0.5 * (region->low[a] + region->high[a]);
    memset(o.velocity, 0, sizeof o.velocity); /* the stream's own are instead of it */
    firn_status st = firn_sources_inherit(&job->sources, index, b, error);
    if (st == FIRN_OK) st = carry(job, index, first, b, error);
    for (int64_t i = 0; i < b->count * dim && b->velocity; i++) own[i] += b->velocity[i];
    free(b->velocity);
    b->velocity = own;
    return st == FIRN_OK ? firn_job_velocities(&o, dim, center, b, error) : st;
}

/* Takes a vector along as the emitter's group has turned since time 0. */
static void turn_along(const firn_posed_collider *now, const firn_posed_collider *start,
                       double v[3])
{
    double local[3], out[3];
    for (int a = 0; a < 3; a++) {
        local[a] = 0;
        for (int c = 0; c < 3; c++) local[a] += start->rotation[c][a] * v[c];
    }
    for (int a = 0; a < 3; a++) {
        out[a] = 0;
        for (int c = 0; c < 3; c++) out[a] += now->rotation[a][c] * local[c];
    }
    memcpy(v, out, sizeof out);
}

/* Takes a particle that enters at a time to where the emitter's group is by then, with the velocity of that. */
static void ride(const firn_scene *scene, const firn_scene_object *o, double time, double *position,
                 double *velocity, double *gradient)
{
    const int dim = (int)scene->dimension;
    firn_posed_collider start, now;
    firn_collider_pose(&o->rides->def, dim, 0, &start);
    firn_collider_pose(&o->rides->def, dim, time, &now);
    double x[3] = {0}, v[3] = {0}, surface[3];
    for (int a = 0; a < dim; a++) x[a] = position[a] - start.position[a];
    memcpy(v, velocity, (size_t)dim * sizeof *v);
    turn_along(&now, &start, x);
    turn_along(&now, &start, v);
    for (int a = 0; a < dim; a++) x[a] += now.position[a];
    firn_collider_surface_velocity(&now, x, surface);
    for (int a = 0; a < dim; a++) {
        position[a] = x[a];
        velocity[a] = v[a] + surface[a];
    }
    for (int side = 0; side < 2 && gradient; side++) { /* R G R^T: columns, then rows */
        for (int c = 0; c < dim; c++) {
            const int from = side ? dim * c : c, step = side ? 1 : dim;
            double g[3] = {0};
            for (int a = 0; a < dim; a++) g[a] = gradient[from + a * step];
            turn_along(&now, &start, g);
            for (int a = 0; a < dim; a++) gradient[from + a * step] = g[a];
        }
    }
}

/* Puts the particles of the layer from `first` to `last` as they are at a time into the queue. */
static firn_status add_part(firn_job *job, int32_t index, int64_t first, int64_t last, double time,
                            firn_queue *queue, firn_error *error)
{
    const firn_scene *scene = job->scene;
    const firn_scene_object *o = &scene->object[index];
    const int dim = (int)scene->dimension;
    firn_batch b = {.count = last - first};
    firn_status st = let_in(job, index, first, &b, error);
    for (int64_t i = 0; i < b.count && st == FIRN_OK; i++) {
        const double flown = flight_time(job, index, first + i, time);
        double *gradient = b.velocity_gradient ? &b.velocity_gradient[i * dim * dim] : NULL;
        if (o->rides) {
            ride(scene, o, time - flown, &b.position[i * dim], &b.velocity[i * dim], gradient);
        }
        double gravity[3];
        firn_sim_gravity(job->sim, time - flown, time, gravity);
        for (int a = 0; a < dim; a++) {
            double *x = &b.position[i * dim + a], *v = &b.velocity[i * dim + a];
            *x += flown * (*v + 0.5 * flown * gravity[a]);
            *v += flown * gravity[a];
        }
    }
    if (st == FIRN_OK) st = firn_queue_put(job, queue, index, &b, error);
    firn_batch_free(&b);
    return st;
}

/* Ends a layer where it is, to go on with one from where the mesh has moved to. */
static void cut_layer(firn_job *job, int32_t index)
{
    const firn_stream *s = &job->object[index].stream;
    firn_emission *e = &job->object[index].emission;
    const double next = time_of(job, index, (double)e->within / s->count);
    if (e->within == 0 || !isfinite(next)) return;
    e->layer++;
    e->begin = next;
    e->given += (double)e->within * s->volume;
    e->within = 0;
}

static firn_status emit(firn_job *job, int32_t index, double time, bool all, firn_queue *queue,
                        firn_error *error)
{
    const firn_scene *scene = job->scene;
    const firn_scene_object *o = &scene->object[index];
    firn_job_object *w = &job->object[index];
    firn_emission *e = &w->emission;
    /* Where the scene has changed, much may be overdue: it would lie on what is there. */
    if (w->stream.count > 0 &&
        layers_by(job, index, time) > (double)layers_at_once(job, &w->stream) + 1) {
        e->begin = time;
        e->layer++;
        e->within = 0;
    }
    firn_status st = FIRN_OK;
    while (st == FIRN_OK && e->begin <= time && e->begin <= o->emit.end) {
        const bool moves = firn_sources_moves(&job->sources, index);
        /* After a pause the mesh is elsewhere. */
        if (moves && e->within == 0 && w->stream.count > 0 && layers_by(job, index, time) == 0) {
            e->begin = time;
            e->layer++;
        }
        st = follow(job, index, error);
        if (st != FIRN_OK) return st;
        if (w->stream.count == 0) { /* hidden */
            e->begin = time + 1 / scene->frames.fps;
            e->layer++;
            break;
        }
        const int64_t due = (int64_t)fmin(entered(job, index, time), w->stream.count);
        if (due > e->within) {
            st = add_part(job, index, e->within, due, time, queue, error);
            e->emitted += due - e->within;
            e->within = due;
        }
        if (due < w->stream.count) break;
        e->layer++;
        const double next = time_of(job, index, 1);
        e->begin = isfinite(next) ? next : time;
        e->given += w->stream.count * w->stream.volume;
        e->within = 0;
    }
    const bool stale = all && w->stream.count > 0 && firn_sources_moves(&job->sources, index);
    if (st == FIRN_OK && stale) cut_layer(job, index);
    return st == FIRN_OK ? follow(job, index, error) : st;
}

/* Whether it may give less than there is room for. */
static bool is_thin(const firn_job *job, int32_t index)
{
    const firn_scene_emit *e = &job->scene->object[index].emit;
    return job->object[index].stream.full < 1 || e->rate < 1 || e->rate_keys.count > 0;
}

firn_status firn_emitters_emit(firn_job *job, double time, bool all, firn_error *error)
{
    const int32_t count = job->scene->object_count;
    firn_queue queue = {0};
    firn_status st = FIRN_OK;
    int32_t looked = 0;
    for (int32_t i = 0; i < count && st == FIRN_OK; i++, looked++) {
        firn_job_object *w = &job->object[i];
        w->before = w->emission;
        const double next = firn_emitters_next(job, i);
        /* Where it stops for one, thin streams give what they have, too, or many would stop it often. */
        const bool due = all || next <= time * (1 + 1e-9) || is_thin(job, i);
        if (!isinf(next) && due) st = emit(job, i, time, all, &queue, error);
    }
    if (st == FIRN_OK) st = firn_queue_add(job, &queue, error);
    for (int32_t i = 0; i < looked && st != FIRN_OK; i++) {
        job->object[i].emission = job->object[i].before; /* what was not added is still due */
    }
    firn_queue_free(&queue);
    return st;
}
