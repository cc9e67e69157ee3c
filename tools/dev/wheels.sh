#!/bin/sh
# Builds the wheels of the Python package around libtenon and the plugins of a build
#
#   wheels.sh FOLDER [PRESET]
#
# One wheel each for Python 3.10 and 3.11, and one with the stable ABI that serves 3.12 and later. Each
# Python is looked for in PATH, then under pyenv; one that is missing is reported and left out.
# TENON_PYTHONS lists interpreters to use instead, such as that of a free-threaded Python.
# The platform tag of each wheel states the oldest glibc that all its libraries run with.
. tools/dev/lib.sh

folder=$1
build=$PWD/build/${2:-release}
plugins=$build/plugins
glibc=$(oldest_glibc "$build/libtenon.so" "$plugins/libtenon_cpu.so" "$plugins/libtenon_vulkan.so" \
  "$plugins/tenon_cpu_openblas.so" $(onetbb_libraries "$plugins/libtenon_cpu.so"))
tag=manylinux_$(echo "$glibc" | tr . _)_$(uname -m)

# is_python FILE VERSION: whether the file is an interpreter of that version that runs.
is_python() {
  [ "$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" = "$2" ]
}

if [ -z "${TENON_PYTHONS:-}" ]; then
  for version in 3.10 3.11 3.12; do
    found=
    for python in "python$version" "$HOME"/.pyenv/versions/$version.*/bin/python; do
      [ "$found" ] || ! is_python "$python" "$version" || found=$python
    done
    [ "$found" ] || echo "-- no Python $version was found, so there is no wheel for it" >&2
    TENON_PYTHONS="${TENON_PYTHONS:-} $found"
  done
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"
for python in $TENON_PYTHONS; do
  echo "-- building the wheel for $("$python" --version)" >&2
  rm -rf "$work/env"
  "$python" -m venv "$work/env"
  "$work/env/bin/pip" wheel --quiet --disable-pip-version-check --no-deps \
    --config-settings cmake.source-dir=. --config-settings "cmake.define.TENON_DIR=$build" \
    --config-settings "build-dir=$work/build" -w "$work/wheels" bindings/python
  "$work/env/bin/pip" install --quiet --disable-pip-version-check wheel
  for wheel in "$work"/wheels/*.whl; do
    "$work/env/bin/wheel" tags --remove --platform-tag "$tag" "$wheel" >/dev/null
  done
  mv "$work"/wheels/*.whl "$folder/"
  rm -rf "$work/build" "$work/wheels"
done
