# What `cmake --install` lays down, and the package that find_package(tenon) finds there.

include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tenon)

install(TARGETS tenon tenon_headers tenon_sdk EXPORT tenon_targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY capi/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(EXISTS ${PROJECT_SOURCE_DIR}/plugins/sdk)
  install(DIRECTORY plugins/sdk DESTINATION ${CMAKE_INSTALL_DATADIR}/tenon/plugins
          FILES_MATCHING PATTERN *.h)
endif()

if(NOT TENON_STATIC_PLUGINS)
  install(EXPORT tenon_targets NAMESPACE tenon:: DESTINATION ${package})
  configure_package_config_file(cmake/tenon-config.cmake.in tenon-config.cmake
                                INSTALL_DESTINATION ${package})
  write_basic_package_version_file(tenon-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/tenon-config.cmake
                ${PROJECT_BINARY_DIR}/tenon-config-version.cmake cmake/TenonPlugin.cmake
                cmake/plugin.map DESTINATION ${package})
endif()
