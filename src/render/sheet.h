/* Many pictures on one: contact sheets, and panels side by side. */
#ifndef FIRN_SHEET_H
#define FIRN_SHEET_H

#include "render/image.h"

typedef struct firn_sheet {
    firn_image image;
    int32_t columns, rows, width, height; /* the last two: of a cell, pixels */
    int32_t used;                         /* cells */
} firn_sheet;

/* So that `count` pictures, at least one, nearly fill a sheet that is nearly square, rather wide than
 * high: 3x1, 2x2, 3x2. */
void firn_sheet_arrange(int64_t count, int32_t *columns, int32_t *rows);

/* Empty cells with gaps between them. */
firn_status firn_sheet_create(int32_t columns, int32_t rows, int32_t width, int32_t height,
                              firn_sheet *out, firn_error *error);
void firn_sheet_free(firn_sheet *sheet);

/* Into the next cell, shrunk to its size, with a label in its upper right corner (NULL: none). A NULL
 * picture leaves the cell empty but for the label. */
firn_status firn_sheet_add(firn_sheet *sheet, const firn_image *picture, const char *label,
                           firn_error *error);

#endif
