// The gradient tape: records calls from its construction onward, and computes gradients.
//
//   Tape tape;
//   Tensor loss = mean(square(w * x - y));
//   Tensor dw = tape.gradient(loss, w);

#pragma once

#include <tenon/variable.hpp>

namespace tenon {

enum class Unreached : int32_t {
  kZeros = TENON_UNREACHED_ZEROS,  // A source that no target depends on has a zero gradient.
  kNone = TENON_UNREACHED_NULL     // Such a source has an empty tensor handle as its gradient.
};

struct TapeOptions {
  bool persistent = false;  // Whether gradients can be computed more than once; otherwise the first
                            // computation consumes the tape.
  bool watch_trainable = true;  // Whether trainable variables are watched when they are read.
};

namespace detail {

// Returns the C handles of the values.
inline std::vector<tenon_value*> handles(std::span<const Value> values) {
  std::vector<tenon_value*> result;
  for (const Value& value : values) result.push_back(value.get());
  return result;
}

// Takes ownership of the references in a C array.
inline std::vector<Tensor> adopt_all(std::span<tenon_tensor* const> tensors) {
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  for (tenon_tensor* tensor : tensors) result.push_back(Tensor::adopt(tensor));
  return result;
}

// Returns the C options for this treatment of unreached sources.
inline tenon_gradient_options c_options(Unreached unreached) {
  tenon_gradient_options options = TENON_GRADIENT_OPTIONS_DEFAULT;
  options.unreached = static_cast<int32_t>(unreached);
  return options;
}

}  // namespace detail

// Records the calls of the scope that is current when the tape is created. Destroying the last copy
// of the handle ends the recording.
class Tape {
 public:
  explicit Tape(const TapeOptions& options = {}, SourceLocation at = here())
      : scope_(Scope::share(current_scope(at))),
        handle_(detail::make<Shared>(at, [&](tenon_tape** out) {
          tenon_tape_options c_options = TENON_TAPE_OPTIONS_DEFAULT;
          c_options.persistent = options.persistent;
          c_options.watch_trainable = options.watch_trainable;
          return tenon_tape_create(scope_.get(), &c_options, out);
        })) {}

  // Watches a value: later calls that depend on it are recorded.
  void watch(const Value& value, SourceLocation at = here()) const {
    check(tenon_tape_watch(get(), value.get()), at);
  }
  // Stops recording until resume() is called. Keeps the calls recorded so far.
  void pause(SourceLocation at = here()) const { check(tenon_tape_pause(get()), at); }
  // Resumes recording after pause().
  void resume(SourceLocation at = here()) const { check(tenon_tape_resume(get()), at); }
  // Discards the recorded calls and watched values, and starts recording again.
  void reset(SourceLocation at = here()) const { check(tenon_tape_reset(get()), at); }
  bool is_recording() const { return tenon_tape_is_recording(get()); }

  // Returns the watched values: tensors passed to watch(), followed by variables.
  std::vector<Value> watched(SourceLocation at = here()) const {
    std::vector<Value> values;
    for (size_t i = 0; i < tenon_tape_count_watched(get()); ++i) {
      tenon_value* value = nullptr;
      check(tenon_tape_get_watched(get(), i, &value), at);
      values.push_back(Value::adopt(value));
    }
    return values;
  }

  // Returns the gradient of the sum of all elements of `target` with respect to `source`.
  Tensor gradient(const Tensor& target, const Value& source, SourceLocation at = here()) const {
    return std::move(gradients(target, {&source, 1}, Unreached::kZeros, at)[0]);
  }

  // Returns the gradients of the sum of all elements of `target` with respect to each source.
  std::vector<Tensor> gradients(const Tensor& target, std::span<const Value> sources,
                                Unreached unreached = Unreached::kZeros,
                                SourceLocation at = here()) const {
    return gradients(std::span(&target, 1), {}, sources, unreached, at);
  }
  std::vector<Tensor> gradients(const Tensor& target, std::initializer_list<Value> sources,
                                Unreached unreached = Unreached::kZeros,
                                SourceLocation at = here()) const {
    return gradients(target, std::span(sources.begin(), sources.size()), unreached, at);
  }

  // Returns the gradients of the sum of all targets, each weighted by its cotangent, with respect
  // to each source. If `cotangents` is empty, all weights are 1.
  std::vector<Tensor> gradients(std::span<const Tensor> targets, std::span<const Tensor> cotangents,
                                std::span<const Value> sources,
                                Unreached unreached = Unreached::kZeros,
                                SourceLocation at = here()) const {
    if (!cotangents.empty() && cotangents.size() != targets.size()) {
      throw Error(Code::kInvalidArgument,
                  "gradients: " + std::to_string(cotangents.size()) + " cotangents for " +
                      std::to_string(targets.size()) +
                      " targets; pass one cotangent for each target",
                  at);
    }
    const auto c_targets = detail::handles(targets);
    const auto c_cotangents = detail::handles(cotangents);
    const auto c_sources = detail::handles(sources);
    const tenon_gradient_options options = detail::c_options(unreached);
    std::vector<tenon_tensor*> grads(sources.size());
    check(tenon_tape_gradient(scope(at), get(), c_targets.data(), c_targets.size(),
                              cotangents.empty() ? nullptr : c_cotangents.data(), c_sources.data(),
                              c_sources.size(), &options, grads.data()),
          at);
    return detail::adopt_all(grads);
  }

  // Returns the derivatives of all elements of `target` with respect to all elements of `source`.
  Tensor jacobian(const Tensor& target, const Value& source, SourceLocation at = here()) const {
    tenon_value* const c_source = source.get();
    tenon_tensor* jacobian = nullptr;
    check(tenon_tape_jacobian(scope(at), get(), target.get(), &c_source, 1, nullptr, &jacobian),
          at);
    return Tensor::adopt(jacobian);
  }

  tenon_tape* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_tape, tenon_tape_retain, tenon_tape_release>;

  // Returns the scope that the tape records. If that scope is tracing, sets its location to `at`.
  tenon_scope* scope(SourceLocation at) const {
    return detail::current.traced == scope_.get() ? current_scope(at) : scope_.get();
  }

  Scope scope_;
  Shared handle_;
};

}  // namespace tenon
