#!/usr/bin/env bash
# Draws the include graph of src, apps and examples and fails on an arrow that points upwards, into the
# insides of another library, or from a program to anything but public headers and, for `firn bench
# solver`, the solvers. base, shape and collider are
# the ground that all libraries stand on; firn_live and firn_render also use the insides of firn_scene.
#   test/layers.sh          check
#   test/layers.sh --draw   print who includes whom
set -euo pipefail
cd "$(dirname "$0")/.."

# folder | what it may include from src, besides itself
table='
src/base       |
src/mesh       | base
src/shape      | base mesh
src/collider   | base mesh shape
src/data       | base
src/material   | base
src/solve      | base data
src/transfer   | base data material collider
src/sim        | base data material mesh shape collider solve transfer
src/io         | base
src/geometry   | base mesh shape io
src/scene      | base mesh shape collider io geometry
src/run        | base mesh shape collider io geometry scene
src/live       | base collider io scene run
src/render     | base mesh shape collider io scene run
src/validation |
apps/firn      | validation base data solve
examples       |
'

# "from to file" for every include of a file of src; includes of the same folder are left out.
arrows() {
    while IFS='|' read -r folder allowed; do
        [ -n "${folder// /}" ] || continue
        grep -HoE '^#include "[^"]+"' ${folder// /}/*.[ch] 2>/dev/null |
            sed -E 's|^([^:]*)/([^/:]+):#include "([^/"]+)/.*"$|\1 \3 \1/\2|;t;d' |
            awk -v self="${folder##*/}" '{ sub(/ +$/, "", self); if ($2 != self) print }' || true
    done <<<"$table"
}

if [ "${1-}" = --draw ]; then
    arrows | awk '{ print $1, "->", $2 }' | sort | uniq -c
    exit
fi

bad=$(arrows | while read -r from to file; do
    allowed=$(awk -F'|' -v f="$from" '{ gsub(/ /, "", $1); if ($1 == f) print $2 }' <<<"$table")
    case " $allowed " in
    *" $to "*) ;;
    *) echo "$file includes src/$to, which $from must not" ;;
    esac
done)
if [ -n "$bad" ]; then
    echo "$bad"
    echo "layers: arrows that point the wrong way; test/layers.sh lists the right ones" >&2
    exit 1
fi
