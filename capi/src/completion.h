// Runs the user's completion callback of an asynchronous call exactly once.

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

  void require_function() const {
    if (!function_) fail_argument("done.function", "is NULL");
  }

  // Starts asynchronous work by calling start(done). The work must call `done` once, on any thread,
  // with an ErrorInfo or with NULL for success. An exception of `start` counts as the work's error.
  // Afterwards the user's callback runs on the context's callback thread.
  template <class Start>
  void start_work(Context& context, Start&& start) {
    auto result = std::make_shared<Result>(context, function_, std::move(payload_));
    tenon_error* error = boundary([&] {
      start([result](const ErrorInfo* why) {
        schedule_callback(result, why ? make_error(*why) : nullptr);
      });
    });
    if (error) schedule_callback(result, error);
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

  // Schedules the user's callback with the result of the work.
  static void schedule_callback(const std::shared_ptr<Result>& result, tenon_error* error) {
    result->error = error;
    result->context.callbacks().push(
        [result] { result->function(result->payload.get(), result->error); });
  }

  void (*function_)(void*, const tenon_error*);
  Payload payload_;
};

}  // namespace tenon::capi
