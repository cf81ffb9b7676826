#!/usr/bin/env bash
# The program and some tests under valgrind: tools/valgrind.sh BUILD. It sees what the sanitizers of the
# compiler do not, a file that holds memory that was never set. A build for `scalar` alone is needed, since
# valgrind does not know every instruction.
set -euo pipefail
build=$(cd "$1" && pwd)
scenes=$(cd "$(dirname "$0")/../test/scenes" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

watched() {
    echo "valgrind: $(basename "$1") ${*:2}"
    valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite "$@" >out 2>err && return
    cat out err
    exit 1
}

for name in limits limits_2d; do
    watched "$build/firn" run "$scenes/$name.yaml" --threads 1 --quiet --frames 1:2
    watched "$build/firn" run "$scenes/$name.yaml" --threads 1 --quiet --resume
    watched "$build/firn" render "$scenes/$name.yaml" --threads 1 --quiet --frames 2:2 --size 48x32 \
        --quality draft --out "$name.png"
done
for format in ply csv bgeo geo bgeo.sc; do
    watched "$build/firn" convert "files/limits.0002.$format" "again.$format"
done
watched "$build/test/test_state"
