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
#   ./dev conformance cpu --op 'functions*'  functions on that device
#   ./dev conformance cpu --html page.html   a page to look at
#   ./dev conformance onnx                   the node tests of ONNX 1.12 and 1.22, on ref and then on cpu
#   ./dev conformance vulkan --level 2       on a GPU, or on each driver that needs none
#   ./dev conformance vulkan --option validate=1   messages of the validation layer are faults, too
#   ./dev conformance cuda --level 2         on a GPU, or on the emulated driver
#   ./dev conformance wasm --level smoke     the plugin for WebAssembly, with the kit, in Node
#   ./dev conformance mutants --html page.html   whether the kit catches what is wrong
#
# `vulkan` runs on the driver that VK_DRIVER_FILES names. Where that names none it runs on the first device that
# is found, if that is a GPU, and else on lavapipe and then on SwiftShader. What plugins/NAME/expected.jsonl knows
# of drivers is expected. `onnx --device vulkan` runs on the driver that is named or found first.
#
# `build/dev/bin/tenon-conformance --help` lists the arguments.
. tools/dev/lib.sh

if [ $# -eq 0 ]; then
  echo "conformance: which plugin? ./dev conformance --help shows how" >&2
  exit 2
fi
judged=$1
shift
need --test --conformance
if [ "$judged" = mutants ]; then
  configure dev -DTENON_MUTANTS=ON
  build dev --target tenon_mutants
  exec build/dev/bin/tenon-mutants "$@"
fi
if [ "$judged" = wasm ]; then
  need --wasm
  configure wasm
  build wasm --target tenon_conformance
  exec node --no-experimental-fetch build/wasm/bin/tenon-conformance.js --plugin wasm "$@"
fi
[ "$judged" != vulkan ] || need --swiftshader
configure dev
build dev --target tenon_conformance tenon_command
[ "$judged" != cuda ] || build dev --target tenon_plugin_cuda tenon_emulated_cuda tenon_emulated_nvrtc tenon_emulated_cublaslt
kit=build/dev/bin/tenon-conformance
if [ "$judged" != onnx ]; then
  expected=plugins/$judged/expected.jsonl
  case " $* " in
    *" --expected"*) ;;
    *) [ ! -e "$expected" ] || set -- --expected "$expected" "$@" ;;
  esac
  set -- $kit --plugin "$judged" "$@"
  if [ "$judged" = cuda ] && ! has_gpu dev cuda; then
    exec tools/gpu/emulated_cuda.sh build/dev "$@"
  fi
  if [ "$judged" != vulkan ] || [ "${VK_DRIVER_FILES:-}" ] || has_gpu dev vulkan; then
    exec "$@"
  fi
  status=0
  for driver in lavapipe swiftshader; do
    tools/gpu/on_driver.sh $driver "$@" || status=1
  done
  exit $status
fi

devices="ref cpu"
for argument; do
  case $argument in
    --device | --device=*) devices= ;;
  esac
done
for argument; do
  case $argument in
    --data | --data=*) exec $kit onnx "$@" ;;
  esac
done
status=0
# node_tests [ARGUMENTS]: those of both versions
node_tests() {
  $kit onnx "$@" || status=1
  $kit onnx --data build/onnx_tests/data/node --title "onnx 1.22 node tests" --may-refuse "$@" ||
    status=1
}
[ -n "$devices" ] || node_tests "$@"
for device in $devices; do
  node_tests --device "$device" "$@"
done
exit $status
