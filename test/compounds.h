/* Compounds for tests. */
#ifndef FIRN_TEST_COMPOUNDS_H
#define FIRN_TEST_COMPOUNDS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <firn/collider.h>

static inline firn_collider_def part_of(firn_shape_kind kind, double x, double y, double z)
{
    firn_collider_def def = firn_collider_def_default();
    def.shape = kind;
    def.size[0] = x, def.size[1] = y, def.size[2] = z;
    return def;
}

static inline firn_compound *join_parts(firn_join join, const firn_collider_def *parts, int count,
                                        double offset, double shell)
{
    firn_compound_def def = firn_compound_def_default();
    def.join = join;
    def.parts = parts;
    def.part_count = count;
    def.offset = offset;
    def.shell = shell;
    firn_compound *out = NULL;
    firn_error error = {0};
    if (firn_compound_create(&def, &out, &error) != FIRN_OK) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    return out;
}

/* Two boxes side by side, one turned, grown a little, within about that radius: its distances are exact. Made
 * once for each radius asked for, and kept. */
static inline const firn_compound *two_boxes(double radius)
{
    static struct {
        double radius;
        firn_compound *compound;
    } kept[4];
    int i = 0;
    while (kept[i].compound && kept[i].radius != radius) i++;
    if (!kept[i].compound) {
        const double r = radius;
        firn_collider_def part[2] = {part_of(FIRN_BOX, 0.3 * r, 0.5 * r, 0.4 * r),
                                     part_of(FIRN_BOX, 0.2 * r, 0.3 * r, 0.5 * r)};
        part[0].position[0] = -0.5 * r;
        part[1].position[0] = 0.5 * r;
        part[1].position[1] = 0.2 * r;
        part[1].rotation[3] = 0.3;
        kept[i].radius = radius;
        kept[i].compound = join_parts(FIRN_UNION, part, 2, 0.05 * r, 0);
    }
    return kept[i].compound;
}

#endif
