/* Pictures: what a page shows of the present state.
 *
 * At most two are under way, so that a slow page sees fewer of them, but always the newest in the end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <firn/host.h>

#include "base/error.h"
#include "live/live.h"
#include "live/net.h"
#include "live/pack.h"

/* ---- the event ---- */

static void put_totals(firn_live_event *e, const firn_totals *t)
{
    firn_event_open(e, "totals", '{');
    firn_event_number(e, "mass", t->mass);
    firn_event_list(e, "momentum", t->momentum, 3);
    firn_event_number(e, "kinetic", t->kinetic);
    firn_event_number(e, "elastic", t->elastic);
    firn_event_number(e, "gravitational", t->gravitational);
    firn_event_number(e, "heat", t->heat);
    firn_event_number(e, "liquid", t->liquid);
    firn_event_number(e, "max_speed", t->max_speed);
    firn_event_close(e, '}');
}

void firn_live_put_poses(firn_live_event *e, const firn_job *job)
{
    firn_event_open(e, "poses", '[');
    for (int32_t i = 0; job && i < job->scene->collider_count; i++) {
        const firn_scene_collider *c = &job->scene->collider[i];
        firn_collider_motion m = {.rotation = {1}};
        const bool gone = firn_sim_time(job->sim) >= c->def.until ||
                          firn_sim_read_motion(job->sim, i, &m, NULL) != FIRN_OK;
        firn_event_open(e, NULL, '{');
        firn_event_list(e, "position", m.position, 3);
        firn_event_list(e, "rotation", m.rotation, 4);
        if (gone) firn_event_flag(e, "gone", true);
        firn_event_close(e, '}');
    }
    firn_event_close(e, ']');
}

void firn_event_begin_frame(firn_live_event *e, uint32_t picture, int64_t particles, double part,
                            const firn_player_frame *f)
{
    firn_event_begin(e, "frame");
    firn_event_whole(e, "picture", picture);
    firn_event_whole(e, "frame", f->number);
    firn_event_number(e, "part", part);
    firn_event_number(e, "time", f->time);
    firn_event_whole(e, "particles", particles);
    firn_event_whole(e, "steps", f->steps);
    firn_event_number(e, "dt", f->dt);
    firn_event_text(e, "limit", f->limit ? f->limit : "");
    firn_event_text(e, "integrator", f->integrator ? f->integrator : "");
    firn_event_whole(e, "blocks", f->blocks);
    firn_event_number(e, "seconds", f->seconds);
    firn_event_number(e, "simulated", f->simulated);
    if (f->totals) put_totals(e, f->totals);
}

static void send_frame(firn_live *live, uint32_t picture)
{
    const firn_sim *sim = live->job->sim;
    const firn_report *r = &live->report;
    firn_totals totals;
    const bool measured =
        live->want.totals && firn_sim_measure(live->job->sim, &totals, NULL) == FIRN_OK;
    double part;
    const int64_t number = firn_live_frame(live, &part);
    const firn_player_frame frame = {.number = number,
                                     .time = firn_sim_time(sim),
                                     .steps = live->steps,
                                     .blocks = r->blocks,
                                     .dt = r->dt,
                                     .limit = firn_limit_name(r->limit),
                                     .integrator = firn_integrator_name(r->integrator),
                                     .seconds = live->seconds,
                                     .simulated = live->simulated,
                                     .totals = measured ? &totals : NULL};
    firn_live_event e;
    firn_event_begin_frame(&e, picture, firn_sim_count(sim), part, &frame);
    firn_live_put_poses(&e, live->job);
    firn_live_put_probe(live, &e);
    firn_live_send(live, &e);
    live->steps = 0;
    live->seconds = live->simulated = 0;
}

/* ---- tags ---- */

