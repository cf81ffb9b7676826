/* One particle, as a page shows it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "live/live.h"

/* The place of an id in the order of ids, or -1. */
static int64_t find_id(const firn_sim *sim, uint64_t id)
{
    int64_t low = 0, high = firn_sim_count(sim);
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        double found;
        if (firn_sim_read(sim, FIRN_ID, middle, 1, &found, NULL) != FIRN_OK) return -1;
        if ((uint64_t)found == id) return middle;
        if ((uint64_t)found < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return -1;
}

/* A row of a column of points. */
static void put_row(firn_live_event *e, const firn_column *c, int64_t row)
{
    double value[FIRN_MAX_COMPONENTS];
    for (int32_t i = 0; i < c->components; i++) {
        value[i] = firn_type_get(c->type, c->data, row * c->components + i);
    }
    if (c->components == 1) {
        firn_event_number(e, c->name, value[0]);
    } else {
        firn_event_list(e, c->name, value, c->components);
    }
}

void firn_live_put_probe(firn_live *live, firn_live_event *e)
{
    static const char *const names[] = {"P",        "v",    "J", "Jp", "density",
                                        "pressure", "mass", "F", NULL};
    static const char *const warm[] = {
        "P",    "v", "J",           "Jp",     "density",       "pressure",
        "mass", "F", "temperature", "liquid", "concentration", NULL};
    const firn_job *job = live->job;
    const firn_scene *scene = live->scene;
    const int64_t row = live->probing ? find_id(job->sim, live->probe) : -1;
    firn_points points = {0};
    double object, material;
    if (row < 0 || firn_sim_read(job->sim, FIRN_OBJECT, row, 1, &object, NULL) != FIRN_OK ||
        firn_sim_read(job->sim, FIRN_MATERIAL, row, 1, &material, NULL) != FIRN_OK ||
        firn_job_points(job, scene->heat_value ? warm : names, row + 1, &points, NULL) != FIRN_OK) {
        return;
    }
    const int32_t o = (int32_t)object, m = (int32_t)material;
    firn_event_open(e, "probe", '{');
    firn_event_whole(e, "id", (int64_t)live->probe);
    firn_event_text(e, "object",
                    o < scene->object_count && scene->object[o].name ? scene->object[o].name : "");
    firn_event_text(e, "material",
                    m < job->variants.count ? scene->material[job->variants.of[m]].name : "");
    const float *v = firn_points_find(&points, "v")->data;
    double square = 0;
    for (int a = 0; a < 3; a++) square += (double)v[3 * row + a] * (double)v[3 * row + a];
    firn_event_number(e, "speed", sqrt(square));
    for (int32_t c = 0; c < points.column_count; c++) put_row(e, &points.column[c], row);
    firn_event_close(e, '}');
    firn_points_free(&points);
}
