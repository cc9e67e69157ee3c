# docs/adding_a_plugin.md: creates a plugin inside the tree, builds it and its tests, and loads it.
#
#   sh inside_the_tree.sh SOURCE BUILD WORK
#
# SOURCE is the repository, BUILD a build folder with the commands and libtenon, WORK a folder for
# the copy of SOURCE in which the plugin is created. Fails unless the plugin's own tests pass, the
# device is listed, and the kit finds no fault.

set -eu
export CMAKE_GENERATOR=Ninja # What ./dev setup installs.

source=$1
build=$2
work=$3
rm -rf "$work"
mkdir -p "$work/tree"

# Build folders and other checkouts are not copied.
tar -C "$source" --exclude=./build --exclude=./.git -cf - . | tar -C "$work/tree" -xf -
cd "$work/tree"

./dev new plugin zed | tee "$work/printed"
grep -qx 'wrote plugins/zed' "$work/printed"
[ -f plugins/zed/zed_test.cc ] && [ ! -e plugins/zed/null_test.cc ]
if grep -rnw null plugins/zed; then exit 1; fi

# The build finds the plugin by its folder; no other file of the tree names it.
cmake -S . -B build -DTENON_PLUGINS=zed -DTENON_CONFORMANCE=OFF -DTENON_EXAMPLES=OFF \
  -DTENON_TOOLS=OFF
cmake --build build --target tenon_plugin_zed zed_test
ctest --test-dir build --tests-regex '^zed_test\.' --no-tests=error --output-on-failure

TENON_PLUGIN_PATH="$work/tree/build/plugins" "$build/bin/tenon" devices | tee "$work/printed"
grep -q '^zed:0 ' "$work/printed"
"$build/bin/tenon-conformance" --plugin "$work/tree/build/plugins/libtenon_zed.so" --level smoke |
  tee "$work/printed"
grep -qx 'PASSED' "$work/printed"

# A second plugin with the same name is refused, and the first one stays unchanged.
if ./dev new plugin zed 2>"$work/printed"; then exit 1; fi
grep -q 'plugins/zed already exists' "$work/printed"
