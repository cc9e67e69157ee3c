#!/bin/sh
# Builds packages into build/packages: Debian packages, crates, jars, wheels
#
#   ./dev package [KIND...]
#
#   deb     libtenon0, libtenon-dev, tenon-tools and a package for each of the plugins cpu and
#           vulkan
#   crates  tenon-runtime and tenon-runtime-sys
#   jars    the Java binding, and the platform jar with the native libraries
#   wheels  tenon-runtime for Python 3.10, for 3.11, and for 3.12 or later
#
# Without a KIND, builds all of them.
. tools/dev/lib.sh

[ $# -gt 0 ] || set -- deb crates jars wheels
for kind; do
  case $kind in
    deb) need --vulkan ;;
    crates) need --rust ;;
    jars) need --vulkan --java ;;
    wheels) need --vulkan --python ;;
    *)
      echo "package: there is no kind '$kind'; the kinds are deb, crates, jars and wheels" >&2
      exit 2
      ;;
  esac
done
configure release
build release
out=$PWD/build/packages
mkdir -p "$out"
for kind; do
  case $kind in
    deb)
      cpack -G DEB --config build/release/CPackConfig.cmake -B "$out/cpack"
      mv "$out"/cpack/*.deb "$out/"
      rm -r "$out/cpack"
      ;;
    crates)
      (cd bindings/rust && TENON_DIR=$PWD/../../build/release CARGO_TARGET_DIR="$out/cargo" \
        cargo package --workspace --allow-dirty --no-verify)
      mv "$out"/cargo/package/*.crate "$out/"
      rm -r "$out/cargo"
      ;;
    jars)
      sh tools/dev/java_platform.sh release
      sh tools/dev/mvn.sh -q package -Dmaven.test.skip=true
      cp build/java/tenon/tenon-*.jar build/java/tenon-linux-x86_64/tenon-*.jar "$out/"
      ;;
    wheels) sh tools/dev/wheels.sh "$out" ;;
  esac
done
ls -l "$out"