/* Ids only ever grow, so other particles are more, fewer, or have another last id. */
static firn_status send_tags(firn_live *live, uint32_t picture, firn_error *error)
{
    const firn_job *job = live->job;
    const int64_t count = firn_sim_count(job->sim);
    double last = -1;
    firn_status st = FIRN_OK;
    if (count > 0) st = firn_sim_read(job->sim, FIRN_ID, count - 1, 1, &last, error);
    if (st != FIRN_OK) return st;
    if (live->tags_count == count && live->tags_last == (uint64_t)(last + 1)) return FIRN_OK;
    double *all = malloc(((size_t)count + 1) * 3 * sizeof *all);
    if (!all) return firn_fail(error, FIRN_NO_MEMORY, "out of memory for tags");
    double *object = all, *material = all + count, *id = all + 2 * count;
    firn_bytes message;
    st = firn_sim_read(job->sim, FIRN_OBJECT, 0, count, object, error);
    if (st == FIRN_OK) st = firn_sim_read(job->sim, FIRN_MATERIAL, 0, count, material, error);
    if (st == FIRN_OK) st = firn_sim_read(job->sim, FIRN_ID, 0, count, id, error);
    for (int64_t i = 0; i < count && st == FIRN_OK; i++) {
        const int32_t m = (int32_t)material[i];
        if (m < job->variants.count) material[i] = job->variants.of[m];
    }
    if (st == FIRN_OK) {
        st = firn_live_pack_tags(count, object, material, id, picture, &message, error);
    }
    free(all);
    if (st != FIRN_OK) return st;
    live->tags_count = count;
    live->tags_last = (uint64_t)(last + 1);
    firn_live_send_bytes(live, &message);
    return FIRN_OK;
}

/* ---- the grid ---- */

typedef struct nodes {
    float *to;
    int64_t count, room;
    double cell;
} nodes;

static void count_node(void *user_data, const firn_grid_node *node)
{
    (void)node;
    ((nodes *)user_data)->count++;
}

static void pack_node(void *user_data, const firn_grid_node *node)
{
    nodes *n = user_data;
    if (n->count == n->room) return;
    float *to = n->to + 10 * n->count++;
    for (int a = 0; a < 3; a++) {
        to[a] = (float)(n->cell * node->index[a]);
        to[4 + a] = (float)node->velocity[a];
        to[7 + a] = (float)node->force[a];
    }
    to[3] = (float)node->mass;
}

firn_status firn_live_pack_grid(const firn_job *job, uint32_t picture, firn_bytes *out,
                                firn_error *error)
{
    nodes n = {.cell = job->scene->cell_size};
    *out = (firn_bytes){0};
    firn_status st = firn_sim_visit_grid(job->sim, count_node, &n, error);
    if (st != FIRN_OK) return st;
    n.room = n.count;
    n.count = 0;
    if (n.room > UINT32_MAX / 40) return firn_fail(error, FIRN_NO_MEMORY, "the grid is too large");
    uint8_t *to = firn_message_make(out, FIRN_MESSAGE_GRID, picture, (uint32_t)n.room,
                                    40 * (size_t)n.room, error);
    if (!to) return FIRN_NO_MEMORY;
    n.to = (float *)(void *)to;
    firn_message_real(out, 16, (float)n.cell);
    st = firn_sim_visit_grid(job->sim, pack_node, &n, error);
    if (st != FIRN_OK) firn_bytes_free(out);
    return st;
}

static firn_status send_grid(firn_live *live, uint32_t picture, firn_error *error)
{
    firn_bytes message;
    const firn_status st = firn_live_pack_grid(live->job, picture, &message, error);
    if (st == FIRN_OK) firn_live_send_bytes(live, &message);
    return st;
}

/* ---- pictures ---- */

/* A field as three numbers per particle; free it. */
static float *read_three(const firn_sim *sim, firn_field field, int dim, firn_error *error)
{
    const int64_t count = firn_sim_count(sim);
    float *out = calloc(3 * (size_t)count + 1, sizeof *out);
    if (!out) {
        firn_fail(error, FIRN_NO_MEMORY, "out of memory for a picture");
        return NULL;
    }
    if (firn_sim_read_float(sim, field, FIRN_ORDER_ID, 0, count, out, error) != FIRN_OK) {
        free(out);
        return NULL;
    }
    for (int64_t i = count - 1; i >= 0 && dim == 2; i--) {
        const float x = out[2 * i], y = out[2 * i + 1];
        out[3 * i] = x;
        out[3 * i + 1] = y;
        out[3 * i + 2] = 0;
    }
    return out;
}

