# Builds the fuzz targets: core/io/fuzz/NAME_fuzz.cc becomes bin/fuzz_NAME, which `./dev fuzz` runs
# with core/io/fuzz/corpus/NAME. Requires Clang, because all files are instrumented for coverage.

# The plugin is compiled without sanitizers, to save build time.
target_compile_options(tenon_plugin_ref PRIVATE -fno-sanitize=all)

file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/io/fuzz/*_fuzz.cc)
foreach(source IN LISTS fuzz_sources)
  cmake_path(GET source STEM stem)
  string(REPLACE "_fuzz" "" name ${stem})
  add_executable(fuzz_${name} ${source})
  target_link_libraries(fuzz_${name} PRIVATE tenon_core ${CMAKE_DL_LIBS})
  target_compile_definitions(fuzz_${name} PRIVATE TENON_FUZZ_PLUGINS="${PROJECT_BINARY_DIR}/plugins")
  add_dependencies(fuzz_${name} tenon_plugin_ref)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  list(APPEND fuzz_targets fuzz_${name})
endforeach()
add_custom_target(tenon_fuzz DEPENDS ${fuzz_targets})
