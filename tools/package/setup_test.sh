#!/bin/sh
# Commands other than demo, test and setup install nothing. If something is missing, they print it and
# the command that installs it.
#
#   sh setup_test.sh SOURCE WORK
#
# SOURCE is the repository; WORK receives a copy of its scripts, and programs that pretend that no
# package is installed and record what would be.

set -eu

source=$1
work=$2
rm -rf "$work"
mkdir -p "$work/tools" "$work/bin"
cp "$source/dev" "$work"
cp -R "$source/tools/dev" "$work/tools"
for name in apt-get pip sudo cmake; do
  printf '#!/bin/sh\necho "%s $*" >>%s\n' "$name" "$work/ran" >"$work/bin/$name"
done
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
chmod +x "$work"/bin/*
export PATH="$work/bin:$PATH"
cd "$work"

fail() {
  cat printed
  echo "$*"
  exit 1
}

for command in "build" "build dev" "bench" "check" "conformance ref" "fuzz" "gen" "package deb"; do
  if ./dev $command >printed 2>&1; then fail "./dev $command succeeded without packages"; fi
  grep -q '^setup: missing:' printed || fail "./dev $command does not say what is missing"
  grep -q '^  Debian packages: ..*' printed || fail "./dev $command does not name the packages"
  grep -q '^This command installs them: \./dev setup' printed ||
    fail "./dev $command does not print the command"
  [ ! -e ran ] || fail "./dev $command ran $(cat ran)"
done

./dev build dev >printed 2>&1 || true
grep -qx 'This command installs them: ./dev setup --test' printed || fail "the parts are not named"
if ./dev setup --dry-run --nope >printed 2>&1; then fail "an unknown part is accepted"; fi
grep -q "there is no part '--nope'" printed || fail "an unknown part is not named"

# The newcomer's command installs them, and says so first.
./dev demo >printed 2>&1 || true
grep -q '^-- installing .*cmake' printed || fail "./dev demo does not say what it installs"
grep -q '^apt-get install .*cmake' ran || grep -q '^sudo .*apt-get install' ran ||
  fail "./dev demo installs nothing"
