#!/bin/sh
# Builds a preset: release (the default), dev, asan, tsan, arm64, wasm, fuzz
#
#   ./dev build [PRESET] [ARGUMENTS OF cmake --build]
#
# Writes libtenon.so, plugins/ and bin/ to build/PRESET.
. tools/dev/lib.sh

preset=${1:-release}
[ $# -eq 0 ] || shift
case $preset in
  release) need ;;
  arm64 | fuzz | wasm) need "--$preset" ;;
  *) need --test ;;
esac
configure "$preset"
build "$preset" "$@"
