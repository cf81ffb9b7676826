/* Any bytes as an Alembic file: refused with a reason, or objects that can all be asked for everything. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/abc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile double seen;

/* An error that says nothing is one, too. */
static bool fine(firn_status st, firn_error *error)
{
    if (st != FIRN_OK && error->message[0] == 0) abort();
    return st == FIRN_OK;
}

static void look_at_mesh(const firn_alembic *a, int32_t object, double time)
{
    firn_polygons m;
    firn_error error = {0};
    if (!fine(firn_alembic_read_mesh(a, object, time, &m, &error), &error)) return;
    for (int64_t i = 0; i < 3 * m.vertex_count; i++) seen += m.vertex[i];
    for (int64_t i = 0; m.velocity && i < 3 * m.vertex_count; i++) seen += m.velocity[i];
    for (int64_t i = 0; i < m.corner_count; i++) seen += m.vertex[3 * m.corner[i]];
    firn_polygons_free(&m);
}

static void look_at_points(const firn_alembic *a, int32_t object, double time)
{
    firn_points p;
    firn_error error = {0};
    if (!fine(firn_alembic_read_points(a, object, time, &p, &error), &error)) return;
    for (int32_t k = 0; k < p.column_count; k++) {
        const firn_column *c = &p.column[k];
        for (int64_t i = 0; i < p.count * c->components; i++) {
            seen += firn_type_get(c->type, c->data, i);
        }
    }
    firn_points_free(&p);
}

static void look(const firn_alembic *a, int32_t object)
{
    firn_alembic_object o;
    firn_alembic_attribute attribute;
    firn_error error = {0};
    double low[3], high[3], *times;
    int64_t count;
    bool visible;
    if (!fine(firn_alembic_get_object(a, object, &o, &error), &error)) return;
    if (firn_alembic_find(a, o.path, -1) < 0 && !strchr(o.path, '*')) abort();
    for (int32_t i = 0; firn_alembic_get_attribute(a, object, i, &attribute); i++) continue;
    fine(firn_alembic_bounds(a, object, o.last_time, low, high, &error), &error);
    fine(firn_alembic_visible(a, object, o.last_time, &visible, &error), &error);
    if (fine(firn_alembic_times(a, object, &times, &count, &error), &error)) {
        for (int64_t i = 1; i < count; i++) {
            if (!(times[i] > times[i - 1])) abort();
        }
        free(times);
    }
    const double time[] = {o.first_time, 0.5 * (o.first_time + o.last_time), o.last_time};
    for (int i = 0; i < 3; i++) {
        look_at_mesh(a, object, time[i]);
        look_at_points(a, object, time[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 64 }; /* objects that are looked at: time is for finding other files */
    uint8_t *copy = malloc(size + (size == 0));
    if (!copy) abort();
    if (size) memcpy(copy, data, size);
    firn_alembic *a = NULL;
    firn_error error = {0};
    if (fine(firn_alembic_open_bytes(&(firn_bytes){copy, size}, &a, &error), &error)) {
        const firn_alembic_file file = firn_alembic_get_file(a);
        for (int32_t i = 0; i < file.object_count && i < MOST; i++) look(a, i);
    }
    firn_alembic_close(a);
    free(copy);
    return 0;
}
