#!/bin/sh
# Measures Tenon's speed beside the alternatives that a user would choose
#
#   ./dev bench [NAME [ARGUMENTS]]
#
# Without a name: every bench in turn. `--json FILE` after a name also writes the figures there.
# `bindings` measures what C++, Rust and Java add to a call of the C ABI.
# `python` measures what Python adds to it, beside NumPy, PyTorch, JAX and TensorFlow where they are
# installed in build/python.
# `models` measures inference of ONNX models beside onnxruntime.
# `web` measures the npm package in Node, beside TensorFlow.js, jax-js and onnxruntime-web; ./dev wasm builds it.
# `vulkan` measures the driver that VK_DRIVER_FILES names, or the device that is found first.
. tools/dev/lib.sh

# Some environments export these OpenBLAS settings, which halve the speed of it and of every peer.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE NVPL_BLAS_DEBUG_CPU_TYPE

if [ "${1:-}" = web ]; then
  need --web-peers
  [ -e build/js/dist/tenon_simd.wasm ] || {
    echo "bench: there is no package; ./dev wasm builds it" >&2
    exit 1
  }
  shift
  exec node benches/web/run.mjs "$PWD/build/js" "$PWD/build/web_peers" "$@"
fi
need --bench --peers
[ "${1:-}" != vulkan ] || need --vulkan
[ "${1:-}" != python ] || need --python
[ "${1:-}" != models ] || need --python --onnxruntime
configure release -DTENON_BENCHES=ON
if [ -e "benches/${1:-}.cc" ]; then
  build release --target tenon_plugins "bench_$1"
else
  build release
fi

case ${1:-} in
  "" | -*)
    status=0
    for bench in build/release/bin/bench_*; do
      [ -x "$bench" ] || continue
      # A bench whose device is missing exits with 77.
      "$bench" "$@" || [ $? -eq 77 ] || status=1
    done
    exit $status
    ;;
esac
name=$1
shift
if [ "$name" = bindings ]; then
  need --rust --java
  exec /usr/bin/python3 benches/bindings/run.py "$@"
fi
if [ "$name" = python ]; then
  export PYTHONPATH="$PWD/build/release/bindings/python" TENON_PLUGIN_PATH="$PWD/build/release/plugins"
  exec build/python/bin/python benches/python/run.py "$@"
fi
if [ "$name" = models ]; then
  export PYTHONPATH="$PWD/build/release/bindings/python" TENON_PLUGIN_PATH="$PWD/build/release/plugins"
  exec build/onnxruntime/bin/python benches/models/run.py "$@"
fi
if [ ! -x "build/release/bin/bench_$name" ]; then
  echo "bench: there is no bench '$name'; there are:" >&2
  ls build/release/bin | sed -n 's/^bench_/  /p' >&2
  exit 2
fi
exec "build/release/bin/bench_$name" "$@"
