#!/bin/sh
# Checks that the ONNX node tests catch faults: the unmutated `ref` passes them all, and with any of
# a few mutations it fails some.
#
#   onnx_mutant.sh MUTANTS KIT PLUGIN DATA
set -eu

mutants=$1
kit=$2
plugin=$3
data=$4

# Prints the last line of the summary for the mutant with the given number; 0 is the unmutated
# plugin. A mutant that reads out of bounds may crash.
summary() {
  output=$(TENON_MUTANT=$1 "$kit" onnx --device mutant --plugin "$plugin" --data "$data") || status=$?
  if [ "${status:-0}" -gt 128 ]; then
    echo "crashed"
  else
    echo "$output" | tail -n 1
  fi
}

# Succeeds if a summary, "onnx node tests: PASSED of TOTAL on DEVICE", has PASSED equal to TOTAL.
all_passed() {
  case $1 in
    crashed) return 1 ;;
    *": "[0-9]*" of "[0-9]*" on "*) ;;
    *)
      echo "no summary: $1" >&2
      exit 1
      ;;
  esac
  numbers=${1##*: }
  numbers=${numbers%% on *}
  [ "${numbers%% of *}" = "${numbers##* of }" ]
}

line=$(summary 0)
echo "ref: $line"
all_passed "$line"
for name in strides_of_elementwise_inputs_ignored row_stride_of_a_product_ignored \
  negative_strides_taken_for_positive; do
  number=$("$mutants" --only $name --list | cut -d ' ' -f 1)
  line=$(summary "$number")
  echo "$name: $line"
  if all_passed "$line"; then
    echo "no test of ONNX failed with the mutant $name" >&2
    exit 1
  fi
done
