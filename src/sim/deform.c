/* Mesh colliders in a sim: their level sets, and the motion of their vertices as a host gives it.
 *
 * A shape is split into a frame and what is left: the frame is the rigid motion that takes the mesh as it
 * was created nearest to the shape (Horn 1987, unit quaternions), and level sets are made of the shape as
 * seen from its frame. Both depend on that one shape alone, so a sim that is told of a motion afterwards
 * goes on with the same bytes as one that was told of all before. Between two shapes the frame moves with
 * constant velocity and spin, vertices go straight within it, and level sets stand close enough for
 * morph.c to go from one to the next. All are made when the host calls: steps ask for no memory. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/quaternion.h"
#include "mesh/mesh.h"
#include "sim/sim.h"

/* What is left of a motion below this counts as rigid; a level set is made for as much of it. Voxels. */
#define RIGID 0.01
#define PART 2.0

static firn_levelset_def levelset_def(const firn_sim *sim, const firn_collider_def *c,
                                      const char *name)
{
    const double h = sim->def.cell_size, voxel = c->voxel > 0 ? c->voxel : h;
    return (firn_levelset_def){.mesh = c->mesh,
                               .voxel = voxel,
                               .band = 3 * fmax(voxel, h),
                               .workers = &sim->workers,
                               .allocator = sim->allocator,
                               .name = name};
}

static void name_collider(int32_t place, char name[32])
{
    snprintf(name, 32, "colliders[%d].mesh", (int)place);
}

static void tell(const firn_sim *sim, firn_log_level level, const char *name,
                 const firn_levelset *set, int32_t made)
{
    if (!sim->def.log.write) return;
    char text[200], thick[64] = "";
    if (set->half > 0) snprintf(thick, sizeof thick, ", %g m thick", 2 * set->half);
    snprintf(text, sizeof text, "%s: %d level set%s made, of %d blocks with voxels of %g m%s", name,
             (int)made, made == 1 ? "" : "s", (int)set->count, set->voxel, thick);
    sim->def.log.write(sim->def.log.user_data, level, "collider", text);
}

/* Failures of level sets are the voxel's. */
static firn_status blame_voxel(firn_status status, int32_t place, firn_error *error)
{
    if (status != FIRN_OK && error) {
        snprintf(error->path, sizeof error->path, "colliders[%d].voxel", (int)place);
    }
    return status;
}

static void find_middle(const double *vertex, int32_t count, double middle[3])
{
    double sum[3] = {0};
    for (int32_t v = 0; v < count; v++) {
        for (int a = 0; a < 3; a++) sum[a] += vertex[3 * (ptrdiff_t)v + a];
    }
    for (int a = 0; a < 3; a++) middle[a] = sum[a] / count;
}

firn_status firn_deform_create(const firn_sim *sim, const firn_collider_def *def, int32_t place,
                               firn_deform *out, firn_error *error)
{
    *out = (firn_deform){.moves = false};
    if (def->shape != FIRN_MESH || !def->mesh) return FIRN_OK;
    char name[32];
    name_collider(place, name);
    const firn_levelset_def made = levelset_def(sim, def, name);
    const firn_status st = firn_levelset_create(&made, &out->rest, error);
    if (st != FIRN_OK) return blame_voxel(st, place, error);
    find_middle(def->mesh->vertex, def->mesh->vertex_count, out->pivot);
    tell(sim, FIRN_LOG_INFO, name, &out->rest, 1);
    return FIRN_OK;
}

static void free_motion(firn_deform *d, const firn_allocator *allocator)
{
    firn_levelset *set = d->sets.data;
    for (int32_t i = 0; i < d->set_count; i++) firn_levelset_free(&set[i], allocator);
    firn_pool_free(allocator, &d->sets);
    firn_pool_free(allocator, &d->vertices);
}

void firn_deform_free(firn_deform *d, const firn_allocator *allocator)
{
    free_motion(d, allocator);
    firn_levelset_free(&d->rest, allocator);
    *d = (firn_deform){.moves = false};
}

