#!/bin/sh
# Builds and tests the plugins for graphics processors (not part of Tenon yet)
#
#   ./dev gpu
#
. tools/dev/lib.sh

echo "gpu: the CUDA and Vulkan plugins are not part of Tenon yet" >&2
exit 2
