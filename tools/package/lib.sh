# Shared by the tests of packages; each one sources it first.
#
# Sets `root`, the checkout; `build`, the build folder that is the first argument; and `work`, an
# empty folder outside the tree, which is deleted when the test ends.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Programs find only the installation, nothing in the build folder.
unset TENON_PLUGIN_PATH TENON_DIR TENON_LIBRARY LD_LIBRARY_PATH

# expect TEXT COMMAND...: fails unless the command prints TEXT.
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

# hello PREFIX: builds and runs hello world in C and C++ against an installation.
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

# hello_by_pkg_config PREFIX: the same for the C program, with the flags from tenon.pc.
hello_by_pkg_config() {
  flags=$(PKG_CONFIG_PATH="$1/lib/pkgconfig" pkg-config --cflags --libs tenon)
  cc "$root/tools/package/hello/hello.c" $flags -o "$work/hello_pc"
  LD_LIBRARY_PATH="$1/lib" expect '[11. 22.]' "$work/hello_pc"
}