/* ---- where it is ---- */

/* The part of the motion that is over. */
static double progress(const firn_deform *d, double time)
{
    return fmin(fmax((time - d->begin) / (d->end - d->begin), 0), 1);
}

static void frame_between(const firn_deform *d, double s, double center[3], double rotation[3][3],
                          double arc[3])
{
    double turn[4], at[4];
    firn_quaternion_arc(d->from.turn, d->to.turn, arc);
    firn_quaternion_exp(arc, s, turn);
    firn_quaternion_multiply(turn, d->from.turn, at);
    firn_quaternion_matrix(at, rotation);
    for (int a = 0; a < 3; a++) {
        center[a] = d->from.center[a] + s * (d->to.center[a] - d->from.center[a]);
    }
}

void firn_deform_pose(const firn_deform *d, double time, bool moving, firn_morph *f)
{
    const firn_levelset *set = d->sets.data;
    *f = (firn_morph){.from = d->set_count ? set : &d->rest,
                      .rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    memcpy(f->pivot, d->pivot, sizeof f->pivot);
    memcpy(f->center, d->pivot, sizeof f->center);
    if (!d->moves) return;
    /* As firn_sim_pose_collider: a step that ends when the motion does still moves with it. */
    const double seconds = d->end - d->begin, elapsed = time - d->begin, slack = 1e-9 * seconds;
    const bool moves = moving ? elapsed >= -slack && elapsed < seconds - slack
                              : elapsed > slack && elapsed <= seconds + slack;
    const double s = progress(d, time);
    double arc[3];
    frame_between(d, s, f->center, f->rotation, arc);
    for (int a = 0; a < 3 && moves; a++) {
        f->velocity[a] = (d->to.center[a] - d->from.center[a]) / seconds;
        f->spin[a] = arc[a] / seconds;
    }
    if (d->set_count < 2) return;
    const int32_t parts = d->set_count - 1;
    const int32_t k = (int32_t)fmin(floor(s * parts), parts - 1);
    f->from = &set[k];
    f->to = &set[k + 1];
    f->part = s * parts - k;
    f->most = d->most;
    f->rate = moves ? parts / seconds : 0;
    if (moves) return;
    if (f->part == 1) f->from = f->to;
    if (f->part == 0 || f->part == 1) f->to = NULL; /* one is enough */
}

/* ---- shapes and frames ---- */

/* The eigenvector of the largest eigenvalue of a symmetric matrix (Jacobi). */
static void largest_eigenvector(double m[4][4], double out[4])
{
    double v[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (int sweep = 0; sweep < 40; sweep++) {
        for (int p = 0; p < 3; p++) {
            for (int q = p + 1; q < 4; q++) {
                if (m[p][q] == 0) continue;
                const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
                const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 4; k++) {
                    const double a = m[k][p], b = m[k][q];
                    m[k][p] = c * a - s * b;
                    m[k][q] = s * a + c * b;
                }
                for (int k = 0; k < 4; k++) {
                    const double a = m[p][k], b = m[q][k];
                    m[p][k] = c * a - s * b;
                    m[q][k] = s * a + c * b;
                }
                m[p][q] = m[q][p] = 0;
                for (int k = 0; k < 4; k++) {
                    const double a = v[k][p], b = v[k][q];
                    v[k][p] = c * a - s * b;
                    v[k][q] = s * a + c * b;
                }
            }
        }
    }
    int most = 0;
    for (int k = 1; k < 4; k++) {
        if (m[k][k] > m[most][most]) most = k;
    }
    double square = 0;
    for (int k = 0; k < 4; k++) square += v[k][most] * v[k][most];
    for (int k = 0; k < 4; k++) out[k] = v[k][most] / sqrt(square);
}

/* The frame of a shape, x, and the shape as seen from it, y. */
static void split(const firn_mesh *mesh, const double pivot[3], const double *x, firn_frame *frame,
                  double *y)
{
    const int32_t count = mesh->vertex_count;
    double S[3][3] = {{0}}, scale = 0;
    find_middle(x, count, frame->center);
    for (int32_t v = 0; v < count; v++) {
        for (int a = 0; a < 3; a++) {
            const double r = mesh->vertex[3 * (ptrdiff_t)v + a] - pivot[a];
            for (int b = 0; b < 3; b++) S[a][b] += r * (x[3 * (ptrdiff_t)v + b] - frame->center[b]);
        }
    }
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) scale = fmax(scale, fabs(S[a][b]));
    }
    double m[4][4] = {{0}};
    for (int a = 0; a < 3 && scale > 0; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        m[0][0] += S[a][a] / scale;
        m[0][a + 1] = m[a + 1][0] = (S[b][c] - S[c][b]) / scale;
        m[a + 1][a + 1] = (S[a][a] - S[b][b] - S[c][c]) / scale;
        m[a + 1][b + 1] = m[b + 1][a + 1] = (S[a][b] + S[b][a]) / scale;
    }
    largest_eigenvector(m, frame->turn);
    double R[3][3];
    firn_quaternion_matrix(frame->turn, R);
    for (int32_t v = 0; v < count; v++) {
        double away[3];
        for (int a = 0; a < 3; a++) away[a] = x[3 * (ptrdiff_t)v + a] - frame->center[a];
        for (int a = 0; a < 3; a++) {
            y[3 * (ptrdiff_t)v + a] =
                pivot[a] + R[0][a] * away[0] + R[1][a] * away[1] + R[2][a] * away[2];
        }
    }
}

