# Assembles the npm package: its sources, the linked modules, and a table of module variants for the
# loader.
#
#   cmake -DSOURCE=bindings/js -DPACKAGE=FOLDER [-DSMALL=ON] -P assemble.cmake
#
# SMALL shortens the names of functions and classes, which stack traces and error messages contain.

set(minify --minify-whitespace --minify-syntax)
set(entries index.js worker.js worker_host.js)
if(SMALL)
  set(minify --minify)
else()
  list(APPEND entries storage.js) # The example page imports it.
endif()
list(TRANSFORM entries PREPEND ${SOURCE}/src/)
file(GLOB types ${SOURCE}/src/*.d.ts)
find_program(TENON_ESBUILD esbuild REQUIRED)
file(REMOVE_RECURSE ${PACKAGE}/src)
# Joins and minifies the modules, and writes source maps for the developer tools of browsers. A page
# loads only the files of the entry points that it imports.
execute_process(
  COMMAND ${TENON_ESBUILD} ${entries} --bundle --splitting ${minify} --sourcemap --format=esm --target=es2022
          --external:node:* --external:../dist/variants.js --log-level=warning --outdir=${PACKAGE}/src
          COMMAND_ERROR_IS_FATAL ANY)
file(COPY ${types} DESTINATION ${PACKAGE}/src)
file(COPY ${SOURCE}/package.json ${SOURCE}/README.md ${SOURCE}/script.js ${SOURCE}/../../LICENSE
     DESTINATION ${PACKAGE})
file(COPY ${SOURCE}/tests DESTINATION ${PACKAGE})

set(rows "")
foreach(variant simd threads plugins)
  if(EXISTS ${PACKAGE}/dist/tenon_${variant}.wasm)
    set(name ${variant})
    if(NOT variant STREQUAL "simd")
      set(name simd+${variant})
    endif()
    string(APPEND rows "  '${name}': {\n    script: () => import('./tenon_${variant}.mjs'),\n"
           "    wasm: new URL('./tenon_${variant}.wasm', import.meta.url),\n")
    if(EXISTS ${PACKAGE}/dist/tenon_${variant}_programs.wasm)
      string(APPEND rows "    programs: new URL('./tenon_${variant}_programs.wasm', import.meta.url),\n")
    endif()
    string(APPEND rows "  },\n")
  endif()
endforeach()
if(NOT rows)
  message(FATAL_ERROR "${PACKAGE}/dist has no module: run ./dev wasm")
endif()
file(CONFIGURE OUTPUT ${PACKAGE}/dist/variants.js
     CONTENT "// The variants of the module in this package.\nexport const variants = {\n${rows}};\n" @ONLY)
