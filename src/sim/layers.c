/* Which layer of the grid each body has, and with it a velocity field. Bodies that part from others need different
 * layers only where they are near each other: few layers do for any number of bodies, and bodies that are far apart
 * share blocks.
 *
 * Bodies of a layer are always so far apart that no particle of one reaches a node beside those of another.
 * Boxes around bodies, in whole cells, say how far. They hold until particles may have moved by DRIFT, and are then
 * found again: what has come near by then gets another layer, and all particles are sorted anew. If no layer is left,
 * bodies stick together where they meet. Bodies whose density differs are kept apart, because contact measures how
 * full a node is by the layer's density, and so are bodies that do not rub alike. */
#include <math.h>
#include <string.h>

#include "sim/sim.h"

#define DRIFT 3.0 /* cells */
#define STEP 1.0  /* cells; particles move by less in a step */
/* Cells that a body has to spare when it gets a layer: it is to last. */
enum { SPARE = 4 };
static const real ALIKE =
    (real)1.25; /* density of the densest body of a layer over that of the least dense */

int32_t firn_sim_body(const firn_sim *sim, uint16_t object)
{
    return object < sim->def.object_count ? sim->def.object_bodies[object] : 0;
}

static firn_body *body_at(const firn_sim *sim, int32_t index)
{
    return (firn_body *)sim->layers.body.data + index;
}

static firn_body *body_of(const firn_sim *sim, uint16_t object)
{
    return body_at(sim, firn_sim_body(sim, object));
}

int32_t firn_sim_layer(const firn_sim *sim, uint16_t object) { return body_of(sim, object)->layer; }

double firn_layers_density(const firn_sim *sim, int32_t body)
{
    return body < sim->layers.count ? (double)body_at(sim, body)->density : 0;
}

