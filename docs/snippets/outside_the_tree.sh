# docs/adding_a_plugin.md: installs Tenon, then builds a plugin and a program against the installation.
#
#   sh outside_the_tree.sh SOURCE BUILD WORK WHICH_DEVICES
#
# SOURCE is the repository, BUILD a build folder, WORK a folder for the installation, WHICH_DEVICES
# the program built from which_devices.c. Fails unless everything builds and the new device is
# listed.

set -eu
export CMAKE_GENERATOR=Ninja # What ./dev setup installs; a user has make, perhaps.

cd "$1"
build=$2
work=$3
which_devices=$4
prefix=$work/tenon
rm -rf "$work"
mkdir -p "$work"

cmake --install "$build" --prefix "$prefix"

"$prefix/bin/tenon" new plugin acme --out "$work/acme"
cmake -S "$work/acme" -B "$work/acme/build" -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$work/acme/build"

TENON_PLUGIN_PATH="$work/acme/build/plugins" "$prefix/bin/tenon" devices | tee "$work/devices"
grep -q '^acme:0 ' "$work/devices"

TENON_PLUGIN_PATH="$work/acme/build/plugins" "$which_devices" | tee "$work/devices"
grep -qx 'device acme:0' "$work/devices"
grep -qx 'plugin acme, loaded' "$work/devices"

# A user's program finds the installed plugins without being given their location.
mkdir "$work/consumer"
cp docs/snippets/consumer/CMakeLists.txt examples/c/hello.c docs/snippets/hello.cc "$work/consumer"
unset TENON_PLUGIN_PATH
cmake -S "$work/consumer" -B "$work/consumer/build" -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$work/consumer/build"
"$work/consumer/build/hello" >"$work/printed"
cmp "$work/printed" examples/c/hello.expected
"$work/consumer/build/hello_cpp" >"$work/printed"
cmp "$work/printed" docs/snippets/hello.cc.expected
