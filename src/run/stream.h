/* What an emitter gives: a column as wide as its shape is when seen along the motion, which goes through the
 * shape without end, or what leaves the shape's surface everywhere along its normals. Particles of a column enter on
 * the side that it comes from.
 *
 * The stream is made of layers that are as thick as particles are apart. Each has particles at places of its own
 * and as many as all others, which enter one after another at equal intervals. Where they are is a function of the
 * seed and of the layer's number alone. A flow that is less than there is room for makes layers follow each other
 * later. */
#ifndef FIRN_STREAM_H
#define FIRN_STREAM_H

#include "geometry/region.h"

typedef struct firn_stream_def {
    double velocity[3];  /* m/s; all 0: `speed` along `direction` */
    double direction[3]; /* of any length; all 0: along the normals of the surface */
    double speed;        /* m/s; 0: what the flow needs */
    double flow;         /* m3/s, in 2D m2/s; 0: as much as there is room for */
    double spread;       /* degrees: half the angle of the cone that velocities fan out to */
    double speed_spread; /* how far speeds are from the mean at most, as a part of it */
    double separation;   /* m */
    firn_pattern pattern;
    uint64_t seed;
} firn_stream_def;

/* A square of the outline, in 2D a line; a cube at the surface, in 2D a square. */
typedef struct firn_stream_cell {
    int32_t index[3];
    double upto;      /* shares of cells that the outline or the surface covers: up to this one */
    double inside[3]; /* m, a place of it that is in the outline or at the surface */
} firn_stream_cell;

/* A particle of a layer. */
typedef struct firn_stream_slot {
    double depth; /* they enter in the order of it */
    int32_t cell;
} firn_stream_slot;

typedef struct firn_stream {
    firn_stream_def def;
    const firn_region *region;
    bool outward;       /* from the surface */
    double velocity[3]; /* m/s, without the spread; not of one that is outward */
    double speed;       /* m/s */
    /* The frame: along the motion, and across it; m from the origin to the corner of the cells. */
    double along[3], across[2][3], corner[3], spacing[3], extent;
    double size[2],
        reach; /* m across the outline; how far from its middle it reaches, over half of that */
    int32_t cell_count, count; /* count: particles of a layer */
    firn_stream_cell *cell;
    firn_stream_slot *slot; /* of layer `made` */
    int64_t made;
    double area;    /* m2 of the outline or the surface; in 2D m */
    double volume;  /* m3 of a particle */
    double seconds; /* that a layer takes */
    double full;    /* part of the room that the flow takes, above 0 to 1 */
} firn_stream;

/* The region must outlive it. What it has is to be freed, whatever happens. */
firn_status firn_stream_open(firn_stream *stream, const firn_region *region,
                             const firn_stream_def *def, firn_error *error);
void firn_stream_close(firn_stream *stream);
/* Where particle `index` of a layer enters, m, which way, a unit vector, and how fast, m/s. */
void firn_stream_enter(firn_stream *stream, int64_t layer, int32_t index, double position[3],
                       double way[3], double velocity[3]);

/* ---- skin.c: streams that leave a surface ---- */

enum { FIRN_STREAM_CELLS = 1 << 24 }; /* at most */

/* Finds the cells at the surface, particles of a layer and their volume. */
firn_status firn_skin_find(firn_stream *stream, firn_error *error);
/* A place of the surface from three numbers in [0, 1) of a cell, or false: they are not near it. */
bool firn_skin_enter(const firn_stream *stream, const firn_stream_cell *cell, const double part[3],
                     double position[3], double normal[3]);

#endif
