#!/usr/bin/env bash
# Whether a manual page is laid out without a complaint: test/manual.sh PAGE
# Exit code 77: neither groff nor mandoc is installed.
set -euo pipefail
tried=0 complaints=
if command -v groff >/dev/null; then
    tried=1
    complaints+=$(groff -man -ww -Tutf8 "$1" 2>&1 >/dev/null)
fi
if command -v mandoc >/dev/null; then
    tried=1
    complaints+=$(mandoc -Tlint "$1" || true)
fi
[ $tried = 1 ] || { echo "neither groff nor mandoc is installed"; exit 77; }
[ -z "$complaints" ] || { echo "$complaints"; exit 1; }
