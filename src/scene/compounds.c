/* Shapes made of others: what a scene says of one becomes a compound of the shape library, once for each place in
 * the scene, however often copies ask for it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/quaternion.h"
#include "mesh/mesh.h"
#include "scene/read.h"

/* ---- what the scene keeps ---- */

firn_status firn_keep_built(const firn_scene *scene, firn_built what, firn_error *error)
{
    firn_built *b = malloc(sizeof *b), *head = &scene->built[what.where ? 0 : 1];
    if (!b) {
        firn_compound_destroy(what.compound);
        firn_mesh_destroy(what.mesh);
        return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    }
    *b = what;
    b->next = head->next;
    head->next = b;
    return FIRN_OK;
}

/* The copies of an entry follow each other, so what they share is the newest. */
const firn_built *firn_find_built(const firn_scene *scene, const firn_value *where)
{
    const firn_built *b = scene->built[0].next;
    return b && b->where == where ? b : NULL;
}

void firn_free_built(firn_scene *scene)
{
    for (int i = 0; scene->built && i < 2; i++) {
        for (firn_built *b = scene->built[i].next, *next; b; b = next) {
            next = b->next;
            firn_compound_destroy(b->compound);
            firn_mesh_destroy(b->mesh);
            free(b);
        }
    }
    free(scene->built);
    scene->built = NULL;
}

firn_status firn_scale_compound(const firn_scene *scene, double factor,
                                const firn_compound **compound, firn_error *error)
{
    firn_compound *scaled = NULL;
    firn_status st = firn_compound_scale(*compound, factor, &scaled, error);
    if (st == FIRN_OK) st = firn_keep_built(scene, (firn_built){.compound = scaled}, error);
    if (st == FIRN_OK) *compound = scaled;
    return st;
}

firn_status firn_scale_mesh(const firn_scene *scene, double factor, const firn_mesh **mesh,
                            firn_error *error)
{
    firn_mesh *scaled = NULL;
    firn_status st = firn_mesh_scale(*mesh, factor, &scaled, error);
    if (st == FIRN_OK) st = firn_keep_built(scene, (firn_built){.mesh = scaled}, error);
    if (st == FIRN_OK) *mesh = scaled;
    return st;
}

/* ---- the tree ---- */

/* A part with what it owns until it is in a compound. */
typedef struct part {
    firn_collider_def def;
    firn_compound *compound;
    firn_scene_shape shape;
} part;

static void free_part(part *p)
{
    firn_compound_destroy(p->compound);
    firn_scene_shape_free(&p->shape);
    *p = (part){.compound = NULL};
}

/* Joins parts; the message is without the part's number where there is one. */
static firn_status join(const firn_value *where, firn_join how, const firn_collider_def *parts,
                        int32_t count, const firn_scene_more *more, firn_compound **out,
                        firn_error *error)
{
    firn_compound_def def = firn_compound_def_default();
    firn_error inner = {0}, said = {0};
    def.join = how;
    def.parts = parts;
    def.part_count = count;
    def.offset = more->offset;
    def.shell = more->shell;
    const firn_status st = firn_compound_create(&def, out, &inner);
    if (st == FIRN_OK) return st;
    const char *text = inner.message;
    if (strncmp(text, "parts[0].", 9) == 0) text += 9;
    (void)firn_fail(&said, st, "%s", text);
    return firn_value_pass(where, &said, error);
}

static firn_status read_part(const firn_scene *scene, const firn_value *v, int depth, int *count,
                             part *out, firn_error *error);

static firn_status read_joined(const firn_scene *scene, const firn_value *entry, firn_join how,
                               int depth, int *count, const firn_scene_more *more, part *out,
                               firn_error *error)
{
    const int many = firn_value_count(entry);
    if (entry->kind != FIRN_LIST || many == 0) {
        return firn_value_fail(
            entry, error, "%s must be a list of shapes, as [{box: {}}, {sphere: {}}]", entry->key);
    }
    if (how != FIRN_UNION && many < 2) {
        return firn_value_fail(entry, error, "%s takes at least two shapes", entry->key);
    }
    if (more->round != 0) {
        return firn_value_fail(entry, error, "round is for single shapes; give it to the parts");
    }
    if (many > FIRN_MOST_PARTS - *count) { /* before memory is taken */
        return firn_value_fail(entry, error, "a shape is made of at most %d others in all",
                               FIRN_MOST_PARTS);
    }
    part *parts = calloc((size_t)many, sizeof *parts);
    firn_collider_def *defs = calloc((size_t)many, sizeof *defs);
    firn_status st = parts && defs ? FIRN_OK : firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    int n = 0;
    for (const firn_value *c = entry->child; c && st == FIRN_OK; c = c->next, n++) {
        st = read_part(scene, c, depth + 1, count, &parts[n], error);
        if (st == FIRN_OK) defs[n] = parts[n].def;
    }
    if (st == FIRN_OK) st = join(entry, how, defs, many, more, &out->compound, error);
    for (int i = 0; i < n; i++) free_part(&parts[i]);
    free(parts);
    free(defs);
    return st;
}

