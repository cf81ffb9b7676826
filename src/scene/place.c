/* Where in a scene the engine's complaints belong: paths of fields to values of the tree. */
#include "scene/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* The entry of a map by its key or an alias of that, or of a list or map by number; NULL: none. */
static const firn_value *find_part(const firn_value *v, const char *part)
{
    char *end = NULL;
    long number = strtol(part, &end, 10);
    if (*part && !*end) {
        const firn_value *c = v->child;
        while (c && number-- > 0) c = c->next;
        return c;
    }
    const firn_value *found = firn_value_get(v, part);
    const firn_param *row;
    for (int s = 0; firn_sections[s] && !found; s++) {
        for (int i = 0; !found && (row = firn_section_row(firn_sections[s], i, NULL)); i++) {
            if (row->alias && strcmp(row->name, part) == 0) found = firn_value_get(v, row->alias);
        }
    }
    return found;
}

/* What a path of the engine's leads to, as "materials[0].poisson" or "dt_min", as far as the scene has
 * it; NULL: nothing that a scene says. */
static const firn_value *find_place(const firn_scene *scene, const char *path)
{
    const firn_value *at = scene->tree.root;
    char part[80];
    size_t length = strcspn(path, ".[");
    snprintf(part, sizeof part, "%.*s", (int)length, path);
    for (int i = 0; !firn_value_get(at, part); i++) { /* a list, or a parameter of the simulation */
        const firn_param *row = firn_section_row(&firn_section_simulation, i, NULL);
        if (!row) return NULL;
        if (strcmp(row->name, part) != 0) continue;
        if (scene->simulation_value) at = scene->simulation_value;
        break;
    }
    while (*path) {
        length = strcspn(path, ".[]");
        snprintf(part, sizeof part, "%.*s", (int)length, path);
        path += length + strspn(path + length, ".[]");
        char *end = NULL;
        const long number = strtol(part, &end, 10);
        const bool copies = at == scene->colliders_value && end != part && !*end;
        const firn_value *next = !copies                          ? find_part(at, part)
                                 : number < scene->collider_count ? scene->collider[number].where
                                                                  : NULL;
        if (!next) break;
        at = next;
    }
    return at;
}

void firn_scene_name_collider(const firn_scene *scene, const char *message, char *out, size_t size)
{
    static const char list[] = "colliders[", mesh[] = ".mesh: ";
    char *end = NULL;
    const bool begins = strncmp(message, list, sizeof list - 1) == 0;
    const long index = begins ? strtol(message + sizeof list - 1, &end, 10) : -1;
    const char *name =
        index >= 0 && index < scene->collider_count ? scene->collider[index].name : NULL;
    if (!name || *end++ != ']' || *end != '.') {
        snprintf(out, size, "%s", message);
        return;
    }
    const bool of_mesh = strncmp(end, mesh, sizeof mesh - 1) == 0;
    snprintf(out, size, "collider %.60s: %s", name, end + (of_mesh ? sizeof mesh - 1 : 1));
}

firn_status firn_scene_refuse(const firn_scene *scene, const firn_error *inner, firn_error *error)
{
    const firn_value *where = inner->path[0] ? find_place(scene, inner->path) : NULL;
    char place[FIRN_LOCATION_SIZE], message[sizeof inner->message];
    if (!error) return inner->status;
    *error = *inner;
    if (!where) return inner->status;
    firn_scene_name_collider(scene, inner->message, message, sizeof message);
    (void)firn_fail(error, inner->status, "%s: %s", firn_value_location(where, place), message);
    memcpy(error->path, inner->path, sizeof error->path);
    return inner->status;
}
