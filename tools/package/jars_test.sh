# Builds a new Maven project that depends on the packaged jars. It must load libtenon from the
# platform jar.
. "$(dirname "$0")/lib.sh"
. "$root/build/java/env"

# Uses a separate Maven repository, which contains a copy of the user's downloads.
cp -al "$HOME/.m2/repository" "$work/repository" 2>/dev/null ||
  cp -r "$HOME/.m2/repository" "$work/repository"
rm -rf "$work/repository/dev/tenon"
mvn() {
  sh "$root/tools/dev/mvn.sh" "$@" -q "-Dmaven.repo.local=$work/repository" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
  }
}

preset=$(basename "$build")
(cd "$root" && sh tools/dev/java_platform.sh "$preset" "$work/natives")
mvn install -Dmaven.test.skip=true "-Dtenon.natives=$work/natives" "-Dtenon.out=$work/out"

cp -r "$root/tools/package/hello" "$work/hello"
jars=$(find "$work/repository/dev/tenon" -name '*.jar' | tr '\n' ':')
if [ -z "$TENON_MAVEN_FLAGS" ]; then
  mvn -f "$work/hello/pom.xml" package
  classes=$work/hello/target/classes
else
  # Without a JDK, compiles with Eclipse's compiler.
  ecj=$(find "$HOME/.m2/repository/org/eclipse/jdt/ecj" -name '*.jar' | head -n 1)
  classes=$work/hello/classes
  "$JAVA_HOME/bin/java" -jar "$ecj" -source 22 -target 22 -cp "$jars" -d "$classes" \
    "$work/hello/src/main/java/Hello.java"
fi
expect '[11. 22.]' "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -cp "$jars$classes" Hello
