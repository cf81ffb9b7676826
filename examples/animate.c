/* Makes the animated meshes beside the scenes, as an animation package would: animate NAME FILE.abc.
 *
 * Every solid is a loft: rings of points with quads between them. Its faces stay the same in all frames, and
 * its points follow from the time, by keys where a table is easier to read than a formula. */
#include <firn/alembic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FPS = 24, MOST = 1000 }; /* 24 is the writer's default */

/* The mesh of one frame. */
typedef struct mesh {
    double point[MOST][3]; /* m */
    int32_t face[MOST], corner[5 * MOST];
    int32_t points, faces, corners;
} mesh;

static void add_point(mesh *m, const double p[3])
{
    memcpy(m->point[m->points++], p, sizeof m->point[0]);
}

/* Turns a point about the axis 0, 1 or 2 of the origin. */
static void turn(double p[3], int axis, double degrees)
{
    double *a = &p[(axis + 1) % 3], *b = &p[(axis + 2) % 3];
    const double angle = degrees * acos(-1) / 180, old = *a;
    *a = cos(angle) * old - sin(angle) * *b;
    *b = sin(angle) * old + cos(angle) * *b;
}

static double circle(int side, int sides) { return 2 * acos(-1) * side / sides; }

/* A face of the points from `first` on, the other way round if `step` is -1. */
static void add_polygon(mesh *m, int32_t first, int sides, int step)
{
    m->face[m->faces++] = sides;
    for (int i = 0; i < sides; i++) {
        m->corner[m->corners++] = first + (step > 0 ? i : sides - 1 - i);
    }
}

/* Faces between the rings added last, whose sides go counter-clockwise seen from beyond the last. The ends
 * are closed, or meet. */
typedef enum ends { CLOSED, MEET } ends;
static void add_loft(mesh *m, int rings, int sides, ends how)
{
    const int32_t first = m->points - rings * sides;
    for (int r = 0; r < (how == MEET ? rings : rings - 1); r++) {
        for (int s = 0; s < sides; s++) {
            const int here = first + r * sides, there = first + (r + 1) % rings * sides;
            const int next = (s + 1) % sides;
            const int32_t quad[4] = {here + s, here + next, there + next, there + s};
            memcpy(&m->corner[m->corners], quad, sizeof quad);
            m->corners += 4;
            m->face[m->faces++] = 4;
        }
    }
    if (how == MEET) return;
    add_polygon(m, first, sides, -1);
    add_polygon(m, m->points - sides, sides, 1);
}

/* A column of keys at a time, which is in their first: cubics that never pass beyond the keys they join,
 * since slopes are harmonic means (Fritsch and Butland 1984). */
enum { COLUMNS = 5 };
typedef double key[COLUMNS];

static double slope(const key *keys, int count, int i, int column)
{
    if (i <= 0 || i >= count - 1) return 0;
    const double a = (keys[i][column] - keys[i - 1][column]) / (keys[i][0] - keys[i - 1][0]);
    const double b = (keys[i + 1][column] - keys[i][column]) / (keys[i + 1][0] - keys[i][0]);
    return a * b > 0 ? 2 * a * b / (a + b) : 0;
}

static double value(const key *keys, int count, double time, int column)
{
    if (time >= keys[count - 1][0]) return keys[count - 1][column];
    int i = 0;
    while (keys[i + 1][0] <= time) i++;
    const double span = keys[i + 1][0] - keys[i][0], u = (time - keys[i][0]) / span, w = 1 - u;
    const double from = keys[i][column], to = keys[i + 1][column];
    return w * w * (from * (1 + 2 * u) + u * span * slope(keys, count, i, column)) +
           u * u * (to * (1 + 2 * w) - w * span * slope(keys, count, i + 1, column));
}

#define VALUE(keys, time, column) value(keys, (int)(sizeof(keys) / sizeof(keys)[0]), time, column)

/* ---- plough: a curved blade comes down, pushes along x, swings to one side and lifts ---- */