/* The longest way between vertices of two shapes. */
static double longest_way(const double *x, const double *y, int32_t count)
{
    double most = 0;
    for (int32_t v = 0; v < count; v++) {
        double square = 0;
        for (int a = 0; a < 3; a++) {
            const double d = y[3 * (ptrdiff_t)v + a] - x[3 * (ptrdiff_t)v + a];
            square += d * d;
        }
        most = fmax(most, square);
    }
    return sqrt(most);
}

/* The parts of the pool of vertices: `to` as given, and both shapes in the frame. */
static double *vertices(const firn_deform *d, const firn_mesh *mesh, int which)
{
    return (double *)d->vertices.data + which * 3 * (ptrdiff_t)mesh->vertex_count;
}
enum { GIVEN, FIRST, LAST, SHAPES };

/* Where the vertices are at a time, in the collider's frame. */
static void vertices_at(const firn_deform *d, const firn_mesh *mesh, double time, double *out)
{
    const size_t size = 3 * (size_t)mesh->vertex_count * sizeof *out;
    const double s = d->moves ? progress(d, time) : 0;
    if (!d->moves || s == 1) {
        memcpy(out, d->moves ? vertices(d, mesh, GIVEN) : mesh->vertex, size);
        return;
    }
    double center[3], R[3][3], arc[3];
    frame_between(d, s, center, R, arc);
    const double *first = vertices(d, mesh, FIRST), *last = vertices(d, mesh, LAST);
    for (ptrdiff_t i = 0; i < 3 * (ptrdiff_t)mesh->vertex_count; i += 3) {
        double y[3];
        for (int a = 0; a < 3; a++) {
            y[a] = first[i + a] + s * (last[i + a] - first[i + a]) - d->pivot[a];
        }
        for (int a = 0; a < 3; a++) {
            out[i + a] = center[a] + R[a][0] * y[0] + R[a][1] * y[1] + R[a][2] * y[2];
        }
    }
}

/* Takes the vertices as a host gives them into the mesh's order. */
static firn_status take_vertices(const firn_mesh *mesh, const char *what, const double *from,
                                 double *to, firn_error *error)
{
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const double *p = from + 3 * (ptrdiff_t)mesh->source[v];
        for (int a = 0; a < 3; a++) {
            if (!(fabs(p[a]) <= 1e15)) {
                return firn_fail(error, FIRN_INVALID,
                                 "%s: vertex %d at %g %g %g must be finite and within 1e15", what,
                                 (int)mesh->source[v], p[0], p[1], p[2]);
            }
            to[3 * (ptrdiff_t)v + a] = p[a];
        }
    }
    return FIRN_OK;
}

