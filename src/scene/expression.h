/* Numbers as scenes write them: arithmetic, units, and `$name` for an entry of the scene's `variables`. */
#ifndef FIRN_EXPRESSION_H
#define FIRN_EXPRESSION_H

#include "scene/value.h"

/* The value of a scalar, in the unit of a row, "" for none. A number that has no unit of its own is in that
 * unit. False: it is none, and `wrong` says why; it is "" if the text is nothing like an expression. */
enum { FIRN_WRONG_SIZE = 200 };
bool firn_expression_value(const firn_value *v, const char *unit, double *out,
                           char wrong[FIRN_WRONG_SIZE]);

/* The same with any unit, in SI and degrees. False for what is no number, and for plain ones. */
bool firn_expression_any(const firn_value *v, double *out);

#endif