/* Of a contact with a body; sums of them tell apart what bodies rub on, in whatever order it is given. */
static uint64_t mix(uint16_t other, double friction)
{
    uint64_t bits;
    memcpy(&bits, &friction, sizeof bits);
    bits = (bits ^ (uint64_t)(other + 1) * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    return (bits ^ bits >> 31) * 0x94d049bb133111ebu;
}

firn_status firn_layers_reserve(firn_sim *sim, int32_t count, firn_error *error)
{
    firn_layers *l = &sim->layers;
    if (count <= l->count) return FIRN_OK;
    const firn_status st =
        firn_pool_reserve_slack(sim->allocator, &l->body, (size_t)count * sizeof(firn_body), error);
    if (st != FIRN_OK) return st;
    memset(body_at(sim, l->count), 0, (size_t)(count - l->count) * sizeof(firn_body));
    l->count = count;
    for (int32_t i = 0; i < count; i++) body_at(sim, i)->rubs = 0;
    for (int32_t i = 0; i < sim->def.contact_count; i++) {
        const firn_contact *c = &sim->def.contacts[i];
        for (int side = 0; side < 2; side++) {
            if (c->body[side] < count)
                body_at(sim, c->body[side])->rubs += mix(c->body[!side], c->friction);
        }
    }
    return FIRN_OK;
}

/* ---- boxes and densities ---- */

void firn_layers_note(firn_sim *sim, int64_t particle, const int32_t cell[3])
{
    const firn_store *s = &sim->store;
    firn_body *b = body_of(sim, s->object[particle]);
    const real density = s->mass[particle] / s->volume[particle];
    for (int a = 0; a < s->dim; a++) {
        if (!b->there || cell[a] < b->low[a]) b->low[a] = cell[a];
        if (!b->there || cell[a] > b->high[a]) b->high[a] = cell[a];
    }
    if (density > b->weighed) b->weighed = density;
    b->there = true;
}

void firn_layers_look(firn_sim *sim, bool afresh)
{
    const firn_store *s = &sim->store;
    const firn_directory *d = sim->from;
    const int32_t cells = firn_pow(FIRN_SHIFTED, s->dim);
    const uint32_t *order = s->order[s->current];
    for (int32_t i = 0; i < sim->layers.count; i++) {
        firn_body *b = body_at(sim, i);
        b->there = false;
        b->weighed = afresh ? 0 : b->density;
        b->wanted = b->layer;
    }
    for (int32_t b = 0; b < d->count; b++) {
        const firn_bin *bin = &d->bin[b];
        for (int32_t c = 0; c < cells && bin->count; c++) {
            int32_t cell[3] = {0};
            for (int a = s->dim - 1, rest = c; a >= 0; a--, rest /= FIRN_SHIFTED) {
                cell[a] = FIRN_BLOCK * d->coord[b][a] + rest % FIRN_SHIFTED - 1;
            }
            for (uint32_t k = bin->cell[c]; k < bin->cell[c + 1]; k++) {
                firn_layers_note(sim, order[bin->start + k], cell);
            }
        }
    }
}

void firn_layers_use(firn_sim *sim)
{
    firn_layers *l = &sim->layers;
    l->shared = false;
    memset(l->density, 0, sizeof l->density);
    for (int32_t i = 0; i < l->count; i++) {
        firn_body *b = body_at(sim, i);
        b->density = b->weighed;
        b->layer = b->wanted;
        if (!b->there) continue;
        l->shared |= l->density[b->layer] > 0;
        if (b->density > l->density[b->layer]) l->density[b->layer] = b->density;
    }
    for (int32_t i = 0; i < FIRN_MAX_LAYERS && sim->def.contact_count; i++) {
        for (int32_t k = 0; k < FIRN_MAX_LAYERS; k++) l->friction[i][k] = -1;
    }
    for (int32_t i = sim->def.contact_count - 1; i >= 0;
         i--) { /* the first that names a pair counts */
        const firn_contact *c = &sim->def.contacts[i];
        if (c->body[0] >= l->count || c->body[1] >= l->count) continue;
        const firn_body *a = body_at(sim, c->body[0]), *b = body_at(sim, c->body[1]);
        if (!a->there || !b->there) continue;
        l->friction[a->layer][b->layer] = l->friction[b->layer][a->layer] = (real)c->friction;
    }
}

/* ---- choosing ---- */

/* Whether two bodies may have one layer with `gap` cells and more between the lowest nodes they reach. */
static bool can_share(const firn_sim *sim, const firn_body *a, const firn_body *b, int32_t gap)
{
    if (a->rubs != b->rubs) return false;
    if (a->weighed > ALIKE * b->weighed || b->weighed > ALIKE * a->weighed) return false;
    for (int axis = 0; axis < sim->store.dim; axis++) {
        if (a->low[axis] - b->high[axis] >= gap || b->low[axis] - a->high[axis] >= gap) return true;
    }
    return false;
}

/* Bodies by layer, as far as they have one: linked by firn_body.next. */
typedef struct members {
    int32_t first[FIRN_MAX_LAYERS], count[FIRN_MAX_LAYERS];
} members;

static bool has_room(const firn_sim *sim, const members *m, int32_t layer, const firn_body *b,
                     int32_t gap)
{
    for (int32_t i = m->first[layer]; i >= 0; i = body_at(sim, i)->next) {
        if (!can_share(sim, body_at(sim, i), b, gap)) return false;
    }
    return true;
}

static int32_t choose_layer(const firn_sim *sim, const members *m, const firn_body *b, int32_t gap)
{
    for (int wide = 1; wide >= 0; wide--) {
        for (int32_t l = 1; l < FIRN_MAX_LAYERS; l++) {
            if (has_room(sim, m, l, b, gap + (wide ? SPARE : 0))) return l;
        }
    }
    int32_t least = 0; /* it sticks to some, if it can to such as rub alike */
    for (int32_t l = 1; l < FIRN_MAX_LAYERS; l++) {
        if (body_at(sim, m->first[l])->rubs != b->rubs) continue;
        if (least == 0 || m->count[l] < m->count[least]) least = l;
    }
    return least ? least : FIRN_MAX_LAYERS - 1;
}

static void join(const firn_sim *sim, members *m, int32_t index, int32_t layer)
{
    firn_body *b = body_at(sim, index);
    b->placed = true;
    b->wanted = (uint8_t)layer;
    b->next = m->first[layer];
    m->first[layer] = index;
    m->count[layer]++;
}

bool firn_layers_choose(firn_sim *sim)
{
    const int32_t gap = sim->from->stencil + 1 + 2 * (int32_t)DRIFT, count = sim->layers.count;
    members m = {0};
    bool changed = false;
    for (int32_t l = 0; l < FIRN_MAX_LAYERS; l++) m.first[l] = -1;
    for (int32_t i = 1; i < count; i++) { /* body 0 has layer 0, and that no other */
        firn_body *b = body_at(sim, i);
        b->placed = !b->there;
        if (b->there && b->layer && has_room(sim, &m, b->layer, b, gap)) join(sim, &m, i, b->layer);
    }
    for (int32_t i = 1; i < count; i++) {
        firn_body *b = body_at(sim, i);
        if (!b->placed) join(sim, &m, i, choose_layer(sim, &m, b, gap));
        changed |= b->there && b->wanted != b->layer;
    }
    return changed;
}

/* ---- as bodies move ---- */

void firn_layers_doubt(firn_sim *sim) { sim->layers.moved = DRIFT; }

bool firn_layers_are_crowded(firn_sim *sim)
{
    firn_layers *l = &sim->layers;
    if (!l->shared || l->moved + STEP <= DRIFT) return false;
    firn_layers_look(sim, false);
    if (firn_layers_choose(sim)) return true;
    l->moved = 0;
    return false;
}

firn_status firn_layers_update(firn_sim *sim, firn_error *error)
{
    firn_store *s = &sim->store;
    if (!firn_layers_are_crowded(sim)) return FIRN_OK;
    uint64_t *key = firn_store_key_scratch(s, s->count);
    firn_store_keys(s, sim->from, key);
    return firn_sim_sort(sim, key, s->count, error);
}

int32_t firn_layers_wanted(const firn_sim *sim, uint16_t object)
{
    return body_of(sim, object)->wanted;
}
