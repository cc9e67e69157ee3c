#include "plugins/cuda/testing/emulated_block.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

// GCC defines macros if a sanitizer is enabled; clang has __has_feature.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TENON_ASAN_FIBERS 1
#elif __has_feature(thread_sanitizer)
#define TENON_TSAN_FIBERS 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TENON_ASAN_FIBERS 1
#elif defined(__SANITIZE_THREAD__)
#define TENON_TSAN_FIBERS 1
#endif
#if defined(TENON_ASAN_FIBERS)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(TENON_TSAN_FIBERS)
#include <sanitizer/tsan_interface.h>
#endif
// With sanitizers, fibers are switched by swapcontext(), because sanitizers report a longjmp() to
// another stack as an error. Without sanitizers, longjmp() is used, which needs no system call and
// is several times faster.
#if defined(TENON_ASAN_FIBERS) || defined(TENON_TSAN_FIBERS)
#define TENON_SWITCHES_CONTEXTS 1
#endif

namespace tenon_emulated {
namespace {

constexpr size_t kStackBytes = 256 << 10;
constexpr unsigned kWarp = 32;

struct Fiber {
  ucontext_t context;
  jmp_buf jump;
  void* fake_stack = nullptr;  // AddressSanitizer's fake stack while the fiber is suspended.
  void* stack = nullptr;
  const size_t stack_bytes;
  bool is_started = false, has_run = false;
  bool is_idle = false;  // Whether the fiber has no thread to run.
  unsigned thread = 0;   // Number of the thread in its block.
  TenonIndex index = {};
  Fiber* next = nullptr;  // The next fiber of the FiberList that contains this one.
#if defined(TENON_TSAN_FIBERS)
  void* tsan = __tsan_create_fiber(0);
#endif

  // Stacks begin at different offsets, so that fibers do not use the same cache sets.
  explicit Fiber(size_t number) : stack_bytes(kStackBytes - number % 64 * 320) {
    stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) std::abort();
    mprotect(stack, 4096, PROT_NONE);
  }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() {
    munmap(stack, kStackBytes);
#if defined(TENON_TSAN_FIBERS)
    __tsan_destroy_fiber(tsan);
#endif
  }
};

// A list of fibers. It never allocates memory: the code of fibers must not throw, because
// exceptions cannot leave the stack of a fiber.
class FiberList {
 public:
  bool is_empty() const { return first_ == nullptr; }
  void push_back(Fiber& fiber) {
    fiber.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &fiber;
    last_ = &fiber;
  }
  void push_front(Fiber& fiber) {
    if (first_ == nullptr) return push_back(fiber);
    fiber.next = std::exchange(first_, &fiber);
  }
  Fiber& pop_front() { return *std::exchange(first_, first_->next); }
  // Moves all fibers of `other` to the end of this list.
  void append(FiberList& other) {
    if (other.is_empty()) return;
    (first_ == nullptr ? first_ : last_->next) = other.first_;
    last_ = other.last_;
    other.first_ = nullptr;
  }

 private:
  Fiber* first_ = nullptr;
  Fiber* last_ = nullptr;
};

void run_fiber();

// Switches between the thread of the host and fibers, and stores the state to which control returns
// when a fiber is suspended. There is one scheduler, because one launch runs at a time.
struct Scheduler {
  jmp_buf jump;
  ucontext_t context;
  const void* stack = nullptr;
  size_t stack_bytes = 0;
  void* tsan = nullptr;

  // Makes the fiber begin in run_fiber() with an empty stack.
  static void start(Fiber& fiber) {
    fiber.is_started = true;
    fiber.has_run = false;
#if defined(TENON_TSAN_FIBERS)
    __tsan_destroy_fiber(fiber.tsan);
    fiber.tsan = __tsan_create_fiber(0);
#endif
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = fiber.stack_bytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, run_fiber, 0);
  }

  void resume(Fiber& fiber) {
    if (!fiber.is_started) start(fiber);
#if defined(TENON_ASAN_FIBERS)
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, fiber.stack, fiber.stack_bytes);
#endif
#if defined(TENON_TSAN_FIBERS)
    tsan = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber.tsan, 0);
#endif
#if defined(TENON_SWITCHES_CONTEXTS)
    swapcontext(&context, &fiber.context);
#else
    if (_setjmp(jump) == 0) {
      if (std::exchange(fiber.has_run, true)) _longjmp(fiber.jump, 1);
      setcontext(&fiber.context);
    }
#endif
#if defined(TENON_ASAN_FIBERS)
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  }

  // Called by a fiber. Switches to the caller of resume(), and returns when the fiber is resumed.
  void suspend(Fiber& fiber) {
#if defined(TENON_ASAN_FIBERS)
    __sanitizer_start_switch_fiber(&fiber.fake_stack, stack, stack_bytes);
#endif
#if defined(TENON_TSAN_FIBERS)
    __tsan_switch_to_fiber(tsan, 0);
#endif
#if defined(TENON_SWITCHES_CONTEXTS)
    swapcontext(&fiber.context, &context);
#else
    if (_setjmp(fiber.jump) == 0) _longjmp(jump, 1);
#endif
    finish_switch(fiber.fake_stack);
  }

  // Called by a fiber immediately after a switch to it.
  void finish_switch(void* fake_stack) {
    (void)fake_stack;
#if defined(TENON_ASAN_FIBERS)
    __sanitizer_finish_switch_fiber(fake_stack, &stack, &stack_bytes);
#endif
  }
};
Scheduler scheduler;

