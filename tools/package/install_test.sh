# Installs Tenon with `cmake --install`, moves the prefix, and builds programs against it. Also
# checks that the installation of an incomplete build fails with instructions.
. "$(dirname "$0")/lib.sh"

cmake --install "$build" --prefix "$work/first" >"$work/log"
hello "$work/first"
mv "$work/first" "$work/second"
hello_by_pkg_config "$work/second"

# Simulates a build in which one of the programs is missing.
echo "$build/bin/never_built" >"$work/files.txt"
sed "s|$build/installed_files.txt|$work/files.txt|" "$build/cmake_install.cmake" >"$work/install.cmake"
if cmake -DCMAKE_INSTALL_PREFIX="$work/third" -P "$work/install.cmake" >"$work/log" 2>&1; then
  echo "an incomplete build was installed" >&2
  exit 1
fi
for words in 'Run `./dev build`' 'bin/never_built'; do
  grep -q "$words" "$work/log" || {
    cat "$work/log" >&2
    exit 1
  }
done
[ ! -e "$work/third" ]
