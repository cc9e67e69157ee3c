#include "plugins/cuda/testing/emulated_block.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define TENON_ASAN_FIBERS 1
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#define TENON_TSAN_FIBERS 1
#include <sanitizer/tsan_interface.h>
#endif

namespace tenon_emulated {
namespace {

constexpr size_t kStackBytes = 256 << 10;
constexpr unsigned kWarp = 32;

struct Fiber {
  ucontext_t context;
  jmp_buf jump;
  void* stack = nullptr;
  bool is_started = false;
  unsigned thread = 0;
#if defined(TENON_TSAN_FIBERS)
  void* tsan = __tsan_create_fiber(0);
#endif

  Fiber() {
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

struct Warp {
  unsigned arrived = 0;
  unsigned phase = 0;  // Values alternate, so that a fast lane does not overwrite what others read.
  unsigned long long values[2][kWarp];
  std::vector<Fiber*> waiting;
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
    while (fault_.empty()) {
      if (!ready_.empty()) {
        Fiber* const fiber = ready_.front();
        ready_.pop_front();
        resume(*fiber);
      } else if (next_ < n_) {
        resume(idle_fiber());
      } else if (n_done_ < n_) {
        fault_ = "divergent barrier: " + std::to_string(n_ - n_done_) + " of " +
                 std::to_string(n_) + " threads wait for others that have ended or wait elsewhere";
      } else {
        break;
      }
    }
    return fault_;
  }

  void barrier(void* place) {
    if (!at_barrier_.empty() && place != barrier_place_) {
      return fail("divergent barrier: threads of one block wait at different places");
    }
    barrier_place_ = place;
    if (at_barrier_.size() + 1 < n_) {
      at_barrier_.push_back(current_);
      return suspend();
    }
    ready_.insert(ready_.end(), at_barrier_.begin(), at_barrier_.end());
    at_barrier_.clear();
  }

  const unsigned long long* exchange(unsigned mask, unsigned long long value) {
    const unsigned thread = current_->thread, lane = thread % kWarp;
    Warp& warp = warps_[thread / kWarp];
    const unsigned n_lanes = std::min(kWarp, n_ - thread / kWarp * kWarp);
    const unsigned wanted = n_lanes == kWarp ? mask : mask & ((1u << n_lanes) - 1);
    if ((wanted >> lane & 1) == 0) {
      fail("a lane exchanges values through a mask that does not name it");
      return nullptr;
    }
    const unsigned long long* const values = warp.values[warp.phase];
    warp.values[warp.phase][lane] = value;
    warp.arrived |= 1u << lane;
    if (warp.arrived != wanted) {
      warp.waiting.push_back(current_);
      suspend();
      return values;
    }
    warp.arrived = 0;
    warp.phase ^= 1;
    ready_.insert(ready_.end(), warp.waiting.begin(), warp.waiting.end());
    warp.waiting.clear();
    return values;
  }

  void fail(const char* text) {
    fault_ = text;
    suspend();
  }

  // Of a fiber: runs threads until there are none left.
  void run_threads() {
    while (true) {
      while (next_ < n_ && fault_.empty()) {
        current_->thread = next_++;
        show_thread();
        call_(parameters_);
        ++n_done_;
      }
      idle_.push_back(current_);
      suspend();
    }
  }

  void finish_switch() {
#if defined(TENON_ASAN_FIBERS)
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
  }

 private:
  Fiber& idle_fiber() {
    if (idle_.empty()) {
      if (n_fibers_ == pool().size()) pool().push_back(std::make_unique<Fiber>());
      Fiber& fiber = *pool()[n_fibers_++];
      fiber.is_started = false;  // What an earlier block left on it is dropped.
      return fiber;
    }
    Fiber* const fiber = idle_.back();
    idle_.pop_back();
    return *fiber;
  }

  static std::vector<std::unique_ptr<Fiber>>& pool() {
    static std::vector<std::unique_ptr<Fiber>> fibers;
    return fibers;
  }

  void show_thread() const {
    TenonEmulatedThread& state = device_state();
    const TenonIndex size = state.block_size;
    const unsigned t = current_->thread;
    state.thread = {t % size.x, t / size.x % size.y, t / (size.x * size.y)};
  }

  static void enter();

  void resume(Fiber& fiber) {
    current_ = &fiber;
#if defined(TENON_ASAN_FIBERS)
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, fiber.stack, kStackBytes);
#endif
#if defined(TENON_TSAN_FIBERS)
    scheduler_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber.tsan, 0);
#endif
    if (_setjmp(jump_) == 0) {
      if (fiber.is_started) {
        show_thread();
        _longjmp(fiber.jump, 1);
      }
      fiber.is_started = true;
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = fiber.stack;
      fiber.context.uc_stack.ss_size = kStackBytes;
      fiber.context.uc_link = nullptr;
      makecontext(&fiber.context, &Block::enter, 0);
      setcontext(&fiber.context);
    }
#if defined(TENON_ASAN_FIBERS)
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  }

  // Back to run(), until it resumes the fiber.
  void suspend() {
    Fiber& fiber = *current_;
#if defined(TENON_ASAN_FIBERS)
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, nullptr, 0);
#endif
#if defined(TENON_TSAN_FIBERS)
    __tsan_switch_to_fiber(scheduler_, 0);
#endif
    if (_setjmp(fiber.jump) == 0) _longjmp(jump_, 1);
#if defined(TENON_ASAN_FIBERS)
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  }

  const Call call_;
  const void* const parameters_;
  unsigned n_ = 0;
  unsigned next_ = 0;
  unsigned n_done_ = 0;
  std::string fault_;
  jmp_buf jump_;
#if defined(TENON_TSAN_FIBERS)
  void* scheduler_ = nullptr;
#endif
  Fiber* current_ = nullptr;
  size_t n_fibers_ = 0;
  std::vector<Fiber*> idle_;
  std::deque<Fiber*> ready_;
  std::vector<Fiber*> at_barrier_;
  void* barrier_place_ = nullptr;
  std::vector<Warp> warps_;
};

Block* running = nullptr;

void Block::enter() {
  running->finish_switch();
  running->run_threads();
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
