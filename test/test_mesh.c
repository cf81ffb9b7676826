/* Meshes and voxels from files: read alike from every format, checked, filled; what is wrong is refused
 * by name, and threads change nothing. */
#include <unistd.h>

#include "filling.h"
#include "mesh/mesh.h"

/* ---- meshes ---- */

/* A growing text or binary file. */
typedef struct file {
    char *data;
    size_t size;
} file;

static void put(file *f, const void *data, size_t size)
{
    f->data = realloc(f->data, f->size + size + 1);
    memcpy(f->data + f->size, data, size);
    f->size += size;
    f->data[f->size] = 0;
}

static void put_text(file *f, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    put(f, line, (size_t)size);
}

static firn_status parse(firn_mesh_format format, const file *f, firn_mesh **out, firn_error *error)
{
    /* Exactly as long as it is, so that reading past the end is found out. */
    uint8_t *copy = malloc(f->size ? f->size : 1);
    memcpy(copy, f->data ? f->data : "", f->size);
    const firn_bytes bytes = {copy, f->size};
    const firn_status st = firn_mesh_parse(format, "mesh.file", &bytes, 0, 2, out, error);
    free(copy);
    return st;
}

static firn_status parse_obj(const char *text, firn_mesh **out, firn_error *error)
{
    const file f = {(char *)text, strlen(text)};
    return parse(FIRN_MESH_OBJ, &f, out, error);
}

/* A list of polygons to be written in any format. */
typedef struct model {
    double vertex[20000][3];
    int corners[40000][8]; /* ends with -1 */
    int vertices, faces;
} model;

static void add_face(model *m, int a, int b, int c, int d)
{
    const int corners[8] = {a, b, c, d, -1};
    memcpy(m->corners[m->faces++], corners, sizeof corners);
}

static void add_cube(model *m, double x, double y, double z, double size, bool inside_out)
{
    static const int faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    const int first = m->vertices;
    for (int i = 0; i < 8; i++) {
        double *v = m->vertex[m->vertices++];
        v[0] = x + (i & 1) * size, v[1] = y + (i >> 1 & 1) * size, v[2] = z + (i >> 2) * size;
    }
    for (int f = 0; f < 6; f++) {
        const int *c = faces[f];
        const int b = inside_out ? 3 : 1, d = inside_out ? 1 : 3;
        add_face(m, first + c[0], first + c[b], first + c[2], first + c[d]);
    }
}

/* Rings of triangles around z. */
static void add_sphere(model *m, double radius, int rings, int sides)
{
    const int first = m->vertices;
    for (int r = 0; r <= rings; r++) {
        const int count = r == 0 || r == rings ? 1 : sides;
        for (int s = 0; s < count; s++) {
            const double t = pi * r / rings, p = 2 * pi * s / sides;
            double *v = m->vertex[m->vertices++];
            v[0] = radius * sin(t) * cos(p), v[1] = radius * sin(t) * sin(p),
            v[2] = radius * cos(t);
        }
    }
    const int last = m->vertices - 1;
    for (int s = 0; s < sides; s++) {
        const int n = (s + 1) % sides;
        add_face(m, first, first + 1 + s, first + 1 + n, -1);
        add_face(m, last - sides + s, last, last - sides + n, -1);
        for (int r = 0; r < rings - 2; r++) {
            const int a = first + 1 + r * sides;
            add_face(m, a + s, a + sides + s, a + sides + n, -1);
            add_face(m, a + s, a + sides + n, a + n, -1);
        }
    }
}

static file write_obj(const model *m)
{
    file f = {0};
    for (int v = 0; v < m->vertices; v++) {
        put_text(&f, "v %.17g %.17g %.17g\n", m->vertex[v][0], m->vertex[v][1], m->vertex[v][2]);
    }
    for (int i = 0; i < m->faces; i++) {
        put_text(&f, "f");
        for (int c = 0; m->corners[i][c] >= 0; c++) put_text(&f, " %d", m->corners[i][c] + 1);
        put_text(&f, "\n");
    }
    return f;
}

static void put_number(file *f, const void *value, size_t size, bool big)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++) bytes[i] = ((const uint8_t *)value)[big ? size - 1 - i : i];
    put(f, bytes, size);
}

