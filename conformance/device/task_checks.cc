// Checks tasks: a device that runs tasks of the host on its threads runs each task once and reports
// completion afterwards.

#include <atomic>
#include <memory>

#include "conformance/device/device_check.h"
#include "conformance/device/launching.h"

namespace tenon_kit::device {
namespace {

constexpr int64_t kN = 1000;  // Number of elements of a vector.

// Throws Unsupported if the device does not run tasks of the host.
void require_tasks(const Bench& bench) {
  if (!bench.calls().run_tasks) throw Unsupported("the device does not run tasks");
  if (!bench.has(TENON_FEATURE_SYNCHRONOUS)) {
    throw Unsupported("the host runs tasks on a SYNCHRONOUS device alone");
  }
}

// Enqueues task(0) to task(n - 1) on the stream.
template <class Task>
void run_tasks_on_device(const Bench& bench, const Stream& stream, size_t n, const Task& task) {
  const tenon_tasks tasks = {
      .run = [](void* payload, size_t i) { (*static_cast<const Task*>(payload))(i); },
      .payload = const_cast<Task*>(&task),
      .n = n};
  bench.calls().run_tasks(stream.get(), &tasks);
}

// Checks that each task, nested ones included, runs exactly once, before the call returns.
void test_tasks_run_once(const Subject& subject) {
  const Bench bench(subject);
  require_tasks(bench);
  const Stream stream(bench);
  for (const size_t n : {0, 1, 2, 3, 64, 1000}) {
    std::vector<std::atomic<int>> ran(n * 3);
    std::atomic<size_t> wrong{0};
    run_tasks_on_device(bench, stream, n, [&](size_t i) {
      if (i >= n) {
        wrong = i;
        return;
      }
      ++ran[i];
      run_tasks_on_device(bench, stream, 2,
                          [&](size_t k) { ++(k < 2 ? ran[n + 2 * i + k] : ran[i]); });
    });
    require(wrong == 0, "of {} tasks, the device ran number {}, which does not exist", n,
            wrong.load());
    for (size_t i = 0; i < n * 3; ++i) {
      require(ran[i] == 1, "of {} tasks with two subtasks each, one ran {} times", n,
              ran[i].load());
    }
  }
}

// Checks that launches from concurrent tasks on one stream give right results.
void test_launches_in_tasks(const Subject& subject) {
  const Bench bench(subject);
  require_tasks(bench);
  const Stream stream(bench);
  const Arg x = {TENON_FLOAT32, {kN}, {}, false};
  const std::optional<size_t> line = line_of(bench.plugin(), TENON_OP_copy, {TENON_FLOAT32});
  if (!line) throw Unsupported("the plugin does not claim copy for f32");
  const Prepared copy(bench, *line, nullptr, {x}, {x});
  if (!copy.get()) throw Unsupported("the plugin refuses a copy kernel for f32");
  constexpr size_t kTasks = 16;
  std::vector<std::unique_ptr<Launching>> launches;
  for (size_t i = 0; i < kTasks; ++i) {
    Arg input = x;
    input.bytes = pseudorandom_bytes(x.size(), static_cast<uint32_t>(i));
    launches.push_back(
        std::make_unique<Launching>(bench, stream, copy, std::vector{input}, std::vector{x}));
  }
  std::vector<tenon_error*> errors(kTasks);
  run_tasks_on_device(bench, stream, kTasks, [&](size_t i) { errors[i] = launches[i]->launch(); });
  for (tenon_error* error : errors) expect_success(error, "a launch in a task");
  for (size_t i = 0; i < kTasks; ++i) {
    expect_bytes(launches[i]->output(0), pseudorandom_bytes(x.size(), static_cast<uint32_t>(i)),
                 "the output of a launch in a task");
  }
}

}  // namespace

std::vector<DeviceCheck> task_checks() {
  return {
      {"tasks", "tasks", 1, "Each task, nested ones too, runs once before the call returns.",
       test_tasks_run_once},
      {"tasks", "task_launches", 1,
       "Launches in tasks on one stream give the same results as in sequence.",
       test_launches_in_tasks},
  };
}

}  // namespace tenon_kit::device
