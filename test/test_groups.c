/* Copies and groups: where they come to stand, how they move, and what is refused of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collider/collider.h"
#include "run/job.h"
#include "scene/scene.h"

#define HEAD "firn: 1\nresolution: 0.1\nmaterials: {red: {}, blue: {}}\n"

static firn_error error;

static firn_status parse(const char *text, firn_scene *scene)
{
    const firn_bytes bytes = {(uint8_t *)text, strlen(text)};
    firn_tree tree = {0};
    const firn_status st = firn_tree_parse(&tree, "text", &bytes, &error);
    return st == FIRN_OK ? firn_scene_read(scene, &tree, &error) : st;
}

static void read_scene(const char *text, firn_scene *scene)
{
    *scene = (firn_scene){0};
    if (parse(text, scene) != FIRN_OK) fail_msg("%s", error.message);
}

static void expect_vector(const double *v, double x, double y, double z)
{
    if (fabs(v[0] - x) + fabs(v[1] - y) + fabs(v[2] - z) > 1e-9)
        fail_msg("%.12g %.12g %.12g, not %.12g %.12g %.12g", v[0], v[1], v[2], x, y, z);
}

/* ---- copies ---- */

static void copies_of_a_list_are_objects_of_their_own(void **state)
{
    (void)state;
    firn_scene s;
    read_scene(HEAD "objects:\n"
                    "  - name: ball\n"
                    "    material: red\n"
                    "    translate: [1, 0, 0]\n"
                    "    velocity: [0, -1, 0]\n"
                    "    shape: {sphere: {radius: 0.2}}\n"
                    "    instances:\n"
                    "      list:\n"
                    "        - {}\n"
                    "        - {translate: [0, 5, 0], rotate: [0, 0, 90], scale: 2, seed: 7}\n"
                    "        - {material: blue, velocity: [3, 0, 0]}\n"
                    "  - {name: last, material: red, shape: {sphere: {}}}\n",
               &s);
    assert_int_equal(s.object_count, 4);
    assert_string_equal(s.object[0].name, "ball[0]");
    assert_string_equal(s.object[2].name, "ball[2]");
    assert_string_equal(s.object[3].name, "last");
    expect_vector(s.object[0].translate, 1, 0, 0);
    expect_vector(s.object[1].translate, 0, 7, 0); /* scaled, turned, moved */
    expect_vector(s.object[1].scale, 2, 2, 2);
    expect_vector(s.object[1].velocity, 0, -1, 0);
    expect_vector(s.object[2].velocity, 3, 0, 0);
    assert_int_equal(s.object[1].seed, 7);
    assert_int_equal(s.object[1].material_index, 0);
    assert_int_equal(s.object[2].material_index, 1);
    firn_scene_free(&s);
}

static void grids_run_along_x_first_around_their_middle(void **state)
{
    (void)state;
    firn_scene s;
    read_scene(HEAD "objects: [{material: red, shape: {sphere: {}}, instances: {grid: {count: "
                    "[3, 1, 2], spacing: [2, 9, 1], center: [10, 0, 0]}}}]\n",
               &s);
    assert_int_equal(s.object_count, 6);
    expect_vector(s.object[0].translate, 8, 0, -0.5);
    expect_vector(s.object[1].translate, 10, 0, -0.5);
    expect_vector(s.object[5].translate, 12, 0, 0.5);
    firn_scene_free(&s);
}

static void rings_turn_their_copies(void **state)
{
    (void)state;
    firn_scene s;
    read_scene(HEAD "objects: [{material: red, shape: {sphere: {}}}]\n"
                    "colliders: [{name: post, shape: {box: {center: [0.5, 0, 0]}}, instances: "
                    "{ring: {count: 4, radius: 2}}}]\n",
               &s);
    assert_int_equal(s.collider_count, 4);
    assert_string_equal(s.collider[3].name, "post[3]");
    expect_vector(s.collider[0].key->position, 2.5, 0, 0);
    expect_vector(s.collider[1].key->position, 0, 0, -2.5); /* a quarter about +y */
    assert_null(s.collider[1].def.parent);                  /* it needs no frame */
    firn_scene_free(&s);
    read_scene(
        "firn: 1\ndimension: 2\nmaterials: {m: {}}\nobjects: [{shape: {disc: {}}, instances: "
        "{ring: {count: 4, radius: 2, turn: false}}}]\n",
        &s);
    expect_vector(s.object[1].translate, 0, 2, 0);
    assert_true(s.object[1].turn[0] == 1);
    firn_scene_free(&s);
}

