// Runs completion callbacks one after another, on a thread of its own that starts with the first of
// them. Where there are no threads they run at once.

#pragma once

#include <functional>
#include <memory>

namespace tenon {

class CallbackQueue {
 public:
  CallbackQueue();
  ~CallbackQueue();  // Runs what is waiting, then ends.
  CallbackQueue(const CallbackQueue&) = delete;

  void push(std::function<void()> callback);

 private:
  // Shared with the thread, which may be the one that ends the queue: a callback can hold the last
  // handle of a context.
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tenon
