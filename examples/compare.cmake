# Runs PROGRAM and fails unless its output equals the file EXPECTED byte for byte. If EMULATOR is
# given (words separated by blanks), runs PROGRAM under it.

cmake_minimum_required(VERSION 3.25)
separate_arguments(EMULATOR)
execute_process(COMMAND ${EMULATOR} ${PROGRAM} OUTPUT_VARIABLE printed ERROR_VARIABLE errors
                RESULT_VARIABLE status)
file(READ ${EXPECTED} expected)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}: ${errors}")
endif()
if(NOT "${printed}" STREQUAL "${expected}")
  message(FATAL_ERROR "${PROGRAM} printed\n${printed}\nand not, as ${EXPECTED} says,\n${expected}")
endif()
