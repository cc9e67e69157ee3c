#!/bin/sh
# Builds the npm package and the page (not part of Tenon yet)
#
#   ./dev wasm
#
. tools/dev/lib.sh

echo "wasm: the browser build is not part of Tenon yet; ./dev build wasm compiles the core" >&2
exit 2
