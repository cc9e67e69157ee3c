# Runs PROGRAM with ARGS. Fails unless it exits with STATUS and its output matches the regular
# expressions STDOUT and STDERR. If ARGS contains --json, its output must be valid JSON.

cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${PROGRAM} ${ARGS} OUTPUT_VARIABLE out ERROR_VARIABLE err
                RESULT_VARIABLE status)
if(NOT status EQUAL STATUS)
  message(FATAL_ERROR "ended with ${status}, not ${STATUS}\n${out}${err}")
endif()
if(NOT out MATCHES "${STDOUT}")
  message(FATAL_ERROR "printed\n${out}\nwhich does not match ${STDOUT}")
endif()
if(NOT err MATCHES "${STDERR}")
  message(FATAL_ERROR "said\n${err}\nwhich does not match ${STDERR}")
endif()
if("--json" IN_LIST ARGS)
  string(JSON type TYPE "${out}")
  if(NOT type STREQUAL "OBJECT")
    message(FATAL_ERROR "printed JSON that is not an object but ${type}")
  endif()
endif()
