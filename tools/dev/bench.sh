#!/bin/sh
# Measures the speed of Tenon and of alternative libraries
#
#   ./dev bench [NAME [ARGUMENTS]]
#
# Without a name, runs all benches, one after the other. `--json FILE` after a name also writes the
# figures to FILE.
#
#   bindings  overhead of C++, Rust and Java over calls of the C ABI
#   models    inference of ONNX models, compared with onnxruntime
#   ops       every op on the CPU, compared with NumPy, PyTorch and onnxruntime, and with the limits
#             of the machine; Debian's python3-torch is the PyTorch
#   python    overhead of Python, and comparison with NumPy, PyTorch, JAX and TensorFlow, if they
#             are installed in build/python
#   training  training steps of five models on the CPU, eager and traced, compared with PyTorch
#   vulkan    runs on the driver that VK_DRIVER_FILES names, or on the first device that is found
#   web       the npm package, which ./dev wasm builds, compared with TensorFlow.js, jax-js and
#             onnxruntime-web: in Node, or with --browser in Chromium
. tools/dev/lib.sh

# Some environments export these variables for OpenBLAS. They halve the speed of Tenon and of all
# peers.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE NVPL_BLAS_DEBUG_CPU_TYPE

if [ "${1:-}" = web ]; then
  need --web-peers
  [ -e build/js/dist/tenon_simd.wasm ] || {
    echo "bench: there is no package; ./dev wasm builds it" >&2
    exit 1
  }
  shift
  case " $* " in
    *" --browser "*) need --browser ;;
  esac
  exec node benches/web/run.mjs "$PWD" "$(command -v chromium)" "$@"
fi
need --bench --peers
[ "${1:-}" != vulkan ] || need --vulkan
[ "${1:-}" != python ] || need --python
case ${1:-} in
  ops | training) need --python ;;
esac
[ "${1:-}" != models ] || need --python --onnxruntime
configure release -DTENON_BENCHES=ON
if [ -e "benches/${1:-}.cc" ]; then
  build release --target tenon_plugins "bench_$1"
else
  case ${1:-} in
    ops | training) build release --target tenon_plugins tenon_python ;;
    *) build release ;;
  esac
fi

case ${1:-} in
  "" | -*)
    status=0
    for bench in build/release/bin/bench_*; do
      [ -x "$bench" ] || continue
      # A bench exits with 77 if its device is missing.
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
case $name in
  ops | training)
    export PYTHONPATH="$PWD/build/release/bindings/python" TENON_PLUGIN_PATH="$PWD/build/release/plugins"
    exec build/python/bin/python "benches/$name/run.py" "$@"
    ;;
esac
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
