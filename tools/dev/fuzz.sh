#!/bin/sh
# Fuzzes the file readers, and keeps inputs that reach new code
#
#   ./dev fuzz [--seconds N] [NAME...]
#   ./dev fuzz --merge [NAME...]
#
#   ./dev fuzz                       fuzzes each target, core/io/fuzz/NAME_fuzz.cc, for one minute
#   ./dev fuzz --seconds 1800 onnx   fuzzes one target for half an hour
#   ./dev fuzz --merge               adds a minimal set of the new inputs to core/io/fuzz/corpus
#
# An input fails if it takes more than one second of processor time or 256 MB, or if
# AddressSanitizer or UndefinedBehaviorSanitizer reports an error. Failing inputs are stored in
# build/fuzz/findings. Run build/fuzz/bin/fuzz_NAME FILE to reproduce the failure. Other new inputs
# are stored in build/fuzz/inputs.
. tools/dev/lib.sh

seconds=60
merge=
while [ $# -gt 0 ]; do
  case $1 in
    --seconds)
      seconds=${2:-}
      shift 2
      ;;
    --merge)
      merge=yes
      shift
      ;;
    -*)
      echo "fuzz: there is no option $1; ./dev fuzz --help lists them" >&2
      exit 2
      ;;
    *) break ;;
  esac
done
case $seconds in
  '' | *[!0-9]*)
    echo "fuzz: --seconds takes a number, and not '$seconds'" >&2
    exit 2
    ;;
esac
[ $# -gt 0 ] || set -- $(ls core/io/fuzz/*_fuzz.cc | sed 's|.*/\(.*\)_fuzz.cc|\1|')
for name; do
  if [ ! -e "core/io/fuzz/${name}_fuzz.cc" ]; then
    echo "fuzz: there is no target '$name'; core/io/fuzz holds them" >&2
    exit 2
  fi
done

need --fuzz
configure fuzz
build fuzz --target tenon_fuzz

# AddressSanitizer's quarantine is part of the memory that -rss_limit_mb limits.
export ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=8:detect_leaks=1
mkdir -p build/fuzz/findings
if [ -n "$merge" ]; then
  for name; do
    mkdir -p "core/io/fuzz/corpus/$name" "build/fuzz/inputs/$name"
    "build/fuzz/bin/fuzz_$name" -merge=1 -rss_limit_mb=256 -timeout=30 "core/io/fuzz/corpus/$name" \
      "build/fuzz/inputs/$name" 2>&1 | tail -n 3
  done
  exit 0
fi

# Runs one fuzzing process per processor core.
run() {
  name=$1
  mkdir -p "core/io/fuzz/corpus/$name" "build/fuzz/inputs/$name"
  log=build/fuzz/$name.log
  if "build/fuzz/bin/fuzz_$name" -max_total_time="$seconds" -rss_limit_mb=256 -timeout=30 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/findings/$name-" "build/fuzz/inputs/$name" "core/io/fuzz/corpus/$name" \
    >"$log" 2>&1; then
    echo "fuzz: $name: no finding in $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
  else
    echo "fuzz: $name failed; $log ends with:" >&2
    tail -n 40 "$log" >&2
    return 1
  fi
}

status=0
running=
for name; do
  run "$name" &
  running="$running $!"
  if [ "$(echo $running | wc -w)" -ge "$(nproc)" ]; then
    for process in $running; do wait "$process" || status=1; done
    running=
  fi
done
for process in $running; do wait "$process" || status=1; done
exit $status
