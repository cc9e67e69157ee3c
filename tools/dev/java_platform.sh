#!/bin/sh
# Copies the native libraries for the platform jar from a build to a folder
#
#   java_platform.sh [PRESET [FOLDER]]
#
# FOLDER is build/java/natives by default. Maven reads it from the property tenon.natives. The jar
# tenon-linux-x86_64 contains libtenon, the plugins cpu and vulkan, oneTBB (which cpu needs), and
# the library with which cpu uses an installed OpenBLAS. Its file glibc.txt contains the oldest
# version of glibc that all these libraries support.
. tools/dev/lib.sh

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
for library in $(onetbb_libraries "$base/tenon/plugins/libtenon_cpu.so"); do
  cp -L "$library" "$base/"
done
(cd "$base" && find . -name '*.so*' | sed 's|^\./||' | LC_ALL=C sort >files.txt)
(cd "$base" && oldest_glibc $(cat files.txt) >glibc.txt)
echo "-- needs glibc $(cat "$base/glibc.txt") or later" >&2
