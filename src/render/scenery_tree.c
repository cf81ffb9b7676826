/* Which of many colliders are near a ray or a point: a tree of boxes around the balls that hold them.
 *
 * The tree only picks: what it finds is asked in the order of the list, as all would be without it, so that
 * pictures are the same to the byte. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "render/world.h"

enum { FEWEST = 32, WIDTH = 4 }; /* colliders worth a tree; boxes in a box */

typedef struct box {
    vec3 low, high;
} box;

struct firn_scenery_tree {
    int32_t *always, always_count; /* rooms and what has no end */
    int32_t *order, count;         /* the others: neighbours follow each other */
    box *box; /* those of one collider each, then those of WIDTH, and so on to one of all */
    int32_t level[20], levels; /* where each level begins */
};

static int32_t wide(const firn_scenery_tree *t, int32_t level)
{
    int32_t n = t->count;
    for (int32_t l = 0; l < level; l++) n = (n + WIDTH - 1) / WIDTH;
    return n;
}

/* Wider by what rounding may hide, and by how far from a surface a ray stops. */
static box box_around(const firn_scenery *s)
{
    const float far = f_max(fabsf(s->center.x), f_max(fabsf(s->center.y), fabsf(s->center.z)));
    const vec3 reach = v3_all(1.01f * s->radius + 1e-5f * far + 0.1f);
    return (box){v3_sub(s->center, reach), v3_add(s->center, reach)};
}

static box joined(box a, box b)
{
    return (box){
        v3(f_min(a.low.x, b.low.x), f_min(a.low.y, b.low.y), f_min(a.low.z, b.low.z)),
        v3(f_max(a.high.x, b.high.x), f_max(a.high.y, b.high.y), f_max(a.high.z, b.high.z))};
}

static void build(firn_scenery_tree *t, const firn_scenery *scenery)
{
    t->levels = 1;
    for (int32_t i = 0; i < t->count; i++) t->box[i] = box_around(&scenery[t->order[i]]);
    for (int32_t end = t->count, n = t->count; n > 1; t->levels++) {
        const box *below = t->box + t->level[t->levels - 1];
        t->level[t->levels] = end;
        for (int32_t i = 0; i < n; i++) {
            box *to = &t->box[end + i / WIDTH];
            *to = i % WIDTH ? joined(*to, below[i]) : below[i];
        }
        n = (n + WIDTH - 1) / WIDTH;
        end += n;
    }
}

/* Sorts along a curve through blocks of a 4096th of the whole. */
static void sort_by_place(firn_scenery_tree *t, const firn_scenery *scenery, uint64_t *key,
                          void *spare)
{
    box all = box_around(&scenery[t->order[0]]);
    for (int32_t i = 1; i < t->count; i++) all = joined(all, box_around(&scenery[t->order[i]]));
    const float scale = 4095 / v3_max(v3_sub(all.high, all.low));
    for (int32_t i = 0; i < t->count; i++) {
        const vec3 p = v3_scale(v3_sub(scenery[t->order[i]].center, all.low), scale);
        key[i] = firn_cloud_block_key((int32_t)p.x, (int32_t)p.y, (int32_t)p.z);
    }
    firn_cloud_sort(key, (uint32_t *)t->order, t->count, spare);
}

