/* Makes a random scene of a seed and a number.
 *
 * Everything that comes in kinds is found by walking the library's tables, so that a new law,
 * preset, shape or transfer is covered by its row. A scene is `s` metres high, from a millimetre
 * to a kilometre; velocities go by sqrt(g s) and stresses by density g s, so that every scale
 * sees the same motions and the scene takes as many steps. The space is divided into slots:
 * objects and obstacles have one each, and overlap only where the scene is meant to. Time steps
 * are always automatic. */
#include "torture.h"

#include <math.h>
#include <string.h>

enum { MAX_OBJECTS = 4, MAX_MATERIALS = 3, SLOTS = 12 };

static const double gravity = 9.81, pi = 3.14159265358979323846;

typedef struct maker {
    uint64_t state;
    int dim;
    bool z_up;
    bool overlaps; /* places are random, not slots */
    bool closed;   /* nothing comes, goes, heats or drives */
    bool hard;     /* soft or heavy, and as fast as sound */
    bool heat;
    double s;     /* m, height of the scene */
    double speed; /* m/s, sqrt(g s) */
    double time;  /* s, of the whole scene */
    double reach; /* m, radius that a slot holds */
    int frames;
    int slot[SLOTS], taken;
    int materials, objects;
    bool apart[MAX_OBJECTS]; /* objects that say so */
    firn_material_def material[MAX_MATERIALS];
} maker;

/* ---- chance ---- */

