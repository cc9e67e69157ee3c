#!/bin/sh
# Creates a new plugin or op from a template
#
#   ./dev new plugin NAME [--out FOLDER]
#   ./dev new op FAMILY/NAME     such as activations/soft_cap
#
# Copies plugins/null to plugins/NAME, or to FOLDER, where the plugin builds against an installed
# Tenon. For an op, creates a file in core/ops/FAMILY, to which you add its formula.
. tools/dev/lib.sh

exec sh tools/new/new.sh "$@"
