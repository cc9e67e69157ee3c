#!/bin/sh
# Writes the generated files: api.json, functions of the ops in each language, docs, expansions for plugins
#
#   ./dev gen [--check]
#
# --check writes nothing, and fails with the names of the files that are not fresh.
. tools/dev/lib.sh

need --check --test
exec /usr/bin/python3 tools/gen/gen.py "$@"