/* ---- the calls ---- */

static firn_status check_mesh_collider(const firn_sim *sim, int32_t collider, firn_error *error)
{
    if (!firn_sim_is_idle(sim, error)) return FIRN_INVALID;
    const firn_status st = firn_host_check_collider(sim, collider, error);
    if (st != FIRN_OK || sim->colliders[collider].shape == FIRN_MESH) return st;
    return firn_fail(error, FIRN_INVALID, "collider %d is a %s and no mesh", collider,
                     firn_shape_name(sim->colliders[collider].shape));
}

firn_status firn_sim_set_mesh(firn_sim *sim, int32_t collider, const firn_mesh *mesh,
                              firn_error *error)
{
    firn_status st = check_mesh_collider(sim, collider, error);
    if (st != FIRN_OK) return st;
    firn_collider_def def = sim->colliders[collider];
    def.mesh = mesh;
    firn_deform next = {0};
    if (mesh) st = firn_deform_create(sim, &def, collider, &next, error);
    if (st != FIRN_OK) return st;
    firn_deform_free(&sim->slots[collider].deform, sim->allocator);
    sim->slots[collider].deform = next;
    sim->colliders[collider].mesh = mesh;
    return FIRN_OK;
}

/* Makes the level set of a shape. `tree` has room for its boxes. */
static firn_status make_set(const firn_levelset_def *def, double *shape, const firn_pool *tree,
                            firn_levelset *out, firn_error *error)
{
    const firn_mesh bent = firn_mesh_bend(def->mesh, shape, tree->data);
    firn_levelset_def made = *def;
    made.mesh = &bent;
    return firn_levelset_create(&made, out, error);
}

/* Makes the level sets of a motion whose shapes are known, but for a first one that `before` has. */
static firn_status make_sets(const firn_sim *sim, const firn_levelset_def *def,
                             const firn_deform *before, firn_deform *d, int32_t count, bool *reuses,
                             firn_error *error)
{
    const firn_mesh *mesh = def->mesh;
    const size_t numbers = 3 * (size_t)mesh->vertex_count, size = numbers * sizeof(double);
    const double *first = vertices(d, mesh, FIRST), *last = vertices(d, mesh, LAST);
    *reuses = before->set_count > 0 &&
              ((firn_levelset *)before->sets.data)[before->set_count - 1].shift &&
              memcmp(vertices(before, mesh, LAST), first, size) == 0;
    firn_pool tree = {0}, between = {0};
    firn_status st =
        firn_pool_reserve(sim->allocator, &d->sets, (size_t)count * sizeof(firn_levelset), error);
    if (st == FIRN_OK) {
        st = firn_pool_reserve(sim->allocator, &tree, firn_mesh_bend_size(mesh), error);
    }
    if (st == FIRN_OK) st = firn_pool_reserve(sim->allocator, &between, size, error);
    firn_levelset *set = d->sets.data;
    for (int32_t k = 0; k < count && st == FIRN_OK; k++) {
        set[k] = (firn_levelset){0};
        d->set_count = k + 1;
        if (k == 0 && *reuses) continue;
        double *shape = between.data;
        const double s = count > 1 ? (double)k / (count - 1) : 0;
        for (size_t i = 0; i < numbers; i++) {
            shape[i] = k == count - 1 && k > 0 ? last[i] : first[i] + s * (last[i] - first[i]);
        }
        st = make_set(def, shape, &tree, &set[k], error);
    }
    if (st == FIRN_OK) { /* from here on nothing fails */
        double *way = between.data;
        if (*reuses) set[0] = ((firn_levelset *)before->sets.data)[before->set_count - 1];
        for (size_t i = 0; i < numbers; i++) way[i] = last[i] - first[i];
        for (int32_t k = 0; k < count && def->follows; k++) {
            firn_levelset_follow(&set[k], mesh, way, 1.0 / (count - 1), def->workers);
        }
    }
    firn_pool_free(sim->allocator, &tree);
    firn_pool_free(sim->allocator, &between);
    return st;
}

