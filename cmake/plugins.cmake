# Adds every folder plugins/<name> with a CMakeLists.txt: the plugins, and the SDK that they share.

# The headers that a plugin may include: tenon/plugin.h and plugins/sdk.
add_library(tenon_sdk INTERFACE)
add_library(tenon::sdk ALIAS tenon_sdk)
set_target_properties(tenon_sdk PROPERTIES EXPORT_NAME sdk)
target_link_libraries(tenon_sdk INTERFACE tenon_headers)
target_include_directories(
  tenon_sdk INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                      $<INSTALL_INTERFACE:${CMAKE_INSTALL_DATADIR}/tenon>)

# libtenon searches tenon/plugins in its own folder, both in a build folder and when installed.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/plugins ${PROJECT_BINARY_DIR}/tenon)
file(CREATE_LINK ../plugins ${PROJECT_BINARY_DIR}/tenon/plugins SYMBOLIC)

add_custom_target(tenon_plugins)
file(GLOB plugin_lists CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/plugins/*/CMakeLists.txt)
foreach(list IN LISTS plugin_lists)
  cmake_path(GET list PARENT_PATH folder)
  cmake_path(GET folder FILENAME name)
  if(NOT TENON_PLUGINS OR name IN_LIST TENON_PLUGINS)
    add_subdirectory(${folder})
    if(TARGET tenon_plugin_${name})
      add_dependencies(tenon_plugins tenon_plugin_${name})
    endif()
  endif()
endforeach()

# A static libtenon has a table of plugins instead of a folder.
if(TENON_STATIC_PLUGINS)
  set(declarations "")
  set(rows "")
  foreach(name IN LISTS TENON_STATIC_PLUGINS)
    string(APPEND declarations "TENON_PLUGIN_ENTRY(${name})(const tenon_host*, const tenon_plugin**);\n")
    string(APPEND rows "    {\"${name}\", tenon_plugin_query_v1_${name}},\n")
    target_link_libraries(tenon PRIVATE tenon_plugin_${name})
  endforeach()
  configure_file(${CMAKE_CURRENT_LIST_DIR}/static_plugins.cc.in static_plugins.cc @ONLY)
  target_sources(tenon PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/static_plugins.cc)
  # The file defines macros for the headers that it includes.
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/static_plugins.cc PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()
