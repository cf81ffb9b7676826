/* The engine's floating-point type: float, or double in the reference build. */
#ifndef FIRN_REAL_H
#define FIRN_REAL_H

#ifdef FIRN_DOUBLE
typedef double real;
#define R_SQRT sqrt
#else
typedef float real;
#define R_SQRT sqrtf
#endif

#endif
