#!/bin/sh
# Builds the npm package of bindings/js in build/js, and serves the example page
#
#   ./dev wasm [simd|threads]    builds the package, with one or both of these variants of the module
#   ./dev wasm small [OPS PROGRAM]
#                                builds a smaller package in build/js_small, with the ops that the file OPS
#                                lists and the code that the JavaScript module PROGRAM calls. By default,
#                                ops.txt and program.mjs of bindings/js/small, which train networks
#   ./dev wasm plugins           builds the variant that loads plugins at run time
#   ./dev wasm --from FOLDER     builds the package, but links libtenon.a from FOLDER
#   ./dev wasm --sizes           prints the sizes of the package's files, plain and compressed
#   ./dev wasm pack              writes build/packages/tenon-runtime-0.1.0.tgz
#   ./dev wasm test [FILE]       runs the package's tests in Node, or one file of them
#   ./dev wasm test small        runs the tests of the smaller package
#   ./dev wasm browser [TEST]    runs the tests in Chromium, or one of them: run, proxy or page. The test
#                                of the page writes screenshots to build/page_test/shots
#   ./dev wasm page              writes the page of examples/page to build/page, for any file server
#   ./dev wasm serve [PORT]      writes the page and serves it on this machine; port 8000 by default
#
. tools/dev/lib.sh

package=build/js

# built: fails unless the npm package has been built.
built() {
  [ -e "$package/dist/tenon_simd.mjs" ] || {
    echo "wasm: there is no package; ./dev wasm builds it" >&2
    exit 1
  }
  cmake -DSOURCE=bindings/js -DPACKAGE="$package" -P bindings/js/assemble.cmake
}

# page: copies the page, the package, the data set and, if installed, other libraries to one folder.
page() {
  built
  node tools/js/page.mjs examples/page "$package" /usr/share/datasets/fashion-mnist build/web_peers build/page
}

case ${1:-} in
  "" | simd | threads)
    need --wasm
    if [ "${1:-simd}" = simd ]; then
      configure wasm
      build wasm --target tenon_js
    fi
    if [ "${1:-threads}" = threads ]; then
      configure wasm-threads
      build wasm-threads --target tenon_js
    fi
    ;;
  small)
    need --wasm
    configure wasm -DTENON_SMALL_OPS="$(realpath "${2:-bindings/js/small/ops.txt}")" \
      -DTENON_SMALL_PROGRAM="$(realpath "${3:-bindings/js/small/program.mjs}")"
    build wasm --target tenon_js_small
    node tools/js/sizes.mjs build/js_small
    ;;
  plugins)
    need --wasm
    configure wasm-plugins
    build wasm-plugins --target tenon_js
    ;;
  --from)
    need --wasm
    mkdir -p build/wasm_link
    cmake -S bindings/js -B build/wasm_link -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/toolchains/wasm.cmake" -DTENON_DIR="$2" >build/wasm_link/configure.log
    cmake --build build/wasm_link
    ;;
  --sizes)
    built
    exec node tools/js/sizes.mjs "$package"
    ;;
  pack)
    built
    mkdir -p build/packages
    cd "$package"
    npm pack --silent --pack-destination ../packages
    ;;
  test)
    shift
    if [ "${1:-}" = small ]; then
      exec sh bindings/js/tests/small/run.sh cmake node bindings/js build/js_small
    fi
    built
    exec sh bindings/js/tests/run.sh cmake node bindings/js "$package" "$@"
    ;;
  browser)
    need --browser
    built
    chromium=$(command -v chromium)
    for name in ${2:-run proxy page}; do
      case $name in
        page) set -- "$PWD" "$PWD/$package" build/browser "$chromium" ;;
        *) set -- "$PWD/$package" build/browser "$PWD/tools/js/serve.mjs" "$chromium" ;;
      esac
      node "bindings/js/tests/browser/$name.mjs" "$@"
    done
    ;;
  page)
    page
    du -sh build/page
    ;;
  serve)
    page
    exec node tools/js/serve.mjs build/page "${2:-8000}" --isolated
    ;;
  *)
    echo "wasm: there is no command '$1'; ./dev wasm --help lists them" >&2
    exit 2
    ;;
esac