static firn_status read_file(const firn_scene *scene, part *p, firn_error *error)
{
    firn_mesh *mesh = NULL;
    bool moves = false;
    firn_status st = firn_read_mesh(scene, &p->shape, &moves, &mesh, error);
    if (st == FIRN_OK) st = firn_keep_built(scene, (firn_built){.mesh = mesh}, error);
    if (st != FIRN_OK) return st;
    p->shape.def.mesh = mesh;
    if (!moves) return FIRN_OK;
    return firn_value_fail(firn_value_get(p->shape.where, "file"), error,
                           "a mesh that is a part of a shape cannot move by itself; use a file "
                           "with one sample, or a collider of its own");
}

/* In 2D a half turn about x, which turns y over, is one about z. */
static void lay_flat(const firn_scene *scene, firn_collider_def *def)
{
    if (scene->dimension != 2 || def->rotation[1] == 0) return;
    memset(def->rotation, 0, sizeof def->rotation);
    def->rotation[3] = 1;
}

static void move_part(const firn_scene_more *more, firn_collider_def *def)
{
    double turn[4];
    firn_rotation_from_degrees(more->rotate, turn);
    firn_quaternion_rotate(turn, def->position, def->position);
    firn_quaternion_multiply(turn, def->rotation, def->rotation);
    for (int a = 0; a < 3; a++) def->position[a] += more->translate[a];
}

static firn_status read_part(const firn_scene *scene, const firn_value *v, int depth, int *count,
                             part *out, firn_error *error)
{
    const firn_value *entry;
    firn_scene_shape_row row;
    firn_scene_more more = {0};
    *out = (part){.compound = NULL};
    if (depth > FIRN_MOST_NESTED) {
        return firn_value_fail(v, error,
                               "shapes are nested more than %d deep; join fewer at a time",
                               FIRN_MOST_NESTED);
    }
    if (++*count > FIRN_MOST_PARTS) {
        return firn_value_fail(v, error, "a shape is made of at most %d others in all",
                               FIRN_MOST_PARTS);
    }
    firn_status st = firn_find_word(scene, v, false, &entry, &row, &more, error);
    if (st != FIRN_OK) return st;
    if (row.kind == FIRN_COMPOUND) {
        st = read_joined(scene, entry, row.join, depth, count, &more, out, error);
    } else {
        st = firn_read_word(scene, entry, &row, &out->shape, error);
        if (st == FIRN_OK && out->shape.mesh.file) st = read_file(scene, out, error);
        if (st != FIRN_OK) return st;
        out->def = out->shape.def;
        lay_flat(scene, &out->def);
        if (more.round != 0 && row.kind == FIRN_ROUNDED_BOX) {
            return firn_value_fail(firn_value_get(v, "round"), error,
                                   "%s is round already; give it a radius, and leave round out",
                                   entry->key);
        }
        if (more.round != 0) out->def.round = more.round;
        if (more.round != 0 || more.offset != 0 || more.shell != 0) {
            st = join(v, FIRN_UNION, &out->def, 1, &more, &out->compound, error);
        }
    }
    if (st == FIRN_OK && out->compound) {
        out->def = firn_collider_def_default();
        out->def.shape = FIRN_COMPOUND;
        out->def.compound = out->compound;
        firn_error inner = {0};
        st = firn_shape_check_in(&out->def, (int)scene->dimension, &inner);
        if (st != FIRN_OK) return firn_value_pass(entry, &inner, error);
    }
    if (st == FIRN_OK) move_part(&more, &out->def);
    return st;
}

static bool stays(const firn_collider_def *def)
{
    const double *x = def->position, *q = def->rotation;
    return x[0] == 0 && x[1] == 0 && x[2] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0;
}

firn_status firn_read_compound(const firn_scene *scene, const firn_value *v,
                               const firn_compound **out, firn_error *error)
{
    const firn_built *there = firn_find_built(scene, v);
    if (there) {
        *out = there->compound;
        return FIRN_OK;
    }
    static const firn_scene_more nothing = {0};
    firn_compound *made = NULL;
    int count = 0;
    part p;
    firn_status st = read_part(scene, v, 1, &count, &p, error);
    if (st == FIRN_OK && p.compound && stays(&p.def)) {
        made = p.compound;
        p.compound = NULL;
    } else if (st == FIRN_OK) {
        st = join(v, FIRN_UNION, &p.def, 1, &nothing, &made, error);
    }
    if (st == FIRN_OK) {
        firn_collider_def def = firn_collider_def_default();
        firn_error inner = {0};
        def.shape = FIRN_COMPOUND;
        def.compound = made;
        st = firn_shape_check_in(&def, (int)scene->dimension, &inner);
        if (st != FIRN_OK) {
            firn_compound_destroy(made);
            st = firn_value_pass(v, &inner, error);
        }
    }
    free_part(&p);
    if (st == FIRN_OK)
        st = firn_keep_built(scene, (firn_built){.where = v, .compound = made}, error);
    *out = made;
    return st;
}
