# Fuzz targets: core/io/fuzz/NAME_fuzz.cc becomes bin/fuzz_NAME, which `./dev fuzz` runs over the
# files in core/io/fuzz/corpus/NAME. They need Clang and a build with coverage instrumentation in
# every file.

# Code that reads no files is only linked: it is built without UndefinedBehaviorSanitizer, and it
# and the plugin are built without costly optimisations. This saves a quarter of the build's time.
get_target_property(other_sources tenon_core SOURCES)
list(FILTER other_sources EXCLUDE REGEX "core/(base|io|tensor)/")
set_source_files_properties(${other_sources} PROPERTIES COMPILE_OPTIONS "-O0;-fno-sanitize=undefined")
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
