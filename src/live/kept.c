/* States of frames in memory, for going back.
 *
 * A frame is kept as it is left: with what tools and changes made of it. When the states grow beyond their
 * limit every other one goes, and from then on every other frame is kept; those between are computed again
 * from the one before, in the same parts. The first frame always stays. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "live/live.h"

static void drop_state(firn_kept *kept, firn_kept_frame *f)
{
    kept->bytes -= f->state.size;
    firn_bytes_free(&f->state);
    free(f->emission);
    f->emission = NULL;
}

static void forget_from(firn_kept *kept, int64_t index)
{
    for (; kept->count > index; kept->count--) drop_state(kept, &kept->frame[kept->count - 1]);
}

static int64_t index_of(const firn_live *live, int64_t frame)
{
    return frame - live->scene->frames.start;
}

void firn_live_forget_later(firn_live *live)
{
    forget_from(&live->kept, index_of(live, firn_live_frame(live, NULL)) + 1);
}

void firn_live_alter(firn_live *live)
{
    live->altered = true;
    firn_live_forget_later(live);
}

void firn_live_forget_all(firn_live *live)
{
    forget_from(&live->kept, 0);
    free(live->kept.frame);
    live->kept = (firn_kept){.stride = 1};
}

int64_t firn_live_last_kept(const firn_live *live)
{
    const int64_t last = live->scene->frames.start + live->kept.count - 1;
    const int64_t now = firn_live_frame(live, NULL);
    return last > now ? last : now;
}

/* ---- saving ---- */

typedef struct growing {
    firn_bytes bytes;
    size_t room;
} growing;

static int append(void *user_data, const void *data, size_t size)
{
    growing *g = user_data;
    if (size > g->room - g->bytes.size) {
        const size_t room = g->room + g->room / 2 + size;
        uint8_t *grown = realloc(g->bytes.data, room);
        if (!grown) return 1;
        g->bytes.data = grown;
        g->room = room;
    }
    memcpy(g->bytes.data + g->bytes.size, data, size);
    g->bytes.size += size;
    return 0;
}

/* Where there is no memory the frame is not kept. */
static void save(firn_live *live, firn_kept_frame *f)
{
    const firn_job *job = live->job;
    const size_t objects = (size_t)job->scene->object_count, usual = 160; /* bytes of a particle */
    const size_t room = 4096 + usual * (size_t)firn_sim_count(job->sim);
    growing g = {.bytes.data = malloc(room), .room = room};
    firn_emission *emission = malloc((objects + 1) * sizeof *emission);
    if (!g.bytes.data || !emission || firn_sim_save(job->sim, append, &g, NULL) != FIRN_OK) {
        firn_bytes_free(&g.bytes);
        free(emission);
        return;
    }
    uint8_t *fitted = realloc(g.bytes.data, g.bytes.size);
    if (fitted) g.bytes.data = fitted;
    for (size_t i = 0; i < objects; i++) emission[i] = job->object[i].emission;
    f->state = g.bytes;
    f->emission = emission;
    live->kept.bytes += g.bytes.size;
}

static bool make_room(firn_kept *kept, int64_t count)
{
    if (count <= kept->room) return true;
    const int64_t room = 2 * count + 64;
    firn_kept_frame *grown = realloc(kept->frame, (size_t)room * sizeof *grown);
    if (!grown) return false;
    memset(grown + kept->room, 0, (size_t)(room - kept->room) * sizeof *grown);
    kept->frame = grown;
    kept->room = room;
    return true;
}

void firn_live_keep(firn_live *live)
{
    firn_kept *kept = &live->kept;
    const int64_t index = index_of(live, firn_live_frame(live, NULL));
    if (!firn_live_at_frame(live) || index < 0 || !make_room(kept, index + 1)) return;
    for (; kept->count <= index; kept->count++) {
        kept->frame[kept->count] = (firn_kept_frame){0};
    }
    firn_kept_frame *f = &kept->frame[index];
    const bool altered = live->altered;
    if (altered) drop_state(kept, f);
    live->altered = false;
    if (f->state.data || (index % kept->stride != 0 && !altered)) return;
    save(live, f);
    while (kept->bytes > live->options.state_bytes && kept->stride < kept->count) {
        kept->stride *= 2;
        for (int64_t i = 0; i < kept->count; i++) {
            if (i % kept->stride != 0) drop_state(kept, &kept->frame[i]);
        }
    }
}

/* ---- going back ---- */

static int take(void *user_data, void *data, size_t size)
{
    firn_bytes *left = user_data;
    if (size > left->size) return 1;
    memcpy(data, left->data, size);
    left->data += size;
    left->size -= size;
    return 0;
}

/* A new job at a kept state. What particle files brought along moves over to it, once all has worked. */
static firn_status load(firn_live *live, const firn_kept_frame *f, firn_error *error)
{
    const firn_job_options options = firn_live_job_options(live);
    firn_job *job = NULL;
    firn_bytes left = f->state;
    firn_status st = firn_job_create(live->scene, &options, &job, error);
    if (st == FIRN_OK) st = firn_sim_load(job->sim, take, &left, error);
    if (st == FIRN_OK) st = firn_live_reapply(live, job, error);
    if (st == FIRN_OK) st = firn_props_resume(&job->props, job->sim, error);
    if (st != FIRN_OK) {
        firn_job_destroy(job);
        return st;
    }
    for (int32_t i = 0; i < live->scene->object_count; i++) {
        firn_job_object *to = &job->object[i], *from = &live->job->object[i];
        const firn_stream stream = to->stream, old = from->stream;
        const firn_emission fresh = to->emission, *kept = &f->emission[i];
        firn_points_free(&to->carried);
        *to = *from;
        *from = (firn_job_object){.stream = old};
        to->stream = stream;
        to->emission = kept->emitted > 0 || kept->layer > 0 ? *kept : fresh;
    }
    job->filled = true;
    firn_job_destroy(live->job);
    live->job = job;
    return firn_emitters_open(job, error);
}

firn_status firn_live_rewind(firn_live *live, int64_t frame, firn_error *error)
{
    const int64_t now = firn_live_frame(live, NULL);
    firn_live_keep(live);
    int64_t index = index_of(live, frame);
    if (index >= live->kept.count) index = live->kept.count - 1;
    while (index >= 0 && !live->kept.frame[index].state.data) index--;
    const bool near = firn_live_at_frame(live) && now <= frame && index_of(live, now) >= index;
    if (near) return FIRN_OK;
    if (index < 0)
        return firn_fail(error, FIRN_INVALID, "there was no memory to keep earlier frames");
    const firn_status st = load(live, &live->kept.frame[index], error);
    if (st != FIRN_OK) return st;
    live->altered = false;
    live->tags_count = -1;
    live->report = (firn_report){0};
    live->steps = 0;
    live->seconds = live->simulated = 0;
    return FIRN_OK;
}
