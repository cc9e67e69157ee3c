# Implements ./dev new (the help text is in tools/dev/new.sh) and `tenon new plugin`. Runs in the
# root of the repository, or in the folder of an installation that contains plugins/null.

set -eu

refuse() {
  echo "new: $1" >&2
  exit 2
}

kind=${1:-}
name=${2:-}
family=
if [ "$kind" = op ] && [ "${name#*/}" != "$name" ]; then
  family=${name%%/*}
  name=${name#*/}
fi
case $kind in
  plugin | op) ;;
  *) refuse "say what to start: plugin NAME or op FAMILY/NAME" ;;
esac
case $name in
  "") refuse "say how the $kind is called" ;;
  [!a-z]* | *[!a-z0-9_]*) refuse "a name is of lower-case letters, digits and _, a letter first: $name" ;;
esac

new_plugin() {
  folder=plugins/$name
  if [ "${1:-}" = --out ]; then
    folder=${2:?new: --out needs a folder}
  fi
  [ ! -e "$folder" ] || refuse "$folder already exists"
  mkdir -p "$folder"
  title=$(printf '%s' "$name" | cut -c1 | tr a-z A-Z)$(printf '%s' "$name" | cut -c2-)
  for file in plugins/null/*; do
    # Replaces the word null in names that belong to the plugin. NULL and nullptr belong to the
    # language and are not replaced.
    sed -E "s/\bnull\b/$name/g; s/_null\b/_$name/g; s/\bnull_/${name}_/g; s/\bNull([A-Z])/$title\1/g" \
      "$file" >"$folder/$(basename "$file" | sed "s/null/$name/")"
  done
  echo "wrote $folder"
  if [ "${folder#plugins/}" != "$folder" ]; then
    echo "./dev build builds it; TENON_PLUGIN_PATH=build/release/plugins build/release/bin/tenon devices lists it"
  else
    echo "against an installed Tenon: cmake -B build -DCMAKE_PREFIX_PATH=PREFIX && cmake --build build"
  fi
}

new_op() {
  [ -d "core/ops/$family" ] && [ -n "$family" ] ||
    refuse "say to which folder of core/ops the op belongs, as in activations/$name: $(cd core/ops && echo */)"
  file=core/ops/$family/$name.cc
  list=core/ops/ops.def
  [ ! -e "$file" ] || refuse "$file already exists"
  ! grep -q "^TENON_OP([0-9]*, $name)" "$list" || refuse "$list has an op $name already"
  last=$(sed -n 's/^TENON_OP(\([0-9]*\),.*/\1/p' "$list" | sort -n | tail -1)
  sed "s/@name@/$name/g" tools/new/op.cc.in >"$file"
  sed -i "/^TENON_OP($last, /a TENON_OP($((last + 1)), $name)" "$list"
  echo "wrote $file, and its line in $list"
  echo "give it its meaning, then run ./dev gen and ./dev test"
}

shift 2
"new_$kind" "$@"