/* What a copy is by chance depends on its number and the seeds, and on nothing else of the scene. */
static void chance_goes_by_seed_and_number(void **state)
{
    (void)state;
    static const char text[] =
        HEAD "seed: %d\n"
             "objects:\n%s  - material: red\n    shape: {sphere: {}}\n    instances:\n"
             "      grid: {count: [%d, 1, 1], spacing: [1, 1, 1]}\n      seed: %d\n"
             "      materials: [red, blue]\n"
             "      jitter: {translate: [0.1, 0.2, 0], rotate: [0, 90, 0], scale: 0.5, velocity: "
             "[0, 1, 0]}\n";
    char first[800], other[800];
    firn_scene a, b;
    snprintf(first, sizeof first, text, 1, "", 200, 2);
    read_scene(first, &a);
    double low = 2, high = 0;
    int blue = 0;
    for (int i = 0; i < 200; i++) {
        const firn_scene_object *o = &a.object[i];
        assert_true(fabs(o->translate[0] - (i - 99.5)) <= 0.1 && fabs(o->translate[1]) <= 0.2);
        assert_true(o->translate[2] == 0 && o->velocity[0] == 0 && fabs(o->velocity[1]) <= 1);
        low = fmin(low, o->scale[0]);
        high = fmax(high, o->scale[0]);
        blue += o->material_index;
    }
    assert_true(low >= 0.5 && low < 0.55 && high <= 1.5 && high > 1.45);
    assert_true(blue > 70 && blue < 130);
    const struct {
        int seed, of_copies, alike;
    } rows[] = {{1, 2, 1}, {1, 3, 0}, {2, 2, 0}};
    for (int r = 0; r < 3; r++) {
        snprintf(other, sizeof other, text, rows[r].seed,
                 "  - {material: blue, shape: {sphere: {}}}\n", 150, rows[r].of_copies);
        read_scene(other, &b);
        const double *x = a.object[7].scale, *y = b.object[8].scale;
        assert_int_equal(memcmp(x, y, sizeof *x) == 0, rows[r].alike);
        assert_int_equal(fabs(a.object[7].velocity[1] - b.object[8].velocity[1]) < 1e-12,
                         rows[r].alike);
        firn_scene_free(&b);
    }
    firn_scene_free(&a);
}

/* ---- groups ---- */

static void members_stand_in_the_frame_of_their_group(void **state)
{
    (void)state;
    firn_scene s;
    read_scene(HEAD
               "groups:\n"
               "  - {name: table, translate: [0, 1, 0], scale: 2}\n"
               "  - {name: cup, parent: table, translate: [3, 0, 0], rotate: [0, 0, 90]}\n"
               "objects: [{group: cup, material: red, translate: [0.5, 0, 0], velocity: "
               "[1, 0, 0], spin: [5, 0, 0], shape: {sphere: {}}}]\n"
               "colliders: [{group: cup, shape: {box: {center: [1, 0, 0], size: [1, 2, 3]}}}]\n"
               "sinks: [{group: cup, shape: {sphere: {}}}]\n",
               &s);
    expect_vector(s.object[0].translate, 6, 2, 0);
    expect_vector(s.object[0].scale, 2, 2, 2);
    expect_vector(s.object[0].velocity, 0, 1, 0); /* turned, not scaled */
    expect_vector(s.object[0].spin, 0, 5, 0);
    expect_vector(s.collider[0].key->position, 6, 3, 0);
    expect_vector(s.collider[0].shape.def.size, 1, 2, 3); /* half of twice as much */
    assert_null(s.collider[0].def.parent);
    assert_non_null(s.sink[0].frame);
    firn_scene_free(&s);
}

