// The completion callback of an asynchronous call.

#pragma once

#include <tenon/types.h>

#include <memory>

#include "capi/src/boundary.h"
#include "core/dispatch/context.h"

namespace tenon::capi {

class Completion {
 public:
  explicit Completion(const tenon_done_callback& done)
      : function_(done.function), payload_(done.payload, done.destroy) {}

  void check() const {
    if (!function_) fail_argument("done.function", "is NULL");
  }

  // Starts the work. `start` receives a function that it must call once, on any thread, with an
  // ErrorInfo or NULL. If `start` throws, the exception is the work's error. The callback runs on
  // the context's callback thread.
  template <class Start>
  void finish(Context& context, Start&& start) {
    auto result = std::make_shared<Result>(context, function_, std::move(payload_));
    tenon_error* error = boundary([&] {
      start([result](const ErrorInfo* why) { tell(result, why ? make_error(*why) : nullptr); });
    });
    if (error) tell(result, error);
  }

 private:
  struct Result {
    Result(Context& context, void (*function)(void*, const tenon_error*), Payload payload)
        : context(context), function(function), payload(std::move(payload)) {}
    ~Result() { release_error(error); }

    Context& context;  // The context outlives its callbacks.
    void (*function)(void*, const tenon_error*);
    Payload payload;
    tenon_error* error = nullptr;
  };

  static void tell(const std::shared_ptr<Result>& result, tenon_error* error) {
    result->error = error;
    result->context.callbacks().push(
        [result] { result->function(result->payload.get(), result->error); });
  }

  void (*function_)(void*, const tenon_error*);
  Payload payload_;
};

}  // namespace tenon::capi
