# Defines tenon_add_plugin(), which builds a device plugin, both in this tree and outside. The file
# is installed, and find_package(tenon) includes it.

set(TENON_PLUGIN_MAP ${CMAKE_CURRENT_LIST_DIR}/plugin.map)

# tenon_add_plugin(NAME name SOURCES file... [LIBS library...] [FOR_TESTS])
#
# Defines the target tenon_plugin_<name>, which builds plugins/libtenon_<name>.so in the build
# folder. The library exports only tenon_plugin_query_v1. If TENON_STATIC_PLUGINS lists the plugin,
# its objects are linked into libtenon instead. With Emscripten, the file is libtenon_<name>.wasm, a
# side module that loadPlugin() of the npm package loads. A plugin with FOR_TESTS is built in the folder
# test_plugins, which programs do not search by default, and is not installed.
function(tenon_add_plugin)
  cmake_parse_arguments(PARSE_ARGV 0 arg "FOR_TESTS" "NAME" "SOURCES;LIBS")
  set(target tenon_plugin_${arg_NAME})
  if(arg_NAME IN_LIST TENON_STATIC_PLUGINS)
    add_library(${target} OBJECT ${arg_SOURCES})
    target_compile_definitions(${target} PRIVATE TENON_PLUGIN_STATIC=1)
  else()
    set(folder ${CMAKE_BINARY_DIR}/plugins)
    if(arg_FOR_TESTS)
      set(folder ${CMAKE_BINARY_DIR}/test_plugins)
    endif()
    if(EMSCRIPTEN)
      add_executable(${target} ${arg_SOURCES})
      set_target_properties(${target} PROPERTIES OUTPUT_NAME libtenon_${arg_NAME} SUFFIX .wasm RUNTIME_OUTPUT_DIRECTORY
                                                                                               ${folder})
      target_compile_options(${target} PRIVATE -fPIC)
      target_link_options(${target} PRIVATE -sSIDE_MODULE=2 -sWASM_BIGINT -sEXPORTED_FUNCTIONS=_tenon_plugin_query_v1)
    else()
      add_library(${target} MODULE ${arg_SOURCES})
      set_target_properties(
        ${target}
        PROPERTIES OUTPUT_NAME tenon_${arg_NAME}
                   PREFIX lib
                   LIBRARY_OUTPUT_DIRECTORY ${folder}
                   LINK_DEPENDS ${TENON_PLUGIN_MAP})
      target_link_options(${target} PRIVATE LINKER:--version-script=${TENON_PLUGIN_MAP})
      if(NOT TENON_SANITIZE)
        # A plugin receives the host's functions in a table and imports none of them. Therefore
        # undefined symbols are errors.
        target_link_options(${target} PRIVATE LINKER:-z,defs)
      endif()
    endif()
  endif()
  set_target_properties(
    ${target}
    PROPERTIES CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               POSITION_INDEPENDENT_CODE ON)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(CXX IN_LIST languages)  # A plugin may also be plain C.
    target_compile_features(${target} PRIVATE cxx_std_20)
  endif()
  target_link_libraries(${target} PRIVATE tenon::sdk ${arg_LIBS})
  if(TARGET tenon_compile_options)
    target_link_libraries(${target} PRIVATE tenon_compile_options)
  endif()
  if(NOT arg_FOR_TESTS AND NOT EMSCRIPTEN)
    # The plugin `ref` is packaged with the tools, which compare other plugins with it.
    set(component plugin-${arg_NAME})
    if(arg_NAME STREQUAL "ref")
      set(component tools)
    endif()
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tenon/plugins
                                      COMPONENT ${component})
    if(COMMAND tenon_expect_installed AND NOT arg_NAME IN_LIST TENON_STATIC_PLUGINS)
      tenon_expect_installed(${target})
    endif()
  endif()
endfunction()
