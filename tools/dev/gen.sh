#!/bin/sh
# Writes the generated files: api.json, functions of the ops in each language, docs, expansions for plugins
#
#   ./dev gen [--check]
#
# --check writes nothing. It lists the files that are out of date, and fails if there are any.
. tools/dev/lib.sh

need --check --test
exec /usr/bin/python3 tools/gen/gen.py "$@"
