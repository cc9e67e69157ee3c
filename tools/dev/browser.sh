#!/bin/sh
# Installs playwright-core, which controls Chromium in tests, in build/browser
set -eu

folder=build/browser
packages="playwright-core@1.48.2"
[ "$(cat $folder/packages 2>/dev/null || true)" != "$packages" ] || exit 0
[ -z "${TENON_DRY_RUN:-}" ] || { echo "$packages in $folder" && exit 1; }
echo "-- installing $packages into $folder" >&2
mkdir -p "$folder"
npm install --silent --no-audit --no-fund --prefix "$folder" $packages
echo "$packages" >"$folder/packages"
