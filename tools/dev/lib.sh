# What the scripts of ./dev share; each one sources it first, from the top of the repository.

set -eu

# ccache, where it is installed, caches files that use precompiled headers only with these settings. Checkouts in
# different folders share its results.
export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=true

# Where Debian keeps what Emscripten needs of Node; one that is not Debian's looks there only if told.
export NODE_PATH="${NODE_PATH:+$NODE_PATH:}/usr/share/nodejs"

# A script explains itself with the comment at its head.
for argument; do
  case $argument in
    -h | --help)
      sed -n '2,/^[^#]/{s/^# \{0,1\}//p;}' "$0"
      exit 0
      ;;
    --) break ;;
  esac
done

setup() {
  sh tools/dev/setup.sh "$@"
}

# configure PRESET [-DNAME=VALUE...]: quiet unless it fails.
configure() {
  log=build/$1/configure.log
  mkdir -p "build/$1"
  if ! cmake --preset "$@" >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
}

# has_gpu PRESET PLUGIN: whether the first device of a plugin that was built is a GPU.
has_gpu() {
  "build/$1/bin/tenon" devices 2>/dev/null | grep -q "^$2:0  *gpu "
}

# build PRESET [ARGUMENTS OF cmake --build...]
build() {
  echo "-- building $1" >&2
  cmake --build --preset "$@" --parallel "$(nproc)"
}