// The pool of fibers. Fibers are reused for later blocks, because starting a fiber takes two system
// calls.
class Fibers {
 public:
  Fiber& take() {
    if (!idle_.is_empty()) return idle_.pop_front();
    all_.push_back(std::make_unique<Fiber>(all_.size()));
    return *all_.back();
  }
  void put_back(Fiber& fiber) {
    fiber.is_idle = true;
    idle_.push_front(fiber);
  }
  // Called after a block was stopped by an error. Its fibers are returned to the pool and start
  // anew.
  void restart_running_fibers() {
    for (const auto& fiber : all_) {
      if (fiber->is_idle) continue;
      fiber->is_started = false;
      put_back(*fiber);
    }
  }

 private:
  std::vector<std::unique_ptr<Fiber>> all_;
  FiberList idle_;
};
// Returns the pool of fibers.
Fibers& fibers() {
  static Fibers fibers;
  return fibers;
}

struct Warp {
  unsigned arrived = 0;
  // Index of the current one of two buffers. They alternate, so that a fast lane does not overwrite
  // values that other lanes still read.
  unsigned phase = 0;
  unsigned long long values[2][kWarp];
  FiberList waiting;
};

class Block {
 public:
  Block(Call call, const void* parameters) : call_(call), parameters_(parameters) {
    const TenonIndex size = device_state().block_size;
    n_ = size.x * size.y * size.z;
    warps_.resize((n_ + kWarp - 1) / kWarp);
    for (Warp& warp : warps_) std::memset(warp.values, 0x7f, sizeof warp.values);
  }

  std::string run() {
    while (fault_ == nullptr) {
      if (!ready_.is_empty()) {
        resume(ready_.pop_front());
      } else if (next_ < n_) {
        resume(take_fiber());
      } else if (n_done_ < n_) {
        fibers().restart_running_fibers();
        return "divergent barrier: " + std::to_string(n_ - n_done_) + " of " + std::to_string(n_) +
               " threads wait at a barrier for others that have ended or wait elsewhere";
      } else {
        return {};
      }
    }
    fibers().restart_running_fibers();
    return fault_;
  }

  void barrier(void* place) {
    if (n_at_barrier_ > 0 && place != barrier_place_) {
      return fail("divergent barrier: threads of one block wait at different barriers");
    }
    barrier_place_ = place;
    if (++n_at_barrier_ < n_) {
      at_barrier_.push_back(*current_);
      return suspend();
    }
    n_at_barrier_ = 0;
    ready_.append(at_barrier_);
  }

  const unsigned long long* exchange(unsigned mask, unsigned long long value) {
    const unsigned thread = current_->thread, lane = thread % kWarp;
    Warp& warp = warps_[thread / kWarp];
    const unsigned n_lanes = std::min(kWarp, n_ - thread / kWarp * kWarp);
    const unsigned wanted = n_lanes == kWarp ? mask : mask & ((1u << n_lanes) - 1);
    if ((wanted >> lane & 1) == 0) {
      fail("a lane exchanges values with a mask that does not contain it");
      return nullptr;
    }
    const unsigned long long* const values = warp.values[warp.phase];
    warp.values[warp.phase][lane] = value;
    warp.arrived |= 1u << lane;
    if (warp.arrived != wanted) {
      warp.waiting.push_back(*current_);
      suspend();
      return values;
    }
    warp.arrived = 0;
    warp.phase ^= 1;
    ready_.append(warp.waiting);
    return values;
  }

  void fail(const char* text) {
    fault_ = text;
    suspend();
  }

  // Called by a fiber. Runs threads of the block until none is left, then suspends the fiber until
  // the next block.
  void run_threads() {
    while (next_ < n_ && fault_ == nullptr) {
      begin_thread();
      show_thread();
      call_(parameters_);
      ++n_done_;
    }
    Fiber& fiber = *current_;
    fibers().put_back(fiber);
    scheduler.suspend(fiber);
  }

 private:
  // Assigns the next thread of the block to the current fiber.
  void begin_thread() {
    current_->thread = next_++;
    current_->index = next_index_;
    const TenonIndex size = device_state().block_size;
    if (++next_index_.x < size.x) return;
    next_index_.x = 0;
    if (++next_index_.y < size.y) return;
    next_index_.y = 0;
    ++next_index_.z;
  }
  void show_thread() const { device_state().thread = current_->index; }

  // Returns an idle or a new fiber. If there is no memory for one, resets the others and throws.
  static Fiber& take_fiber() try { return fibers().take(); } catch (...) {
    fibers().restart_running_fibers();
    throw;
  }
  void resume(Fiber& fiber) {
    current_ = &fiber;
    if (!std::exchange(fiber.is_idle, false)) show_thread();
    scheduler.resume(fiber);
  }
  void suspend() { scheduler.suspend(*current_); }

  const Call call_;
  const void* const parameters_;
  unsigned n_ = 0;
  unsigned next_ = 0;
  unsigned n_done_ = 0;
  TenonIndex next_index_ = {};
  const char* fault_ = nullptr;
  Fiber* current_ = nullptr;
  FiberList ready_, at_barrier_;
  unsigned n_at_barrier_ = 0;
  void* barrier_place_ = nullptr;
  std::vector<Warp> warps_;
};

Block* running = nullptr;

// The function that every fiber runs: runs threads of the current block, again and again.
void run_fiber() {
  scheduler.finish_switch(nullptr);
  while (true) running->run_threads();
}

}  // namespace

TenonEmulatedThread& device_state() {
  static TenonEmulatedThread state = {
      {},
      {},
      {},
      {},
      [](void* place) { running->barrier(place); },
      [](unsigned mask, unsigned long long value) { return running->exchange(mask, value); },
      [](const char* text) { running->fail(text); },
  };
  return state;
}

std::string run_block(Call call, const void* parameters) {
  Block block(call, parameters);
  running = &block;
  return block.run();
}

}  // namespace tenon_emulated
