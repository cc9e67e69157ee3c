# Assembles the npm package: its sources, the linked modules, and a table of module variants for the
# loader.
#
#   cmake -DSOURCE=bindings/js -DPACKAGE=FOLDER -P assemble.cmake

file(GLOB scripts ${SOURCE}/src/*.js ${SOURCE}/src/*.d.ts)
file(COPY ${scripts} DESTINATION ${PACKAGE}/src)
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
           "    wasm: new URL('./tenon_${variant}.wasm', import.meta.url),\n  },\n")
  endif()
endforeach()
if(NOT rows)
  message(FATAL_ERROR "${PACKAGE}/dist has no module: run ./dev wasm")
endif()
file(CONFIGURE OUTPUT ${PACKAGE}/dist/variants.js
     CONTENT "// The variants of the module in this package.\nexport const variants = {\n${rows}};\n" @ONLY)
