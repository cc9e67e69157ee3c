# Builds the wheel with the libtenon and the plugins of this build, installs it in a new virtual
# environment, and runs the program of the README.
. "$(dirname "$0")/lib.sh"

environment=$root/build/python
"$environment/bin/pip" wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps \
  --config-settings cmake.source-dir=. --config-settings "cmake.define.TENON_DIR=$build" \
  --config-settings "build-dir=$work/build" -w "$work/wheels" "$root/bindings/python"
"$(readlink -f "$environment/bin/python")" -m venv "$work/clean"
"$work/clean/bin/pip" install --quiet --disable-pip-version-check "$work/wheels"/tenon_runtime-*.whl
sed -n '/^```python/,/^```/p' "$root/bindings/python/README.md" | sed '1d;$d' >"$work/readme.py"
cd "$work"
expect '[2. 4. 6.]' "$work/clean/bin/python" "$work/readme.py"
# libtenon and the plugins must be loaded from the wheel.
expect 'True True' "$work/clean/bin/python" -c "
import os, tenon as tn
tn.zeros((1,))
folder = os.path.dirname(tn.__file__)
used = [line.split()[-1] for line in open('/proc/self/maps') if 'libtenon' in line]
print(bool(used), all(path.startswith(folder) for path in used))"
