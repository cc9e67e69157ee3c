# Selects the optimisation of each file of libtenon in a release. Code that runs in every call
# ("hot") is optimised for speed by the flags of the build type, all other code ("cold") for size.
# The folder decides, except for the files listed here.

set(tenon_cold_folders core/io core/ops core/trace capi/src)
set(tenon_hot_files # Hot files of cold folders.
    core/ops/elementwise/binary_arithmetic.cc
    core/ops/definition/define.cc
    core/ops/definition/formulas.cc
    core/ops/definition/registry.cc
    core/ops/definition/type_rules.cc
    core/ops/elementwise/unary_math.cc
    core/ops/elementwise/unary_trig.cc
    core/trace/plans/composite_plans.cc
    core/trace/plans/executable.cc
    core/trace/function.cc
    core/trace/plans/plan_replay.cc
    core/trace/plans/plan_run.cc
    core/trace/plans/segment.cc
    core/trace/plans/subgraph.cc
    core/trace/trace.cc
    capi/src/boundary.cc
    capi/src/c_call.cc
    capi/src/c_function.cc
    capi/src/c_tape.cc
    capi/src/c_tensor.cc
    capi/src/c_variable.cc)
set(tenon_cold_files # Cold files of the other folders.
    core/base/error.cc
    core/base/size_table.cc
    core/device/elf_check.cc
    core/device/loop_table.cc
    core/device/plugin_files.cc
    core/device/plugin_library.cc
    core/device/signature.cc
    core/dispatch/explain.cc
    core/dispatch/profile_log.cc
    core/dispatch/profile_report.cc
    core/dispatch/profiler.cc
    core/tensor/number_text.cc)

if(EMSCRIPTEN)
  # Pages download this code. Therefore only the files of an eager call and of a recorded launch plan
  # remain hot. Calls from JavaScript take much longer than optimising the others would save.
  list(APPEND tenon_cold_folders core/autograd core/base core/device core/dispatch core/tensor)
  set(tenon_hot_files
      capi/src/boundary.cc
      capi/src/c_call.cc
      core/autograd/tape.cc
      core/autograd/tape_gradient.cc
      core/base/pool.cc
      core/base/shape.cc
      core/device/allocator.cc
      core/dispatch/dispatch.cc
      core/dispatch/launch.cc
      core/dispatch/operands.cc
      core/dispatch/repeated_calls.cc
      core/dispatch/scope.cc
      core/ops/definition/define.cc
      core/ops/definition/registry.cc
      core/ops/definition/type_rules.cc
      core/ops/elementwise/binary_arithmetic.cc
      core/tensor/tensor.cc
      core/trace/plans/plan_replay.cc
      core/trace/plans/plan_run.cc)
endif()

foreach(file ${tenon_hot_files} ${tenon_cold_files})
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${file})
    message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE} lists ${file}, which does not exist")
  endif()
endforeach()

# tenon_cold_sources(RESULT source...): sets RESULT to those sources that are optimised for size.
function(tenon_cold_sources result)
  set(cold "")
  foreach(source ${ARGN})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE file)
    if(file IN_LIST tenon_cold_files)
      list(APPEND cold ${source})
    elseif(NOT file IN_LIST tenon_hot_files)
      foreach(folder ${tenon_cold_folders})
        cmake_path(IS_PREFIX folder ${file} in_folder)
        if(in_folder)
          list(APPEND cold ${source})
        endif()
      endforeach()
    endif()
  endforeach()
  set(${result} ${cold} PARENT_SCOPE)
endfunction()
