/* The sections of scenes: maps in the file, structs in memory, filled by rows.
 *
 * A row is a firn_param. Those of a def (simulation, heat, collider, material) are the engine's own and
 * write into the def that the section's struct holds; what only scenes have stands in sections.c.
 * Everything that knows about parameters reads these rows: the scene reader, --set, `firn list`, the
 * generated reference. Every struct begins with `firn_given given`: which rows the scene gave, bit by
 * row. */
#ifndef FIRN_SECTION_H
#define FIRN_SECTION_H

#include <firn/param.h>
#include <stddef.h>
#include <stdint.h>

#include "scene/value.h"

typedef struct firn_section {
    const char *name; /* as in the reference */
    const char *help;
    const firn_param *rows;                     /* of scenes alone, up to the one without a name */
    const firn_param *(*params)(int32_t index); /* of a def, unless NULL... */
    size_t def;                                 /* ... which is here in the struct */
    bool preset;                                /* a preset says the defaults of those */
} firn_section;

typedef uint64_t firn_given;

/* The index-th row, NULL past the end: those of scenes, then those of the def, less any that scenes have a
 * row of their own for. *offset, unless NULL, receives where its value is in the struct. */
const firn_param *firn_section_row(const firn_section *section, int index, size_t *offset);

/* Fills `out` with the defaults of the scene's rows, then with what the map says; the def in it comes
 * with its own. Unknown keys, wrong types and values out of range fail with the place and the nearest
 * name. `map` may be NULL: defaults alone. */
firn_status firn_section_read(const firn_section *section, const firn_value *map, void *out,
                              firn_error *error);

/* The default as a scene would have it; "" for none. */
const char *firn_row_default(const firn_section *section, const firn_param *row, char *text,
                             size_t size);

/* Whether the scene gave the row of that name. */
bool firn_section_given(const firn_section *section, const void *data, const char *name);

/* What a row's value is: into `to`. Of a row that can be keyed, *track is empty unless it is; then `to` has the
 * value at time 0, and the numbers of the track live as long as the scene does. */
firn_status firn_read_row(const firn_param *row, const firn_value *v, void *to, firn_error *error);
firn_status firn_read_keyed(const firn_param *row, const firn_value *v, void *to, firn_track *track,
                            firn_error *error);
/* Puts a copy with all values times a factor in the place of a track. */
firn_status firn_track_scale(firn_context *context, double factor, firn_track *track,
                             firn_error *error);
void firn_tracks_free(firn_context *context);

/* Sets all that is keyed in a section's struct to its value at a time. */
void firn_section_sample(const firn_section *section, void *data, double time);

/* Single values, for code that reads on its own; `what` names it in messages. */
firn_status firn_read_real(const firn_value *v, const char *what, const char *unit, double *out,
                           firn_error *error);
firn_status firn_read_vector(const firn_value *v, const char *what, const char *unit, int least,
                             int most, double *out, int *count, firn_error *error);
firn_status firn_read_choice(const firn_value *v, const char *what, const char *const *choices,
                             int32_t *out, firn_error *error);

#endif
