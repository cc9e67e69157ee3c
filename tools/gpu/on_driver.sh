#!/bin/sh
# Runs a command on a Vulkan driver that needs no GPU: lavapipe or swiftshader
#
#   tools/gpu/on_driver.sh NAME COMMAND...
#   tools/gpu/on_driver.sh NAME              prints the file that describes the driver
#
# If the driver is not installed, prints a message and exits with 77, which ctest reports as
# skipped.
set -eu

name=$1
shift
case $name in
  # The file's name contains the architecture in Debian, but not in other distributions.
  lavapipe)
    files="/usr/share/vulkan/icd.d/lvp_icd.$(uname -m).json /usr/share/vulkan/icd.d/lvp_icd.json"
    # With vectors of eight elements, lavapipe rounds float64 wrongly on processors without AVX-512:
    # trunc(-0) is 0, and numbers above 2^31 saturate.
    export LP_NATIVE_VECTOR_WIDTH=128
    ;;
  swiftshader) files=/usr/lib/chromium/vk_swiftshader_icd.json ;;
  *)
    echo "on_driver: there is no driver '$name'; there are lavapipe and swiftshader" >&2
    exit 2
    ;;
esac
for file in $files; do
  [ -e "$file" ] || continue
  if [ $# -eq 0 ]; then
    echo "$file"
    exit 0
  fi
  export VK_DRIVER_FILES="$file" VK_ICD_FILENAMES="$file" # The name in loaders before 1.3.207.
  exec "$@"
done
echo "skipped: the driver $name is not installed, there is no $file; ./dev setup --vulkan --swiftshader installs both" >&2
exit 77
