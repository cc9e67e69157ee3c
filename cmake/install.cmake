# Defines what `cmake --install` installs: the CMake package for find_package(tenon), tenon.pc for
# pkg-config, and the components from which packaging.cmake makes Debian packages.

include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tenon)

install(TARGETS tenon EXPORT tenon_targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(TARGETS tenon_headers tenon_sdk EXPORT tenon_targets)
install(DIRECTORY capi/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
if(EXISTS ${PROJECT_SOURCE_DIR}/plugins/sdk)
  install(DIRECTORY plugins/sdk DESTINATION ${CMAKE_INSTALL_DATADIR}/tenon/plugins COMPONENT dev
          FILES_MATCHING PATTERN *.h)
endif()

# Files for plugin authors: the template for `tenon new plugin`, complete examples, and
# documentation.
set(share ${CMAKE_INSTALL_DATADIR}/tenon)
install(DIRECTORY plugins/null DESTINATION ${share}/plugins COMPONENT dev)
install(FILES tools/new/new.sh DESTINATION ${share}/tools/new COMPONENT dev)
install(DIRECTORY examples/plugins DESTINATION ${share}/examples COMPONENT dev PATTERN tests EXCLUDE)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev FILES_MATCHING PATTERN *.md
        PATTERN snippets EXCLUDE)

if(NOT TENON_STATIC_PLUGINS)
  install(EXPORT tenon_targets NAMESPACE tenon:: DESTINATION ${package} COMPONENT dev)
  configure_package_config_file(cmake/tenon-config.cmake.in tenon-config.cmake
                                INSTALL_DESTINATION ${package})
  write_basic_package_version_file(tenon-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/tenon-config.cmake
                ${PROJECT_BINARY_DIR}/tenon-config-version.cmake cmake/TenonPlugin.cmake
                cmake/plugin.map DESTINATION ${package} COMPONENT dev)

  # The prefix is relative to tenon.pc, so that an installation can be moved.
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
             OUTPUT_VARIABLE include_folder)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}
             OUTPUT_VARIABLE library_folder)
  string(REGEX REPLACE "[^/]+" ".." up_from_library_folder ${library_folder})
  configure_file(cmake/tenon.pc.in tenon.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tenon.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT dev)

  # Writes the list of required files that cmake/check_install.cmake reads before installing.
  get_property(targets GLOBAL PROPERTY TENON_INSTALLED_TARGETS)
  list(TRANSFORM targets REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  list(JOIN targets "\n" files)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/installed_files.txt CONTENT "${files}\n")
endif()
