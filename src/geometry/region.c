/* Regions: shapes, meshes and voxels placed in the world. */
#include "geometry/region.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mesh/mesh.h"
#include "shape/shape.h"

/* Places a region whose own bounds and volume are known. */
static firn_status place(firn_region *region, const firn_placement *placement, const double low[3],
                         const double high[3], double volume, firn_error *error)
{
    const firn_status st =
        firn_placement_resolve(placement, region->dimension, &region->affine, error);
    if (st != FIRN_OK) return st;
    memcpy(region->own_low, low, sizeof region->own_low);
    memcpy(region->own_high, high, sizeof region->own_high);
    firn_affine_bounds(&region->affine, low, high, region->low, region->high);
    region->volume = volume * region->affine.volume;
    region->exact = region->affine.conforms;
    for (int a = 0; a < region->dimension; a++) {
        if (isfinite(region->low[a]) && isfinite(region->high[a]) &&
            region->high[a] > region->low[a]) {
            continue;
        }
        return firn_fail(
            error, FIRN_INVALID,
            "an object from %g to %g m along axis %d has no size there; move it nearer "
            "or scale it up",
            region->low[a], region->high[a], a);
    }
    if (region->volume > 0 && isfinite(region->volume)) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "an object of volume %g cannot be filled; scale it",
                     region->volume);
}

firn_status firn_region_of_shape(const firn_collider_def *shape, int32_t dimension,
                                 const firn_placement *placement, firn_region *out,
                                 firn_error *error)
{
    *out = (firn_region){.dimension = dimension, .shape = *shape};
    firn_status st = firn_shape_check(shape, error);
    if (st == FIRN_OK) st = firn_shape_check_in(shape, dimension, error);
    if (st != FIRN_OK) return st;
    double low[3], high[3];
    if (!firn_shape_bounds(shape, dimension, low, high)) {
        return firn_fail(error, FIRN_INVALID, "%s has no end in %dD and cannot be filled",
                         firn_shape_name(shape->shape), (int)dimension);
    }
    return place(out, placement, low, high, firn_shape_volume(shape, dimension), error);
}

firn_status firn_region_of_mesh(const firn_mesh *mesh, const firn_placement *placement,
                                firn_region *out, firn_error *error)
{
    *out = (firn_region){.dimension = 3, .mesh = mesh};
    const firn_mesh_info info = firn_mesh_get_info(mesh);
    return place(out, placement, info.low, info.high, info.volume, error);
}

firn_status firn_region_of_voxels(const firn_voxels *voxels, const firn_placement *placement,
                                  firn_region *out, firn_error *error)
{
    *out = (firn_region){.dimension = 3, .voxels = voxels};
    double high[3];
    for (int a = 0; a < 3; a++) high[a] = voxels->low[a] + voxels->size[a] * voxels->edge;
    return place(out, placement, voxels->low, high, firn_voxels_volume(voxels), error);
}

static void to_local(const firn_region *region, const double point[3], double local[3])
{
    const double flat[3] = {point[0], point[1], region->dimension == 2 ? 0 : point[2]};
    firn_affine_to_local(&region->affine, flat, local);
}

bool firn_region_inside(const firn_region *region, const double point[3])
{
    for (int a = 0; a < region->dimension; a++) {
        if (!(point[a] >= region->low[a] && point[a] <= region->high[a])) return false;
    }
    double p[3], normal[3];
    to_local(region, point, p);
    if (region->mesh) return firn_mesh_inside(region->mesh, p);
    if (region->voxels) return firn_voxels_inside(region->voxels, p);
    return firn_shape_distance(&region->shape, region->dimension, p, normal) < 0;
}

double firn_region_distance(const firn_region *region, const double point[3], double limit)
{
    const double shrink = region->affine.shrink, own_limit = limit / shrink;
    double p[3], distance;
    to_local(region, point, p);
    if (region->mesh) {
        distance = firn_mesh_distance(region->mesh, p, own_limit);
    } else if (region->voxels) {
        distance = firn_voxels_distance(region->voxels, p, own_limit);
    } else {
        double normal[3];
        distance = firn_shape_distance(&region->shape, region->dimension, p, normal);
    }
    return fmin(fmax(distance * shrink, -limit), limit);
}

