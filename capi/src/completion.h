// The callback of a call that finishes later.

#pragma once

#include <tenon/types.h>

#include <memory>

#include "capi/src/boundary.h"

namespace tenon::capi {

class Completion {
 public:
  explicit Completion(const tenon_done_callback& done)
      : function_(done.function), payload_(done.payload, done.destroy) {}

  void check() const {
    if (!function_) fail_argument("done.function", "is NULL");
  }

  // Does the work, and hands what came of it to the context's callback thread. All devices that
  // there are can block, so the work is done when this returns.
  template <class Work>
  void finish(Context& context, Work&& work) {
    struct Result {
      explicit Result(Payload given) : payload(std::move(given)) {}
      ~Result() { release_error(error); }
      Payload payload;
      tenon_error* error = nullptr;
    };
    auto result = std::make_shared<Result>(std::move(payload_));
    result->error = boundary(work);
    context.callbacks().push([function = function_, result = std::move(result)] {
      function(result->payload.get(), result->error);
    });
  }

 private:
  void (*function_)(void*, const tenon_error*);
  Payload payload_;
};

}  // namespace tenon::capi
