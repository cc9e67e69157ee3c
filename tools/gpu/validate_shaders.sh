#!/bin/sh
# Validates all SPIR-V modules in a folder for the target environment of the Vulkan plugin
#
#   tools/gpu/validate_shaders.sh FOLDER
#
# The plugin writes its modules to the folder that its option `shaders` or TENON_VULKAN_SHADERS
# names. If there are no modules, for example because no driver is installed, this exits with 77.
set -eu

folder=$1
if ! command -v spirv-val >/dev/null; then
  echo "skipped: there is no spirv-val; ./dev setup --vulkan installs it" >&2
  exit 77
fi
n=0
n_invalid=0
for module in "$folder"/*.spv; do
  [ -e "$module" ] || continue
  n=$((n + 1))
  spirv-val --target-env vulkan1.1 "$module" || {
    echo "not valid: $module" >&2
    n_invalid=$((n_invalid + 1))
  }
done
if [ $n -eq 0 ]; then
  echo "skipped: no shader was made in $folder" >&2
  exit 77
fi
echo "$n modules, $n_invalid not valid"
[ $n_invalid -eq 0 ]
