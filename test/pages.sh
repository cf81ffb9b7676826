#!/usr/bin/env bash
# Whether lines of the Markdown pages end at 120 columns and their relative links lead somewhere:
# test/pages.sh FOLDER. Tables may be wider, and so may pages that a program writes.
set -euo pipefail
export LC_ALL=C.UTF-8 # columns are characters
cd "$1"
bad=0
complain() { echo "$*"; bad=1; }

# The anchors of a page, as GitHub makes them from its headings.
anchors() {
    sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^[:alnum:]_ -]//g; s/ /-/g'
}

for page in *.md doc/*.md; do
    case $page in
    doc/reference.md | doc/gallery.md) ;;
    *)
        while IFS=: read -r line text; do
            complain "$page:$line: ${#text} columns; lines end at 120"
        done < <(grep -nE '^[^|].{120}' "$page" || true)
        ;;
    esac
    while IFS= read -r link; do
        path=${link%%#*} anchor=
        [[ $link != *'#'* ]] || anchor=${link#*#}
        target=$page
        [ -z "$path" ] || target=$(dirname "$page")/$path
        if [ ! -e "$target" ]; then
            complain "$page: the link to $link leads nowhere"
        elif [ -n "$anchor" ] && ! grep -qxF -e "$anchor" <(anchors "$target"); then
            complain "$page: $path has no heading for #$anchor"
        fi
    done < <(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+:' | sort -u || true)
done
exit $bad
