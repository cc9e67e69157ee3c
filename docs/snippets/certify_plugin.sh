# docs/certifying_a_plugin.md: the steps of a vendor from an empty folder to a certified plugin.
#
#   sh certify_plugin.sh SOURCE BUILD WORK
#
# SOURCE is the repository, BUILD a build folder, WORK a folder for the plugin. Fails unless the kit
# finds exactly the injected faults.

set -eu
export CMAKE_GENERATOR=Ninja # What ./dev setup installs; a vendor has make, perhaps.

source=$1
build=$2
work=$3
prefix=$work/tenon
rm -rf "$work"
mkdir -p "$work"

# Runs the command, which must exit with status 1 because the kit found a fault.
finds() {
  status=0
  "$@" >"$work/printed" || status=$?
  cat "$work/printed"
  [ "$status" = 1 ] || exit 1
}
# Fails unless the last output contains the text $1.
printed() { grep -q -e "$1" "$work/printed" || { echo "certify: the output does not contain: $1" && exit 1; }; }

# ---- install Tenon, copy the template, build it

cd "$source"
cmake --install "$build" --prefix "$prefix" >"$work/installed"
"$prefix/bin/tenon" new plugin acme --out "$work/acme"

cd "$work/acme"
cmake -B build -DCMAKE_PREFIX_PATH="$prefix"
cmake --build build

plugin=$work/acme/build/plugins/libtenon_acme.so
kit=$prefix/bin/tenon-conformance

# ---- claims

"$kit" --plugin "$plugin" --claims | tee "$work/printed"
printed '^add f32$'
"$kit" --plugin "$plugin" --level smoke | tee "$work/printed"
printed '^PASSED$'
"$kit" --plugin "$plugin" --check work_sizes | tee "$work/printed"
printed '^PASSED$'

# ---- a first kernel, with a fault

cp "$source/docs/snippets/vendor/abs.cc" .
sed -i 's/std::fabs(value)/value < 0 ? -value : value/' abs.cc
echo 'TENON_KERNEL(abs, "f32->f32", prepare_abs)' >>kernels.def
sed -i '/prepare_add/a tenon_sdk::Prepared prepare_abs(const tenon_sdk::Request\& request);' kernels.h
sed -i 's/kernels.cc)/kernels.cc abs.cc)/' CMakeLists.txt
cmake --build build

finds "$kit" --plugin "$plugin" --op abs
sed -n '/^FAIL value abs f32/{N;p;q;}' "$work/printed" | diff - "$source/docs/snippets/vendor/abs.failed"
# The case that reproduces the fault: the quoted text in the line after the report of the fault.
line=$(sed -n "s/.*--check value --case '\(.*\)'/\1/p" "$work/printed" | head -1)
finds "$kit" --plugin "$plugin" --check value --case "$line"
printed '^FAIL value'

cp "$source/docs/snippets/vendor/expected.jsonl" .
"$kit" --plugin "$plugin" --op abs --expected expected.jsonl | tee "$work/printed"
printed ' 3 XFAIL'

cp "$source/docs/snippets/vendor/abs.cc" .
cmake --build build
"$kit" --plugin "$plugin" --check value --case "$line"
finds "$kit" --plugin "$plugin" --op abs --expected expected.jsonl
printed '^XPASS value abs f32'

# ---- errors in the plugin's description

sed -i 's/"f32->f32"/"f32->f23"/' kernels.def
cmake --build build
finds "$kit" --plugin "$plugin" --op abs 2>"$work/errors"
grep 'kernels\[3\]: signature .* expected a dtype or a letter at position 5' "$work/errors"
sed -i 's/"f32->f23"/"f32->f32"/' kernels.def
cmake --build build

# ---- the certificate

"$kit" --plugin "$plugin" --json acme.json --junit acme.xml --html acme.html
[ -s acme.json ] && [ -s acme.xml ] && [ -s acme.html ]

# ---- the plugin in plain C

cp -r "$prefix/share/tenon/examples/plugins/plain_c" "$work/plain_c"
cd "$work/plain_c"
cmake -B build -DCMAKE_PREFIX_PATH="$prefix"
cmake --build build
"$kit" --plugin build/plugins/libtenon_plain_c.so --op 'ma*'
TENON_PLUGIN_PATH="$work/plain_c/build/plugins" "$prefix/bin/tenon" devices | tee "$work/printed"
printed '^plain_c:0 '
