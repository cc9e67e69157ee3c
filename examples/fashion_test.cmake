# Trains the demo with one, two and four threads with traced steps, and with two threads eagerly.
# Fails unless all runs give bitwise equal weights, or if traced steps use more memory than eager
# ones. To be quick, it trains on the 10,000 test images of DATA. Then TENON runs, on these
# images, the program that the first run saved. Its accuracy, which PYTHON computes, must equal the
# accuracy that the demo printed.

cmake_minimum_required(VERSION 3.25)
file(MAKE_DIRECTORY ${FOLDER}/images)
foreach(part images-idx3-ubyte.gz labels-idx1-ubyte.gz)
  file(CREATE_LINK ${DATA}/t10k-${part} ${FOLDER}/images/train-${part} SYMBOLIC)
  file(CREATE_LINK ${DATA}/t10k-${part} ${FOLDER}/images/t10k-${part} SYMBOLIC)
endforeach()

foreach(run "traced 1" "traced 2" "traced 4" "eager 2")
  separate_arguments(run)
  list(GET run 0 steps)
  list(GET run 1 threads)
  set(weights_${steps}_${threads} ${FOLDER}/fashion_${steps}_${threads}.safetensors)
  execute_process(
    COMMAND ${PROGRAM} --epochs 1 --batch 100 --steps ${steps} --threads ${threads} --data
            ${FOLDER}/images --save ${weights_${steps}_${threads}} --page
            ${FOLDER}/fashion_${steps}_${threads}.html --program
            ${FOLDER}/fashion_${steps}_${threads} --images ${FOLDER}/images.npy
    OUTPUT_VARIABLE printed ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "fashion ended with ${status}: ${errors}")
  endif()
  if(NOT printed MATCHES "gives the same outputs\n" OR NOT printed MATCHES
                                                          "test accuracy: 0\\.8[0-9]+\n$")
    message(FATAL_ERROR "fashion printed\n${printed}")
  endif()
  string(REGEX MATCH "test accuracy: [0-9.]+" accuracy_${steps}_${threads} "${printed}")
  string(REGEX MATCH "trained in [^\n]*" cost "${printed}")
  message(STATUS "${steps}, ${threads} threads: ${cost}")
  string(REGEX REPLACE ".*at most ([0-9.]+) MiB.*" "\\1" memory_${steps} "${cost}")
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${weights_traced_1}
                          ${weights_${steps}_${threads}} RESULT_VARIABLE differ)
  if(differ)
    message(FATAL_ERROR "${steps} with ${threads} threads gives other weights than traced with one")
  endif()
endforeach()
if(NOT memory_traced LESS memory_eager)
  message(FATAL_ERROR "traced steps take ${memory_traced} MiB, eager ones ${memory_eager}")
endif()

if(TENON AND PYTHON)
  execute_process(
    COMMAND ${TENON} run ${FOLDER}/fashion_traced_1 --input images=${FOLDER}/images.npy --batch-size 100 --output
            ${FOLDER}/outputs
    OUTPUT_VARIABLE printed ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT printed MATCHES "f32\\[10000,10\\]")
    message(FATAL_ERROR "tenon run ended with ${status}: ${printed}${errors}")
  endif()
  file(GLOB outputs ${FOLDER}/outputs/*.npy)
  execute_process(
    COMMAND ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/fashion_accuracy.py ${outputs}
            ${DATA}/t10k-labels-idx1-ubyte.gz
    OUTPUT_VARIABLE counted ERROR_VARIABLE errors OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT counted STREQUAL accuracy_traced_1)
    message(FATAL_ERROR "tenon run: ${counted}${errors}; the demo: ${accuracy_traced_1}")
  endif()
  message(STATUS "tenon run: ${counted}, equal to the accuracy of the demo")
else()
  message(STATUS "without the command tenon and Python, nothing runs the saved program")
endif()

# Runs the nudge programs in C and C++: they change an image along the gradient until its class
# changes, and must print the same losses eagerly and traced.
set(said "")
foreach(nudge ${NUDGES})
  execute_process(COMMAND ${nudge} ${FOLDER}/fashion_traced_1 ${DATA} WORKING_DIRECTORY ${FOLDER}
                  OUTPUT_VARIABLE printed ERROR_VARIABLE errors RESULT_VARIABLE status)
  set(way "class 9, loss ([0-9.]+); nudged: class 7, loss 0\\.[0-9]+\n")
  if(NOT status EQUAL 0 OR NOT printed MATCHES "^eager: ${way}traced: ${way}$")
    message(FATAL_ERROR "${nudge} ended with ${status}: ${printed}${errors}")
  endif()
  if(said AND NOT printed STREQUAL said)
    message(FATAL_ERROR "in C++ it prints\n${printed}in C\n${said}")
  endif()
  set(said "${printed}")
  foreach(picture before after)
    file(READ ${FOLDER}/${picture}.png head LIMIT 8 HEX)
    if(NOT head STREQUAL "89504e470d0a1a0a")
      message(FATAL_ERROR "${picture}.png is no PNG: it begins with ${head}")
    endif()
  endforeach()
endforeach()
string(STRIP "${said}" said)
message(STATUS "${said}")

# The demo reports a wrong command line before it reads any file.
foreach(wrong --epochs=0 --batch=many --frobnicate=1 --seed --steps=quick
              --fallback=maybe --compare=)
  execute_process(COMMAND ${PROGRAM} ${wrong} ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 2 OR NOT errors MATCHES "--help")
    message(FATAL_ERROR "fashion ${wrong} ended with ${status}: ${errors}")
  endif()
endforeach()
