# Builds the installed example plugins outside this tree, and certifies them.
#
#   sh installed_examples.sh SOURCE BUILD WORK
#
# SOURCE is the repository, BUILD a build folder, WORK a folder for the installation and the
# plugins. Fails if the installation refers to SOURCE, or if the kit finds a fault in a claim of an
# example.

set -eu
export CMAKE_GENERATOR=Ninja # What ./dev setup installs; a vendor has make, perhaps.

source=$1
build=$2
work=$3
prefix=$work/tenon
rm -rf "$work"
mkdir -p "$work"

cmake --install "$build" --prefix "$prefix" >"$work/installed"
cp -r "$prefix/share/tenon/examples/plugins" "$work/plugins"
cd "$work"
if grep -rIl -F "$source/" "$prefix"; then
  echo "the installation needs the sources" >&2
  exit 1
fi
[ -s "$prefix/share/doc/Tenon/certifying_a_plugin.md" ]

for name in plain_c async_c; do
  cmake -S "plugins/$name" -B "built/$name" -DCMAKE_PREFIX_PATH="$prefix"
  cmake --build "built/$name"
  "$prefix/bin/tenon-conformance" --plugin "built/$name/plugins/libtenon_$name.so" | tee printed
  grep -qx PASSED printed
  # The kit prints "claims executed / claimed / whole: N / M / ...". N must equal M, so that every
  # claim was executed.
  grep -q '^claims executed / claimed / whole: \([0-9]*\) / \1 / ' printed
done
