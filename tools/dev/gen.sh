#!/bin/sh
# Writes the generated files: api.json, C and C++ functions of the ops, docs/ops, expansions for plugins
#
#   ./dev gen [--check]
#
# --check writes nothing, and fails with the names of the files that are not fresh.
. tools/dev/lib.sh

setup --check --test
exec /usr/bin/python3 tools/gen/gen.py "$@"
