#!/usr/bin/env bash
# Runs cppcheck over the engine, the command line and the examples; arguments are passed on (-j 2).
# Kernel files need an instruction set and a dimension to be C at all: scalar and 3D stand for all.
set -euo pipefail
cd "$(dirname "$0")/.."

# cppcheck takes a vector for a scalar, so filling one lane by lane looks like reading it unset.
lanes=(--suppress=uninitvar:src/base/simd.h --suppress='uninitvar:src/material/*'
       --suppress='uninitvar:src/transfer/*')

# readdirCalled recommends readdir_r, which POSIX has given up.
check() {
    cppcheck "$@" --quiet --error-exitcode=1 --inline-suppr --std=c11 --library=posix \
        --enable=warning,performance,portability --suppress=missingIncludeSystem \
        --suppress=readdirCalled \
        -Iinclude -Isrc -D__GNUC__=12 -D__x86_64__=1
}
check "$@" -DFIRN_SCALAR -DFIRN_ISA=scalar -DFIRN_DIM=3 -DFIRN_HAVE_SCALAR -DFIRN_PARALLEL_PTHREAD \
    "${lanes[@]}" src/base src/data src/material src/transfer src/collider src/sim
check "$@" src/io src/scene apps examples
