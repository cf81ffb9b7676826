/* The surface of a shape as a mesh. */
#ifndef FIRN_LIVE_NET_H
#define FIRN_LIVE_NET_H

#include <firn/collider.h>
#include <firn/geometry.h>

/* In the shape's own frame, of about so many cells along its longest side; without faces if it has no end. Free with
 * firn_polygons_free. */
firn_status firn_live_net(const firn_collider_def *def, int32_t cells, firn_polygons *out,
                          firn_error *error);

#endif