/* A group with keys moves its members as one body: what was a point of it stays that point. */
static void members_ride_on_the_keys_of_their_group(void **state)
{
    (void)state;
    firn_scene s;
    read_scene(HEAD
               "groups:\n"
               "  - name: cup\n"
               "    translate: [0, 1, 0]\n"
               "    pivot: [0, 2, 0]\n"
               "    keys: {0: {at: [0, 0, 0]}, 1: {at: [1, 0, 0]}, 2: {at: [1, 0, 0], rotate: "
               "[0, 0, 90]}}\n"
               "objects: [{material: red, shape: {sphere: {}}}]\n"
               "colliders:\n"
               "  - {name: wall, group: cup, shape: {box: {center: [0.5, 0, 0]}}}\n"
               "  - {name: lid, group: cup, shape: {box: {}}, keys: {0: {at: [0, 0, 0]}, 1: {at: "
               "[0, 3, 0]}}}\n",
               &s);
    firn_collider_def def = firn_job_collider(&s.collider[0]);
    firn_posed_collider p;
    assert_true(firn_scene_moves(&s.collider[0]));
    firn_collider_pose(&def, 3, 0, &p);
    expect_vector(p.position, 0.5, 1, 0);
    firn_collider_pose(&def, 3, 0.5, &p);
    expect_vector(p.position, 1, 1, 0);
    expect_vector(p.velocity, 1, 0, 0);
    firn_collider_pose(&def, 3, 2, &p); /* about (1, 2, 0) */
    expect_vector(p.position, 2, 2.5, 0);
    def = firn_job_collider(&s.collider[1]);
    firn_collider_pose(&def, 3, 2, &p); /* up by 3 within what lies on its side */
    expect_vector(p.position, 2 - 3, 2, 0);
    firn_scene_free(&s);
}

static void groups_turn_about_their_own_place(void **state)
{
    (void)state;
    firn_scene s;
    read_scene(HEAD "groups: [{name: arm, translate: [3, 1, 0], spin: [0, 0, 90], keys: {0: {}, 1: "
                    "{rotate: [0, 0, 90]}}}]\n"
                    "objects: [{material: red, shape: {sphere: {}}}]\n"
                    "colliders: [{name: hand, group: arm, shape: {box: {center: [2, 0, 0]}}}]\n",
               &s);
    const firn_collider_def def = firn_job_collider(&s.collider[0]);
    firn_posed_collider p;
    firn_collider_pose(&def, 3, 0, &p);
    expect_vector(p.position, 5, 1, 0);
    firn_collider_pose(&def, 3, 1, &p); /* a quarter by keys and one by spin */
    expect_vector(p.position, 1, 1, 0);
    firn_scene_free(&s);
}

static void copies_of_a_group_copy_all_that_is_in_it(void **state)
{
    (void)state;
    firn_scene s;
    read_scene(HEAD
               "groups:\n"
               "  - {name: cart, instances: {list: [{}, {translate: [0, 0, 5], scale: 2}]}}\n"
               "  - {name: axle, parent: cart, translate: [1, 0, 0], spin: [0, 0, 90], "
               "instances: {list: [{}, {translate: [2, 0, 0]}]}}\n"
               "objects:\n"
               "  - {name: load, body: load, group: cart, material: red, shape: {sphere: {}}}\n"
               "  - {name: cover, body: load, group: cart, material: red, shape: {box: {}}}\n"
               "colliders:\n"
               "  - {name: wheel, group: axle, shape: {cylinder: {center: [0, 0, 1]}}}\n",
               &s);
    assert_int_equal(s.object_count, 4);
    assert_string_equal(s.object[1].name, "load[1]");
    assert_string_equal(s.object[1].body, "load[1]"); /* each cart's own */
    assert_string_equal(s.object[2].body, "load[0]");
    assert_int_equal(s.collider_count, 4);
    assert_string_equal(s.collider[3].name, "wheel[3]");
    const double at[4][3] = {{1, 0, 1}, {3, 0, 1}, {2, 0, 7}, {6, 0, 7}};
    for (int i = 0; i < 4; i++) {
        const firn_collider_def def = firn_job_collider(&s.collider[i]);
        firn_posed_collider p;
        firn_collider_pose(&def, 3, 0, &p);
        expect_vector(p.position, at[i][0], at[i][1], at[i][2]);
        expect_vector(p.spin, 0, 0, acos(-1) / 2);
    }
    firn_scene_free(&s);
}

/* ---- what is refused ---- */

#define BALL "material: red, shape: {sphere: {}}"

