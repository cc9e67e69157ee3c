#!/bin/sh
# Creates a new plugin or op from a template
#
#   ./dev new plugin NAME [--out FOLDER]
#   ./dev new op FAMILY/NAME     such as activations/soft_cap
#
# A plugin is a copy of plugins/null, in plugins/NAME or in FOLDER, where it builds against an
# installed Tenon. An op is a file in core/ops/FAMILY without its formula.
. tools/dev/lib.sh

exec sh tools/new/new.sh "$@"
