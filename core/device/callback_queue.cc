#include "core/device/callback_queue.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace tenon {

#if defined(TENON_NO_THREADS)

struct CallbackQueue::State {};
CallbackQueue::CallbackQueue() = default;
CallbackQueue::~CallbackQueue() = default;
void CallbackQueue::push(std::function<void()> callback) { callback(); }

#else

struct CallbackQueue::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()> > waiting;
  std::thread thread;
  bool ending = false;

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return ending || !waiting.empty(); });
      if (waiting.empty()) return;
      {
        const std::function<void()> callback = std::move(waiting.front());
        waiting.pop_front();
        lock.unlock();
        callback();
      }
      lock.lock();
    }
  }
};

CallbackQueue::CallbackQueue() : state_(std::make_shared<State>()) {}

CallbackQueue::~CallbackQueue() {
  {
    std::lock_guard guard(state_->mutex);
    state_->ending = true;
    state_->changed.notify_one();
  }
  if (!state_->thread.joinable()) return;
  if (state_->thread.get_id() == std::this_thread::get_id()) {
    state_->thread.detach();
  } else {
    state_->thread.join();
  }
}

void CallbackQueue::push(std::function<void()> callback) {
  std::lock_guard guard(state_->mutex);
  state_->waiting.push_back(std::move(callback));
  if (!state_->thread.joinable()) {
    state_->thread = std::thread([state = state_] { state->run(); });
  }
  state_->changed.notify_one();
}

#endif

}  // namespace tenon