static firn_status send_particles(firn_live *live, uint32_t picture, firn_error *error)
{
    const firn_sim *sim = live->job->sim;
    const int dim = (int)live->scene->dimension;
    firn_live_cloud cloud = {
        .count = firn_sim_count(sim), .dimension = dim, .time = firn_sim_time(sim)};
    float *position = read_three(sim, FIRN_POSITION, dim, error), *velocity = NULL, *color = NULL;
    firn_status st = position ? FIRN_OK : FIRN_NO_MEMORY;
    if (st == FIRN_OK && live->want.velocity) {
        velocity = read_three(sim, FIRN_VELOCITY, dim, error);
        if (!velocity) st = FIRN_NO_MEMORY;
    }
    if (st == FIRN_OK && live->want.color[0]) {
        st = firn_live_read_color(live->job, live->want.color, &color, &cloud.least, &cloud.most,
                                  error);
    }
    firn_bytes message = {0};
    cloud.position = position;
    cloud.velocity = velocity;
    cloud.color = color;
    if (st == FIRN_OK) st = firn_live_pack_picture(&cloud, picture, &message, error);
    free(position);
    free(velocity);
    free(color);
    if (st == FIRN_OK) firn_live_send_bytes(live, &message);
    return st;
}

void firn_live_show(firn_live *live) { live->owed = live->job != NULL; }

void firn_live_send_owed(firn_live *live)
{
    enum { UNDER_WAY = 2 };
    if (!live->owed || !live->job || live->advancing) return;
    if (live->sent - live->shown >= UNDER_WAY) return;
    live->owed = false;
    const uint32_t picture = ++live->sent;
    firn_error error = {0};
    send_frame(live, picture);
    firn_live_send_meshes(live, false);
    firn_status st = send_tags(live, picture, &error);
    if (st == FIRN_OK && live->want.grid) st = send_grid(live, picture, &error);
    if (st == FIRN_OK) st = send_particles(live, picture, &error);
    if (st == FIRN_OK) return;
    live->shown = picture; /* nobody will say so */
    firn_live_complain(live, "step", &error);
}

firn_status firn_live_send_points(firn_live *live, const firn_live_command *c, firn_error *error)
{
    firn_points points = {0};
    firn_bytes message;
    firn_status st =
        firn_job_points(live->job, (const char *const *)c->attributes, INT64_MAX, &points, error);
    if (st != FIRN_OK) return st;
    st = firn_live_pack_points(&points, (uint32_t)c->token, &message, error);
    firn_points_free(&points);
    if (st == FIRN_OK) firn_live_send_bytes(live, &message);
    return st;
}

firn_status firn_live_send_hash(firn_live *live, uint32_t token, firn_error *error)
{
    firn_hash hash;
    const firn_status st = firn_sim_hash(live->job->sim, &hash, error);
    if (st != FIRN_OK) return st;
    char text[40];
    snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)hash.word[0],
             (unsigned long long)hash.word[1]);
    firn_live_event e;
    firn_event_begin(&e, "hash");
    firn_event_whole(&e, "token", token);
    firn_event_text(&e, "hash", text);
    firn_live_send(live, &e);
    return FIRN_OK;
}

/* ---- meshes ---- */

