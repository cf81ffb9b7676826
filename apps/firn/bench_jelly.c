/* The jelly scenes of `bench realtime` and `bench stable`: a ball or a creature falls on the ground, or a
 * ball on another ball; each is hard or soft. */
#include "bench.h"

#include <math.h>

#define DROP_SPEED 1.0 /* m/s: as if from 5 cm, without the wait */
#define DROP_GAP 2.0   /* cells between what falls and what it falls on, at least */

/* Parameter sets 1 and 2; the study leaves density open. */
firn_material_def firn_jelly_material(firn_jelly jelly, firn_law_kind law)
{
    firn_material_def m = firn_material_def_default();
    m.law = law;
    m.density = 1000;
    m.young = jelly == FIRN_JELLY_HARD ? 1e5 : 1e4;
    m.poisson = jelly == FIRN_JELLY_HARD ? 0.3 : 0.2;
    return m;
}

/* Centres lie on nodes, so that lattices of half a cell sit the same way in every cell. */
static double up_to_node(double height)
{
    return FIRN_JELLY_CELL * ceil(height / FIRN_JELLY_CELL - 1e-9);
}

static bool seed(const firn_jelly_scene *scene, firn_seeds *seeds)
{
    firn_body body = {.spacing = scene->spacing * FIRN_JELLY_CELL,
                      .random = scene->random,
                      .center = {0.5, 0, 0.5}};
    const firn_figure figure =
        scene->kind == FIRN_JELLY_CREATURE ? FIRN_FIGURE_CREATURE : FIRN_FIGURE_BALL;
    double floor_height = 0;
    int64_t count = scene->particles;
    if (scene->kind == FIRN_JELLY_PAIR) {
        count /= 2;
        const double radius = firn_figure_depth(figure, count, body.spacing);
        body.center[1] = up_to_node(radius);
        body.material = 1;
        if (!firn_seeds_figure(seeds, &body, figure, count)) return false;
        floor_height = body.center[1] + radius;
        count = scene->particles - count;
    }
    const double depth = firn_figure_depth(figure, count, body.spacing);
    body.center[1] = up_to_node(floor_height + depth + DROP_GAP * FIRN_JELLY_CELL);
    body.velocity[1] = -DROP_SPEED;
    body.material = 0;
    return firn_seeds_figure(seeds, &body, figure, count);
}

firn_status firn_jelly_create(const firn_jelly_scene *scene, double dt, int64_t threads,
                              const char *isa, firn_sim **sim, firn_error *error)
{
    const firn_material_def materials[2] = {firn_jelly_material(scene->jelly, scene->law),
                                            firn_jelly_material(scene->under, scene->law)};
    const firn_collider_def ground = firn_collider_def_default();
    firn_sim_def def = firn_sim_def_default();
    def.cell_size = FIRN_JELLY_CELL;
    def.materials = materials;
    def.material_count = scene->kind == FIRN_JELLY_PAIR ? 2 : 1;
    def.colliders = &ground;
    def.collider_count = 1;
    def.threads = (int32_t)threads;
    def.isa = isa;
    def.dt = dt;
    firn_status st = firn_sim_create(&def, sim, error);
    if (st != FIRN_OK) return st;
    firn_seeds seeds = {0};
    if (seed(scene, &seeds)) {
        st = firn_seeds_add(&seeds, scene->spacing * FIRN_JELLY_CELL, *sim, error);
    } else {
        st = FIRN_NO_MEMORY;
        snprintf(error->message, sizeof error->message, "no memory for %lld particles",
                 (long long)scene->particles);
    }
    firn_seeds_free(&seeds);
    if (st != FIRN_OK) {
        firn_sim_destroy(*sim);
        *sim = NULL;
    }
    return st;
}
