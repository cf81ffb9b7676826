#!/usr/bin/env bash
# Runs the examples that use files: test/examples.sh FOLDER_OF_EXAMPLES SOURCE_FOLDER
set -euo pipefail
examples=$(realpath "$1") source=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# A cube of 8 corners fills with about 1000 particles, and its picture is a PNG.
printf 'v %s\n' '0 0 0' '1 0 0' '1 1 0' '0 1 0' '0 0 1' '1 0 1' '1 1 1' '0 1 1' >cube.obj
printf 'f %s\n' '1 4 3 2' '5 6 7 8' '1 2 6 5' '2 3 7 6' '3 4 8 7' '4 1 5 8' >>cube.obj
"$examples/fill_mesh" cube.obj cube.prt 0.1 | tee filled.txt
grep -q '^1000 particles in 1 m3$' filled.txt
"$examples/picture" cube.prt cube.png
[ "$(head -c 4 cube.png | tail -c 3)" = PNG ]

# A scene runs to the frame asked for and leaves the caches it names.
"$examples/run_scene" "$source/test/scenes/drop.yaml" 2 | tee ran.txt
grep -q '^frame 2 of 2: ' ran.txt
if "$examples/run_scene" nowhere.yaml 2>failed.txt; then exit 1; fi
grep -q 'nowhere.yaml' failed.txt

# A host moves the vertices of a collider.
"$examples/deform" | tee deformed.txt
[ "$(wc -l <deformed.txt)" = 12 ]

# The animated meshes beside the scenes are those that the example makes.
for name in plough boots figure trampoline; do
    "$examples/animate" "$name" "$name.abc"
    cmp "$name.abc" "$source/scenes/$name.abc"
done
if "$examples/animate" nothing nothing.abc 2>failed.txt; then exit 1; fi
grep -q '^usage: ' failed.txt
