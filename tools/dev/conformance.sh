#!/bin/sh
# Judges a device plugin (not part of Tenon yet)
#
#   ./dev conformance
#
. tools/dev/lib.sh

echo "conformance: the kit is not part of Tenon yet; the ops' cases run in ./dev test" >&2
exit 2
