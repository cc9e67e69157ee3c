# Trains the demo with one thread and with two, and fails unless both give the same weights, to the
# bit. To be quick, it learns from the 10,000 images that it is tested with, out of DATA.

cmake_minimum_required(VERSION 3.25)
file(MAKE_DIRECTORY ${FOLDER}/images)
foreach(part images-idx3-ubyte.gz labels-idx1-ubyte.gz)
  file(CREATE_LINK ${DATA}/t10k-${part} ${FOLDER}/images/train-${part} SYMBOLIC)
  file(CREATE_LINK ${DATA}/t10k-${part} ${FOLDER}/images/t10k-${part} SYMBOLIC)
endforeach()

foreach(threads 1 2)
  execute_process(
    COMMAND ${PROGRAM} --epochs 1 --batch 100 --threads ${threads} --data ${FOLDER}/images --save
            ${FOLDER}/fashion_${threads}.safetensors --page ${FOLDER}/fashion_${threads}.html
    OUTPUT_VARIABLE printed ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "fashion ended with ${status}: ${errors}")
  endif()
  if(NOT printed MATCHES "gives the same outputs\n" OR NOT printed MATCHES
                                                          "test accuracy: 0\\.8[0-9]+\n$")
    message(FATAL_ERROR "fashion printed\n${printed}")
  endif()
endforeach()

execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${FOLDER}/fashion_1.safetensors
                        ${FOLDER}/fashion_2.safetensors RESULT_VARIABLE differ)
if(differ)
  message(FATAL_ERROR "the number of threads changes the weights")
endif()

# A command line that is wrong is told before anything is read.
foreach(wrong --epochs=0 --batch=many --frobnicate=1 --seed)
  execute_process(COMMAND ${PROGRAM} ${wrong} ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 2 OR NOT errors MATCHES "--help")
    message(FATAL_ERROR "fashion ${wrong} ended with ${status}: ${errors}")
  endif()
endforeach()
