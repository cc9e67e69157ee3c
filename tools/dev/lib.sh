# Shared by the scripts of ./dev. Each script sources this file first, in the root of the
# repository.

set -eu

# With these settings, ccache also caches files that use precompiled headers, and checkouts in
# different folders share its results.
export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=true

# The folder of Debian's Node modules, which Emscripten needs. A Node from elsewhere searches it
# only if NODE_PATH lists it.
export NODE_PATH="${NODE_PATH:+$NODE_PATH:}/usr/share/nodejs"

# --help prints the comment at the start of the script.
for argument; do
  case $argument in
    -h | --help)
      sed -n '2,/^[^#]/{s/^# \{0,1\}//p;}' "$0"
      exit 0
      ;;
    --) break ;;
  esac
done

# setup [PART...]: installs missing packages. Used only by demo, test and setup, the commands that a
# newcomer runs first.
setup() {
  sh tools/dev/setup.sh "$@"
}

# need [PART...]: fails if a package is missing, and prints the command that installs it.
need() {
  sh tools/dev/setup.sh --dry-run "$@"
}

# configure PRESET [-DNAME=VALUE...]: runs CMake. Prints nothing unless it fails.
configure() {
  log=build/$1/configure.log
  mkdir -p "build/$1"
  if ! cmake --preset "$@" >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
}

# has_gpu PRESET PLUGIN: succeeds if the plugin is built and its first device is a GPU.
has_gpu() {
  "build/$1/bin/tenon" devices 2>/dev/null | grep -q "^$2:0  *gpu "
}

# build PRESET [ARGUMENTS OF cmake --build...]: builds a preset with all processor cores.
build() {
  echo "-- building $1" >&2
  cmake --build --preset "$@" --parallel "$(nproc)"
}

# oldest_glibc FILE...: prints the oldest version of glibc that these libraries run with.
oldest_glibc() {
  objdump -T "$@" | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -V | tail -n 1
}

# onetbb_libraries FILE: prints the oneTBB libraries that a file of the plugin cpu needs.
onetbb_libraries() {
  ldd "$1" | sed -n 's/.*=> \(.*libtbb[^ ]*\) .*/\1/p'
}
