#!/bin/sh
# Puts onnxruntime into build/onnxruntime, an environment of Python's
set -eu

folder=build/onnxruntime
packages="onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6"

[ "$(cat $folder/packages 2>/dev/null || true)" != "$packages" ] || exit 0
echo "-- installing $packages into $folder" >&2
mkdir -p build
python3 -m venv --clear "$folder"
if ! "$folder/bin/pip" install --quiet --disable-pip-version-check $packages; then
  echo "setup: this failed: $folder/bin/pip install $packages" >&2
  exit 1
fi
# Last, so that what is only half there is made anew.
echo "$packages" >"$folder/packages"