/* encoding 0 text, 1 little, 2 big; with things to skip before, between and behind. */
static file write_ply(const model *m, int encoding)
{
    static const char *const name[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    file f = {0};
    put_text(&f, "ply\r\nformat %s 1.0\r\ncomment vertex 3\r\nelement camera 1\r\n",
             name[encoding]);
    put_text(&f, "property list uchar short view\r\nelement vertex %d\r\n", m->vertices);
    put_text(&f, "property uchar red\r\nproperty double z\r\nproperty float64 x\r\n");
    put_text(&f, "property double y\r\nelement face %d\r\n", m->faces);
    put_text(&f, "property list uint8 uint vertex_index\r\nproperty int16 flags\r\nend_header\r\n");
    if (encoding == 0) {
        put_text(&f, "2 7 8\r\n");
        for (int v = 0; v < m->vertices; v++) {
            put_text(&f, "255 %.17g %.17g %.17g\r\n", m->vertex[v][2], m->vertex[v][0],
                     m->vertex[v][1]);
        }
        for (int i = 0; i < m->faces; i++) {
            int n = 0;
            while (m->corners[i][n] >= 0) n++;
            put_text(&f, "%d", n);
            for (int c = 0; c < n; c++) put_text(&f, " %d", m->corners[i][c]);
            put_text(&f, " -1\r\n");
        }
        return f;
    }
    const bool big = encoding == 2;
    const uint8_t two = 2, red = 255;
    const int16_t seven = 7;
    put_number(&f, &two, 1, big);
    put_number(&f, &seven, 2, big);
    put_number(&f, &seven, 2, big);
    for (int v = 0; v < m->vertices; v++) {
        put_number(&f, &red, 1, big);
        for (int a = 0; a < 3; a++) put_number(&f, &m->vertex[v][(a + 2) % 3], 8, big);
    }
    for (int i = 0; i < m->faces; i++) {
        uint8_t n = 0;
        while (m->corners[i][n] >= 0) n++;
        put_number(&f, &n, 1, big);
        for (int c = 0; c < n; c++) put_number(&f, &m->corners[i][c], 4, big);
        put_number(&f, &seven, 2, big);
    }
    return f;
}

/* Of triangles only. */
static file write_stl(const model *m, bool text)
{
    file f = {0};
    const uint32_t count = (uint32_t)m->faces;
    if (text) {
        put_text(&f, "solid a vertex in a name\n");
    } else {
        char header[80] = "solid says nothing in a binary file";
        put(&f, header, sizeof header);
        put(&f, &count, 4);
    }
    for (int i = 0; i < m->faces; i++) {
        const float normal[3] = {0};
        if (text)
            put_text(&f, "  facet normal 0 0 0\n    outer loop\n");
        else
            put(&f, normal, sizeof normal);
        for (int c = 0; c < 3; c++) {
            const double *v = m->vertex[m->corners[i][c]];
            const float p[3] = {(float)v[0], (float)v[1], (float)v[2]};
            if (text) {
                put_text(&f, "      vertex %.9g %.9g %.9g\n", (double)p[0], (double)p[1],
                         (double)p[2]);
            } else {
                put(&f, p, sizeof p);
            }
        }
        if (text)
            put_text(&f, "    endloop\n  endfacet\n");
        else
            put(&f, "\0", 2);
    }
    if (text) put_text(&f, "endsolid\n");
    return f;
}

static model *new_model(void)
{
    model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    return m;
}

/* As OBJ; frees the model. */
static firn_mesh *mesh_of(model *m)
{
    firn_mesh *mesh = NULL;
    file f = write_obj(m);
    assert_ok(parse(FIRN_MESH_OBJ, &f, &mesh, &error));
    free(f.data);
    free(m);
    return mesh;
}

static bool mesh_has(const firn_mesh *mesh, double x, double y, double z)
{
    const double p[3] = {x, y, z};
    return firn_mesh_winding(mesh, p) != 0;
}

static void every_encoding_gives_the_same_mesh(void **state)
{
    (void)state;
    model *m = new_model();
    add_sphere(m, 0.75, 20, 30);
    file files[6] = {write_obj(m),    write_ply(m, 0),     write_ply(m, 1),
                     write_ply(m, 2), write_stl(m, false), write_stl(m, true)};
    static const firn_mesh_format format[6] = {FIRN_MESH_OBJ, FIRN_MESH_PLY, FIRN_MESH_PLY,
                                               FIRN_MESH_PLY, FIRN_MESH_STL, FIRN_MESH_STL};
    firn_mesh *first = NULL;
    for (int i = 0; i < 6; i++) {
        firn_mesh *mesh = NULL;
        assert_ok(parse(format[i], &files[i], &mesh, &error));
        assert_int_equal(mesh->vertex_count, m->vertices);
        assert_int_equal(mesh->triangle_count, m->faces);
        assert_int_equal(mesh->shell_count, 1);
        assert_int_equal(mesh->turned, 0);
        if (i == 0) {
            first = mesh;
            continue;
        }
        if (i < 4) { /* STL has single precision */
            assert_memory_equal(mesh->vertex, first->vertex, (size_t)mesh->vertex_count * 24);
            assert_memory_equal(mesh->triangle, first->triangle, (size_t)mesh->triangle_count * 12);
            assert_true(mesh->volume == first->volume);
        }
        assert_close(mesh->volume, first->volume, 1e-6);
        firn_mesh_destroy(mesh);
        free(files[i].data);
    }
    free(files[0].data);
    free(m);
    /* Inside, against the sphere itself: the mesh is within 1 % of it. */
    random_state = 5;
    for (int i = 0; i < 20000; i++) {
        double p[3], square = 0;
        for (int a = 0; a < 3; a++) p[a] = uniform(-0.8, 0.8), square += p[a] * p[a];
        const double r = sqrt(square);
        if (fabs(r - 0.7425) < 0.0076) continue;
        assert_int_equal(firn_mesh_winding(first, p), r < 0.74);
        const double d = firn_mesh_distance(first, p, 0.3);
        assert_close(d, fmax(fmin(r - 0.75, 0.3), -0.3), 0.01);
    }
    firn_mesh_destroy(first);
}

static void a_cube_of_quads_has_its_volume_and_inside(void **state)
{
    (void)state;
    model *m = new_model();
    add_cube(m, 0, 0, 0, 1, false);
    firn_mesh *mesh = mesh_of(m);
    assert_int_equal(mesh->triangle_count, 12);
    assert_close(mesh->volume, 1, 1e-15);
    /* Points over edges, corners and diagonals: where rays are easily lost or counted twice. */
    for (int x = -1; x <= 5; x++)
        for (int y = -1; y <= 5; y++)
            for (int z = -1; z <= 5; z++) {
                const bool in = x >= 0 && x < 4 && y >= 0 && y < 4 && z >= 0 && z < 4;
                assert_int_equal(mesh_has(mesh, x / 4.0, y / 4.0, z / 4.0), in);
            }
    firn_mesh_destroy(mesh);
}

/* A comb: a prism over a concave polygon of eight corners, as two octagons and eight quads. */
static void concave_polygons_are_cut_within_themselves(void **state)
{
    (void)state;
    static const double outline[8][2] = {{0, 0}, {5, 0}, {5, 4}, {4, 4},
                                         {4, 1}, {1, 1}, {1, 4}, {0, 4}};
    file f = {0};
    for (int z = 0; z < 2; z++) {
        for (int i = 0; i < 8; i++) put_text(&f, "v %g %g %d\n", outline[i][0], outline[i][1], z);
    }
    put_text(&f, "f 8 7 6 5 4 3 2 1\nf 9/1 10/2 11 12//3 13/1/1 14 15 16\n");
    for (int i = 1; i <= 8; i++) {
        const int n = i % 8 + 1;
        put_text(&f, "f %d %d %d %d\n", i, n, n + 8, i + 8);
    }
    firn_mesh *mesh = NULL;
    assert_ok(parse(FIRN_MESH_OBJ, &f, &mesh, &error));
    free(f.data);
    assert_int_equal(mesh->triangle_count, 6 + 6 + 16);
    assert_int_equal(mesh->turned, 0);
    assert_close(mesh->volume, 5 + 3 + 3, 1e-13);
    assert_true(mesh_has(mesh, 0.5, 3.5, 0.5));
    assert_true(mesh_has(mesh, 4.5, 3.5, 0.5));
    assert_true(mesh_has(mesh, 2.5, 0.5, 0.5));
    assert_false(mesh_has(mesh, 2.5, 2, 0.5));
    assert_false(mesh_has(mesh, 2.5, 3.9, 0.5));
    firn_mesh_destroy(mesh);
}

static void shells_add_up_and_cavities_are_empty(void **state)
{
    (void)state;
    firn_mesh *mesh = NULL;
    model *m = new_model(); /* apart, the second inside out by mistake */
    add_cube(m, 0, 0, 0, 1, false);
    add_cube(m, 3, 0, 0, 0.5, true);
    mesh = mesh_of(m);
    assert_int_equal(mesh->shell_count, 2);
    assert_close(mesh->volume, 1.125, 1e-14);
    assert_true(mesh_has(mesh, 0.4, 0.4, 0.4) && mesh_has(mesh, 3.2, 0.2, 0.2));
    assert_false(mesh_has(mesh, 2, 0.2, 0.2));
    firn_mesh_destroy(mesh);

    m = new_model(); /* a cavity; all of it inside out makes no difference */
    for (int turn = 0; turn < 2; turn++) {
        add_cube(m, 0, 0, 0, 1, turn == 1);
        add_cube(m, 0.25, 0.25, 0.25, 0.5, turn == 0);
        mesh = mesh_of(m);
        assert_close(mesh->volume, 1 - 0.125, 1e-14);
        assert_true(mesh_has(mesh, 0.1, 0.5, 0.5));
        assert_false(mesh_has(mesh, 0.5, 0.5, 0.5));
        firn_mesh_destroy(mesh);
        m = new_model();
    }

    add_cube(m, 0, 0, 0, 1, false); /* overlapping: one body */
    add_cube(m, 0.5, 0.5, 0.5, 1, false);
    mesh = mesh_of(m);
    assert_close(mesh->volume, 2 - 0.125, 2e-3);
    assert_int_equal(firn_mesh_winding(mesh, (const double[]){0.75, 0.75, 0.75}), 2);
    assert_false(mesh_has(mesh, 0.2, 1.2, 0.2));
    firn_mesh_destroy(mesh);

    m = new_model(); /* nested and turned alike: filled */
    add_cube(m, 0, 0, 0, 1, false);
    add_cube(m, 0.25, 0.25, 0.25, 0.5, false);
    mesh = mesh_of(m);
    assert_close(mesh->volume, 1, 2e-3);
    firn_mesh_destroy(mesh);

    m = new_model(); /* side by side, sharing a face: no point in both or in neither */
    add_cube(m, 0, 0, 0, 1, false);
    add_cube(m, 1, 0, 0, 1, false);
    mesh = mesh_of(m);
    assert_close(mesh->volume, 2, 1e-14);
    assert_int_equal(firn_mesh_winding(mesh, (const double[]){1, 0.5, 0.5}), 1);
    firn_mesh_destroy(mesh);
}

static void faces_that_disagree_are_turned(void **state)
{
    (void)state;
    model *m = new_model();
    add_sphere(m, 1, 12, 16);
    const int faces = m->faces;
    for (int i = 0; i < faces; i += 5) {
        const int other = m->corners[i][0];
        m->corners[i][0] = m->corners[i][1];
        m->corners[i][1] = other;
    }
    file f = write_obj(m);
    firn_mesh *mesh = NULL;
    assert_ok(parse(FIRN_MESH_OBJ, &f, &mesh, &error));
    assert_int_equal(mesh->turned, (faces + 4) / 5);
    assert_close(mesh->volume, 4 * pi / 3, 0.2);
    assert_true(mesh_has(mesh, 0.1, 0.2, 0.3) && !mesh_has(mesh, 0.9, 0.9, 0));
    firn_mesh_destroy(mesh);
    free(f.data);
    free(m);
}

static void the_volume_of_a_mesh_is_that_of_its_polyhedron(void **state)
{
    (void)state;
    const int rings = 40, sides = 64;
    model *m = new_model();
    add_sphere(m, 1, rings, sides);
    for (int v = 0; v < m->vertices; v++) m->vertex[v][0] += 1000;
    firn_mesh *mesh = mesh_of(m);
    /* Slices between rings: frusta of regular polygons, as the faces are flat. */
    double volume = 0;
    const double area = 0.5 * sides * sin(2 * pi / sides);
    for (int r = 0; r < rings; r++) {
        const double t = pi * r / rings, u = pi * (r + 1) / rings, a = sin(t), b = sin(u);
        volume += area * (cos(t) - cos(u)) * (a * a + a * b + b * b) / 3;
    }
    assert_close(mesh->volume, volume, 1e-11);
    firn_mesh_destroy(mesh);
}

static void broken_meshes_are_refused_by_name(void **state)
{
    (void)state;
    firn_mesh *mesh = NULL;
    model *m = new_model();
    add_cube(m, 0, 0, 0, 1, false);
    m->faces--;
    file f = write_obj(m);
    assert_refused(parse(FIRN_MESH_OBJ, &f, &mesh, &error),
                   "mesh.file: the mesh is not closed: 4 open edges, the first from (");
    free(f.data);
    free(m);
    assert_refused(parse_obj("", &mesh, &error), "mesh.file: the mesh is empty");
    assert_refused(parse_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\n", &mesh, &error), "3 vertices, no faces");
    assert_refused(parse_obj("v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n", &mesh, &error), "is empty");
    assert_refused(parse_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", &mesh, &error), "mesh.file:4");
    assert_refused(parse_obj("v 0 0 0\nf 1 -2 1\n", &mesh, &error), "mesh.file:2: \"-2\" names no");
    assert_refused(parse_obj("v 0 0 0\nf 0 1 1\n", &mesh, &error), "mesh.file:2: \"0\" names no");
    assert_refused(parse_obj("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", &mesh, &error), "finite");
    assert_refused(parse_obj("v 0 0 1e999\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", &mesh, &error), "finite");
    assert_refused(parse_obj("v 0 0 1,5\n", &mesh, &error), "\"1,5\" is not a number");
    assert_refused(parse_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 3 2 1\n", &mesh, &error),
                   "no volume");
    assert_refused(firn_mesh_read("mesh.fbx", 0, 1, &mesh, &error), "mesh.fbx: not a mesh file");
    assert_refused(firn_mesh_read("/nowhere/mesh.obj", 0, 1, &mesh, &error), "/nowhere/mesh.obj: ");
}

/* The sample of a quad with negative numbers, a continued line and other lines, closed to a box. */
static void negative_numbers_count_back_from_the_last_vertex(void **state)
{
    (void)state;
    firn_mesh *mesh = NULL;
    assert_refused(
        parse_obj("# comment\nv 0 0 0\nv 1 0 0\nv 1 1 0 \\\n\nv 0 1 0\nvt 0 0\nvn 0 0 1\n"
                  "f -4//1 -3//1 -2//1 -1//1\n",
                  &mesh, &error),
        "4 open edges");
    assert_ok(parse_obj("v 0 0 0\r\nv 1 0 0\r\nv 1 1 0\r\nv\t0 1\\\n 0\r\nf -1 -2 -3 -4\r\n"
                        "v 0 0 2\nv 1 0 2\nv 1 1 2\nv 0 1 2 0.5 0.5 0.5\ng side\nf -4 -3 -2 -1\n"
                        "s off\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\nl 1 2\n",
                        &mesh, &error));
    assert_close(mesh->volume, 2, 1e-14);
    firn_mesh_destroy(mesh);
}

static void a_mesh_is_filled_like_the_shape_it_is(void **state)
{
    (void)state;
    model *m = new_model();
    add_sphere(m, 0.5, 80, 120);
    firn_mesh *mesh = mesh_of(m);
    firn_placement p = firn_placement_default();
    p.translate[1] = 2, p.scale[0] = 2, p.rotate_deg[2] = 30;
    firn_region region;
    assert_ok(firn_region_of_mesh(mesh, &p, &region, &error));
    assert_close(region.volume, pi / 3, 2e-3);
    for (int pattern = 0; firn_pattern_name(pattern); pattern++) {
        firn_fill_def def = def_of(pattern, 0.04);
        def.threads = 2;
        firn_filling f;
        assert_ok(firn_fill(&region, &def, &f, &error));
        check_filling(&region, &f);
        assert_close((double)f.count / (region.volume / pow(0.04, 3)), 1, 0.05);
        firn_filling_free(&f);
    }
    firn_mesh_destroy(mesh);
}

static void threads_change_no_byte(void **state)
{
    (void)state;
    model *m = new_model();
    add_sphere(m, 0.5, 20, 30);
    file source = write_obj(m);
    free(m);
    for (int pattern = 0; firn_pattern_name(pattern); pattern++) {
        for (int refined = 0; refined < 2; refined++) {
            firn_filling first = {0};
            for (int threads = 1; threads <= 3; threads++) {
                const firn_bytes bytes = {(uint8_t *)source.data, source.size};
                firn_mesh *mesh = NULL;
                firn_region region;
                firn_filling f;
                firn_placement p = somewhere(3);
                p.scale[0] = p.scale[1] = p.scale[2]; /* depths are exact, and take less time */
                assert_ok(
                    firn_mesh_parse(FIRN_MESH_OBJ, "sphere", &bytes, 0, threads, &mesh, &error));
                assert_ok(firn_region_of_mesh(mesh, &p, &region, &error));
                firn_fill_def def = def_of(pattern, 0);
                def.count = 2000;
                def.refine_levels = refined;
                def.refine_distance = 0.1;
                def.threads = threads;
                assert_ok(firn_fill(&region, &def, &f, &error));
                firn_mesh_destroy(mesh);
                if (threads == 1) {
                    first = f;
                    continue;
                }
                assert_int_equal(f.count, first.count);
                assert_memory_equal(f.position, first.position, (size_t)f.count * 24);
                assert_memory_equal(f.volume, first.volume, (size_t)f.count * 8);
                firn_filling_free(&f);
            }
            firn_filling_free(&first);
        }
    }
    free(source.data);
}

/* ---- voxels ---- */

/* The file of voxels for which `full` says so. */
static file write_binvox(int n, bool full(int x, int y, int z))
{
    file f = {0};
    put_text(&f, "#binvox 1\ndim %d %d %d\ntranslate -1 0.5 2\nscale 2\ndata\n", n, n, n);
    uint8_t run[2] = {0, 0};
    for (int x = 0; x < n; x++)
        for (int z = 0; z < n; z++)
            for (int y = 0; y < n; y++) {
                const uint8_t value = full(x, y, z);
                if (run[1] == 255 || (run[1] > 0 && run[0] != value)) {
                    put(&f, run, 2);
                    run[1] = 0;
                }
                run[0] = value;
                run[1]++;
            }
    put(&f, run, 2);
    return f;
}

static bool corner_block(int x, int y, int z) { return x < 3 && y >= 1 && z < 70 && z != 5; }

static bool everywhere(int x, int y, int z) { return x + y + z >= 0; }

static firn_status parse_voxels(const file *f, firn_voxels *out, firn_error *error)
{
    uint8_t *copy = malloc(f->size ? f->size : 1);
    memcpy(copy, f->data, f->size);
    const firn_bytes bytes = {copy, f->size};
    const firn_status st = firn_voxels_parse("some.binvox", &bytes, out, error);
    free(copy);
    return st;
}

static void voxels_come_back_as_written(void **state)
{
    (void)state;
    enum { N = 80 };
    file f = write_binvox(N, corner_block);
    firn_voxels v;
    assert_ok(parse_voxels(&f, &v, &error));
    free(f.data);
    int64_t full = 0;
    for (int z = -1; z <= N; z++)
        for (int y = -1; y <= N; y++)
            for (int x = -1; x <= N; x++) {
                const bool within = x >= 0 && y >= 0 && z >= 0 && x < N && y < N && z < N;
                const bool want = within && corner_block(x, y, z);
                assert_int_equal(firn_voxels_get(&v, x, y, z), want);
                const double p[3] = {-1 + (x + 0.5) / 40, 0.5 + (y + 0.5) / 40, 2 + (z + 0.5) / 40};
                assert_int_equal(firn_voxels_inside(&v, p), want);
                full += want;
            }
    assert_int_equal(v.full, full);
    assert_close(firn_voxels_volume(&v), (double)full / 64000, 1e-14);
    firn_voxels_free(&v);
}

static void distances_to_voxels_are_exact(void **state)
{
    (void)state;
    file f = write_binvox(80, corner_block);
    firn_voxels v;
    assert_ok(parse_voxels(&f, &v, &error));
    free(f.data);
    random_state = 1;
    for (int i = 0; i < 2000; i++) {
        double p[3] = {uniform(-1.2, -0.8), uniform(0.4, 0.8), uniform(1.8, 2.4)};
        const bool in = firn_voxels_inside(&v, p);
        const double limit = 0.12;
        double want = limit;
        for (int z = -10; z < 30; z++)
            for (int y = -10; y < 30; y++)
                for (int x = -10; x < 20; x++) {
                    if (firn_voxels_get(&v, x, y, z) == in) continue;
                    const int cell[3] = {x, y, z};
                    double square = 0;
                    for (int a = 0; a < 3; a++) {
                        const double low = v.low[a] + cell[a] * v.edge;
                        const double gap = fmax(fmax(low - p[a], p[a] - low - v.edge), 0);
                        square += gap * gap;
                    }
                    want = fmin(want, sqrt(square));
                }
        assert_close(firn_voxels_distance(&v, p, limit), in ? -want : want, 1e-12);
    }
    firn_voxels_free(&v);
}

static void voxels_are_filled(void **state)
{
    (void)state;
    file f = write_binvox(80, corner_block);
    firn_voxels v;
    firn_region region;
    assert_ok(parse_voxels(&f, &v, &error));
    free(f.data);
    const firn_placement p = somewhere(3);
    assert_ok(firn_region_of_voxels(&v, &p, &region, &error));
    assert_close(region.volume, 0.6 * firn_voxels_volume(&v), 1e-14);
    for (int pattern = 0; firn_pattern_name(pattern); pattern++) {
        firn_filling filling;
        firn_fill_def def = def_of(pattern, 0.02);
        assert_ok(firn_fill(&region, &def, &filling, &error));
        check_filling(&region, &filling);
        assert_close((double)filling.count * pow(0.02, 3) / region.volume, 1, 0.1);
        firn_filling_free(&filling);
        def.separation = 0;
        for (def.per_voxel = 1; def.per_voxel <= 9; def.per_voxel += 4) {
            if (pattern == FIRN_FILL_BLUE_NOISE) {
                assert_refused(firn_fill(&region, &def, &filling, &error), "per_voxel");
                continue;
            }
            assert_ok(firn_fill(&region, &def, &filling, &error));
            assert_int_equal(filling.count, def.per_voxel * v.full);
            check_filling(&region, &filling);
            firn_filling_free(&filling);
        }
    }
    firn_voxels_free(&v);
}

static void broken_voxel_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "begins with"},
        {"#binvox 1\ndim 2 2\ndata\n", "some.binvox:2: numbers are missing after dim"},
        {"#binvox 1\ndim 2 2 2\n", "no data line"},
        {"#binvox 1\ndata\n", "dim 0 0 0"},
        {"#binvox 1\ndim 1e9 2 2\ndata\n", "dim 1e+09 2 2"},
        {"#binvox 1\ndim 2 2 2.5\ndata\n", "dim 2 2 2.5"},
        {"#binvox 1\ndim 2 2 2\nscale -1\ndata\n", "scale -1"},
        {"#binvox 1\ndim 2 2 2\ntranslate 0 nan 0\ndata\n", "translate 0 nan 0"},
        {"#binvox 1\ndim 4000 4000 4000\ndata\n\1\7", "too few for 64000000000 voxels"},
        {"#binvox 1\ndim 2 2 2\ndata\n\1\7", "runs for 7 of 8"},
        {"#binvox 1\ndim 2 2 2\ndata\n\1\11", "a run of 9"},
        {"#binvox 1\ndim 2 2 2\ndata\n\2\10", "value 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const file f = {(char *)cases[i].text, strlen(cases[i].text)};
        firn_voxels v;
        assert_refused(parse_voxels(&f, &v, &error), cases[i].message);
    }
    const char none[] = "#binvox 1\ndim 2 2 2\ndata\n\0\10";
    const file f = {(char *)none, sizeof none - 1};
    firn_voxels v;
    assert_refused(parse_voxels(&f, &v, &error), "all voxels are empty");
    assert_refused(firn_voxels_read("/nowhere/a.binvox", &v, &error), "/nowhere/a.binvox: ");
}

/* ---- damage ---- */

/* Every reader survives files cut anywhere and bytes changed anywhere. */
static void damaged_files_never_crash(void **state)
{
    (void)state;
    model *m = new_model();
    add_sphere(m, 1, 4, 5);
    model *c = new_model();
    add_cube(c, 0, 0, 0, 1, false);
    file files[] = {write_obj(c),
                    write_ply(c, 0),
                    write_ply(c, 1),
                    write_ply(c, 2),
                    write_stl(m, false),
                    write_stl(m, true),
                    write_binvox(6, everywhere)};
    static const int format[] = {FIRN_MESH_OBJ,
                                 FIRN_MESH_PLY,
                                 FIRN_MESH_PLY,
                                 FIRN_MESH_PLY,
                                 FIRN_MESH_STL,
                                 FIRN_MESH_STL,
                                 -1};
    random_state = 3;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const file whole = files[i];
        for (int round = 0; round < 1500; round++) {
            file f = {0};
            put(&f, whole.data, whole.size);
            if (round < (int)whole.size && round < 700) {
                f.size = (size_t)round;
            } else {
                for (int k = 0; k <= round % 3; k++) {
                    const size_t at = (size_t)uniform(0, (double)f.size);
                    f.data[at] = (char)(int)uniform(-128, 128);
                }
            }
            if (format[i] < 0) {
                firn_voxels v;
                if (parse_voxels(&f, &v, NULL) == FIRN_OK) firn_voxels_free(&v);
            } else {
                firn_mesh *mesh = NULL;
                if (parse((firn_mesh_format)format[i], &f, &mesh, NULL) == FIRN_OK) {
                    assert_true(mesh->volume > 0);
                    firn_mesh_destroy(mesh);
                }
            }
            free(f.data);
        }
        free(whole.data);
    }
    free(m);
    free(c);
}

