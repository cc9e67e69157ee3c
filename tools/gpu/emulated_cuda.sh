#!/bin/sh
# Runs a command with the emulated CUDA driver of a build folder, which needs no GPU
#
#   tools/gpu/emulated_cuda.sh BUILD COMMAND...
#
# If the build folder has no emulated driver, prints a message and exits with 77, which ctest
# reports as skipped.
set -eu

build=$(cd "$1" && pwd)
shift
folder=$build/emulated_cuda
if [ ! -e "$folder/libtenon_emulated_cuda.so" ] || [ ! -e "$folder/libtenon_emulated_nvrtc.so" ]; then
  echo "skipped: there is no emulated driver in $folder; the targets tenon_emulated_cuda and" \
    "tenon_emulated_nvrtc build it" >&2
  exit 77
fi
# If the emulated cuBLASLt is not built, the plugin multiplies with its own kernels.
[ ! -e "$folder/libtenon_emulated_cublaslt.so" ] || export TENON_CUDA_CUBLASLT="$folder/libtenon_emulated_cublaslt.so"
export TENON_CUDA_DRIVER="$folder/libtenon_emulated_cuda.so" TENON_CUDA_NVRTC="$folder/libtenon_emulated_nvrtc.so"
export TENON_EMULATED_CUDA_CACHE="${TENON_EMULATED_CUDA_CACHE:-$folder/cache}"
exec "$@"