static uint64_t next(maker *m)
{
    uint64_t x = m->state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static double between(maker *m, double low, double high)
{
    return low + (high - low) * (double)(next(m) >> 11) * 0x1p-53;
}

/* Evenly over the orders of magnitude. */
static double spread(maker *m, double low, double high)
{
    return exp(between(m, log(low), log(high)));
}

static bool chance(maker *m, double part) { return between(m, 0, 1) < part; }

static int pick(maker *m, int count) { return (int)(next(m) % (uint64_t)count); }

static const char *pick_word(maker *m, const char *const *words)
{
    int count = 0;
    while (words[count]) count++;
    return words[pick(m, count)];
}

/* A vector given as x, up, and depth. */
static void put_vector(const maker *m, node *to, const char *key, double x, double up, double depth)
{
    const double v[3] = {x, m->z_up ? depth : up, m->z_up ? up : depth};
    node_vector(to, key, v, m->dim);
}

static void put_random(maker *m, node *to, const char *key, double size)
{
    double v[3];
    for (int a = 0; a < 3; a++) v[a] = between(m, -size, size);
    node_vector(to, key, v, m->dim);
}

/* Angles or spins: in 2D about z alone. */
static void put_turn(maker *m, node *to, const char *key, double size)
{
    double v[3];
    for (int a = 0; a < 3; a++) v[a] = m->dim == 3 || a == 2 ? between(m, -size, size) : 0;
    node_vector(to, key, v, 3);
}

/* ---- materials ---- */

static double *param_of(firn_material_def *def, const firn_param *p)
{
    return (double *)(void *)((char *)def + p->offset);
}

static bool reads(firn_law_kind law, const char *name)
{
    const firn_param *const *p = firn_law_params(law);
    while (*p && strcmp((*p)->name, name) != 0) p++;
    return *p != NULL;
}

/* A value by what the parameter measures. */
static double choose_value(maker *m, const firn_material_def *def, const firn_param *p)
{
    const double pressure = def->density * gravity * m->s;
    double v = p->value[0];
    if (strcmp(p->name, "young") == 0 || strcmp(p->name, "bulk") == 0) {
        v = pressure * (m->hard          ? spread(m, 0.03, 3)
                        : chance(m, 0.1) ? spread(m, 300, 1e5)
                                         : spread(m, 3, 300));
    } else if (strcmp(p->name, "poisson") == 0) {
        v = chance(m, 0.1) ? between(m, 0.4, 0.49) : between(m, 0, 0.4);
    } else if (strcmp(p->name, "liquid_density") == 0) {
        v = def->density * between(m, 0.5, 2);
    } else if (strcmp(p->unit, "Pa") == 0) {
        v = pressure * spread(m, 1e-3, 3);
    } else if (strcmp(p->unit, "Pa s") == 0) {
        v = def->density * m->speed * m->s * spread(m, 1e-6, 0.03);
    } else if (strcmp(p->unit, "kg/m3") == 0) {
        v = m->hard ? spread(m, 1, 30000) : spread(m, 30, 10000);
    } else if (strcmp(p->unit, "m2/s") == 0) {
        v = 1e-7 * spread(m, 0.01, 100); /* as heat: heat.speed multiplies both */
    } else if (strcmp(p->unit, "degrees") == 0) {
        v = between(m, 5, 60);
    } else if (p->kind == FIRN_TEMPERATURE) {
        v = between(m, 250, 400);
    } else if (v > 0) {
        v *= spread(m, 0.3, 3);
    } else {
        v = spread(m, 0.01, 1) * fmin(p->most, 1);
    }
    return fmin(fmax(v, p->least), p->most);
}

static void put_param(maker *m, node *to, firn_material_def *def, const firn_param *p)
{
    double *value = param_of(def, p);
    *value = choose_value(m, def, p);
    node_number(to, p->name, *value);
}

static const firn_param *find_param(const char *name)
{
    int32_t i = 0;
    while (strcmp(firn_material_param(i)->name, name) != 0) i++;
    return firn_material_param(i);
}

/* A third of the materials is a preset, the others a law with parameters of chance. Presets keep
 * their stiffness where it bears the scene's own weight. */
static void make_material(maker *m, node *materials)
{
    char name[16];
    snprintf(name, sizeof name, "m%d", m->materials);
    node *to = node_map(materials, name);
    firn_material_def *def = &m->material[m->materials++];
    bool ours = chance(m, 0.65);
    for (;;) { /* closed scenes have no heat, and so nothing that melts */
        int count = 0;
        while (firn_preset_get(count)) count++;
        const firn_preset *preset = firn_preset_get(pick(m, count));
        *def = firn_material_def_preset(preset);
        if (ours) {
            *def = firn_material_def_default();
            def->law = (firn_law_kind)pick(m, FIRN_LAW_COUNT);
        }
        if (firn_law_get_info(def->law).melts && m->closed) continue;
        if (ours) {
            node_word(to, "law", firn_law_name(def->law));
        } else {
            node_word(to, "preset", preset->name);
        }
        break;
    }
    m->heat |= firn_law_get_info(def->law).melts != 0;
    if (ours) {
        /* Others go by these. */
        if (chance(m, 0.7)) put_param(m, to, def, find_param("density"));
        if (reads(def->law, "liquid_density") && chance(m, 0.5)) {
            put_param(m, to, def, find_param("liquid_density"));
        }
        for (const firn_param *const *p = firn_law_params(def->law); *p; p++) {
            const bool stiffness =
                strcmp((*p)->name, "young") == 0 || strcmp((*p)->name, "bulk") == 0;
            if (strcmp((*p)->unit, "kg/m3") == 0) continue;
            if (strcmp((*p)->name, "crush_pressure") == 0 &&
                !(def->liquid_density > def->density)) {
                continue; /* only what is porous is crushed */
            }
            if (stiffness || strcmp((*p)->unit, "Pa s") == 0 || chance(m, 0.5)) {
                put_param(m, to, def, *p);
            }
        }
    } else {
        const double pressure = def->density * gravity * m->s;
        const firn_param *p = find_param(firn_law_get_info(def->law).liquid ? "bulk" : "young");
        const double ratio = *param_of(def, p) / pressure;
        if (ratio < (m->hard ? 0.03 : 3) || ratio > 1e5 || chance(m, 0.5)) put_param(m, to, def, p);
        p = find_param("viscosity");
        if (reads(def->law, "viscosity") &&
            def->viscosity > 0.03 * def->density * m->speed * m->s) {
            put_param(m, to, def, p);
        }
    }
    if (chance(m, 0.1)) {
        node *noise = node_map(node_list(to, "noise"), NULL);
        node_word(noise, "parameter", reads(def->law, "young") ? "young" : "density");
        node_number(noise, "amount", between(m, 0, 0.8));
        node_number(noise, "feature", m->s * spread(m, 0.02, 0.5));
    }
}

/* m/s, of sound at rest or packed. */
static double sound(const firn_material_def *def)
{
    const firn_law_info law = firn_law_get_info(def->law);
    const double E = def->young, nu = def->poisson;
    double modulus = law.liquid ? def->bulk : E * (1 - nu) / ((1 + nu) * (1 - 2 * nu));
    if (law.packs) modulus *= fmin(def->hardening_cap, 4);
    return sqrt(modulus / def->density);
}

/* s, about what a step will be. */
static double step_of(const maker *m, double h)
{
    double dt = 1e-2;
    for (int i = 0; i < m->materials; i++) {
        const firn_material_def *def = &m->material[i];
        dt = fmin(dt, 0.6 * h / sound(def));
        if (reads(def->law, "viscosity") && def->viscosity > 0) {
            dt = fmin(dt, h * h * def->density / (4 * m->dim * def->viscosity));
        }
    }
    return dt;
}

/* ---- shapes ---- */

enum { FOR_OBJECTS = 1, FOR_COLLIDERS = 2 };

/* A shape about the origin that fits into a ball. Colliders without end are made elsewhere. */
static void put_shape(maker *m, node *to, int use, double r)
{
    const unsigned dimension = m->dim == 2 ? 1 : 2;
    int32_t fits[64], count = 0;
    for (int32_t i = 0; firn_section_get_info(i).name && count < 64; i++) {
        const firn_section_info info = firn_section_get_info(i);
        if (!info.shape || !(info.dimensions & dimension)) continue;
        if (use == FOR_OBJECTS && !(info.filled & dimension)) continue;
        if (strcmp(info.name, "plane") == 0 || strcmp(info.name, "inside") == 0) continue;
        if (strcmp(info.name, "mesh") == 0) continue; /* needs a file */
        firn_param any;
        char unused[80];
        if (!firn_section_get_param(i, 0, &any, unused)) continue; /* joins others */
        if (strcmp(info.name, "heightfield") == 0) continue;       /* needs a height */
        if (strncmp(info.name, "rounded", 7) == 0) continue;       /* its radius must fit */
        fits[count++] = i;
    }
    const int32_t section = fits[pick(m, count)];
    node *shape = node_map(node_map(to, "shape"), firn_section_get_info(section).name);
    firn_param p;
    char fallback[80];
    const bool round = !firn_section_get_param(section, 2, &p, fallback); /* centre and radius */
    for (int32_t i = 0; firn_section_get_param(section, i, &p, fallback); i++) {
        if (strcmp(p.name, "points") == 0) {
            node *points = node_list(shape, p.name);
            const int corners = 3 + pick(m, 6);
            for (int c = 0; c < corners; c++) {
                const double at = 2 * pi * c / corners, d = r * between(m, 0.5, 1);
                const double point[2] = {d * cos(at), d * sin(at)};
                node_vector(points, NULL, point, 2);
            }
        } else if (strcmp(p.name, "from") == 0 || strcmp(p.name, "to") == 0) {
            put_random(m, shape, p.name, 0.3 * r);
        } else if (p.kind == FIRN_VECTOR && p.least == 0 && p.most > 0) { /* lengths */
            double v[3];
            const double widest = strcmp(p.name, "radii") == 0 ? 1 : 2 / sqrt(m->dim);
            for (int a = 0; a < 3; a++) v[a] = r * widest * between(m, 0.5, 0.95);
            node_vector(shape, p.name, v, m->dim);
        } else if (strcmp(p.name, "radius") == 0) {
            node_number(shape, p.name, r * (round ? between(m, 0.5, 0.95) : 0.6));
        } else if (p.kind == FIRN_REAL) { /* tube, inner, height */
            node_number(shape, p.name, r * (strcmp(p.name, "height") == 0 ? 0.8 : 0.3));
        }
    }
}

/* The centre of a slot that nobody has; slots of overlapping scenes are anywhere. */
static void place(maker *m, double at[3])
{
    const int columns = m->dim == 2 ? 2 : 4, left = 3 * columns - m->taken;
    if (m->overlaps || left <= 0) {
        for (int a = 0; a < 3; a++) at[a] = m->s * between(m, -0.25, 0.25);
        at[1] = m->s * between(m, 0.1, 0.9);
        return;
    }
    const int choice = m->taken + pick(m, left), slot = m->slot[choice];
    m->slot[choice] = m->slot[m->taken];
    m->slot[m->taken++] = slot;
    at[0] = m->s * (slot % 2 ? 0.25 : -0.25);
    at[1] = m->s * (1 + 2 * (slot / columns)) / 6;
    at[2] = m->dim == 2 ? 0 : m->s * (slot / 2 % 2 ? 0.25 : -0.25);
}

/* ---- sections ---- */

static void make_object(maker *m, node *objects)
{
    static const char *const contacts[] = {"auto", "apart", "merge", NULL};
    char name[16];
    node *to = node_map(objects, NULL);
    snprintf(name, sizeof name, "o%d", m->objects++);
    node_word(to, "name", name);
    const int material = pick(m, m->materials);
    const firn_material_def *def = &m->material[material];
    snprintf(name, sizeof name, "m%d", material);
    node_word(to, "material", name);
    double at[3];
    place(m, at);
    put_shape(m, to, FOR_OBJECTS, m->reach);
    put_vector(m, to, "translate", at[0], at[1], at[2]);
    if (chance(m, 0.5)) put_turn(m, to, "rotate", 180);
    if (chance(m, 0.1)) {
        const double v[3] = {between(m, 0.6, 1), between(m, 0.6, 1), between(m, 0.6, 1)};
        node_vector(to, "scale", v, 3);
    }
    const bool emits = !m->closed && chance(m, 0.15);
    const double fast = fmin(m->speed * (chance(m, 0.1) ? 3 : 1), (m->hard ? 2 : 0.3) * sound(def));
    if (emits) {
        put_vector(m, to, "velocity", fast * between(m, -0.3, 0.3), -fast, 0);
        node *emit = node_map(to, "emit");
        node_number(emit, "end", m->time);
        if (chance(m, 0.3)) node_number(emit, "start", m->time * between(m, 0, 0.5));
    } else if (chance(m, 0.7)) {
        put_random(m, to, "velocity", fast);
    }
    /* Linear elasticity takes a turn for strain: the body swells, and steps get ever shorter. */
    const bool turns = def->law != FIRN_LINEAR;
    if (chance(m, 0.2) && turns) put_turn(m, to, "spin", 57 * fast / m->reach);
    if (chance(m, 0.2)) {
        static const char *const patterns[] = {"regular", "jittered", "random", "blue_noise", NULL};
        const char *pattern = pick_word(m, patterns);
        node_word(to, "pattern", emits && strcmp(pattern, "blue_noise") == 0 ? "random" : pattern);
    }
    if (chance(m, 0.05) && !emits) node_number(to, "refine", 1);
    if (chance(m, 0.1)) node_number(to, "density", def->density * between(m, 0.5, 2));
    if (chance(m, 0.1)) {
        node_word(to, "body", "one");
    } else if (chance(m, 0.5)) {
        const char *word = pick_word(m, contacts);
        node_word(to, "contact", word);
        m->apart[m->objects - 1] = strcmp(word, "apart") == 0;
    }
    if (chance(m, 0.1) && reads(def->law, "young")) {
        node *shell = node_map(to, "shell");
        node_number(shell, "thickness", m->reach * between(m, 0.1, 0.5));
        node_number(shell, "young", spread(m, 0.3, 3));
        node_number(shell, "density", spread(m, 0.5, 2));
    }
    if (m->heat) {
        if (chance(m, 0.8)) {
            const double middle = reads(def->law, "melting_point") ? def->melting_point : 300;
            node_number(to, "temperature", middle + between(m, -60, 60));
        }
        if (chance(m, 0.2)) {
            node *noise = node_map(to, "temperature_noise");
            node_number(noise, "amount", between(m, 0, 40));
            node_number(noise, "feature", m->s * spread(m, 0.02, 0.5));
        }
        if (chance(m, 0.3)) node_number(to, "concentration", between(m, 0, 2));
    }
}

static void put_surface(maker *m, node *to)
{
    if (chance(m, 0.7)) {
        /* Not hold: what it holds may be inside, and takes energy from its motion. */
        static const char *const kinds[] = {"sticky", "slip", "separate", NULL};
        node_word(to, "boundary", pick_word(m, kinds));
    }
    if (chance(m, 0.6)) node_number(to, "friction", chance(m, 0.1) ? 100 : between(m, 0, 1.5));
    if (!m->closed && chance(m, 0.15)) put_random(m, to, "surface_velocity", m->speed);
    if (!m->closed && chance(m, 0.1)) put_turn(m, to, "surface_spin", 57 * m->speed / m->reach);
    if (m->heat && chance(m, 0.5)) {
        node_number(to, "temperature", between(m, 200, 500));
        if (chance(m, 0.5)) node_number(to, "transfer", spread(m, 1, 1e5));
    }
}

/* Keys that take a thing to places and angles, less than half a turn from one to the next. */
static void put_keys(maker *m, node *to, const double at[3])
{
    node *keys = node_map(to, "keys");
    const int count = 2 + pick(m, 3);
    const bool moves = chance(m, 0.7), turns = !moves || chance(m, 0.5);
    const double lap = m->time / (count - 1), spin = between(m, -1, 1) * m->speed / m->reach;
    double now[3] = {at[0], at[1], at[2]}, angle = 0;
    for (int k = 0; k < count; k++) {
        char time[40];
        snprintf(time, sizeof time, "%.6g", lap * k);
        node *key = node_map(keys, time);
        put_vector(m, key, "at", now[0], now[1], now[2]);
        if (turns) {
            const double turn[3] = {0, 0, angle};
            node_vector(key, "rotate", turn, 3);
        }
        for (int a = 0; a < m->dim && moves; a++) {
            const double way = fmin(m->speed * lap, 0.3 * m->s);
            now[a] += between(m, -way, way);
        }
        angle += fmax(fmin(spin * lap * 57, 150), -150);
    }
}

static void make_colliders(maker *m, node *scene)
{
    node *colliders = node_list(scene, "colliders");
    if (chance(m, 0.8)) {
        node *to = node_map(colliders, NULL);
        node *plane = node_map(node_map(to, "shape"), "plane");
        const double tilt = chance(m, 0.3) ? between(m, -0.5, 0.5) : 0;
        put_vector(m, plane, "point", 0, tilt == 0 ? 0 : -0.3 * m->s, 0);
        put_vector(m, plane, "normal", tilt, 1, 0);
        put_surface(m, to);
    }
    if (chance(m, 0.3)) {
        node *to = node_map(colliders, NULL);
        node *box = node_map(node_map(to, "shape"), "inside");
        const double size = m->s * between(m, 1.02, 1.3);
        put_vector(m, box, "center", 0, size / 2, 0);
        put_vector(m, box, "size", size, size, size);
        put_surface(m, to);
    }
    for (int i = pick(m, 4); i > 0; i--) {
        node *to = node_map(colliders, NULL);
        double at[3];
        place(m, at);
        put_shape(m, to, FOR_COLLIDERS, m->reach);
        if (!m->closed && chance(m, 0.5)) {
            put_keys(m, to, at);
        } else {
            put_vector(m, to, "translate", at[0], at[1], at[2]);
            if (chance(m, 0.5)) put_turn(m, to, "rotate", 180);
        }
        put_surface(m, to);
    }
}

static void make_heat(maker *m, node *scene)
{
    node *heat = node_map(scene, "heat");
    /* Diffusion over a part of an object in the time of the scene, at a usual 1e-7 m2/s. */
    const double speed =
        fmax(1e-12, fmin(1e9, spread(m, 1e-3, 1) * m->reach * m->reach / (1e-7 * m->time)));
    node_number(heat, "speed", speed);
    if (chance(m, 0.7)) node_number(heat, "ambient", between(m, 200, 450));
    if (chance(m, 0.5)) node_number(heat, "transfer", spread(m, 1, 1000));
    if (chance(m, 0.3)) {
        node_number(heat, "emissivity", between(m, 0, 1));
        node_number(heat, "sky", between(m, 100, 400));
    }
    if (!chance(m, 0.5)) return;
    node *source = node_map(node_list(heat, "sources"), NULL);
    double at[3];
    place(m, at);
    put_shape(m, source, FOR_COLLIDERS, m->reach);
    if (chance(m, 0.5)) {
        put_keys(m, source, at);
    } else {
        put_vector(m, source, "translate", at[0], at[1], at[2]);
    }
    /* Warms by up to 200 K. */
    node_number(source, "power", 2e6 * between(m, -4, 200) / (m->time * speed));
}

/* Whether there are implicit steps for all materials. One in ten scenes tries without. */
static bool solves(maker *m)
{
    bool all = true;
    for (int i = 0; i < m->materials; i++) {
        const firn_law_info law = firn_law_get_info(m->material[i].law);
        all = all && (law.elastic || law.packs) && !law.melts;
    }
    return all || chance(m, 0.1);
}

static void make_simulation(maker *m, node *scene)
{
    node *to = node_map(scene, "simulation");
    const char *spline = NULL, *force = NULL;
    for (int32_t i = 0; firn_sim_param(i); i++) {
        const firn_param *p = firn_sim_param(i);
        if (p->kind != FIRN_CHOICE || strcmp(p->name, "path") == 0 || !chance(m, 0.6)) continue;
        const char *word = pick_word(m, p->choices);
        if (strcmp(p->name, "integrator") == 0 && strcmp(word, "implicit") == 0 && !solves(m)) {
            continue;
        }
        node_word(to, p->name, word);
        if (strcmp(p->name, "spline") == 0) spline = word;
        if (strcmp(p->name, "force_form") == 0) force = word;
    }
    const bool fuses =
        (!spline || strcmp(spline, "quadratic") == 0) && (!force || strcmp(force, "mls") == 0);
    if (chance(m, 0.3)) node_word(to, "path", fuses && chance(m, 0.5) ? "fused" : "plain");
    if (chance(m, 0.1))
        put_random(m, to, "gravity", gravity);
    else if (chance(m, 0.1))
        put_vector(m, to, "gravity", 0, 0, 0);
    if (chance(m, 0.1)) node_number(to, "damping", spread(m, 0.01, 3) * m->speed / m->s);
    if (chance(m, 0.3)) node_number(to, "contact_friction", between(m, 0, 1));
    if (chance(m, 0.3)) node_number(to, "flip_ratio", between(m, 0, 1));
    if (chance(m, 0.1)) node_number(to, "theta", between(m, 0.5, 1));
    if (chance(m, 0.05)) node_number(to, "beta", between(m, 0.5, 1));
    if (chance(m, 0.1)) node_word(to, "volumes", "grid");
    if (m->hard && chance(m, 0.3)) node_number(to, "courant", between(m, 0.1, 0.9));
    if (m->hard && chance(m, 0.3)) node_number(to, "wave_factor", between(m, 0.1, 1));
    if (chance(m, 0.05) && !node_get(to, "path")) node_word(to, "preset", "stomakhin2013");
    if (!to->child) node_number(to, "damping", 0);
}

static void make_limits(maker *m, node *scene)
{
    if (m->apart[0] && m->apart[1]) {
        node *contact = node_map(node_list(scene, "contacts"), NULL), *pair = NULL;
        pair = node_list(contact, "objects");
        node_word(pair, NULL, "o0");
        node_word(pair, NULL, "o1");
        node_number(contact, "friction", between(m, 0, 2));
    }
    if (m->closed) return;
    if (chance(m, 0.2)) {
        node *sink = node_map(node_list(scene, "sinks"), NULL);
        put_shape(m, sink, FOR_OBJECTS, 2 * m->reach);
    }
    if (chance(m, 0.2)) {
        node *domain = node_map(scene, "domain");
        put_vector(m, domain, "low", -0.6 * m->s, -0.1 * m->s, -0.6 * m->s);
        put_vector(m, domain, "high", 0.6 * m->s, 1.1 * m->s, 0.6 * m->s);
        node_word(domain, "leaving", chance(m, 0.5) ? "stop" : "delete");
    }
    if (chance(m, 0.15)) {
        node *forces = node_map(scene, "forces");
        for (int k = 0; k < 3; k++) {
            char time[40];
            snprintf(time, sizeof time, "%.6g", m->time * k / 2);
            put_random(m, forces, time, gravity);
        }
    }
}

node *torture_generate(uint64_t seed, uint64_t number)
{
    maker m = {.state = seed * 0xd1342543de82ef95u + number};
    (void)next(&m);
    m.dim = chance(&m, 0.5) ? 2 : 3;
    m.z_up = m.dim == 3 && chance(&m, 0.1);
    m.closed = chance(&m, 0.4);
    m.overlaps = chance(&m, 0.15);
    m.hard = chance(&m, 0.15);
    m.heat = !m.closed && chance(&m, 0.25);
    m.s = spread(&m, 1e-3, 1e3);
    m.speed = sqrt(gravity * m.s);
    m.reach = 0.155 * m.s;
    m.frames = 3 + pick(&m, 5);
    for (int i = 0; i < SLOTS; i++) m.slot[i] = i;

    node *scene = node_map(NULL, NULL);
    node_number(scene, "firn", 1);
    node_number(scene, "dimension", m.dim);
    if (m.z_up) node_word(scene, "up", "z");
    node_number(scene, "seed", pick(&m, 1000));
    node *materials = node_map(NULL, "materials");
    for (int i = 1 + pick(&m, MAX_MATERIALS); i > 0; i--) make_material(&m, materials);

    const int objects = 1 + pick(&m, MAX_OBJECTS);
    const double each = spread(&m, 200, 1500) / objects;
    const double resolution = m.reach * pow(1.4 / fmax(each, 60), 1.0 / m.dim);
    node_number(scene, "resolution", resolution);
    /* A fall or two through the scene, or as many steps as a fraction of a second affords. */
    const double h = 2 * resolution, afford = fmax(fmin(1.2e5 / (objects * each), 350), 60);
    m.time = fmin(between(&m, 0.5, 3) * sqrt(m.s / gravity), afford * step_of(&m, h));
    node *frames = node_map(scene, "frames");
    node_number(frames, "start", 0);
    node_number(frames, "end", m.frames);
    node_number(frames, "fps", m.frames / m.time);
    make_simulation(&m, scene);
    node *last = scene->child;
    while (last->next) last = last->next;
    last->next = materials;
    if (m.heat) make_heat(&m, scene);
    node *list = node_list(scene, "objects");
    for (int i = 0; i < objects; i++) make_object(&m, list);
    if (chance(&m, 0.95)) make_colliders(&m, scene);
    make_limits(&m, scene);
    return scene;
}
