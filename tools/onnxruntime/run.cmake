# Runs tenon_saved_programs and then compare.py:
#
#   cmake -DPROGRAMS=... -DPYTHON=... -DCOMPARE=... -P run.cmake
file(REMOVE_RECURSE saved)
execute_process(COMMAND ${PROGRAMS} saved COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PYTHON} ${COMPARE} saved COMMAND_ERROR_IS_FATAL ANY)