static void files_are_read_from_disk(void **state)
{
    (void)state;
    char folder[] = "/tmp/firn_fill_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/cube.PLY", folder);
    model *m = new_model();
    add_cube(m, 0, 0, 0, 2, false);
    file f = write_ply(m, 1);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(f.data, 1, f.size, out), f.size);
    fclose(out);
    firn_mesh *mesh = NULL;
    assert_ok(firn_mesh_read(path, 0, 1, &mesh, &error));
    assert_close(mesh->volume, 8, 1e-14);
    firn_mesh_destroy(mesh);
    assert_int_equal(truncate(path, (off_t)f.size - 30), 0);
    assert_refused(firn_mesh_read(path, 0, 1, &mesh, &error), path);
    unlink(path);
    rmdir(folder);
    free(f.data);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_encoding_gives_the_same_mesh),
        cmocka_unit_test(a_cube_of_quads_has_its_volume_and_inside),
        cmocka_unit_test(concave_polygons_are_cut_within_themselves),
        cmocka_unit_test(shells_add_up_and_cavities_are_empty),
        cmocka_unit_test(faces_that_disagree_are_turned),
        cmocka_unit_test(the_volume_of_a_mesh_is_that_of_its_polyhedron),
        cmocka_unit_test(broken_meshes_are_refused_by_name),
        cmocka_unit_test(negative_numbers_count_back_from_the_last_vertex),
        cmocka_unit_test(a_mesh_is_filled_like_the_shape_it_is),
        cmocka_unit_test(threads_change_no_byte),
        cmocka_unit_test(voxels_come_back_as_written),
        cmocka_unit_test(distances_to_voxels_are_exact),
        cmocka_unit_test(voxels_are_filled),
        cmocka_unit_test(broken_voxel_files_are_refused),
        cmocka_unit_test(damaged_files_never_crash),
        cmocka_unit_test(files_are_read_from_disk),
    };
    return cmocka_run_group_tests_name("mesh", tests, NULL, NULL);
}
