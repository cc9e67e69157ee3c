# Shared by the scripts of ./dev; each one sources it first, from the top of the repository.

set -eu

# ccache, if installed, caches files that use precompiled headers only with these settings.
# Checkouts in different folders share its results.
export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=true

# Debian's folder of the Node modules that Emscripten needs; a Node that is not Debian's searches it
# only if NODE_PATH lists it.
export NODE_PATH="${NODE_PATH:+$NODE_PATH:}/usr/share/nodejs"

# --help prints the comment at the head of the script.
for argument; do
  case $argument in
    -h | --help)
      sed -n '2,/^[^#]/{s/^# \{0,1\}//p;}' "$0"
      exit 0
      ;;
    --) break ;;
  esac
done

# setup [PART...]: installs what is missing. Only for the commands of a newcomer, demo and test, and
# for setup itself.
setup() {
  sh tools/dev/setup.sh "$@"
}

# need [PART...]: installs nothing. Fails if something is missing, and prints what and the command.
need() {
  sh tools/dev/setup.sh --dry-run "$@"
}

# configure PRESET [-DNAME=VALUE...]: prints nothing unless it fails.
configure() {
  log=build/$1/configure.log
  mkdir -p "build/$1"
  if ! cmake --preset "$@" >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
}

# has_gpu PRESET PLUGIN: succeeds if the first device of that plugin, if built, is a GPU.
has_gpu() {
  "build/$1/bin/tenon" devices 2>/dev/null | grep -q "^$2:0  *gpu "
}

# build PRESET [ARGUMENTS OF cmake --build...]
build() {
  echo "-- building $1" >&2
  cmake --build --preset "$@" --parallel "$(nproc)"
}
