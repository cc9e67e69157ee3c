#!/bin/sh
# Builds and runs the tests, and prints ctest's summary
#
#   ./dev test [--tier ci|sanitizers|full] [ARGUMENTS OF ctest]
#
#   ci          (the default) unit and C tests, tests of the bindings, examples, and the kit at level
#               smoke
#   sanitizers  unit and C tests of the core with the plugins ref and fake under AddressSanitizer with
#               UndefinedBehaviorSanitizer, and ThreadSanitizer
#   full        `ci` and `sanitizers`, and in addition: tests that take minutes (labelled `full`);
#               the kit on its mutants; the sanitizers with every plugin; the C tests on emulated
#               arm64; the core with ref as WebAssembly in Node; saved programs in onnxruntime
#
# `./dev test -R tape` runs the tests whose names match.
. tools/dev/lib.sh

tier=ci
case ${1:-} in
  --tier)
    tier=${2:-}
    shift 2
    ;;
  --tier=*)
    tier=${1#*=}
    shift
    ;;
esac

case $tier in
  ci)
    setup --test --conformance --java
    presets=dev
    ordinary="-DTENON_MUTANTS=OFF"
    set -- --label-exclude '^full$' "$@"
    ;;
  sanitizers)
    setup --test
    presets="asan tsan"
    sanitized="-DTENON_PLUGINS=ref;null;fake -DTENON_CONFORMANCE=OFF -DTENON_BINDING_TESTS=OFF
      -DTENON_SANITIZE_ALL=OFF"
    set -- --label-exclude '^full$' "$@"
    ;;
  full)
    setup --test --conformance --java --arm64 --wasm --browser --onnxruntime --swiftshader --cuda
    presets="dev asan tsan arm64 wasm wasm-threads wasm-plugins"
    ordinary="-DTENON_MUTANTS=ON"
    sanitized="-DTENON_PLUGINS= -DTENON_CONFORMANCE=ON -DTENON_BINDING_TESTS=ON
      -DTENON_SANITIZE_ALL=ON"
    ;;
  *)
    echo "test: there is no tier '$tier'; the tiers are ci, sanitizers and full" >&2
    exit 2
    ;;
esac

# A single ctest run over all builds, so that its summary includes all of them.
all=build/test-$tier
mkdir -p "$all"
: >"$all/CTestTestfile.cmake"
for preset in $presets; do
  case $preset in
    asan | tsan) configure "$preset" $sanitized ;;
    dev) configure "$preset" "$ordinary" ;;
    *) configure "$preset" ;;
  esac
  build "$preset"
  echo "subdirs(\"$PWD/build/$preset\")" >>"$all/CTestTestfile.cmake"
done

exec ctest --test-dir "$all" --parallel "$(nproc)" --output-on-failure --no-tests=error "$@"