/* Faces as fans of triangles. */
static firn_status pack_mesh(const firn_polygons *p, int32_t number, firn_bytes *out,
                             firn_error *error)
{
    int64_t triangles = 0;
    for (int64_t f = 0; f < p->face_count; f++) triangles += p->face[f] > 2 ? p->face[f] - 2 : 0;
    const size_t vertices = (size_t)p->vertex_count, n = (size_t)triangles;
    if (vertices > UINT32_MAX / 16 || n > UINT32_MAX / 16) {
        return firn_fail(error, FIRN_NO_MEMORY, "the mesh is too large to be shown");
    }
    uint8_t *data = firn_message_make(out, FIRN_MESSAGE_MESH, (uint32_t)number, (uint32_t)vertices,
                                      12 * (vertices + n), error);
    if (!data) return FIRN_NO_MEMORY;
    firn_message_whole(out, 16, (uint32_t)vertices);
    firn_message_whole(out, 20, (uint32_t)n);
    float *vertex = (float *)(void *)data;
    uint32_t *to = (uint32_t *)(void *)(data + 12 * vertices);
    for (size_t i = 0; i < 3 * vertices; i++) vertex[i] = (float)p->vertex[i];
    const int32_t *corner = p->corner;
    for (int64_t f = 0; f < p->face_count; corner += p->face[f++]) {
        for (int32_t k = 2; k < p->face[f]; k++) {
            *to++ = (uint32_t)corner[0];
            *to++ = (uint32_t)corner[k - 1];
            *to++ = (uint32_t)corner[k];
        }
    }
    return FIRN_OK;
}

static firn_status pack_collider(const firn_job *job, int32_t collider, firn_bytes *out)
{
    const firn_prop *prop = &job->props.collider[collider].prop;
    firn_polygons polygons = {0};
    const double time = firn_prop_file_time(prop, firn_sim_time(job->sim));
    firn_status st = firn_prop_read(prop, time, &polygons, NULL);
    if (st == FIRN_OK) st = pack_mesh(&polygons, collider, out, NULL);
    firn_polygons_free(&polygons);
    return st;
}

bool firn_live_nets(const firn_job *job, int32_t collider)
{
    const firn_shape_kind shape = job->scene->collider[collider].shape.def.shape;
    return job->scene->dimension == 3 && !job->props.collider[collider].prop.shape &&
           (shape == FIRN_COMPOUND || shape == FIRN_MESH);
}

/* Copies of the same size have the same net: `last` is that of the collider before if `made` says so. */
static firn_status pack_net(const firn_job *job, int32_t collider, const firn_bytes *last,
                            int32_t *made, firn_bytes *out)
{
    enum { CELLS = 96, FEWER = 32, MOST = 16 }; /* nets that are fine */
    const firn_scene_collider *c = &job->scene->collider[collider];
    const firn_scene_collider *before = c - 1;
    firn_status st = FIRN_OK;
    if (*made >= 0 && *made == collider - 1 && before->where == c->where &&
        before->scale == c->scale) {
        *out = (firn_bytes){malloc(last->size), last->size};
        if (!out->data) return FIRN_NO_MEMORY;
        memcpy(out->data, last->data, last->size);
        firn_message_whole(out, 8, (uint32_t)collider);
    } else {
        const firn_collider_def def = firn_job_collider(c);
        const int32_t cells = job->scene->collider_count > MOST ? FEWER : CELLS;
        firn_polygons polygons;
        st = firn_live_net(&def, cells, &polygons, NULL);
        if (st == FIRN_OK) st = pack_mesh(&polygons, collider, out, NULL);
        firn_polygons_free(&polygons);
    }
    *made = st == FIRN_OK ? collider : -1;
    return st;
}

int32_t firn_live_pack_meshes(const firn_job *job, bool still, firn_bytes **out)
{
    int32_t count = 0, made = -1;
    *out = calloc((size_t)job->scene->collider_count + 1, sizeof **out);
    for (int32_t i = 0; *out && i < job->scene->collider_count; i++) {
        const firn_prop *prop = &job->props.collider[i].prop;
        firn_bytes *to = &(*out)[count];
        if (firn_live_nets(job, i)) {
            if (still && pack_net(job, i, to - 1, &made, to) == FIRN_OK) count++;
        } else if (prop->shape && (still || firn_prop_moves(prop))) {
            if (pack_collider(job, i, to) == FIRN_OK) count++;
        }
    }
    return count;
}

void firn_live_send_meshes(firn_live *live, bool all)
{
    const double now = firn_sim_time(live->job->sim);
    if (!all && live->meshes_time == now) return;
    firn_bytes *mesh;
    const int32_t count = firn_live_pack_meshes(live->job, all, &mesh);
    for (int32_t i = 0; i < count; i++) firn_live_send_bytes(live, &mesh[i]);
    free(mesh);
    live->meshes_time = now;
}
