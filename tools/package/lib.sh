# Shared by the tests of packages. Each test sources this file first.
#
# Sets `root` to the checkout, `build` to the build folder (the first argument), and `work` to an
# empty folder outside the tree. `work` is deleted when the test ends.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Without these variables, programs find the installation, but nothing in the build folder.
unset TENON_PLUGIN_PATH TENON_DIR TENON_LIBRARY LD_LIBRARY_PATH

# expect TEXT COMMAND...: fails unless the output of the command is TEXT.
expect() {
  expected=$1
  shift
  printed=$("$@") || {
    echo "$* ended with $?" >&2
    exit 1
  }
  [ "$printed" = "$expected" ] || {
    echo "$* printed '$printed' instead of '$expected'" >&2
    exit 1
  }
}

# hello PREFIX: builds and runs hello world in C and in C++ against the installation.
hello() {
  cp -r "$root/tools/package/hello" "$work/hello"
  cmake -S "$work/hello" -B "$work/hello/build" -DCMAKE_PREFIX_PATH="$1" -DCMAKE_BUILD_TYPE=Debug \
    >"$work/log" && cmake --build "$work/hello/build" >>"$work/log" || {
    cat "$work/log" >&2
    exit 1
  }
  export LD_LIBRARY_PATH="$1/lib"
  expect '[11. 22.]' "$work/hello/build/hello_c"
  expect '[11. 22.]' "$work/hello/build/hello_cpp"
  unset LD_LIBRARY_PATH
  rm -r "$work/hello"
  hello_by_pkg_config "$1"
}

# hello_by_pkg_config PREFIX: builds and runs hello world in C, with the flags of tenon.pc.
hello_by_pkg_config() {
  flags=$(PKG_CONFIG_PATH="$1/lib/pkgconfig" pkg-config --cflags --libs tenon)
  cc "$root/tools/package/hello/hello.c" $flags -o "$work/hello_pc"
  LD_LIBRARY_PATH="$1/lib" expect '[11. 22.]' "$work/hello_pc"
}
