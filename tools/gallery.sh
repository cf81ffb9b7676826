#!/usr/bin/env bash
# A still of every scene, videos of some, and the page that shows them: doc/gallery.md, doc/gallery/*.
#   tools/gallery.sh           all of them, about an hour on two cores
#   tools/gallery.sh NAME...   these anew
# Needs build/firn (make), or FIRN=path.
set -euo pipefail
cd "$(dirname "$0")/.."
firn=${FIRN:-build/firn}

# scene | frame | options of render | resolution, for scenes with a video | colours of further videos
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
snow_boulder        | 24 |
snow_plough         | 32 |
footprint           | 26 |
snow_2013           | 12 |
snow_shapes         | 24 |
sand_column         | 24 |
hourglass           | 16 |
clay_stamp          | 20 |
toothpaste          | 40 |
mud_wheel           | 38 |
dam_break           | 20 |
dam_obstacle        | 21 | | 0.0125
drop_crown          | 19 | | 0.002
drop_on_plate       | 41 | | 0.00025
ice_water           | 61 | | 0.006
heated_column       | 61 | | 0.006
fountain            | 41 | | 0.0107
stirrer             | 37 |
honey_fold          | 29 | | 0.00175
glass_fill          | 67 | | 0.005
watermelon          | 20 |
chocolate           | 49 | | 0.0035 | temperature liquid
chocolate_creature  | 49 | | 0.03
chocolate_2d        | 37 | --color temperature
chocolate_stiff     | 49 | --color temperature | 0.0025
solid_and_fluid     | 11 | | 0.005
butter              | 31 | | 0.002
candle              | 73 | | 0.004
hot_ball            | 55 | | 0.004
snow_melt           | 61 | | 0.006
lava                | 221 | | 0.008
ice_creature        | 73 | | 0.03
freeze              | 169 |
gelatine            | 37 | | 0.003
glass               | 49 | | 0.005
solder              | 37 | | 0.004
ball                | 14 |
colliders           | 36 |
conveyor            | 28 |
cup                 | 36 |
hourglass_3d        | 44 |
snow_conveyor       | 60 |
plough              | 48 |
footsteps           | 76 |
figure              | 40 |
trampoline          | 7 |
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

# Rows of the table whose scene is among the arguments; all rows without arguments.
rows() {
    while IFS='|' read -r scene frame how resolution colors; do
        scene=${scene// /}
        [ -n "$scene" ] || continue
        [ $# -eq 0 ] || [[ " $* " == *" $scene "* ]] || continue
        echo "$scene|${frame// /}|$how|${resolution// /}|$colors"
    done <<<"$table"
}

# A video of every other frame, so that 24 frames per second play at 12: video NAME SCENE options of render.
video() {
    "$firn" render "scenes/$2.yaml" --size 480x270 --quiet --set frames.playback=12 --out "doc/gallery/$1.mp4" \
        "${@:3}" </dev/null
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p doc/gallery
rows "$@" | while IFS='|' read -r scene frame how resolution colors; do
    echo "$scene"
    every="every: $([ -z "$resolution" ] && echo 1 || echo 2)"
    set=(--set "output=[{file: $work/$scene.\$F4.prt, $every}, {file: $work/$scene.grid.\$F4.prt, of: grid, $every}]")
    frames=(--frames "$frame")
    [ -z "$resolution" ] || { set+=(--set "resolution=$resolution") && frames=(); }
    "$firn" run "scenes/$scene.yaml" "${set[@]}" --set checkpoint.every=0 --set "statistics=$work/s.csv" \
        "${frames[@]}" --quiet </dev/null
    read -ra how <<<"$how"
    "$firn" render "scenes/$scene.yaml" "${set[@]}" --frames "$frame" --size 480x270 --quiet \
        --out "doc/gallery/$scene.png" "${how[@]}" </dev/null
    [ -z "$resolution" ] || video "$scene" "$scene" "${set[@]}" "${how[@]}"
    for color in $colors; do video "${scene}_$color" "$scene" "${set[@]}" --color "$color"; done
    rm -f "$work"/*
done

{
    echo '# Gallery'
    echo
    echo 'This page shows a still of every scene in [scenes](../scenes), with the command that makes it from the caches,'
    echo 'and videos of those that melt or flow. `tools/gallery.sh` writes it: do not edit.'
    rows | while IFS='|' read -r scene frame how resolution colors; do
        read -ra how <<<"$how"
        printf '\n## %s\n\n%s\n\n![%s](gallery/%s.png)\n\n    %s\n' "$scene" \
            "$(sed -n '1s/^# //p' "scenes/$scene.yaml")" "$scene" "$scene" \
            "firn render scenes/$scene.yaml --frames $frame${resolution:+ --set resolution=$resolution}${how[*]:+ ${how[*]}}"
        [ -z "$resolution" ] || printf '\n[Video](gallery/%s.mp4)\n' "$scene"
        for color in $colors; do printf '\n[Video by %s](gallery/%s_%s.mp4)\n' "$color" "$scene" "$color"; done
    done
} >doc/gallery.md
