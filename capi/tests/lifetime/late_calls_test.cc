// Calls of Tenon while the process terminates: in destructors of static and thread-local objects,
// in atexit() handlers, and in destructors of thread-specific data. All of Tenon must work there,
// regardless of which other objects have been destroyed. Each case runs in a separate process.

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

// Results of a child process, in memory that it shares with the parent.
struct Report {
  int n_late_calls;  // Number of runs of call_everything() at termination with correct results.
  int n_failures;
};
Report* report;

tenon_context* context;
const char* device = "ref";

bool is_ok(tenon_error* error) {
  if (!error) return true;
  std::fprintf(stderr, "%s\n", tenon_error_message(error).data);
  tenon_error_release(error);
  ++report->n_failures;
  return false;
}

tenon_error* doubled(void*, tenon_scope* scope, tenon_tensor* const* inputs, size_t,
                     const tenon_static*, size_t, tenon_tensor** outputs, size_t) {
  return tenon_add(scope, inputs[0], inputs[0], &outputs[0]);
}

// Uses ops, a tape, a function and files in a new scope. Returns true if all results are correct.
bool call_everything() {
  const std::string path = "late_calls_" + std::to_string(getpid());
  const tenon_string name = TENON_STR("x");
  const tenon_function_body body = {doubled, nullptr, nullptr};
  const float one = 1;
  tenon_scope* scope = nullptr;
  tenon_tensor *x = nullptr, *y = nullptr, *gradient = nullptr, *z = nullptr, *read = nullptr;
  tenon_tape* tape = nullptr;
  tenon_function* function = nullptr;
  tenon_trace* trace = nullptr;
  tenon_safetensors* file = nullptr;
  tenon_program* program = nullptr;
  double values[3] = {0, 0, 0};

  bool ok = is_ok(tenon_scope_create(context, tenon_str(device), &scope)) &&
            is_ok(tenon_tensor_from_data(scope, TENON_FLOAT32, nullptr, 0, &one, 4, &x)) &&
            is_ok(tenon_tape_create(scope, nullptr, &tape));
  tenon_value* source = tenon_tensor_as_value(x);
  ok = ok && is_ok(tenon_tape_watch(tape, source)) && is_ok(tenon_exp(scope, x, &y)) &&
       is_ok(tenon_tape_gradient(scope, tape, &y, 1, nullptr, &source, 1, nullptr, &gradient)) &&
       is_ok(tenon_function_create(context, name, body, nullptr, &function)) &&
       is_ok(tenon_function_call(scope, function, &y, 1, nullptr, 0, &z, 1, nullptr)) &&
       is_ok(tenon_function_find_trace(scope, function, &y, 1, nullptr, 0, &trace)) &&
       is_ok(tenon_safetensors_save(scope, tenon_str(path.c_str()), &name, &y, 1, nullptr, 0)) &&
       is_ok(tenon_safetensors_open(tenon_str(path.c_str()), &file)) &&
       is_ok(tenon_safetensors_load(scope, file, name, &read)) &&
       is_ok(tenon_program_save(scope, tenon_str((path + ".d").c_str()), &name, &trace, 1)) &&
       is_ok(tenon_program_open(scope, tenon_str((path + ".d").c_str()), NULL, &program)) &&
       is_ok(tenon_tensor_item_f64(scope, gradient, &values[0])) &&
       is_ok(tenon_tensor_item_f64(scope, z, &values[1])) &&
       is_ok(tenon_tensor_item_f64(scope, read, &values[2]));
  tenon_program_release(program);
  tenon_safetensors_release(file);
  tenon_trace_release(trace);
  tenon_function_release(function);
  tenon_tape_release(tape);
  for (tenon_tensor* each : {x, y, gradient, z, read}) tenon_tensor_release(each);
  tenon_scope_release(scope);
  const double e = std::exp(1.0);
  return ok && std::fabs(values[0] - e) < 1e-6 && std::fabs(values[1] - 2 * e) < 1e-6 &&
         std::fabs(values[2] - e) < 1e-6;
}

void call_late() {
  if (call_everything()) {
    ++report->n_late_calls;
  } else {
    ++report->n_failures;
  }
}