static void what_makes_no_sense_is_refused_at_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text; /* behind the head, which has three lines */
        int line;
        const char *says;
    } rows[] = {
        {"objects:\n- {" BALL ", instances: 5}\n", 5, "instances must be a map"},
        {"objects:\n- {" BALL ", instances: [1]}\n", 5, "instances must be a map"},
        {"objects:\n- {" BALL ", instances: {}}\n", 5, "need one of list, grid, ring, points and"},
        {"objects:\n- {" BALL ", instances: {grid: {}, ring: {}}}\n", 5, "these have several"},
        {"objects:\n- {" BALL ", instances: {gird: {}}}\n", 5, "did you mean \"grid\"?"},
        {"objects:\n- {" BALL ", instances: {list: 3}}\n", 5, "list must be a list"},
        {"objects:\n- {" BALL ", instances: {list: []}}\n", 5, "there is no copy"},
        {"objects:\n- {" BALL ", instances: {list: [3]}}\n", 5, "a copy must be a map"},
        {"objects:\n- {" BALL ", instances: {list: [{at: [0, 0, 0]}]}}\n", 5,
         "a copy has no parameter \"at\""},
        {"objects:\n- {" BALL ", instances: {list: [{translate: [0, 0]}]}}\n", 5,
         "translate must be 3 numbers"},
        {"objects:\n- {" BALL ", instances: {list: [{scale: 0}]}}\n", 5, "scale 0 must be"},
        {"objects:\n- {" BALL ", instances: {list: [{scale: [1, 2, 3]}]}}\n", 5,
         "scale a list must be a number"},
        {"objects:\n- {" BALL ", instances: {list: [{material: green}]}}\n", 5,
         "there is no material \"green\""},
        {"objects:\n- {" BALL ", instances: {list: [{seed: -1}]}}\n", 5, "seed -1 must be"},
        {"objects:\n- {" BALL ", instances: {grid: {count: [0, 1, 1]}}}\n", 5, "count 0 must be"},
        {"objects:\n- {" BALL ", instances: {grid: {count: [1.5, 1, 1]}}}\n", 5,
         "count 1.5 along axis 0 must be a whole number"},
        {"objects:\n- {" BALL ", instances: {grid: {count: [2, 1, 1]}}}\n", 5,
         "in one place along axis 0; give a spacing"},
        {"objects:\n- {" BALL ", instances: {grid: {count: [2, 1, 2], spacing: [1, 1, 0]}}}\n", 5,
         "in one place along axis 2"},
        {"objects:\n- {" BALL
         ",\n   instances: {grid: {count: [60000, 60000, 60000], spacing: [1, 1, 1]}}}\n",
         6, "copies must be at most 65536; use a particle file"},
        {"objects:\n- {" BALL ", instances: {ring: {}}}\n", 5, "needs a count and a radius"},
        {"objects:\n- {" BALL ", instances: {ring: {count: 5}}}\n", 5,
         "needs a count and a radius"},
        {"objects:\n- {" BALL ", instances: {ring: {count: 0, radius: 1}}}\n", 5,
         "count 0 must be"},
        {"objects:\n- {" BALL ", instances: {ring: {count: 70000, radius: 1}}}\n", 5,
         "count 70000 must be"},
        {"objects:\n- {" BALL ", instances: {ring: {count: 3, radius: -1}}}\n", 5,
         "radius -1 must be"},
        {"objects:\n- {" BALL ", instances: {ring: {count: 3, radius: 1, up: [0, 0, 0]}}}\n", 5,
         "up must not be zero"},
        {"objects:\n- {" BALL ", instances: {ring: {count: 3, radius: 1, turn: yes}}}\n", 5,
         "turn \"yes\" must be true or false"},
        {"objects:\n- {" BALL ", instances: {points: none.csv}}\n", 5, "none.csv"},
        {"objects:\n- {" BALL ", instances: {points: [1]}}\n", 5, "points a list must be text"},
        {"objects:\n- {" BALL ", instances: {inside: {}}}\n", 5, "inside needs a shape"},
        {"objects:\n- {" BALL ", instances: {inside: {shape: {sphere: {}}}}}\n", 5,
         "either a count or a separation"},
        {"objects:\n- {" BALL
         ", instances: {inside: {shape: {sphere: {}}, count: 3, separation: 1}}}\n",
         5, "either a count or a separation"},
        {"objects:\n- {" BALL ", instances: {inside: {shape: {plane: {}}, count: 3}}}\n", 5,
         "plane is not a shape for objects"},
        {"objects:\n- {" BALL ", instances: {inside: {shape: {ball: {}}, count: 3}}}\n", 5,
         "there is no shape \"ball\""},
        {"objects:\n- {" BALL
         ", instances: {inside: {shape: {box: {size: [9, 9, 9]}}, separation: 1e-3}}}\n",
         5, "65536"},
        {"objects:\n- {" BALL
         ", instances: {inside: {shape: {mesh: {file: none.obj}}, count: 3}}}\n",
         5, "none.obj"},
        {"objects:\n- {" BALL ", instances: {list: [{}], jitter: 3}}\n", 5,
         "instances.jitter must be a map"},
        {"objects:\n- {" BALL ", instances: {list: [{}], jitter: {scale: 2}}}\n", 5,
         "scale 2 must be"},
        {"objects:\n- {" BALL ", instances: {list: [{}], jitter: {translate: [0, -1, 0]}}}\n", 5,
         "translate -1 must be"},
        {"objects:\n- {" BALL ", instances: {list: [{}], jitter: {turn: 3}}}\n", 5,
         "instances.jitter has no parameter \"turn\""},
        {"objects:\n- {" BALL ", instances: {list: [{}], materials: red}}\n", 5,
         "materials must be a list, as [red, blue]"},
        {"objects:\n- {" BALL ", instances: {list: [{}], materials: []}}\n", 5,
         "materials must be a list, as [red, blue]"},
        {"objects:\n- {" BALL ", instances: {list: [{}], materials: [[red]]}}\n", 5,
         "materials must be names"},
        {"objects:\n- {" BALL ", instances: {list: [{}], materials: [green]}}\n", 5,
         "there is no material \"green\""},
        {"objects:\n- {" BALL ", name: a, instances: {list: [{}, {}]}}\n- {" BALL
         ", name: 'a[1]'}\n",
         6, "the name \"a[1]\" is used twice"},
        {"objects:\n- {" BALL ", instances: {grid: {count: [256, 1, 256], spacing: [1, 1, 1]}}}\n- "
         "{" BALL "}\n",
         6, "65537 objects must be at most 65536"},
        {"objects: [{" BALL "}]\ncolliders:\n- {shape: {box: {}}, instances: {list: [{velocity: "
         "[1, 0, 0]}]}}\n",
         6, "only copies of objects have a velocity"},
        {"objects: [{" BALL "}]\ncolliders:\n- {shape: {box: {}}, instances: {list: [{material: "
         "red}]}}\n",
         6, "only copies of objects have a material"},
        {"objects: [{" BALL
         "}]\ncolliders:\n- {shape: {box: {}}, instances: {list: [{seed: 1}]}}\n",
         6, "only copies of objects have a seed"},
        {"objects: [{" BALL "}]\ncolliders:\n- {shape: {box: {}}, instances: {list: [{}], "
         "materials: [red]}}\n",
         6, "only copies of objects have materials"},
        {"objects: [{" BALL "}]\ncolliders:\n- {shape: {box: {}}, instances: {list: [{}], jitter: "
         "{velocity: [1, 1, 1]}}}\n",
         6, "only copies of objects have a velocity"},
        {"objects: [{" BALL "}]\nsinks:\n- {shape: {box: {}}, instances: {list: [{}]}}\n", 6,
         "a sink has no parameter \"instances\""},
        {"objects:\n- {" BALL ", group: cup}\n", 5, "there is no group \"cup\"; give it under"},
        {"groups: [{name: cup}]\nobjects:\n- {" BALL ", group: cap}\n", 6,
         "there is no group \"cap\", did you mean \"cup\"?"},
        {"groups: [{name: cup}]\nobjects:\n- {" BALL ", group: [cup]}\n", 6,
         "there is no group \"\""},
        {"groups: {cup: {}}\nobjects: [{" BALL "}]\n", 4, "groups must be a list"},
        {"groups:\n- {translate: [0, 1, 0]}\nobjects: [{" BALL "}]\n", 5, "a group needs a name"},
        {"groups:\n- cup\nobjects: [{" BALL "}]\n", 5, "a group must be a map"},
        {"groups:\n- {name: cup}\n- {name: cup}\nobjects: [{" BALL "}]\n", 6,
         "the name \"cup\" is used twice"},
        {"groups:\n- {name: cup, parent: cup}\nobjects: [{" BALL "}]\n", 5,
         "group \"cup\" is not above this one"},
        {"groups:\n- {name: a, parent: b}\n- {name: b, parent: a}\nobjects: [{" BALL "}]\n", 5,
         "group \"b\" is not above this one"},
        {"groups:\n- {name: cup, parent: table}\nobjects: [{" BALL "}]\n", 5,
         "there is no group \"table\""},
        {"groups:\n- {name: cup, shape: {box: {}}}\nobjects: [{" BALL "}]\n", 5,
         "a group has no parameter \"shape\""},
        {"groups:\n- {name: cup, scale: 0}\nobjects: [{" BALL "}]\n", 5, "scale 0 must be"},
        {"groups:\n- {name: cup, keys: [1]}\nobjects: [{" BALL "}]\n", 5,
         "keys must be a map of times"},
        {"groups:\n- name: cup\n  keys:\n    0: {at: [0, 0, 0]}\n    1: {to: [0, 0, 0]}\nobjects: "
         "[{" BALL "}]\n",
         8, "a key has no parameter \"to\""},
        {"groups:\n- {name: cup, instances: {list: [{velocity: [1, 0, 0]}]}}\nobjects: [{" BALL
         "}]\n",
         5, "only copies of objects have a velocity"},
        {"groups:\n- {name: a, instances: {ring: {count: 60000, radius: 1}}}\n- {name: b, parent: "
         "a, instances: {ring: {count: 60000, radius: 1}}}\nobjects: [{" BALL "}]\n",
         6, "more than 65536 groups"},
        {"groups:\n- {name: a, instances: {ring: {count: 300, radius: 1}}}\nobjects:\n- {" BALL
         ", group: a, instances: {ring: {count: 300, radius: 1}}}\n",
         7, "90000 objects must be at most 65536; use fewer copies"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1000], place[32];
        firn_scene scene = {0};
        snprintf(text, sizeof text, "%s%s", HEAD, rows[i].text);
        snprintf(place, sizeof place, "text:%d:", rows[i].line);
        error = (firn_error){0};
        if (parse(text, &scene) == FIRN_OK) {
            print_error("taken: %s\n", rows[i].text);
            firn_scene_free(&scene);
            error = (firn_error){0};
        }
        if (strncmp(error.message, place, strlen(place)) != 0 ||
            !strstr(error.message, rows[i].says)) {
            print_error("%s\n  is refused by: %s\n  and not by line %d: %s\n", rows[i].text,
                        error.message, rows[i].line, rows[i].says);
            *(int *)*state += 1;
        }
    }
    assert_int_equal(*(int *)*state, 0);
}

