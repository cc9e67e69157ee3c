# Fails `cmake --install` if the build is incomplete, for example after `./dev demo`, and prints how
# to complete it. tenon_install_program and tenon_add_plugin register the required files.

install(CODE "set(tenon_installed_files \"${PROJECT_BINARY_DIR}/installed_files.txt\")
set(tenon_build \"${PROJECT_BINARY_DIR}\")" ALL_COMPONENTS)
install(
  CODE [[
if(EXISTS "${tenon_installed_files}")
  file(STRINGS "${tenon_installed_files}" files)
  set(missing)
  foreach(file IN LISTS files)
    if(NOT EXISTS "${file}")
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${tenon_build}")
      list(APPEND missing "${file}")
    endif()
  endforeach()
  if(missing)
    list(JOIN missing "\n    " listed)
    # CMake does not wrap indented lines of a message.
    message(
      FATAL_ERROR
        "\n  Nothing was installed, because not everything has been built. Run `./dev build`, or\n"
        "  `cmake --build ${tenon_build}`, and install again. Missing in ${tenon_build}:\n"
        "    ${listed}\n")
  endif()
endif()
]] ALL_COMPONENTS)

# tenon_expect_installed(target...): registers the files of these targets as required.
function(tenon_expect_installed)
  set_property(GLOBAL APPEND PROPERTY TENON_INSTALLED_TARGETS ${ARGN})
endfunction()

tenon_expect_installed(tenon)

# tenon_install_program(target): installs a program of the package tenon-tools.
function(tenon_install_program target)
  install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  tenon_expect_installed(${target})
endfunction()