static void draw_plough(mesh *m, double time)
{
    /* s; the lower edge's x and y, m; degrees that it leans back; degrees that it swings */
    static const key keys[] = {{0.0, -0.84, 0.16, 0, 0},   {0.4, -0.76, 0.03, 12, 0},
                               {1.2, -0.40, 0.03, 4, 0},   {2.0, 0.02, 0.03, 0, 22},
                               {2.6, 0.30, 0.05, -12, 22}, {3.0, 0.38, 0.16, -20, 10}};
    enum { RINGS = 9, HALF = 7 };
    for (int r = 0; r < RINGS; r++) {
        for (int s = 0; s < 2 * HALF; s++) { /* up the front, down the back */
            const double up = s < HALF ? s : 2 * HALF - 1 - s,
                         angle = (up / (HALF - 1) - 0.5) * 1.6;
            double p[3] = {0.15 * (1 - cos(angle)) - (s < HALF ? 0 : 0.05),
                           0.15 * (sin(angle) + sin(0.8)), 0.4 * ((double)r / (RINGS - 1) - 0.5)};
            turn(p, 2, VALUE(keys, time, 3));
            turn(p, 1, VALUE(keys, time, 4));
            p[0] += VALUE(keys, time, 1);
            p[1] += VALUE(keys, time, 2);
            add_point(m, p);
        }
    }
    add_loft(m, RINGS, 2 * HALF, CLOSED);
}

/* ---- boots: two boots walk along x: the heel strikes, the sole rolls, the toes push off ---- */

static const double STRIDE = 0.62; /* m */

static void draw_boot(mesh *m, double step, double start, double side)
{
    /* part of a step, which begins flat on the ground; part of a stride; height of the ball of the foot, m; degrees
     * that the toes are up; degrees that they bend */
    static const key keys[] = {{0.00, 0.00, 0.05, 0, 0},    {0.28, 0.00, 0.05, 0, 0},
                               {0.42, 0.00, 0.06, -34, 34}, {0.52, 0.10, 0.17, -50, 12},
                               {0.66, 0.48, 0.27, -20, 0},  {0.78, 0.88, 0.24, 15, 0},
                               {0.86, 0.98, 0.14, 20, 0},   {1.00, 1.00, 0.05, 0, 0}};
    /* height, heel, toes and half the width of its rings, m from the ball of the foot */
    static const double ring[][4] = {
        {0, -0.185, 0.085, 0.042},    {0.012, -0.195, 0.095, 0.05},  {0.045, -0.195, 0.095, 0.05},
        {0.07, -0.192, 0.055, 0.047}, {0.095, -0.188, -0.02, 0.043}, {0.14, -0.182, -0.07, 0.043},
        {0.22, -0.188, -0.065, 0.05}, {0.29, -0.192, -0.06, 0.054},  {0.3, -0.18, -0.07, 0.044}};
    enum { RINGS = sizeof ring / sizeof ring[0], SIDES = 14 };
    const double taken = floor(step), part = step - taken;
    for (int r = 0; r < RINGS; r++) {
        for (int s = 0; s < SIDES; s++) {
            const double c = cos(circle(s, SIDES)), middle = (ring[r][1] + ring[r][2]) / 2;
            double p[3] = {middle + (ring[r][2] - middle) * copysign(pow(fabs(c), 0.7), c),
                           ring[r][0], -ring[r][3] * sin(circle(s, SIDES))};
            turn(p, 2, VALUE(keys, part, 4) * fmax(0, fmin(1, p[0] / 0.05)));
            turn(p, 2, VALUE(keys, part, 3));
            p[0] += start + STRIDE * (taken + VALUE(keys, part, 1));
            p[1] += VALUE(keys, part, 2);
            p[2] += side;
            add_point(m, p);
        }
    }
    add_loft(m, RINGS, SIDES, CLOSED);
}

static void draw_boots(mesh *m, double time)
{
    const double steps = time / 1.1 + 0.56; /* one takes 1.1 s; at first the left is in the air */
    draw_boot(m, steps, -1.35, -0.09);
    draw_boot(m, steps + 0.5, -1.35 - STRIDE / 2, 0.09);
}

/* ---- figure: it waves, bows and sways, and begins again after two seconds ---- */

