# Debian packages, which `./dev package` builds with `cpack -G DEB`. The COMPONENT of an install
# rule is the package that contains the file.

set(CPACK_PACKAGE_NAME tenon)
set(CPACK_PACKAGE_VENDOR "The Tenon authors")
set(CPACK_PACKAGE_CONTACT "The Tenon authors <tenon@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Tensors, gradients and compiled functions on plugin devices")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime dev)
set(CPACK_COMPONENTS_GROUPING IGNORE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The folder in which dpkg-shlibdeps finds our own shared libraries.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)

# tenon_debian_package(component name section description [depends]): defines the Debian package of
# an install component.
function(tenon_debian_package component name section description)
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${description}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${description}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${ARGN}" PARENT_SCOPE)
endfunction()

set(same "libtenon0 (= ${PROJECT_VERSION})")
tenon_debian_package(runtime libtenon0 libs "Tenon's shared library")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS tenon-plugin-cpu)
tenon_debian_package(dev libtenon-dev libdevel "Headers, CMake package and pkg-config file of Tenon"
                     ${same})
if(TARGET tenon_command)
  list(APPEND CPACK_COMPONENTS_ALL tools)
  tenon_debian_package(tools tenon-tools utils "The commands tenon and tenon-conformance" ${same})
endif()
set(plugin_cpu "Tenon's plugin for the CPU")
set(plugin_vulkan "Tenon's plugin for GPUs with Vulkan")
foreach(plugin cpu vulkan)
  if(TARGET tenon_plugin_${plugin})
    list(APPEND CPACK_COMPONENTS_ALL plugin-${plugin})
    tenon_debian_package(plugin-${plugin} tenon-plugin-${plugin} libs "${plugin_${plugin}}" ${same})
  endif()
endforeach()

include(CPack)
