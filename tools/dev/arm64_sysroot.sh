#!/bin/sh
# Unpacks the arm64 libraries that the plugins link into build/sysroot-arm64.
#
# apt uses its own lists, cache and status under build/. Thus neither the system's architectures nor
# its packages change.
set -eu

packages="libtbb-dev libtbb12 libtbbmalloc2 libhwy-dev libhwy1"
sysroot=$PWD/build/sysroot-arm64
stamp="$sysroot/packages"
wanted=$(echo $packages)
[ ! -e "$stamp" ] || [ "$(cat "$stamp")" != "$wanted" ] || exit 0
[ -z "${TENON_DRY_RUN:-}" ] || { echo "the arm64 libraries in build/sysroot-arm64" && exit 1; }

echo "-- unpacking arm64 libraries into $sysroot" >&2
apt=$PWD/build/apt-arm64
rm -rf "$sysroot"
mkdir -p "$sysroot" "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
: >"$apt/status"
cat >"$apt/apt.conf" <<CONF
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
Dir::State "$apt";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
CONF
export APT_CONFIG="$apt/apt.conf"
apt-get update -qq
(cd "$apt/debs" && rm -f ./*.deb && apt-get download -qq $packages)
for deb in "$apt"/debs/*.deb; do
  dpkg -x "$deb" "$sysroot"
done
rm -rf "$apt"
echo "$wanted" >"$stamp"
