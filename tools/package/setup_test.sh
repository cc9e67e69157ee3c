#!/bin/sh
# Checks that only the commands demo, test and setup install packages. Other commands must print
# what is missing and the command that installs it.
#
#   sh setup_test.sh SOURCE WORK
#
# SOURCE is the repository. WORK receives a copy of its scripts, and fake programs: one reports that
# no package is installed, others record what would be installed.

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

# demo installs the missing packages, and prints that before it does.
./dev demo >printed 2>&1 || true
grep -q '^-- installing .*cmake' printed || fail "./dev demo does not say what it installs"
grep -q '^apt-get install .*cmake' ran || grep -q '^sudo .*apt-get install' ran ||
  fail "./dev demo installs nothing"