static firn_status check_motion(const firn_mesh_motion *m, firn_error *error)
{
    if (!m || !m->to)
        return firn_fail(error, FIRN_INVALID, "motion or its `to` is NULL; give both");
    if (isfinite(m->begin) && isfinite(m->end) && m->end > m->begin) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "a motion from %g to %g s must have finite times, the first one below",
                     m->begin, m->end);
}

firn_status firn_sim_deform_collider(firn_sim *sim, int32_t collider,
                                     const firn_mesh_motion *motion, firn_error *error)
{
    firn_status st = check_mesh_collider(sim, collider, error);
    if (st == FIRN_OK) st = check_motion(motion, error);
    if (st != FIRN_OK) return st;
    const firn_collider_def *c = &sim->colliders[collider];
    const firn_mesh *mesh = c->mesh;
    if (!mesh)
        return firn_fail(error, FIRN_INVALID,
                         "collider %d has no mesh; firn_sim_set_mesh gives one", collider);
    firn_deform *old = &sim->slots[collider].deform;
    const int32_t count = mesh->vertex_count;
    const size_t size = 3 * (size_t)count * sizeof(double);
    firn_deform next = {.moves = true, .begin = motion->begin, .end = motion->end};
    memcpy(next.pivot, old->pivot, sizeof next.pivot);
    st = firn_pool_reserve(sim->allocator, &next.vertices, SHAPES * size, error);
    if (st != FIRN_OK) return st;
    double *given = vertices(&next, mesh, GIVEN), *first = vertices(&next, mesh, FIRST),
           *last = vertices(&next, mesh, LAST);
    if (motion->from) {
        st = take_vertices(mesh, "from", motion->from, given, error);
    } else {
        vertices_at(old, mesh, motion->begin, given);
    }
    if (st == FIRN_OK) {
        split(mesh, next.pivot, given, &next.from, first);
        st = take_vertices(mesh, "to", motion->to, given, error);
    }
    bool reuses = false;
    if (st == FIRN_OK) {
        split(mesh, next.pivot, given, &next.to, last);
        char name[32];
        name_collider(collider, name);
        firn_levelset_def def = levelset_def(sim, c, name);
        const double rigid = RIGID * def.voxel, way = longest_way(first, last, count);
        if (fmax(longest_way(mesh->vertex, first, count), longest_way(mesh->vertex, last, count)) <
            rigid) {
            memcpy(first, mesh->vertex, size);
            memcpy(last, mesh->vertex, size);
        } else if (way < rigid) {
            memcpy(last, first, size);
            st = make_sets(sim, &def, old, &next, 1, &reuses, error);
            st = blame_voxel(st, collider, error);
        } else {
            const double parts = fmax(ceil(way / (PART * def.voxel)), 1);
            def.follows = true;
            next.most = way / parts;
            st = parts < 1e6
                     ? make_sets(sim, &def, old, &next, (int32_t)parts + 1, &reuses, error)
                     : firn_fail(error, FIRN_INVALID,
                                 "%s: vertices move by %g m in one motion, %.3g voxels; give "
                                 "it in more motions",
                                 name, way, way / def.voxel);
            st = blame_voxel(st, collider, error);
        }
        if (st == FIRN_OK && next.set_count > reuses) {
            tell(sim, FIRN_LOG_DETAIL, name, (firn_levelset *)next.sets.data + next.set_count - 1,
                 next.set_count - reuses);
        }
    }
    if (st != FIRN_OK) {
        free_motion(&next, sim->allocator);
        return st;
    }
    if (reuses) old->set_count--; /* the last of them has moved on */
    next.rest = old->rest;
    free_motion(old, sim->allocator);
    *old = next;
    return FIRN_OK;
}
