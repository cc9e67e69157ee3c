# Runs each of PROGRAMS on DATA with one thread and with two; all must print the same text.

foreach(program IN LISTS PROGRAMS)
  foreach(threads 1 2)
    execute_process(
      COMMAND ${program} ${DATA} ${FOLDER} ${threads}
      OUTPUT_VARIABLE output
      RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "${program} with ${threads} threads ended with ${status}")
    endif()
    if(NOT DEFINED first)
      set(first "${output}")
      string(REGEX MATCHALL "\n" lines "${first}")
      list(LENGTH lines count)
      if(NOT count EQUAL 42)
        message(FATAL_ERROR "${program} printed ${count} lines, not 42:\n${output}")
      endif()
    elseif(NOT output STREQUAL first)
      message(FATAL_ERROR "${program} with ${threads} threads printed\n${output}\ninstead of\n${first}")
    endif()
  endforeach()
endforeach()
