/* Columns of particles as pages get them: in the order of ids, in single precision. */
#ifndef FIRN_LIVE_COLUMNS_H
#define FIRN_LIVE_COLUMNS_H

#include <firn/live.h>

#include "live/command.h"

typedef struct firn_live_columns {
    firn_live_cloud shown; /* its arrays are this one's */
    double *object, *material, *id;
    uint64_t hash; /* of all three */
    float *position, *color, *velocity;
} firn_live_columns;

/* Takes what is wanted out of columns. A colour that they do not have is none. Fails without P. */
FIRN_MUST_CHECK firn_status firn_columns_make(const firn_points *points, int32_t dimension,
                                              const firn_live_want *want, firn_live_columns *out,
                                              firn_error *error);
void firn_columns_free(firn_live_columns *columns);

/* 2 if all z are 0, else 3. */
int32_t firn_columns_dimension(const firn_points *points);
/* How far particles are from each other, in m, by their radii or by the neighbours of some. */
double firn_columns_separation(const firn_points *points, int32_t dimension);

#endif
