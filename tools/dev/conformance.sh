#!/bin/sh
# Judges a device plugin by the op semantics that all devices share
#
#   ./dev conformance NAME|FILE [ARGUMENTS OF tenon-conformance]
#   ./dev conformance onnx [--device NAME] [ARGUMENTS OF tenon-conformance onnx]
#   ./dev conformance mutants [ARGUMENTS OF tenon-mutants]
#
#   ./dev conformance cpu                    every claim, up to the stress tests
#   ./dev conformance cpu --level 1          the device alone: seconds
#   ./dev conformance cpu --level smoke      a minute
#   ./dev conformance cpu --op 'functions*'  what functions do there
#   ./dev conformance cpu --html page.html   a page to look at
#   ./dev conformance onnx                   the node tests of ONNX, on ref and then on cpu
#   ./dev conformance vulkan --level 2       on the driver that VK_DRIVER_FILES names
#   ./dev conformance mutants --html page.html   whether the kit catches what is wrong
#
# `build/dev/bin/tenon-conformance --help` lists the arguments.
. tools/dev/lib.sh

if [ $# -eq 0 ]; then
  echo "conformance: which plugin? ./dev conformance --help shows how" >&2
  exit 2
fi
judged=$1
shift
setup --test --conformance
if [ "$judged" = mutants ]; then
  configure dev -DTENON_MUTANTS=ON
  build dev --target tenon_mutants
  exec build/dev/bin/tenon-mutants "$@"
fi
# The Vulkan plugin is under way, and is built where it is asked for.
if [ "$judged" = vulkan ]; then
  setup --vulkan
  configure dev -DTENON_VULKAN=ON
  build dev --target tenon_plugin_vulkan
else
  configure dev
fi
build dev --target tenon_conformance
kit=build/dev/bin/tenon-conformance
[ "$judged" = onnx ] || exec $kit --plugin "$judged" "$@"

devices="ref cpu"
for argument; do
  case $argument in
    --device | --device=*) devices= ;;
  esac
done
[ -n "$devices" ] || exec $kit onnx "$@"
status=0
for device in $devices; do
  $kit onnx --device "$device" "$@" || status=1
done
exit $status