/* Bends the spine by time: the higher a point, the further it turns. */
static void add_flesh(mesh *m, double p[3], double time)
{
    const double beat = acos(-1) * time, hip = 0.1;
    const double part = fmax(0, p[1] - hip) / 0.35;
    p[1] -= hip;
    turn(p, 0, part * 16 * (1 - cos(beat))); /* bows towards z */
    turn(p, 2, part * 7 * sin(beat));
    turn(p, 1, part * 14 * sin(beat));
    p[1] += hip;
    add_point(m, p);
}

/* A solid of revolution about y: heights and radii of its rings. */
static void draw_body(mesh *m, const double (*ring)[2], int rings, int sides, double time)
{
    for (int r = 0; r < rings; r++) {
        for (int s = 0; s < sides; s++) {
            double p[3] = {ring[r][1] * cos(circle(s, sides)), ring[r][0],
                           -0.85 * ring[r][1] * sin(circle(s, sides))};
            add_flesh(m, p, time);
        }
    }
    add_loft(m, rings, sides, CLOSED);
}

/* An arm from the shoulder outwards, to the right or, with `side` -1, to the left: degrees above the level at
 * the shoulder, and more towards the hand. */
static void draw_arm(mesh *m, double side, double raised, double curl, double time)
{
    static const double radius[] = {0.03, 0.036, 0.033, 0.03, 0.028, 0.026, 0.03, 0.03, 0.018};
    enum { RINGS = sizeof radius / sizeof radius[0], SIDES = 10 };
    double at[3] = {0.05, 0.29, 0};
    for (int r = 0; r < RINGS; r++) {
        const double degrees = raised + curl * r / (RINGS - 1);
        for (int s = 0; s < SIDES; s++) {
            const double across = radius[r] * cos(circle(s, SIDES));
            double p[3] = {0, across, side * radius[r] * sin(circle(s, SIDES))};
            turn(p, 2, degrees);
            for (int k = 0; k < 3; k++) p[k] += at[k];
            p[0] *= side;
            add_flesh(m, p, time);
        }
        double along[3] = {0.028, 0, 0};
        turn(along, 2, degrees);
        for (int k = 0; k < 3; k++) at[k] += along[k];
    }
    add_loft(m, RINGS, SIDES, CLOSED);
}

static void draw_figure(mesh *m, double time)
{
    static const double robe[][2] = {{0, 0.125},     {0.015, 0.135}, {0.06, 0.125}, {0.12, 0.105},
                                     {0.18, 0.09},   {0.23, 0.085},  {0.28, 0.085}, {0.315, 0.07},
                                     {0.335, 0.045}, {0.35, 0.03}};
    static const double head[][2] = {{0.33, 0.025}, {0.342, 0.05}, {0.365, 0.07}, {0.395, 0.078},
                                     {0.425, 0.07}, {0.448, 0.05}, {0.46, 0.025}};
    const double beat = acos(-1) * time;
    draw_body(m, robe, sizeof robe / sizeof robe[0], 16, time);
    draw_body(m, head, sizeof head / sizeof head[0], 14, time);
    draw_arm(m, 1, 25 + 15 * sin(beat), 50 + 30 * sin(2 * beat), time);
    draw_arm(m, -1, -35 + 20 * sin(beat), 15 - 25 * cos(beat), time);
}

/* ---- trampoline: a sheet, the rim that holds it, and a hoop around; rim and hoop toss and tilt ---- */

static void draw_torus(mesh *m, double radius, double tube, double time)
{
    /* s; height, m; degrees of tilt */
    static const key keys[] = {{0, 0.45, 0, 0, 0},   {0.45, 0.45, 0, 0, 0}, {0.75, 0.36, 0, 0, 0},
                               {1.05, 0.5, 4, 0, 0}, {1.5, 0.45, 0, 0, 0},  {2, 0.45, 0, 0, 0}};
    enum { RINGS = 24, SIDES = 6 };
    for (int r = 0; r < RINGS; r++) {
        for (int s = 0; s < SIDES; s++) {
            double p[3] = {radius + tube * cos(circle(s, SIDES)), tube * sin(circle(s, SIDES)), 0};
            turn(p, 1, -360.0 * r / RINGS);
            turn(p, 2, VALUE(keys, time, 2));
            p[1] += VALUE(keys, time, 1);
            add_point(m, p);
        }
    }
    add_loft(m, RINGS, SIDES, MEET);
}

