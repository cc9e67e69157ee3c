// eager_and_traced.hpp - runs code eagerly and as a function: run_eager_and_traced() calls an
// example twice, first in a context that runs functions eagerly, then in one that traces them.

#pragma once

#include <iostream>
#include <tenon/tenon.hpp>

// Calls the example twice, eagerly and then traced. Returns 0 as the exit status.
template <class Example>
int run_eager_and_traced(const Example& example) {
  for (const bool traced : {false, true}) {
    tenon::run_functions_eagerly(!traced);
    std::cout << (traced ? "traced:\n" : "eager:\n");
    example();
  }
  return 0;
}
