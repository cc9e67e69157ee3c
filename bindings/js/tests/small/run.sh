#!/bin/sh
# Assembles the small package from the current sources, and runs its tests in Node.
#
#   run.sh CMAKE NODE SOURCE PACKAGE
set -eu

cmake=$1 node=$2 source=$(realpath "$3") package=$4
[ -e "$package/dist/tenon_simd.wasm" ] || {
  echo "skipped: ./dev wasm small has not run"
  exit 77
}
"$cmake" -DSOURCE="$source" -DPACKAGE="$package" -DSMALL=ON -P "$source/assemble.cmake"
export TENON_SOURCE="$source/../.."
cd "$package"
exec "$node" --test tests/small/small.test.js
