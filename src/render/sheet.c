/* Many pictures on one: contact sheets, and panels side by side. */
#include "render/image.h"

#include <assert.h>
#include <math.h>

#include "base/error.h"
#include "render/overlay.h"

enum { GAP = 4 }; /* pixels between cells and around them */

void firn_sheet_arrange(int64_t count, int32_t *columns, int32_t *rows)
{
    *rows = (int32_t)sqrt((double)count);
    *columns = (int32_t)((count + *rows - 1) / *rows);
}

firn_status firn_sheet_create(int32_t columns, int32_t rows, int32_t width, int32_t height,
                              firn_sheet *out, firn_error *error)
{
    *out = (firn_sheet){.columns = columns, .rows = rows, .width = width, .height = height};
    const int64_t w = (int64_t)columns * (width + GAP) + GAP,
                  h = (int64_t)rows * (height + GAP) + GAP;
    if (w > FIRN_IMAGE_MOST || h > FIRN_IMAGE_MOST) {
        return firn_fail(error, FIRN_INVALID,
                         "a sheet of %lld x %lld pixels is too large; at most %d along a side",
                         (long long)w, (long long)h, FIRN_IMAGE_MOST);
    }
    firn_status st = firn_image_create((int32_t)w, (int32_t)h, &out->image, error);
    if (st == FIRN_OK) {
        firn_draw_rectangle(&out->image, 0, 0, (double)w, (double)h, firn_paint_hex(0x0c0e11, 1));
    }
    return st;
}

void firn_sheet_free(firn_sheet *sheet) { firn_image_free(&sheet->image); }

firn_status firn_sheet_add(firn_sheet *sheet, const firn_image *picture, const char *label,
                           firn_error *error)
{
    assert(sheet->used < sheet->columns * sheet->rows);
    firn_image cell;
    firn_status st = firn_image_create(sheet->width, sheet->height, &cell, error);
    if (st != FIRN_OK) return st;
    if (picture) {
        firn_image_shrink(picture, &cell);
    } else {
        firn_draw_rectangle(&cell, 0, 0, cell.width, cell.height, firn_paint_hex(0x14181e, 1));
    }
    if (label) firn_overlay_label(&cell, label);
    firn_draw_image(&sheet->image, GAP + sheet->used % sheet->columns * (sheet->width + GAP),
                    GAP + sheet->used / sheet->columns * (sheet->height + GAP), &cell);
    sheet->used++;
    firn_image_free(&cell);
    return FIRN_OK;
}
