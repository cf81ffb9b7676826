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

/* What the particle has of its own, read alone: a picture must not cost more for it. */
typedef struct probed {
    double position[3], velocity[3], F[9], mass, volume, state, material, object, stress[9];
    double enthalpy, concentration;
} probed;

static bool read_probed(const firn_sim *sim, int64_t row, bool heat, probed *p)
{
    const struct {
        firn_field field;
        double *to;
    } reads[] = {
        {FIRN_POSITION, p->position},  {FIRN_VELOCITY, p->velocity},
        {FIRN_MASS, &p->mass},         {FIRN_VOLUME, &p->volume},
        {FIRN_STATE, &p->state},       {FIRN_MATERIAL, &p->material},
        {FIRN_OBJECT, &p->object},     {FIRN_DEFORMATION_GRADIENT, p->F},
        {FIRN_ENTHALPY, &p->enthalpy}, {FIRN_CONCENTRATION, &p->concentration},
    };
    const size_t count = sizeof reads / sizeof *reads - (heat ? 0 : 2);
    *p = (probed){0};
    for (size_t i = 0; i < count; i++) {
        if (firn_sim_read(sim, reads[i].field, row, 1, reads[i].to, NULL) != FIRN_OK) return false;
    }
    return firn_sim_read_stress(sim, row, 1, p->stress, NULL) == FIRN_OK;
}

/* The attributes of the same names, as attributes.c makes them. */
static void put_attributes(firn_live_event *e, const probed *p, const firn_material_def *m, int dim)
{
    const firn_state_kind kind = firn_law_state(m->law);
    const bool volume = kind == FIRN_STATE_LOG_VOLUME;
    const double permanent = volume || kind == FIRN_STATE_LOG_PACKING ? exp(p->state) : 1;
    const double J = firn_determinant(p->F, dim) * (volume ? permanent : 1);
    double F[9] = {[8] = 1}, square = 0, trace = 0;
    for (int i = 0; i < dim; i++) {
        square += p->velocity[i] * p->velocity[i];
        trace += p->stress[i * dim + i];
        for (int j = 0; j < dim; j++) F[3 * i + j] = p->F[i * dim + j];
    }
    firn_event_number(e, "speed", sqrt(square));
    firn_event_list(e, "P", p->position, 3);
    firn_event_list(e, "v", p->velocity, 3);
    firn_event_number(e, "J", J);
    firn_event_number(e, "Jp", permanent);
    firn_event_number(e, "density", p->mass / (J * p->volume));
    firn_event_number(e, "pressure", -trace / dim);
    firn_event_number(e, "mass", p->mass);
    firn_event_list(e, "F", F, 9);
}

void firn_live_put_probe(firn_live *live, firn_live_event *e)
{
    const firn_job *job = live->job;
    const firn_scene *scene = live->scene;
    const bool heat = scene->heat_value != NULL;
    const int64_t row = live->probing ? find_id(job->sim, live->probe) : -1;
    probed p;
    if (row < 0 || !read_probed(job->sim, row, heat, &p)) return;
    const int32_t object = (int32_t)p.object, variant = (int32_t)p.material;
    const firn_material_def *m = &job->variants.def[variant];
    const char *name = object < scene->object_count ? scene->object[object].name : NULL;
    firn_event_open(e, "probe", '{');
    firn_event_whole(e, "id", (int64_t)live->probe);
    firn_event_text(e, "object", name ? name : "");
    firn_event_text(e, "material", scene->material[job->variants.of[variant]].name);
    put_attributes(e, &p, m, (int)scene->dimension);
    if (heat) {
        firn_event_number(e, "temperature", firn_material_temperature(m, p.enthalpy));
        firn_event_number(e, "liquid", firn_material_liquid(m, p.enthalpy));
        firn_event_number(e, "concentration", p.concentration);
    }
    firn_event_close(e, '}');
}