// Handles that a program does not release before its end.
struct Held {
  tenon_scope* scope = nullptr;
  tenon_tensor* x = nullptr;
  tenon_tape* tape = nullptr;

  void make() {
    const float values[4] = {1, 2, 3, 4};
    const int64_t n = 4;
    is_ok(tenon_scope_create(context, tenon_str(device), &scope));
    is_ok(tenon_tensor_from_data(scope, TENON_FLOAT32, &n, 1, values, sizeof values, &x));
    is_ok(tenon_tape_create(scope, nullptr, &tape));
    is_ok(tenon_tape_watch(tape, tenon_tensor_as_value(x)));
  }
  void release() {
    tenon_tape_release(tape);
    tenon_tensor_release(x);
    tenon_scope_release(scope);
  }
};

// An object that calls Tenon in its destructor. The static one is constructed before the first call
// of Tenon, so it is destroyed after all objects that Tenon constructs.
struct AtEnd {
  bool is_active = false;
  Held held;

  ~AtEnd() {
    if (!is_active) return;
    held.release();
    call_late();
    call_late();
  }
};
AtEnd static_object;

AtEnd& thread_object() {
  thread_local AtEnd object;
  return object;
}

// ---- cases; each is run by a child process

void in_static_destructor() {
  static_object.is_active = true;
  call_everything();
  static_object.held.make();
}

void in_static_destructor_alone() { static_object.is_active = true; }

void in_atexit_handler() {
  std::atexit(call_late);
  call_everything();
}

// Runs ten threads one after the other. Every second thread already calls Tenon before the
// thread-local object is constructed; the other threads call Tenon only afterwards.
void in_thread_local_destructors() {
  for (int i = 0; i < 10; ++i) {
    std::thread([i] {
      if (i % 2 == 0) call_everything();
      thread_object().is_active = true;
      thread_object().held.make();
      call_everything();
    }).join();
  }
}

// Destructors of thread-specific data run after those of thread-local objects.
void in_thread_specific_data() {
  pthread_key_t first, second;
  pthread_key_create(&first, [](void*) { call_late(); });
  call_everything();
  pthread_key_create(&second, [](void*) { call_late(); });
  for (int i = 0; i < 10; ++i) {
    std::thread([&] {
      pthread_setspecific(first, report);
      pthread_setspecific(second, report);
      call_everything();
    }).join();
  }
}

// A detached thread that still makes calls after main has returned.
void on_a_thread_that_outlives_main() {
  std::thread([] {
    for (;;) call_everything();
  }).detach();
  call_late();
}

struct Case {
  const char* name;
  void (*run)();
  int n_late_calls;
};

constexpr Case kCases[] = {
    {"in a static object's destructor", in_static_destructor, 2},
    {"in a static object's destructor, for the first time", in_static_destructor_alone, 2},
    {"in a handler of atexit", in_atexit_handler, 1},
    {"in thread-local destructors", in_thread_local_destructors, 20},
    {"in handlers of thread-specific data", in_thread_specific_data, 20},
    {"on a thread that outlives main", on_a_thread_that_outlives_main, 1},
};

bool passes(const Case& one) {
  *report = {};
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    if (tenon_error* error = tenon_context_create(nullptr, &context)) is_ok(error);
    one.run();
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const bool ok = WIFEXITED(status) && WEXITSTATUS(status) == 0 && report->n_failures == 0 &&
                  report->n_late_calls == one.n_late_calls;
  std::printf("%s calls %s: status %d, %d of %d rounds, %d failures\n", ok ? "ok    " : "FAILED",
              one.name, status, report->n_late_calls, one.n_late_calls, report->n_failures);
  std::fflush(stdout);
  return ok;
}

}  // namespace

int main() {
  void* const memory =
      mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 2;
  report = static_cast<Report*>(memory);
  if (const char* name = std::getenv("TENON_TEST_DEVICE")) device = name;
  int n_failed = 0;
  for (const Case& one : kCases) n_failed += passes(one) ? 0 : 1;
  return n_failed == 0 ? 0 : 1;
}
