#!/bin/sh
# Runs Maven offline on the Java binding, with the Java that tools/dev/java.sh has selected
#
#   mvn.sh [--online] [-f POM] ARGUMENTS OF mvn...
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/build/java/env"
export JAVA_HOME
online=-o
if [ "${1:-}" = --online ]; then
  online=
  shift
fi
# The libraries of Maven use methods that newer versions of Java warn about.
export MAVEN_OPTS="${MAVEN_OPTS:-} -XX:+IgnoreUnrecognizedVMOptions --sun-misc-unsafe-memory-access=allow
  --enable-native-access=ALL-UNNAMED"
# A Java runtime from PyPI does not contain the certificates that this machine trusts.
certificates=/etc/ssl/certs/java/cacerts
if [ -n "$TENON_MAVEN_FLAGS" ] && [ -e "$certificates" ]; then
  MAVEN_OPTS="$MAVEN_OPTS -Djavax.net.ssl.trustStore=$certificates"
fi
project="-f $root/bindings/java/pom.xml"
[ "${1:-}" != -f ] || project=
exec mvn -B $online $TENON_MAVEN_FLAGS $project "$@"
