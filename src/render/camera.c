/* Framing: the nearest camera on a given side from which all boxes are wholly in the picture. */
#include "render/camera.h"

#include <math.h>
#include <string.h>

/* Angles of turntables that are tried: between them less than 0.1 % is missed. */
enum { TURNS = 72 };
static const double DEGREE = 3.14159265358979323846 / 180;

firn_bounds firn_bounds_empty(void)
{
    return (firn_bounds){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

void firn_bounds_add_point(firn_bounds *bounds, const double point[3])
{
    if (!isfinite(point[0]) || !isfinite(point[1]) || !isfinite(point[2])) return;
    for (int a = 0; a < 3; a++) {
        bounds->low[a] = fmin(bounds->low[a], point[a]);
        bounds->high[a] = fmax(bounds->high[a], point[a]);
    }
}

void firn_bounds_add(firn_bounds *bounds, const firn_points *points)
{
    const firn_column *P = firn_points_find(points, "P");
    if (!P) return;
    for (int64_t i = 0; i < points->count; i++) {
        double point[3] = {0};
        for (int a = 0; a < P->components && a < 3; a++) {
            point[a] = firn_type_get(P->type, P->data, i * P->components + a);
        }
        firn_bounds_add_point(bounds, point);
    }
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void normalise(double v[3])
{
    const double length = sqrt(dot(v, v));
    for (int a = 0; a < 3; a++) v[a] /= length > 0 ? length : 1;
}

/* Right, up and back of the camera, unit vectors. */
static void camera_axes(const firn_camera *camera, double right[3], double up[3], double back[3])
{
    for (int a = 0; a < 3; a++) back[a] = camera->position[a] - camera->target[a];
    normalise(back);
    cross(camera->up, back, right);
    if (!(dot(right, right) > 1e-12)) { /* looking along up: any direction across will do */
        const double other[3] = {camera->up[1], camera->up[2], camera->up[0]};
        cross(other, back, right);
    }
    normalise(right);
    cross(back, right, up);
}

/* How far boxes reach to one side of the camera's axes: the largest of d . axis + half * d . back, d from
 * the target, over their corners. A camera that sees them stands at least so far out. */
static double reach_of(const firn_camera *camera, const firn_bounds *bounds, int64_t count,
                       const double axis[3], const double back[3], double half)
{
    double most = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        if (!(bounds[i].low[0] <= bounds[i].high[0])) continue;
        double sum = 0;
        for (int a = 0; a < 3; a++) {
            const double along = axis[a] + half * back[a];
            const double corner = along > 0 ? bounds[i].high[a] : bounds[i].low[a];
            sum += along * (corner - camera->target[a]);
        }
        most = fmax(most, sum);
    }
    return most;
}

/* How far out a camera sees all between both sides of an axis, with a picture of that half extent at
 * distance 1; *middle receives where along the axis it then stands. */
static double fit(const firn_camera *camera, const firn_bounds *bounds, int64_t count,
                  const double axis[3], const double back[3], double half, double *middle)
{
    const double opposite[3] = {-axis[0], -axis[1], -axis[2]};
    const double plus = reach_of(camera, bounds, count, axis, back, half);
    const double minus = reach_of(camera, bounds, count, opposite, back, half);
    *middle = 0.5 * (plus - minus);
    return 0.5 * (plus + minus) / half;
}

/* The distance from the target along `back` from which all is seen. `shift` receives where the camera
 * should stand to the right and above for that to be in the middle; NULL: it stays on the target's axis. */
static double distance_for(const firn_camera *camera, const firn_bounds *bounds, int64_t count,
                           double aspect, double margin, double shift[3])
{
    double axis[2][3], back[3], middle[2], most = 0;
    camera_axes(camera, axis[0], axis[1], back);
    const double half_y = tan(0.5 * camera->field_of_view) * (1 - margin);
    const double half[2] = {half_y * aspect, half_y};
    for (int k = 0; k < 2; k++) {
        double far = fit(camera, bounds, count, axis[k], back, half[k], &middle[k]);
        if (!isfinite(far)) return 0; /* there is nothing */
        if (!shift) far += fabs(middle[k]) / half[k];
        most = fmax(most, far);
    }
    for (int k = 0; k < 2 && shift; k++) {
        /* The axis with room to spare has it on both sides: by the half extent that leaves none. */
        double low = 1e-3 * half[k], high = half[k];
        for (int i = 0; i < 30; i++) {
            const double mid = 0.5 * (low + high);
            const bool fits = fit(camera, bounds, count, axis[k], back, mid, &middle[k]) <= most;
            *(fits ? &high : &low) = mid;
        }
        for (int a = 0; a < 3; a++) shift[a] += middle[k] * axis[k][a];
    }
    return most;
}

static void turn_about(int up, double degrees, const double v[3], double out[3])
{
    const double c = cos(degrees * DEGREE), s = sin(degrees * DEGREE) * (up == 1 ? 1 : -1);
    const double x = v[0], z = v[3 - up];
    out[up] = v[up];
    out[0] = c * x + s * z;
    out[3 - up] = c * z - s * x;
}

firn_camera firn_camera_frame(const firn_view_camera *wish, const firn_bounds *bounds,
                              int64_t count, int up, double aspect, const double *turn)
{
    firn_camera camera = {.field_of_view = wish->field_of_view * DEGREE,
                          .aperture = wish->aperture};
    firn_bounds all = firn_bounds_empty();
    for (int64_t i = 0; i < count; i++) {
        firn_bounds_add_point(&all, bounds[i].low);
        firn_bounds_add_point(&all, bounds[i].high);
    }
    if (!(all.low[0] <= all.high[0])) all = (firn_bounds){{0}, {0}};
    const bool target = firn_section_given(&firn_section_camera, wish, "target");
    const bool position = firn_section_given(&firn_section_camera, wish, "position");
    camera.up[up] = 1;
    for (int a = 0; a < 3; a++) {
        camera.target[a] = target ? wish->target[a] : 0.5 * (all.low[a] + all.high[a]);
    }
    double away[3];
    if (position) {
        for (int a = 0; a < 3; a++) away[a] = wish->position[a] - camera.target[a];
    } else {
        const double azimuth = wish->azimuth * DEGREE, elevation = wish->elevation * DEGREE;
        const double side = sin(azimuth) * cos(elevation), front = cos(azimuth) * cos(elevation);
        away[0] = side;
        away[up] = sin(elevation);
        away[3 - up] = up == 1 ? front : -front; /* z up: -y is towards the viewer */
        for (int a = 0; a < 3; a++) camera.position[a] = camera.target[a] + away[a];
        double shift[3] = {0}, distance = distance_for(&camera, bounds, count, aspect, wish->margin,
                                                       target || turn ? NULL : shift);
        for (int step = 1; turn && step < TURNS; step++) { /* the same for every angle */
            double around[3];
            turn_about(up, 360.0 * step / TURNS, away, around);
            for (int a = 0; a < 3; a++) camera.position[a] = camera.target[a] + around[a];
            distance =
                fmax(distance, distance_for(&camera, bounds, count, aspect, wish->margin, NULL));
        }
        for (int a = 0; a < 3; a++) camera.target[a] += shift[a];
        if (!(distance > 0)) distance = 1;
        for (int a = 0; a < 3; a++) away[a] *= distance;
    }
    if (turn) turn_about(up, *turn, away, away);
    for (int a = 0; a < 3; a++) camera.position[a] = camera.target[a] + away[a];
    camera.focus = wish->focus > 0 ? wish->focus : sqrt(dot(away, away));
    return camera;
}

void firn_camera_project(const firn_camera *camera, int32_t width, int32_t height,
                         const double point[3], double pixel[2], double *depth)
{
    double right[3], up[3], back[3], d[3];
    camera_axes(camera, right, up, back);
    for (int a = 0; a < 3; a++) d[a] = point[a] - camera->position[a];
    *depth = -dot(d, back);
    const double scale = 0.5 * height / (tan(0.5 * camera->field_of_view) * *depth);
    pixel[0] = 0.5 * width + scale * dot(d, right);
    pixel[1] = 0.5 * height - scale * dot(d, up);
}
