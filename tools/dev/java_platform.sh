#!/bin/sh
# Collects the contents of the platform jar from a build
#
#   java_platform.sh [PRESET [FOLDER]]
#
# FOLDER is build/java/natives unless it is given; the property tenon.natives names it to Maven.
# The jar tenon-linux-x86_64 holds libtenon, the plugins cpu and vulkan, the oneTBB that cpu needs, and
# the library through which cpu uses an installed OpenBLAS.
# glibc.txt in it names the oldest glibc that all of them run with.
set -eu

build=build/${1:-release}
folder=${2:-build/java/natives}
base=$folder/dev/tenon/native/linux-x86_64
rm -rf "$folder"
mkdir -p "$base/tenon/plugins"
cp -L "$build/libtenon.so" "$base/"
for plugin in cpu vulkan; do
  cp -L "$build/tenon/plugins/libtenon_$plugin.so" "$base/tenon/plugins/"
done
cp -L "$build/tenon/plugins/tenon_cpu_openblas.so" "$base/tenon/plugins/"
for library in $(ldd "$base/tenon/plugins/libtenon_cpu.so" | sed -n 's/.*=> \(.*libtbb[^ ]*\) .*/\1/p'); do
  cp -L "$library" "$base/"
done
(cd "$base" && find . -name '*.so*' | sed 's|^\./||' | LC_ALL=C sort >files.txt)
(cd "$base" && xargs -n 1 objdump -T <files.txt) | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' |
  sort -V | tail -n 1 >"$base/glibc.txt"
echo "-- needs glibc $(cat "$base/glibc.txt") or later" >&2
