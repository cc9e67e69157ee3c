/* The programs in which allocation_test makes allocations fail. Each creates its own context. */

#ifndef TENON_CAPI_TESTS_MEMORY_SCENARIOS_H_
#define TENON_CAPI_TESTS_MEMORY_SCENARIOS_H_

#include <stdint.h>

/* `run` executes the scenario on the device `device` and returns a hash of all results. It creates
 * and releases a context, and writes files to the working folder. A call that fails with
 * OUT_OF_MEMORY is repeated once; from then on, no allocation fails. Other failures are printed and
 * counted. */
struct scenario {
  const char* name;
  uint64_t (*run)(const char* device);
};

extern const struct scenario kScenarios[];
extern const int kScenarioCount;

/* Returns the number of problems since the start of the process. */
int count_problems(void);

#endif /* TENON_CAPI_TESTS_MEMORY_SCENARIOS_H_ */
