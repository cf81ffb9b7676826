#!/usr/bin/env bash
# A still of every scene, and the page that shows them: doc/gallery.md, doc/gallery/*.png.
#   tools/gallery.sh           all of them, about ten minutes on two cores
#   tools/gallery.sh NAME...   these stills anew
# Needs build/firn (make), or FIRN=path.
set -euo pipefail
cd "$(dirname "$0")/.."
firn=${FIRN:-build/firn}

# scene | frame | how it is shown | sheet, if there is a contact sheet of the whole scene too
table='
snow_wall           | 14 |
tumble              | 20 |
creature_large      | 19 |
creature_medium     | 19 | --color speed
creature_small      | 19 | --look spheres --color id
spheres             | 12 |
snowball            | 16 |
snowball_plane      | 24 |
snowball_slope      | 30 |
snowball_block      | 20 |
snowball_edge       | 20 |
snowball_wall       | 16 |
snowballs           | 18 |
snow_plough         | 32 |
footprint           | 26 |
snow_2013           | 12 |
snow_shapes         | 24 |
sand_column         | 24 |
hourglass           | 16 |
clay_stamp          | 20 |
toothpaste          | 40 |
dam_break           | 20 |
watermelon          | 20 |
chocolate           | 49 | | sheet
chocolate_2d        | 37 | --color temperature
solid_and_fluid     | 10 |
butter              | 31 | | sheet
candle              | 73 | | sheet
hot_ball            | 55 | | sheet
snow_melt           | 61 | | sheet
lava                | 221 | | sheet
ice_creature        | 73 | | sheet
freeze              | 169 |
ball                | 14 |
colliders           | 36 |
emitter             | 60 |
forces              | 20 |
particles           | 12 |
sink                | 12 |
stiff_block         | 9 |
flat_regular_fine   | 13 | --color pressure
flat_regular_coarse | 13 | --show particles,colliders,grid,force,scale,caption
flat_random_fine    | 13 | --color speed --show particles,colliders,velocity,scale,legend,caption
flat_random_coarse  | 13 |
'

# Lines of the table whose scene is among the arguments; all without arguments.
rows() {
    while IFS='|' read -r scene frame how sheet; do
        scene=${scene// /}
        [ -n "$scene" ] || continue
        [ $# -eq 0 ] || [[ " $* " == *" $scene "* ]] || continue
        echo "$scene|${frame// /}|$how|${sheet// /}"
    done <<<"$table"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p doc/gallery
rows "$@" | while IFS='|' read -r scene frame how sheet; do
    echo "$scene"
    set=(--set "output=[{file: $work/$scene.\$F4.prt}, {file: $work/$scene.grid.\$F4.prt, of: grid}]")
    frames=(--frames "$frame")
    [ -z "$sheet" ] || frames=()
    "$firn" run "scenes/$scene.yaml" "${set[@]}" --set checkpoint.every=0 --set "statistics=$work/s.csv" \
        "${frames[@]}" --quiet </dev/null
    read -ra how <<<"$how"
    "$firn" render "scenes/$scene.yaml" "${set[@]}" --frames "$frame" --size 480x270 --quiet \
        --out "doc/gallery/$scene.png" "${how[@]}" </dev/null
    [ -z "$sheet" ] || "$firn" render "scenes/$scene.yaml" "${set[@]}" --size 480x270 --quality draft --quiet \
        --out "doc/gallery/${scene}_sheet.png" </dev/null
    rm -f "$work"/*
done

{
    echo '# Gallery'
    echo
    echo 'One still of every scene in [scenes](../scenes), with the options of `firn render` that make it'
    echo 'from the caches. Made by `tools/gallery.sh`: do not edit.'
    rows | while IFS='|' read -r scene frame how sheet; do
        read -ra how <<<"$how"
        printf '\n## %s\n\n%s\n\n![%s](gallery/%s.png)\n\n    %s\n' "$scene" \
            "$(sed -n '1s/^# //p' "scenes/$scene.yaml")" "$scene" "$scene" \
            "firn render scenes/$scene.yaml --frames $frame${how[*]:+ ${how[*]}}"
        [ -z "$sheet" ] || printf '\n![%s, all of it](gallery/%s_sheet.png)\n' "$scene" "$scene"
    done
} >doc/gallery.md
