/* Binary messages to a page, as protocol.ts has them. */
#ifndef FIRN_LIVE_PACK_H
#define FIRN_LIVE_PACK_H

#include <firn/points.h>

enum {
    FIRN_MESSAGE_HEADER = 64, /* bytes */
    FIRN_MESSAGE_PICTURE = 1,
    FIRN_MESSAGE_TAGS,
    FIRN_MESSAGE_GRID,
    FIRN_MESSAGE_POINTS,
    FIRN_MESSAGE_MESH
};

/* A message with a header and so many zero bytes behind it, which are returned; NULL: no memory. */
uint8_t *firn_message_make(firn_bytes *out, uint32_t kind, uint32_t number, uint32_t count,
                           size_t bytes, firn_error *error);
/* Members of the header, at their byte. */
void firn_message_real(firn_bytes *message, size_t at, float value);
void firn_message_whole(firn_bytes *message, size_t at, uint32_t value);

#endif
