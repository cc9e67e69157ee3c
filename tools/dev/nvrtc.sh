#!/bin/sh
# Installs NVRTC, which compiles the CUDA plugin's kernels, and CUDA's headers in build/nvrtc
set -eu

folder=build/nvrtc
wanted="nvidia-cuda-nvrtc==13.5.37 nvidia-cuda-runtime==13.5.37"

[ "$(cat $folder/packages 2>/dev/null || true)" != "$wanted" ] || exit 0
[ -z "${TENON_DRY_RUN:-}" ] || { echo "$wanted in $folder" && exit 1; }
echo "-- installing $wanted into $folder" >&2
mkdir -p build
python3 -m venv --clear "$folder"
# shellcheck disable=SC2086  # The variable holds two packages.
if ! "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps $wanted; then
  echo "setup: this failed: $folder/bin/pip install $wanted" >&2
  exit 1
fi
echo "$wanted" >"$folder/packages"
