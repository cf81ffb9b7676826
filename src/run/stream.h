/* What an emitter gives: a column as wide as its shape is when seen along the motion, which goes through the
 * shape without end. Particles enter on the side that the column comes from.
 *
 * The column is made of layers that are as thick as particles are apart. Each has particles at places of its own
 * and as many as all others, which enter one after another at equal intervals. Where they are is a function of the
 * seed and of the layer's number alone. */
#ifndef FIRN_STREAM_H
#define FIRN_STREAM_H

#include "geometry/region.h"

typedef struct firn_stream_def {
    double velocity[3]; /* m/s */
    double separation;  /* m */
    firn_pattern pattern;
    uint64_t seed;
} firn_stream_def;

/* A square of the outline, or in 2D a line. */
typedef struct firn_stream_cell {
    int32_t index[2];
    double upto;      /* shares of cells that the outline covers: up to this one */
    double inside[2]; /* m, a place of it that is in the outline */
} firn_stream_cell;

/* A particle of a layer. */
typedef struct firn_stream_slot {
    double depth; /* they enter in the order of it */
    int32_t cell;
} firn_stream_slot;

typedef struct firn_stream {
    firn_stream_def def;
    const firn_region *region;
    /* The frame: along the motion, and across it; m from the origin to the corner of the outline. */
    double along[3], across[2][3], corner[3], spacing[2], extent;
    int32_t cell_count, count; /* count: particles of a layer */
    firn_stream_cell *cell;
    firn_stream_slot *slot; /* of layer `made` */
    int64_t made;
    double area;    /* m2 of the outline; in 2D m */
    double volume;  /* m3 of a particle */
    double seconds; /* that a layer takes */
} firn_stream;

/* The region must outlive it. What it has is to be freed, whatever happens. */
firn_status firn_stream_open(firn_stream *stream, const firn_region *region,
                             const firn_stream_def *def, firn_error *error);
void firn_stream_close(firn_stream *stream);
/* Where particle `index` of a layer enters. */
void firn_stream_enter(firn_stream *stream, int64_t layer, int32_t index, double position[3]);
/* A number in [0, 1) of a particle; draws from 8 on are the caller's. */
double firn_stream_draw(const firn_stream *stream, int64_t layer, int32_t index, uint64_t draw);

#endif
