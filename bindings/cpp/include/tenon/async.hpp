// Non-blocking waits and reads, as futures. tenon.hpp does not include this header because <future>
// is slow to compile.

#pragma once

#include <future>
#include <memory>
#include <tenon/tensor.hpp>

namespace tenon {

namespace detail {

// Returns a C callback that calls state->finish() on success, and stores an error in
// state->promise.
template <class State>
tenon_done_callback completion(std::unique_ptr<State> state) {
  tenon_done_callback done = {};
  done.function = [](void* payload, const tenon_error* error) {
    State& self = *static_cast<State*>(payload);
    if (error) {
      self.promise.set_exception(std::make_exception_ptr(Error::share(error)));
    } else {
      self.finish();
    }
  };
  done.destroy = [](void* payload) { delete static_cast<State*>(payload); };
  done.payload = state.release();
  return done;
}

// The state of a wait without a result.
struct Waiting {
  std::promise<void> promise;
  void finish() { promise.set_value(); }
};

}  // namespace detail

// Non-blocking Scope::wait(): the future is ready when all work has finished, and throws its error.
inline std::future<void> wait_async(const Scope& scope, SourceLocation at = here()) {
  auto waiting = std::make_unique<detail::Waiting>();
  std::future<void> done = waiting->promise.get_future();
  check(tenon_scope_wait_async(scope.get(), detail::completion(std::move(waiting))), at);
  return done;
}

// Non-blocking Event::wait(): the future is ready when the device has reached the event.
inline std::future<void> wait_async(const Event& event, SourceLocation at = here()) {
  auto waiting = std::make_unique<detail::Waiting>();
  std::future<void> done = waiting->promise.get_future();
  check(tenon_event_wait_async(event.get(), detail::completion(std::move(waiting))), at);
  return done;
}

// Non-blocking Tensor::to_vector(): the future is ready when the elements are copied, and throws
// any error.
template <class T>
std::future<std::vector<T>> to_vector_async(const Tensor& x, SourceLocation at = here()) {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
  detail::require_elements(x.dtype(), dtype_of<T>(), "to_vector_async", at);
  struct Reading {
    std::vector<T> elements;
    std::promise<std::vector<T>> promise;
    void finish() { promise.set_value(std::move(elements)); }
  };
  auto reading = std::make_unique<Reading>();
  reading->elements.resize(static_cast<size_t>(x.count(at)));
  std::future<std::vector<T>> elements = reading->promise.get_future();
  T* const data = reading->elements.data();
  const size_t size = reading->elements.size() * sizeof(T);
  check(tenon_tensor_read_async(current_scope(at), x.get(), data, size,
                                detail::completion(std::move(reading))),
        at);
  return elements;
}

}  // namespace tenon
