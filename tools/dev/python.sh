#!/bin/sh
# Creates build/python, the Python virtual environment that builds and tests the Python package
#
#   python.sh
#
# TENON_PYTHON is the path of the interpreter, by default Debian's python3. Packages come from PyPI.
set -eu

packages="nanobind==3.1.0 scikit-build-core==1.1.2 numpy pytest ml_dtypes"
interpreter=${TENON_PYTHON:-/usr/bin/python3}
environment=build/python
wanted="$interpreter $packages"
[ "$(cat "$environment/packages" 2>/dev/null || true)" != "$wanted" ] || exit 0
[ -z "${TENON_DRY_RUN:-}" ] || { echo "$packages in $environment" && exit 1; }
echo "-- installing $packages into $environment" >&2
mkdir -p build
"$interpreter" -m venv --clear "$environment"
"$environment/bin/pip" install --quiet --disable-pip-version-check $packages
echo "$wanted" >"$environment/packages"
