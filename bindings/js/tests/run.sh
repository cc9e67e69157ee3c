#!/bin/sh
# Assembles the package from the current sources, and runs its tests in Node.
#
#   run.sh CMAKE NODE SOURCE PACKAGE [TEST...]
set -eu

cmake=$1 node=$2 source=$3 package=$4
shift 4
"$cmake" -DSOURCE="$source" -DPACKAGE="$package" -P "$source/assemble.cmake"
cd "$package"
[ $# -gt 0 ] || set -- tests/*.test.js
exec "$node" --expose-gc --test "$@"