static void draw_rim(mesh *m, double time) { draw_torus(m, 0.48, 0.04, time); }

static void draw_hoop(mesh *m, double time) { draw_torus(m, 0.56, 0.03, time); }

static void draw_sheet(mesh *m, double time)
{
    (void)time; /* the scene moves it */
    enum { SIDES = 32 };
    for (int s = 0; s < SIDES; s++) {
        const double p[3] = {0.5 * cos(circle(s, SIDES)), 0.45, -0.5 * sin(circle(s, SIDES))};
        add_point(m, p);
    }
    add_polygon(m, 0, SIDES, 1);
}

/* ---- files ---- */

static const struct {
    const char *file, *object;
    void (*draw)(mesh *, double time);
    int frames;
} table[] = {
    {"plough", "plough", draw_plough, 73}, {"boots", "boots", draw_boots, 82},
    {"figure", "figure", draw_figure, 49}, {"trampoline", "rim", draw_rim, 49},
    {"trampoline", "hoop", draw_hoop, 49}, {"trampoline", "sheet", draw_sheet, 49},
};
enum { OBJECTS = sizeof table / sizeof table[0] };

/* Hands a mesh to a writer. Points are rounded to 1/65536 m, and -0 becomes 0, so that the last bits of a
 * machine's sines do not show in the file. */
static firn_status write_mesh(firn_alembic_writer *w, int32_t object, const mesh *m,
                              firn_error *error)
{
    firn_points points = {.count = m->points};
    const firn_column *P = firn_points_add(&points, "P", FIRN_TYPE_f32, 3, error);
    if (!P) return FIRN_NO_MEMORY;
    for (int64_t i = 0; i < 3 * (int64_t)m->points; i++) {
        firn_type_set(P->type, P->data, i, round(65536 * m->point[i / 3][i % 3]) / 65536 + 0.0);
    }
    const firn_status st = firn_alembic_writer_mesh(w, object, &points, m->face, m->faces,
                                                    m->corner, m->corners, error);
    firn_points_free(&points);
    return st;
}

/* Frame 1 is the beginning of the motion, as it is of a scene. */
static firn_status write_file(const char *name, const char *path, firn_error *error)
{
    static mesh m;
    firn_alembic_writer *w = NULL;
    const firn_alembic_writer_def def = firn_alembic_writer_def_default();
    int32_t object[OBJECTS];
    int frames = 0;
    firn_status st = firn_alembic_writer_create(path, &def, &w, error);
    for (int i = 0; i < OBJECTS && st == FIRN_OK; i++) {
        if (strcmp(table[i].file, name) != 0) continue;
        frames = table[i].frames;
        st = firn_alembic_writer_add(w, FIRN_ALEMBIC_MESH, table[i].object, &object[i], error);
    }
    for (int frame = 1; frame <= frames && st == FIRN_OK; frame++) {
        for (int i = 0; i < OBJECTS && st == FIRN_OK; i++) {
            if (strcmp(table[i].file, name) != 0) continue;
            m.points = m.faces = m.corners = 0;
            table[i].draw(&m, (frame - 1) / (double)FPS);
            st = write_mesh(w, object[i], &m, error);
        }
        if (st == FIRN_OK) st = firn_alembic_writer_commit(w, frame, error);
    }
    if (st == FIRN_OK) st = firn_alembic_writer_finish(w, error);
    firn_alembic_writer_destroy(w);
    return st;
}

int main(int count, char **words)
{
    bool known = false;
    for (int i = 0; i < OBJECTS && count == 3; i++) known |= strcmp(table[i].file, words[1]) == 0;
    if (!known) {
        fprintf(stderr, "usage: animate plough|boots|figure|trampoline FILE.abc\n");
        return 2;
    }
    firn_error error = {0};
    const firn_status st = write_file(words[1], words[2], &error);
    if (st != FIRN_OK) fprintf(stderr, "%s: %s\n", firn_status_name(st), error.message);
    return st == FIRN_OK ? 0 : 1;
}
