/* Makes each allocation of the scenarios fail, in turn: alone, and together with all later ones
 * until the call returns. The call must return OUT_OF_MEMORY and succeed when it is repeated. The
 * scenario and its next run must return the same result as without failures, and no memory may
 * leak.
 *
 * allocation_test STRIDE tests every STRIDE-th allocation. Each scenario runs in a child process.
 * If the child crashes or hangs, another one continues with the following allocation.
 * allocation_test SCENARIO ALLOCATION alone|all tests one allocation without a child process. */

#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capi/tests/memory/failing_malloc.h"
#include "capi/tests/memory/scenarios.h"

enum {
  kSecondsForPoint = 20,
  kMaxFaults = 20,
  /* Number of freed objects of each type that debug builds do not reuse yet, to detect uses after
   * release. */
  kHeldBack = 256,
  /* Maximum number of runs until live memory stops growing: each may add an object that debug
   * builds do not reuse, and pools may fill. */
  kMaxRuns = kHeldBack + 16
};

/* State that the processes of a scenario share. */
struct progress {
  uint64_t result;    /* Hash of a run without failures. */
  long n_allocations; /* Number of allocations in a later run of a process. */
  long n_cold;        /* Number of allocations in the first run of a process. */
  long point;         /* Index of the allocation that fails. */
  int is_alone;       /* Whether only that allocation fails; else all later ones fail, too. */
  long n_points;      /* Number of allocations tested so far. */
  int n_problems;
};

static struct progress* shared;
static const char* device;

static void problem(const struct scenario* scenario, const char* what) {
  ++shared->n_problems;
  printf("%s: allocation %ld%s: %s\n", scenario->name, shared->point,
         shared->is_alone ? "" : " and all after it", what);
}

/* Runs the scenario while the allocation `shared->point` fails, and checks the result. */
static int run_failing(const struct scenario* scenario) {
  const int before = count_problems();
  uint64_t result;
  fail_allocations(shared->point, shared->is_alone ? 1 : 1000000000);
  result = scenario->run(device);
  fail_allocations(0, 0);
  if (count_problems() > before) {
    problem(scenario, "see above");
  } else if (result != shared->result) {
    problem(scenario, "the scenario gave another result");
  }
  return 1;
}

static void run_whole(const struct scenario* scenario) {
  const int before = count_problems();
  fail_allocations(0, 0);
  if (scenario->run(device) != shared->result || count_problems() > before) {
    problem(scenario, "the run after it gave another result");
  }
}

/* Tests one allocation. Live memory may grow in the first runs, because pools and caches fill, but
 * not in every run. */
static void test_point(const struct scenario* scenario) {
  static long most_live = 0;
  int n = 0;
  do {
    alarm(kSecondsForPoint);
    run_failing(scenario);
    run_whole(scenario);
    if (most_live == 0) most_live = count_live_blocks();
    if (count_live_blocks() <= most_live) break;
    most_live = count_live_blocks();
  } while (++n < kMaxRuns);
  if (n == kMaxRuns) problem(scenario, "blocks stay behind each time");
  ++shared->n_points;
}

/* Runs the scenario until pools and caches are full, and counts its allocations. */
static void warm_up(const struct scenario* scenario) {
  int i;
  for (i = 0; i < kHeldBack + 4; ++i) {
    alarm(kSecondsForPoint);
    fail_allocations(0, 0);
    shared->result = scenario->run(device);
    if (i == 0) shared->n_cold = count_allocations();
    shared->n_allocations = count_allocations();
  }
  if (shared->n_allocations == 0) problem(scenario, "its allocations are not counted");
  if (count_problems() > 0) _exit(2);
}

static int n_faults;

/* Waits for a child process. Returns whether it succeeded; otherwise prints how it failed. */
static int end_of(pid_t child, const struct scenario* scenario) {
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 1;
  if (WIFSIGNALED(status)) {
    problem(scenario,
            WTERMSIG(status) == SIGALRM ? "the scenario hangs" : strsignal(WTERMSIG(status)));
  } else {
    problem(scenario, "the process ended itself");
  }
  return 0;
}

/* Tests the allocations of a process that has run the scenario before. */
static void test_warm(const struct scenario* scenario, long stride) {
  long first = 0;
  do {
    const pid_t child = fork();
    if (child == 0) {
      warm_up(scenario);
      for (shared->point = first; shared->point < shared->n_allocations; shared->point += stride) {
        for (shared->is_alone = 0; shared->is_alone < 2; ++shared->is_alone) test_point(scenario);
      }
      _exit(0);
    }
    if (end_of(child, scenario)) return;
    first = shared->point + stride;
  } while (first < shared->n_allocations && ++n_faults < kMaxFaults);
}

/* Tests the allocations of the first run in a process, which also initialises Tenon. */
static void test_cold(const struct scenario* scenario, long stride) {
  for (shared->point = 0; shared->point < shared->n_cold && n_faults < kMaxFaults;
       shared->point += stride) {
    for (shared->is_alone = 0; shared->is_alone < 2; ++shared->is_alone) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(kSecondsForPoint);
        run_failing(scenario);
        run_whole(scenario);
        _exit(0);
      }
      if (!end_of(child, scenario)) ++n_faults;
      ++shared->n_points;
    }
  }
}

/* Tests one allocation in this process, so that a debugger can be used. */
static int test_one(const char* name, long point, int is_alone) {
  int i;
  for (i = 0; i < kScenarioCount; ++i) {
    if (strcmp(name, kScenarios[i].name) != 0) continue;
    warm_up(&kScenarios[i]);
    shared->point = point;
    shared->is_alone = is_alone;
    test_point(&kScenarios[i]);
  }
  return shared->n_problems == 0 && shared->n_points == 1 ? 0 : 1;
}

/* Scenarios write files here: in memory if possible, because saving would wait for the disk. */
static char folder[] = "/dev/shm/tenon_allocation_XXXXXX";

static int enter_folder(void) { return mkdtemp(folder) && chdir(folder) == 0; }

static void leave_folder(void) {
  static const char* const kFiles[] = {"saved.safetensors", "saved.json", "saved/tenon.json",
                                       "saved/weights.safetensors", "saved/step.onnx"};
  size_t i;
  for (i = 0; i < sizeof kFiles / sizeof *kFiles; ++i) unlink(kFiles[i]);
  rmdir("saved");
  if (chdir("/") == 0) rmdir(folder);
}

int main(int argc, char** argv) {
  const long stride = argc > 1 ? atol(argv[1]) : 1;
  const long cold_stride = argc > 2 ? atol(argv[2]) : 10 * stride;
  int i, is_in_memory;
  setvbuf(stdout, NULL, _IONBF, 0);
  device = getenv("TENON_TEST_DEVICE") ? getenv("TENON_TEST_DEVICE") : "ref";
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  if (argc == 4) return test_one(argv[1], atol(argv[2]), strcmp(argv[3], "alone") == 0);
  if (stride < 1 || cold_stride < 1) return 2;
  is_in_memory = enter_folder();
  for (i = 0; i < kScenarioCount; ++i) {
    const struct scenario* scenario = &kScenarios[i];
    test_warm(scenario, stride);
    printf("%s on %s: %ld allocations, %ld in a new process\n", scenario->name, device,
           shared->n_allocations, shared->n_cold);
    test_cold(scenario, cold_stride);
  }
  if (is_in_memory) leave_folder();
  printf("%ld points, %d problems\n", shared->n_points, shared->n_problems);
  return shared->n_problems == 0 ? 0 : 1;
}
