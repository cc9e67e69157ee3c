/* What the test of failed allocations runs: pieces of a program, each with a context of its own. */

#ifndef TENON_CAPI_TESTS_MEMORY_SCENARIOS_H_
#define TENON_CAPI_TESTS_MEMORY_SCENARIOS_H_

#include <stdint.h>

/* Runs from making a context to releasing it on the device `device`, writes files into the working
 * folder, and returns a hash of all results. A call that fails for lack of memory is repeated once;
 * allocations do not fail any more then. What else goes wrong is counted, and printed. */
struct scenario {
  const char* name;
  uint64_t (*run)(const char* device);
};

extern const struct scenario kScenarios[];
extern const int kScenarioCount;

/* Since the start of the process. */
int count_problems(void);

#endif /* TENON_CAPI_TESTS_MEMORY_SCENARIOS_H_ */
