#!/bin/sh
# Tests and measures the GPU plugins on this machine's GPU, and writes a report
#
#   ./dev gpu [--minutes N] [--jobs N] [--resume] [--no-build] [--commit NAME] [--software] [--driver FILE]
#
#   ./dev gpu                 runs the plugins' tests, the kit, ONNX's node tests, and the benches
#   ./dev gpu --minutes 60    limits the time of the kit; 10 minutes by default
#   ./dev gpu --jobs 4        number of processes of the kit; by default one for two processor cores
#   ./dev gpu --resume        skips steps that have passed for the same commit on this GPU
#   ./dev gpu --no-build      uses the existing build/dev and build/release
#   ./dev gpu --commit NAME   sets the name of the commit in the report, if git is not available
#   ./dev gpu --driver FILE   uses the Vulkan driver that FILE describes
#   ./dev gpu --software      uses lavapipe, or the given driver, to try this command without a GPU
#
# Writes the report to benches/results, or to build/gpu for a software driver. It lists steps that
# were not run, and the reasons. Exits with 0 if there is no fault, with 1 if there is one, and with
# 77 if there is no GPU to test.
. tools/dev/lib.sh

minutes=10
built=
software=
driver=
commit=
jobs=
resume=
while [ $# -gt 0 ]; do
  case $1 in
    --minutes)
      minutes=${2:-}
      shift
      ;;
    --jobs)
      jobs=${2:-}
      case $jobs in
        '' | *[!0-9]* | 0)
          echo "gpu: --jobs takes a number of processes, and not '$jobs'" >&2
          exit 2
          ;;
      esac
      shift
      ;;
    --resume) resume=--resume ;;
    --no-build) built=yes ;;
    --software) software=--software ;;
    --commit)
      commit=${2:-}
      shift
      ;;
    --driver)
      driver=${2:-}
      shift
      ;;
    *)
      echo "gpu: there is no option $1; ./dev gpu --help lists them" >&2
      exit 2
      ;;
  esac
  shift
done
case $minutes in
  '' | *[!0-9.]*)
    echo "gpu: --minutes takes a number, and not '$minutes'" >&2
    exit 2
    ;;
esac
if [ "$software" ] && [ -z "$driver" ]; then
  driver=$(tools/gpu/on_driver.sh lavapipe || true)
fi
if [ "$driver" ]; then
  if [ ! -e "$driver" ]; then
    echo "gpu: there is no $driver" >&2
    exit 2
  fi
  export VK_DRIVER_FILES="$driver" VK_ICD_FILENAMES="$driver" # The name in loaders before 1.3.207.
fi

if [ -z "$built" ]; then
  # A machine may have a GPU but no network. If the packages cannot be installed, only those steps
  # run that need none of them.
  need --test --conformance --bench --vulkan ||
    echo "gpu: going on without these packages; what needs them is not run, and the report says so" >&2
  tests=ON
  [ -e /usr/include/gtest/gtest.h ] || tests=OFF
  configure dev -DTENON_TESTS=$tests
  targets="tenon_command tenon_plugins tenon_conformance"
  cmake --build --preset dev --target help | grep -q '^vulkan_test:' && targets="$targets vulkan_test"
  build dev --target $targets
  if [ -e /usr/include/benchmark/benchmark.h ]; then
    configure release -DTENON_BENCHES=ON
    cmake --build --preset release --target help | grep -q '^bench_vulkan:' && build release --target bench_vulkan
  fi
fi
# The NVRTC that ./dev setup --cuda installs. The NVRTC of a CUDA toolkit is found without this.
for nvrtc in build/nvrtc/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*; do
  [ ! -e "$nvrtc" ] || [ "${TENON_CUDA_NVRTC:-}" ] || export TENON_CUDA_NVRTC="$PWD/$nvrtc"
done
if [ ! -x build/dev/bin/tenon ]; then
  echo "gpu: there is no build/dev/bin/tenon; ./dev gpu without --no-build builds it" >&2
  exit 2
fi
exec /usr/bin/python3 tools/gpu/run_on_gpu.py --minutes "$minutes" --commit "$commit" $software $resume ${jobs:+--jobs "$jobs"}
