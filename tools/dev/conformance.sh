#!/bin/sh
# Tests whether a device plugin implements the semantics of ops that all devices share
#
#   ./dev conformance NAME|FILE [ARGUMENTS OF tenon-conformance]
#   ./dev conformance onnx [--device NAME] [ARGUMENTS OF tenon-conformance onnx]
#   ./dev conformance mutants [ARGUMENTS OF tenon-mutants]
#
#   ./dev conformance cpu                    tests all claims of the plugin, including stress tests
#   ./dev conformance cpu --level 1          tests the device only; takes seconds
#   ./dev conformance cpu --level smoke      tests a few problems of each property; takes a minute
#   ./dev conformance cpu --op 'functions*'  tests traced functions on the device
#   ./dev conformance cpu --html page.html   also writes the report as a web page
#   ./dev conformance onnx                   the tests of ONNX 1.12 and 1.22, on ref and on cpu
#   ./dev conformance onnx --device wasm     the same in Node
#   ./dev conformance vulkan --level 2       on a GPU, or else on each software driver
#   ./dev conformance vulkan --option validate=1   messages of the validation layer are faults, too
#   ./dev conformance cuda --level 2         on a GPU, or else on the emulated driver
#   ./dev conformance wasm --level smoke     runs the plugin and the kit as WebAssembly in Node
#   ./dev conformance browser --level smoke  the same in Chromium
#   ./dev conformance mutants --html page.html   tests whether the kit detects faulty plugins
#
# `vulkan` runs on the driver that VK_DRIVER_FILES names. If that is not set, it runs on the first
# device that is found if that is a GPU, and else on lavapipe and on SwiftShader.
# plugins/NAME/expected.jsonl lists known faults of drivers, which are reported as expected
# failures. `onnx --device vulkan` runs on the driver that VK_DRIVER_FILES names, or on the first
# device.
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
in_node="node --no-experimental-fetch build/wasm/bin/tenon-conformance.js"
if [ "$judged" = wasm ]; then
  need --wasm
  configure wasm
  build wasm --target tenon_conformance
  exec $in_node --plugin wasm "$@"
fi
if [ "$judged" = browser ]; then
  need --wasm --browser
  configure wasm
  build wasm --target tenon_conformance_browser
  exec node tools/js/kit_in_browser.mjs build/wasm/bin "$PWD/build/browser" "$(command -v chromium)" --plugin wasm "$@"
fi
[ "$judged" != vulkan ] || need --swiftshader
kit=build/dev/bin/tenon-conformance
case "$judged $*" in
  "onnx "*"--device wasm"* | "onnx "*"--device=wasm"*) kit=$in_node ;;
esac
if [ "$kit" = "$in_node" ]; then
  need --wasm
  configure wasm
  build wasm --target tenon_conformance
else
  configure dev
  build dev --target tenon_conformance tenon_command
fi
[ "$judged" != cuda ] || build dev --target tenon_plugin_cuda tenon_emulated_cuda tenon_emulated_nvrtc tenon_emulated_cublaslt
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
# node_tests [ARGUMENTS]: runs the node tests of both ONNX versions.
node_tests() {
  $kit onnx "$@" || status=1
  $kit onnx --data build/onnx_tests/data/node --title "onnx 1.22 node tests" --may-refuse "$@" ||
    status=1
  $kit onnx --data build/onnx_tests/data/light --title "onnx light" --may-refuse "$@" || status=1
}
[ -n "$devices" ] || node_tests "$@"
for device in $devices; do
  node_tests --device "$device" "$@"
done
exit $status