double firn_region_depth(const firn_region *region, const double point[3], double limit)
{
    const double bound = -firn_region_distance(region, point, limit);
    if (region->exact || bound >= limit) return bound;
    /* A bound that falls short of the distance rises more slowly than it. */
    double size = 0;
    for (int a = 0; a < region->dimension; a++) {
        size = fmax(size, region->high[a] - region->low[a]);
    }
    const double step = 1e-6 * size, near = fabs(bound) + 2 * step;
    double square = 0;
    for (int a = 0; a < region->dimension; a++) {
        double p[3] = {point[0], point[1], point[2]};
        p[a] += step;
        const double rise = (firn_region_distance(region, p, near) + bound) / step;
        square += rise * rise;
    }
    const double slope = sqrt(square);
    const double depth = slope * limit > fabs(bound) ? bound / slope : copysign(limit, bound);
    return fmin(fmax(depth, -limit), limit);
}

/* ---- handles ---- */

/* A region with what it is made of. */
typedef struct holder {
    firn_region region; /* first, so that its address is the holder's */
    firn_mesh *mesh;
    firn_voxels voxels;
    double *points; /* of a polygon */
} holder;

/* Hands the region over, or frees everything. */
static firn_status give(holder *h, firn_status st, firn_region **out)
{
    if (st == FIRN_OK) {
        *out = &h->region;
    } else {
        firn_region_destroy(&h->region);
    }
    return st;
}

static holder *make_holder(firn_region **out, firn_error *error)
{
    *out = NULL;
    holder *h = calloc(1, sizeof *h);
    if (!h) firn_fail(error, FIRN_NO_MEMORY, "out of memory");
    return h;
}

firn_status firn_region_create_shape(const firn_collider_def *shape, int32_t dimension,
                                     const firn_placement *placement, firn_region **out,
                                     firn_error *error)
{
    if (dimension != 2 && dimension != 3) {
        return firn_fail(error, FIRN_INVALID, "dimension %d must be 2 or 3", dimension);
    }
    holder *h = make_holder(out, error);
    if (!h) return FIRN_NO_MEMORY;
    firn_status st = firn_region_of_shape(shape, dimension, placement, &h->region, error);
    if (st == FIRN_OK && shape->point_count) {
        const size_t size = 2 * (size_t)shape->point_count * sizeof *h->points;
        h->points = malloc(size);
        if (!h->points) st = firn_fail(error, FIRN_NO_MEMORY, "out of memory");
        if (h->points) memcpy(h->points, shape->points, size);
        h->region.shape.points = h->points;
    }
    return give(h, st, out);
}

firn_status firn_region_create_mesh(const char *path, int32_t threads,
                                    const firn_placement *placement, firn_region **out,
                                    firn_error *error)
{
    holder *h = make_holder(out, error);
    if (!h) return FIRN_NO_MEMORY;
    firn_status st = firn_mesh_read(path, 0, threads, &h->mesh, error);
    if (st == FIRN_OK) st = firn_region_of_mesh(h->mesh, placement, &h->region, error);
    return give(h, st, out);
}

firn_status firn_region_parse_mesh(const char *name, const firn_bytes *bytes, int32_t threads,
                                   const firn_placement *placement, firn_region **out,
                                   firn_error *error)
{
    holder *h = make_holder(out, error);
    if (!h) return FIRN_NO_MEMORY;
    firn_mesh_format format;
    firn_status st = firn_mesh_format_of(name, &format, error);
    if (st == FIRN_OK) st = firn_mesh_parse(format, name, bytes, 0, threads, &h->mesh, error);
    if (st == FIRN_OK) st = firn_region_of_mesh(h->mesh, placement, &h->region, error);
    return give(h, st, out);
}

firn_status firn_region_create_voxels(const char *path, const firn_placement *placement,
                                      firn_region **out, firn_error *error)
{
    holder *h = make_holder(out, error);
    if (!h) return FIRN_NO_MEMORY;
    firn_status st = firn_voxels_read(path, &h->voxels, error);
    if (st == FIRN_OK) st = firn_region_of_voxels(&h->voxels, placement, &h->region, error);
    return give(h, st, out);
}

void firn_region_destroy(firn_region *region)
{
    holder *h = (holder *)region;
    if (!h) return;
    firn_mesh_destroy(h->mesh);
    firn_voxels_free(&h->voxels);
    free(h->points);
    free(h);
}

firn_region_info firn_region_get_info(const firn_region *region)
{
    firn_region_info info = {
        .dimension = region->dimension,
        .volume = region->volume,
        .triangles = region->mesh ? firn_mesh_get_info(region->mesh).triangle_count : 0};
    memcpy(info.low, region->low, sizeof info.low);
    memcpy(info.high, region->high, sizeof info.high);
    return info;
}
