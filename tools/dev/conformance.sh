#!/bin/sh
# Judges a device plugin by the op semantics that all devices share
#
#   ./dev conformance NAME|FILE [ARGUMENTS OF tenon-conformance]
#
#   ./dev conformance cpu                    every claim, up to the stress tests
#   ./dev conformance cpu --level smoke      a minute
#   ./dev conformance cpu --html page.html   a page to look at
#
# `build/dev/bin/tenon-conformance --help` lists the arguments.
. tools/dev/lib.sh

if [ $# -eq 0 ]; then
  echo "conformance: which plugin? ./dev conformance --help shows how" >&2
  exit 2
fi
plugin=$1
shift
setup --test
configure dev
build dev --target tenon_conformance tenon_plugins
exec build/dev/bin/tenon-conformance --plugin "$plugin" "$@"