firn_status firn_scenery_tree_create(const firn_scenery *scenery, int32_t count,
                                     firn_scenery_tree **out, firn_error *error)
{
    *out = NULL;
    if (count <= FEWEST) return FIRN_OK;
    const size_t n = (size_t)count;
    firn_scenery_tree *t = calloc(1, sizeof *t);
    uint64_t *key = malloc(n * sizeof *key);
    void *spare = malloc(n * (sizeof *key + sizeof(uint32_t)));
    if (t) {
        t->always = malloc(n * sizeof *t->always);
        t->order = malloc(n * sizeof *t->order);
        t->box = malloc(2 * n * sizeof *t->box); /* n (1 + 1/4 + ...), rounded up */
    }
    const bool room = t && key && spare && t->always && t->order && t->box;
    if (room) {
        for (int32_t i = 0; i < count; i++) {
            const firn_scenery *s = &scenery[i];
            if (s->room || s->plane || !(s->radius < INFINITY)) {
                t->always[t->always_count++] = i;
            } else {
                t->order[t->count++] = i;
            }
        }
        if (t->count) {
            sort_by_place(t, scenery, key, spare);
            build(t, scenery);
        }
        *out = t;
    } else {
        firn_scenery_tree_destroy(t);
    }
    free(key);
    free(spare);
    return room ? FIRN_OK : firn_fail(error, FIRN_NO_MEMORY, "out of memory for colliders");
}

void firn_scenery_tree_destroy(firn_scenery_tree *tree)
{
    if (!tree) return;
    free(tree->always);
    free(tree->order);
    free(tree->box);
    free(tree);
}

/* ---- questions ---- */

/* A ray as far as `to`, or a ball of that size around its origin. */
typedef struct question {
    firn_ray ray;
    float to;
    bool ball;
} question;

static bool touches(const box *b, const question *q)
{
    const float low[3] = {b->low.x, b->low.y, b->low.z},
                high[3] = {b->high.x, b->high.y, b->high.z};
    const float o[3] = {q->ray.origin.x, q->ray.origin.y, q->ray.origin.z};
    const float d[3] = {q->ray.direction.x, q->ray.direction.y, q->ray.direction.z};
    float from = 0, to = q->to;
    for (int a = 0; a < 3; a++) {
        if (q->ball || fabsf(d[a]) < 1e-12f) {
            const float beside = q->ball ? q->to : 0;
            if (o[a] < low[a] - beside || o[a] > high[a] + beside) return false;
            continue;
        }
        const float in = ((d[a] > 0 ? low[a] : high[a]) - o[a]) / d[a],
                    out = ((d[a] > 0 ? high[a] : low[a]) - o[a]) / d[a];
        from = f_max(from, in);
        to = f_min(to, out);
    }
    return from <= to + 1e-5f * fabsf(to);
}

/* Adds those below a box; false: there are too many. */
static bool pick(const firn_scenery_tree *t, int32_t level, int32_t at, const question *q,
                 firn_scenery_list *list)
{
    if (!touches(&t->box[t->level[level] + at], q)) return true;
    if (level == 0) {
        if (list->count == FIRN_SCENERY_MOST) return false;
        int32_t k = list->count++;
        for (; k > 0 && list->item[k - 1] > t->order[at]; k--) list->item[k] = list->item[k - 1];
        list->item[k] = t->order[at];
        return true;
    }
    const int32_t below = wide(t, level - 1);
    for (int32_t i = WIDTH * at; i < WIDTH * (at + 1) && i < below; i++) {
        if (!pick(t, level - 1, i, q, list)) return false;
    }
    return true;
}

static void answer(const firn_scenery_tree *t, int32_t all, const question *q,
                   firn_scenery_list *list)
{
    list->whole = true;
    list->count = all;
    if (!t || t->always_count > FIRN_SCENERY_MOST) return;
    list->count = t->always_count;
    memcpy(list->item, t->always, (size_t)t->always_count * sizeof *list->item);
    list->whole = t->count && !pick(t, t->levels - 1, 0, q, list);
    if (list->whole) list->count = all;
}

void firn_scenery_along(const firn_render_world *w, firn_ray ray, float to, firn_scenery_list *list)
{
    answer(w->tree, w->scenery_count, &(question){ray, to, false}, list);
}

void firn_scenery_around(const firn_render_world *w, vec3 point, float reach,
                         firn_scenery_list *list)
{
    answer(w->tree, w->scenery_count,
           &(question){.ray = {.origin = point}, .to = reach, .ball = true}, list);
}
