#!/bin/sh
# Checks layers, words, portability, headers, annotations, wrappers, freshness, symbols, layouts, mutants, format and sizes
#
#   ./dev check [NAME...]
#
# Prints one line for each check, and the location of each fault. Each check is a file in
# tools/check.
. tools/dev/lib.sh

need --check --test
exec /usr/bin/python3 tools/check/check.py "$@"
