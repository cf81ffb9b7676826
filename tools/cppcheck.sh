#!/usr/bin/env bash
# Runs cppcheck over the libraries, the command line and the examples; arguments are passed on (-j 2).
# With CHANGED_SINCE=REVISION only over the files that differ from it.
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

if [ -n "${CHANGED_SINCE-}" ] && ! git rev-parse -q --verify "$CHANGED_SINCE" >/dev/null; then
    CHANGED_SINCE= # a shallow clone: all files
fi

# The C files of these folders that are to be looked at.
files() {
    if [ -n "${CHANGED_SINCE-}" ]; then
        git diff --name-only --diff-filter=d "$CHANGED_SINCE" -- "$@" | grep '\.c$' || true
    else
        git ls-files -- "$@" | grep '\.c$'
    fi
}
mapfile -t engine < <(files src/base src/data src/material src/transfer src/shape src/collider \
                      src/solve src/sim)
mapfile -t rest < <(files src/io src/geometry src/scene src/run src/render src/validation apps \
                    examples)
if [ ${#engine[@]} -gt 0 ]; then
    check "$@" -DFIRN_SCALAR -DFIRN_ISA=scalar -DFIRN_DIM=3 -DFIRN_HAVE_SCALAR \
        -DFIRN_PARALLEL_PTHREAD "${lanes[@]}" "${engine[@]}"
fi
if [ ${#rest[@]} -gt 0 ]; then check "$@" "${rest[@]}"; fi
