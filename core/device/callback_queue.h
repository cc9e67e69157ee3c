// Runs completion callbacks one at a time on its own thread, which starts with the first callback.
// Without thread support, callbacks run immediately.

#pragma once

#include <functional>
#include <memory>

namespace tenon {

class CallbackQueue {
 public:
  CallbackQueue();
  ~CallbackQueue();  // Runs the callbacks that are still queued, then ends the thread.
  CallbackQueue(const CallbackQueue&) = delete;

  void push(std::function<void()> callback);

 private:
  // Shared with the thread, which may destroy the queue itself: a callback can release the last
  // handle of the context.
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tenon
