/* Cases of the pressure solver, by the iterations of one step from rest: doc/liquids.md. Its time against
 * that of conjugate gradients with the diagonal is measured by `firn bench solver`. */
#include <math.h>
#include <stdlib.h>

#include "validation/world.h"

static firn_world water_world(firn_case_run *run, int32_t dimension, double h)
{
    firn_world w = firn_world_make(run, dimension, h, firn_material_def_default());
    w.material[0] = firn_material_def_preset(firn_preset_find("water"));
    w.material[0].density = 1000;
    w.material[0].surface_tension = 0;
    w.def.gravity[1] = -9.81;
    w.def.pressure = FIRN_PRESSURE_PROJECTION;
    w.def.dt = 1e-4;
    return w;
}

static void put_in_tank(firn_world *w, double side)
{
    w->def.collider_count = 1;
    firn_collider_def *c = &w->collider[0];
    *c = firn_collider_def_default();
    c->shape = FIRN_INSIDE;
    c->boundary = FIRN_SLIP;
    for (int a = 0; a < 3; a++) c->size[a] = c->position[a] = side / 2;
    c->size[1] = c->position[1] = side;
}

/* The report of one step; its iterations are of both solves. */
static firn_report solve_once(firn_world *w)
{
    firn_report report = {0};
    firn_error error = {0};
    if (firn_world_failed(w) || firn_sim_step(w->sim, &report, &error) != FIRN_OK) {
        report.residual = NAN;
    }
    return report;
}

/* Water in stairs, the highest half the tank's height, in a tank of a metre. */
static firn_report solve_stairs(firn_case_run *run, int32_t dimension, int cells)
{
    const double h = 1.0 / cells;
    firn_world w = water_world(run, dimension, h);
    put_in_tank(&w, 1);
    firn_world_open(&w);
    for (int i = 0; i < 3; i++) {
        const int first = i * cells / 3, end = (i + 1) * cells / 3;
        firn_world_add(&w,
                       &(firn_world_body){.low = {first * h},
                                          .high = {end * h, (cells / 2 - i * cells / 6) * h, 1}});
    }
    const firn_report report = solve_once(&w);
    firn_world_close(&w);
    return report;
}

enum { ROW = 4, ROWS = 16, WIDE = 64 }; /* cells per row of the labyrinth, walls included */

/* A comb in the x-y plane, two corners at a time: from its spine every other row's wall reaches up to two cells
 * from the other side. `way` 1: from the left, with the floor. */
static int32_t draw_comb(double corner[], double h, int way)
{
    const double spine = way > 0 ? -2 : WIDE + 2, inner = way > 0 ? 0 : WIDE,
                 tip = way > 0 ? WIDE - 2 : 2, top = ROW * ROWS + 8;
    int32_t n = 0;
#define CORNER(x, y) (corner[2 * n] = (x)*h, corner[2 * n + 1] = (y)*h, n++)
    CORNER(spine, top);
    CORNER(spine, -2);
    CORNER(way > 0 ? WIDE + 2 : inner, -2);
    CORNER(way > 0 ? WIDE + 2 : inner, 0);
    if (way > 0) CORNER(inner, 0);
    for (int row = way > 0 ? 0 : 1; row < ROWS; row += 2) {
        const double low = ROW * row + ROW - 1;
        CORNER(inner, low);
        CORNER(tip, low);
        CORNER(tip, low + 1);
        CORNER(inner, low + 1);
    }
    CORNER(inner, top);
#undef CORNER
    return n;
}

/* Rows three cells high between walls a cell thick, with gaps of two cells at alternating ends: the way from the
 * floor to the air is a thousand cells long. */
static firn_report solve_labyrinth(firn_case_run *run, double *pressure)
{
    const double h = 0.01;
    double corner[2][2 * (4 * ROWS + 8)];
    firn_world w = water_world(run, 2, h);
    w.def.collider_count = 2;
    for (int i = 0; i < 2; i++) {
        w.collider[i] = firn_collider_def_default();
        w.collider[i].shape = FIRN_POLYGON;
        w.collider[i].boundary = FIRN_SLIP;
        w.collider[i].point_count = draw_comb(corner[i], h, i ? -1 : 1);
        w.collider[i].points = corner[i];
    }
    firn_world_open(&w);
    for (int row = 0; row < ROWS; row++) {
        const double low = ROW * row * h, high = low + (ROW - 1) * h, gap = row % 2 ? 0 : WIDE - 2;
        firn_world_add(&w, &(firn_world_body){.low = {0, low}, .high = {WIDE * h, high}});
        firn_world_add(
            &w, &(firn_world_body){.low = {gap * h, high}, .high = {(gap + 2) * h, high + h}});
    }
    const firn_report report = solve_once(&w);
    firn_error error = {0};
    double *p = malloc(((size_t)w.count + 1) * sizeof *p);
    *pressure = NAN;
    if (p && !firn_world_failed(&w) && firn_sim_read_pressure(w.sim, p, &error) == FIRN_OK) {
        const int64_t lowest = 2 * (ROW - 1) * WIDE; /* the middle of the lowest row */
        *pressure = p[lowest + 2] / (1000 * 9.81 * (ROW * ROWS * h - w.x0[2 * (lowest + 2) + 1]));
    }
    free(p);
    firn_world_close(&w);
    return report;
}

/* Upright layers, eight cells thick, of liquids of densities 1000 and 1. */
static firn_report solve_layers(firn_case_run *run, int32_t dimension, int cells)
{
    const double h = 1.0 / cells;
    firn_world w = water_world(run, dimension, h);
    put_in_tank(&w, 1);
    w.material[1] = w.material[0];
    w.material[1].density = 1;
    w.def.material_count = 2;
    firn_world_open(&w);
    for (int x = 0; x < cells; x += 8) {
        firn_world_add(&w, &(firn_world_body){.low = {x * h},
                                              .high = {(x + 8) * h, cells / 2 * h, 1},
                                              .material = (uint16_t)(x / 8 % 2)});
    }
    const firn_report report = solve_once(&w);
    firn_world_close(&w);
    return report;
}

static void check_solve(firn_case_run *run, firn_report report, double most, const char *what)
{
    firn_check_at_most(run, (double)report.iterations, most, "%s: iterations", what);
    firn_check_at_most(run, report.residual, 1e-6, "residual");
}

void firn_case_run_projected_solver(firn_case_run *run)
{
    for (int32_t d = 2; d <= (run->quick ? 2 : 3); d++) {
        double first = NAN, most = 0;
        for (int i = 0; i < 4; i++) {
            const firn_report r = solve_stairs(run, d, (d == 2 ? 18 : 6) << i);
            if (i == 0) first = (double)r.iterations;
            most = fmax(most, isnan(r.residual) ? INFINITY : (double)r.iterations);
        }
        firn_check_at_most(run, most / first, 1.5, "%dD, 1 to 8 times the cells: iterations", d);
        firn_check_note(run, first, 0, "for comparison", "those of the fewest cells");
        const firn_report layers = solve_layers(run, d, d == 2 ? 64 : 32);
        check_solve(run, layers, 60, d == 2 ? "2D, densities 1000:1" : "3D, densities 1000:1");
    }
    double pressure;
    check_solve(run, solve_labyrinth(run, &pressure), 160, "labyrinth");
    firn_check_near(run, pressure, 1, 0.01, "pressure on its floor over that of its depth");
}
