#!/bin/sh
# Tests and measures the GPU plugins on this machine's GPU, and writes a report
#
#   ./dev gpu [--minutes N] [--jobs N] [--resume] [--no-build] [--commit NAME] [--software] [--driver FILE]
#
#   ./dev gpu                 the plugins' tests, the kit, the node tests of ONNX, the benches
#   ./dev gpu --minutes 60    minutes for the kit; 10 by default
#   ./dev gpu --jobs 4        processes of the kit; one for two cores by default
#   ./dev gpu --resume        skips what passed in a run of the same commit on this GPU
#   ./dev gpu --no-build      uses build/dev and build/release as they are
#   ./dev gpu --commit NAME   the name of this state in the report, if git is not available
#   ./dev gpu --driver FILE   with the Vulkan driver that FILE describes
#   ./dev gpu --software      with lavapipe, or the driver given: to try this command where there is no GPU
#
# The report lies in benches/results, or, of a software driver, in build/gpu. It tells what was not run,
# and why. The status is 0 if there was no fault, 1 if there was one, and 77 where there is no GPU: nothing was
# tested then.
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
  export VK_DRIVER_FILES="$driver" VK_ICD_FILENAMES="$driver" # As loaders before 1.3.207 call it.
fi

if [ -z "$built" ]; then
  # A machine may have a GPU and no network: then these packages cannot be installed, and only what
  # needs none of them is built.
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
# NVRTC as installed by ./dev setup --cuda; that of a CUDA toolkit is found without this.
for nvrtc in build/nvrtc/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*; do
  [ ! -e "$nvrtc" ] || [ "${TENON_CUDA_NVRTC:-}" ] || export TENON_CUDA_NVRTC="$PWD/$nvrtc"
done
if [ ! -x build/dev/bin/tenon ]; then
  echo "gpu: there is no build/dev/bin/tenon; ./dev gpu without --no-build builds it" >&2
  exit 2
fi
exec /usr/bin/python3 tools/gpu/run_on_gpu.py --minutes "$minutes" --commit "$commit" $software $resume ${jobs:+--jobs "$jobs"}
