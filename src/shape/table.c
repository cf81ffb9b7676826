/* The shapes by kind, what their values must satisfy, and the public questions about them. */
#include "base/error.h"
#include "shape/shape.h"

#define ROW(NAME, name) [FIRN_##NAME] = &firn_shape_##name,
static const firn_shape *const shapes[FIRN_SHAPE_COUNT] = {FIRN_SHAPES(ROW)};
#undef ROW

const firn_shape *firn_shape_get(firn_shape_kind kind)
{
    return (unsigned)kind < FIRN_SHAPE_COUNT ? shapes[kind] : NULL;
}

const char *firn_shape_name(firn_shape_kind shape)
{
    const firn_shape *row = firn_shape_get(shape);
    return row ? row->name : NULL;
}

firn_shape_values firn_shape_values_of(const firn_collider_def *def, int dimension)
{
    const bool flat = dimension == 2 && shapes[def->shape]->deep;
    return (firn_shape_values){.size = {def->size[0], def->size[1], flat ? INFINITY : def->size[2]},
                               .round = def->round,
                               .dimension = dimension,
                               .points = def->points,
                               .point_count = def->point_count,
                               .mesh = def->mesh,
                               .compound = def->compound};
}

firn_status firn_shape_check(const firn_collider_def *def, firn_error *error)
{
    const firn_shape *shape = firn_shape_get(def->shape);
    if (!shape)
        return firn_fail(error, FIRN_INVALID,
                         "shape %d must be a firn_shape_kind, 0 (%s) to %d (%s)", (int)def->shape,
                         shapes[0]->name, FIRN_SHAPE_COUNT - 1, shapes[FIRN_SHAPE_COUNT - 1]->name);
    if (def->point_count < 0 || (def->point_count && !def->points))
        return firn_fail(error, FIRN_INVALID,
                         "points NULL or point_count %d below 0; give them, or set it to 0",
                         (int)def->point_count);
    for (int a = 0; a < shape->size_count; a++) {
        const double size = def->size[a];
        if (size > 0 && isfinite(size)) continue;
        return firn_fail(error, FIRN_INVALID, "size[%d] %g must be %s (%s of %s, m)", a, size,
                         size <= 0 ? "above 0" : "finite", shape->size_name[a], shape->name);
    }
    if (def->round != 0 && def->shape != FIRN_ROUNDED_BOX)
        return firn_fail(error, FIRN_INVALID,
                         "round %g must be 0, as a %s has no radius of its edges; round it as part "
                         "of a compound",
                         def->round, shape->name);
    const firn_shape_values v = firn_shape_values_of(def, 3);
    return shape->check ? shape->check(&v, error) : FIRN_OK;
}

double firn_shape_distance(const firn_collider_def *def, int32_t dimension, const double point[3],
                           double normal[3])
{
    const firn_shape_values v = firn_shape_values_of(def, dimension);
    const double flat[3] = {point[0], point[1], dimension == 2 ? 0 : point[2]};
    return shapes[def->shape]->distance(&v, flat, normal);
}

firn_status firn_shape_check_in(const firn_collider_def *def, int dimension, firn_error *error)
{
    if (def->shape != FIRN_COMPOUND) return FIRN_OK;
    return firn_compound_check(def->compound, dimension, error);
}

bool firn_shape_ends(const firn_shape *shape, const firn_shape_values *v)
{
    return shape->bounded & (v->dimension == 2 ? FIRN_2D : FIRN_3D) &&
           (!shape->ends || shape->ends(v));
}

double firn_shape_volume(const firn_collider_def *def, int32_t dimension)
{
    const firn_shape_values v = firn_shape_values_of(def, dimension);
    if (!firn_shape_ends(shapes[def->shape], &v)) return INFINITY;
    return shapes[def->shape]->volume(&v, dimension);
}

int32_t firn_shape_bounds(const firn_collider_def *def, int32_t dimension, double low[3],
                          double high[3])
{
    const firn_shape_values v = firn_shape_values_of(def, dimension);
    if (!firn_shape_ends(shapes[def->shape], &v)) return 0;
    shapes[def->shape]->bounds(&v, low, high);
    if (dimension == 2) low[2] = high[2] = 0;
    return 1;
}
