# Builds and runs a new cargo project that depends on the packaged crates, without network access.
. "$(dirname "$0")/lib.sh"

cargo=$(command -v cargo || echo "$HOME/.cargo/bin/cargo")
export CARGO_TARGET_DIR="$build/bindings/rust"
"$cargo" package --quiet --offline --workspace --allow-dirty --no-verify \
  --manifest-path "$root/bindings/rust/Cargo.toml"

mkdir -p "$work/vendor" "$work/project/.cargo" "$work/project/src"
for crate in "$CARGO_TARGET_DIR"/package/tenon-runtime-*.crate; do
  tar -xzf "$crate" -C "$work/vendor"
done
for folder in "$work"/vendor/*; do
  echo '{"files":{}}' >"$folder/.cargo-checksum.json"
done
cat >"$work/project/.cargo/config.toml" <<END
[source.crates-io]
replace-with = "vendored"

[source.vendored]
directory = "$work/vendor"
END
cp "$root/tools/package/hello/Cargo.toml" "$work/project/"
cp "$root/tools/package/hello/hello.rs" "$work/project/src/main.rs"

export CARGO_TARGET_DIR="$work/target"
cd "$work/project"
TENON_DIR=$build "$cargo" build --quiet --offline
LD_LIBRARY_PATH=$build expect '[11. 22.]' "$work/target/debug/hello"