/* The 65th group within groups, each in the one before. */
static void groups_are_nested_to_a_depth(void **state)
{
    (void)state;
    char text[8000] =
        HEAD "objects: [{material: red, shape: {sphere: {}}}]\ngroups:\n- {name: g0}\n";
    for (int i = 1; i <= 64; i++) {
        const size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "- {name: g%d, parent: g%d}\n", i, i - 1);
    }
    firn_scene s = {0};
    assert_int_equal(parse(text, &s), FIRN_INVALID);
    assert_non_null(strstr(error.message, "text:70:"));
    assert_non_null(strstr(error.message, "more than 64 groups and copies within each other"));
}

int main(void)
{
    static int wrong;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_of_a_list_are_objects_of_their_own),
        cmocka_unit_test(grids_run_along_x_first_around_their_middle),
        cmocka_unit_test(rings_turn_their_copies),
        cmocka_unit_test(chance_goes_by_seed_and_number),
        cmocka_unit_test(members_stand_in_the_frame_of_their_group),
        cmocka_unit_test(members_ride_on_the_keys_of_their_group),
        cmocka_unit_test(groups_turn_about_their_own_place),
        cmocka_unit_test(copies_of_a_group_copy_all_that_is_in_it),
        cmocka_unit_test_prestate(what_makes_no_sense_is_refused_at_its_line, &wrong),
        cmocka_unit_test(groups_are_nested_to_a_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
