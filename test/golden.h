/* Pictures kept in test/data: what is drawn must look as it did when someone last looked at it. */
#ifndef FIRN_TEST_GOLDEN_H
#define FIRN_TEST_GOLDEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "render/image.h"

/* Fails if the PSNR against the kept picture is below `least` dB. FIRN_GOLDEN=write keeps what is drawn
 * now: look at it before it is committed. */
static inline void assert_golden(const firn_image *image, const char *name, double least)
{
    static const char remedy[] = "if it should look so now, run with FIRN_GOLDEN=write, look at it "
                                 "and commit it";
    char path[512];
    firn_error error = {0};
    firn_image kept = {0};
    snprintf(path, sizeof path, FIRN_TEST_DATA "/%s", name);
    const char *asked = getenv("FIRN_GOLDEN");
    if (asked && strcmp(asked, "write") == 0 &&
        firn_image_write_png(path, image, 8, &error) != FIRN_OK) {
        fail_msg("%s", error.message);
    }
    if (firn_image_read_png(path, &kept, &error) != FIRN_OK) {
        fail_msg("%s; %s", error.message, remedy);
    }
    const double psnr = firn_image_psnr(image, &kept);
    firn_image_free(&kept);
    if (!(psnr >= least)) fail_msg("%s: %.1f dB, not %.1f; %s", path, psnr, least, remedy);
}

#endif
