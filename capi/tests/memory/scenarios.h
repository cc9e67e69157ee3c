/* The programs that the test of failed allocations runs, each with its own context. */

#ifndef TENON_CAPI_TESTS_MEMORY_SCENARIOS_H_
#define TENON_CAPI_TESTS_MEMORY_SCENARIOS_H_

#include <stdint.h>

/* `run` creates and releases a context on the device `device`, writes files to the working folder,
 * and returns a hash of all results. A call that fails for lack of memory is repeated once;
 * allocations then no longer fail. Other problems are counted and printed. */
struct scenario {
  const char* name;
  uint64_t (*run)(const char* device);
};

extern const struct scenario kScenarios[];
extern const int kScenarioCount;

/* Number of problems since the start of the process. */
int count_problems(void);

#endif /* TENON_CAPI_TESTS_MEMORY_SCENARIOS_H_ */
