#!/bin/sh
# Downloads the node tests of the PyPI package onnx to build/onnx_tests/data
set -eu

folder=build/onnx_tests
package="onnx==1.22.0"

[ "$(cat $folder/package 2>/dev/null || true)" != "$package" ] || exit 0
[ -z "${TENON_DRY_RUN:-}" ] || { echo "$package in $folder" && exit 1; }
echo "-- installing $package into $folder" >&2
mkdir -p build
python3 -m venv --clear "$folder"
# Only the test data of the package is used, so its dependencies are not needed.
if ! "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-compile $package; then
  echo "setup: this failed: $folder/bin/pip install $package" >&2
  exit 1
fi
(cd "$folder" && ln -s lib/python3*/site-packages/onnx/backend/test/data data)
# This file is written last, so that an interrupted installation is repeated.
echo "$package" >"$folder/package"
