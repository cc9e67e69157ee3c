# Unpacks the Debian packages in an empty folder, and checks that programs can be built and run.
. "$(dirname "$0")/lib.sh"

cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/packages" >"$work/log" 2>&1 || {
  cat "$work/log" >&2
  exit 1
}
names=$(for package in "$work"/packages/*.deb; do dpkg-deb -f "$package" Package; done | sort | tr '\n' ' ')
expected='libtenon-dev libtenon0 tenon-plugin-cpu tenon-plugin-vulkan tenon-tools '
[ "$names" = "$expected" ] || [ "$names" = "${expected% tenon-plugin-vulkan*} tenon-tools " ] || {
  echo "the packages are $names" >&2
  exit 1
}
for package in "$work"/packages/*.deb; do
  dpkg-deb -x "$package" "$work/root"
done

# libtenon-dev and tenon-tools must depend on the library package of the same version.
for package in "$work"/packages/libtenon-dev*.deb "$work"/packages/tenon-tools*.deb; do
  dpkg-deb -f "$package" Depends | grep -q 'libtenon0 (= ' || {
    echo "$package does not depend on libtenon0" >&2
    exit 1
  }
done

hello "$work/root/usr"
"$work/root/usr/bin/tenon" devices | grep -q '^cpu:0 ' || {
  echo "tenon devices lists no cpu:0" >&2
  exit 1
}
