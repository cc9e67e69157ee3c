#!/bin/sh
# Installs into build/web_peers the libraries with which `./dev bench web` compares Tenon
set -eu

folder=build/web_peers
packages="@tensorflow/tfjs@4.22.0 @tensorflow/tfjs-backend-wasm@4.22.0 @jax-js/jax@0.1.25 onnxruntime-web@1.20.1"
[ "$(cat $folder/packages 2>/dev/null || true)" != "$packages" ] || exit 0
[ -z "${TENON_DRY_RUN:-}" ] || { echo "$packages in $folder" && exit 1; }
echo "-- installing $packages into $folder" >&2
mkdir -p "$folder"
[ -e "$folder/package.json" ] || echo '{"private": true}' >"$folder/package.json"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" $packages
echo "$packages" >"$folder/packages"
