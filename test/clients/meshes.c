/* Animated meshes through firn/alembic.h, for the scripts beside this file.
 *
 * meshes read FILE FPS FIRST LAST: every mesh at frames from FIRST to LAST, in world space:
 *     mesh FRAME VERTICES FACES VELOCITIES VISIBLE PATH
 *     x y z [vx vy vz]        a line per vertex
 *     COUNT a b c ...         a line per face
 * meshes write FILE FPS FRAMES: a box that swells and drifts, with velocities and an attribute `height`. */
#include <firn/alembic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_mesh(const firn_polygons *mesh, const char *path, bool visible, double frame)
{
    printf("mesh %.17g %lld %lld %d %d %s\n", frame, (long long)mesh->vertex_count,
           (long long)mesh->face_count, mesh->velocity != NULL, visible, path);
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        const double *x = mesh->vertex + 3 * i;
        printf("%.17g %.17g %.17g", x[0], x[1], x[2]);
        const double *v = mesh->velocity ? mesh->velocity + 3 * i : NULL;
        if (v) printf(" %.17g %.17g %.17g", v[0], v[1], v[2]);
        puts("");
    }
    const int32_t *corner = mesh->corner;
    for (int64_t f = 0; f < mesh->face_count; f++) {
        printf("%d", mesh->face[f]);
        for (int32_t k = 0; k < mesh->face[f]; k++) printf(" %d", *corner++);
        puts("");
    }
}

static firn_status read_frame(const firn_alembic *file, double frame, double fps, firn_error *error)
{
    firn_status status = FIRN_OK;
    for (int32_t k = 0; k < firn_alembic_get_file(file).object_count && status == FIRN_OK; k++) {
        firn_alembic_object object;
        firn_polygons mesh = {0};
        bool visible = false;
        status = firn_alembic_get_object(file, k, &object, error);
        if (status != FIRN_OK ||
            (object.kind != FIRN_ALEMBIC_MESH && object.kind != FIRN_ALEMBIC_SUBD)) {
            continue;
        }
        status = firn_alembic_read_mesh(file, k, frame / fps, &mesh, error);
        if (status == FIRN_OK) {
            status = firn_alembic_visible(file, k, frame / fps, &visible, error);
        }
        if (status == FIRN_OK) print_mesh(&mesh, object.path, visible, frame);
        firn_polygons_free(&mesh);
    }
    return status;
}

static firn_status read_meshes(char **argument, firn_error *error)
{
    const double fps = atof(argument[1]), last = atof(argument[3]);
    firn_alembic *file = NULL;
    firn_status status = firn_alembic_open(argument[0], &file, error);
    for (double frame = atof(argument[2]); status == FIRN_OK && frame <= last; frame++) {
        status = read_frame(file, frame, fps, error);
    }
    firn_alembic_close(file);
    return status;
}

/* A box of edges 1, 2 and 3 m that grows by a tenth per frame and drifts by 0.5 m/s along x. */
static const int32_t faces[6] = {4, 4, 4, 4, 4, 4};
static const int32_t corners[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                                    2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};

static firn_status write_frame(firn_alembic_writer *writer, int32_t box, int frame, double fps,
                               firn_error *error)
{
    firn_points vertices = {.count = 8};
    const firn_column *added = firn_points_add(&vertices, "P", FIRN_TYPE_f64, 3, error);
    if (added) added = firn_points_add(&vertices, "v", FIRN_TYPE_f32, 3, error);
    if (added) added = firn_points_add(&vertices, "height", FIRN_TYPE_f32, 1, error);
    firn_status status = added ? FIRN_OK : FIRN_NO_MEMORY;
    if (added) {
        double *P = firn_points_find(&vertices, "P")->data;
        float *v = firn_points_find(&vertices, "v")->data;
        float *height = firn_points_find(&vertices, "height")->data;
        const double size = 1 + 0.1 * frame, drift = 0.5 * frame / fps;
        for (int i = 0; i < 8; i++) {
            const double rest[3] = {i & 1, 2 * (i >> 1 & 1), 3 * (i >> 2 & 1)};
            for (int k = 0; k < 3; k++) {
                P[3 * i + k] = size * rest[k] + (k == 0 ? drift : 0);
                v[3 * i + k] = (float)(0.1 * fps * rest[k] + (k == 0 ? 0.5 : 0));
            }
            height[i] = (float)P[3 * i + 1];
        }
        status = firn_alembic_writer_mesh(writer, box, &vertices, faces, 6, corners, 24, error);
    }
    if (status == FIRN_OK) status = firn_alembic_writer_commit(writer, frame, error);
    firn_points_free(&vertices);
    return status;
}

static firn_status write_meshes(char **argument, firn_error *error)
{
    firn_alembic_writer_def def = firn_alembic_writer_def_default();
    def.fps = atof(argument[1]);
    firn_alembic_writer *writer = NULL;
    int32_t box = 0;
    firn_status status = firn_alembic_writer_create(argument[0], &def, &writer, error);
    if (status == FIRN_OK) {
        status = firn_alembic_writer_add(writer, FIRN_ALEMBIC_MESH, "box", &box, error);
    }
    for (int frame = 1; status == FIRN_OK && frame <= atoi(argument[2]); frame++) {
        status = write_frame(writer, box, frame, def.fps, error);
    }
    if (status == FIRN_OK) status = firn_alembic_writer_finish(writer, error);
    firn_alembic_writer_destroy(writer);
    return status;
}

int main(int argc, char **argv)
{
    firn_error error = {0};
    firn_status status = FIRN_OK;
    if (argc == 6 && strcmp(argv[1], "read") == 0) {
        status = read_meshes(argv + 2, &error);
    } else if (argc == 5 && strcmp(argv[1], "write") == 0) {
        status = write_meshes(argv + 2, &error);
    } else {
        fprintf(stderr, "usage: %s read FILE FPS FIRST LAST | write FILE FPS FRAMES\n", argv[0]);
        return 2;
    }
    if (status != FIRN_OK) fprintf(stderr, "%s: %s\n", argv[0], error.message);
    return status == FIRN_OK ? 0 : 1;
}
