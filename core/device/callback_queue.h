// Runs completion callbacks one at a time on its own thread, which starts with the first callback.
// Without thread support, callbacks run immediately.

#pragma once

#include <functional>
#include <memory>

namespace tenon {

class CallbackQueue {
 public:
  CallbackQueue();
  ~CallbackQueue();  // Runs the waiting callbacks, then ends.
  CallbackQueue(const CallbackQueue&) = delete;

  void push(std::function<void()> callback);

 private:
  // Shared with the thread. The thread itself may end the queue, because a callback can hold the
  // last handle of a context.
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tenon
