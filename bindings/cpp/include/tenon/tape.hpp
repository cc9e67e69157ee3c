// The gradient tape: records calls from its construction on, and computes gradients.
//
//   Tape tape;
//   Tensor loss = mean(square(w * x - y));
//   Tensor dw = tape.gradient(loss, w);

#pragma once

#include <tenon/variable.hpp>

namespace tenon {

enum class Unreached : int32_t {
  kZeros = TENON_UNREACHED_ZEROS,  // The gradient is zeros if no target depends on the source.
  kNone = TENON_UNREACHED_NULL     // The gradient is an empty tensor handle in that case.
};

struct TapeOptions {
  bool persistent = false;  // Whether gradients can be computed more than once; otherwise the first
                            // computation consumes the tape.
  bool watch_trainable = true;  // Whether trainable variables are watched when they are read.
};

namespace detail {

inline std::vector<tenon_value*> handles(std::span<const Value> values) {
  std::vector<tenon_value*> result;
  for (const Value& value : values) result.push_back(value.get());
  return result;
}

inline std::vector<Tensor> adopt_all(std::span<tenon_tensor* const> tensors) {
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  for (tenon_tensor* tensor : tensors) result.push_back(Tensor::adopt(tensor));
  return result;
}

inline tenon_gradient_options c_options(Unreached unreached) {
  tenon_gradient_options options = TENON_GRADIENT_OPTIONS_DEFAULT;
  options.unreached = static_cast<int32_t>(unreached);
  return options;
}

}  // namespace detail

// Records the scope that is current when it is created. The last copy of the handle removes the
// tape from the scope.
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

  void watch(const Value& value, SourceLocation at = here()) const {
    check(tenon_tape_watch(get(), value.get()), at);
  }
  void pause(SourceLocation at = here()) const { check(tenon_tape_pause(get()), at); }
  void resume(SourceLocation at = here()) const { check(tenon_tape_resume(get()), at); }
  // Clears everything, and starts recording again.
  void reset(SourceLocation at = here()) const { check(tenon_tape_reset(get()), at); }
  bool is_recording() const { return tenon_tape_is_recording(get()); }

  // The tensors passed to watch(), then the variables.
  std::vector<Value> watched(SourceLocation at = here()) const {
    std::vector<Value> values;
    for (size_t i = 0; i < tenon_tape_count_watched(get()); ++i) {
      tenon_value* value = nullptr;
      check(tenon_tape_get_watched(get(), i, &value), at);
      values.push_back(Value::adopt(value));
    }
    return values;
  }

  Tensor gradient(const Tensor& target, const Value& source, SourceLocation at = here()) const {
    return std::move(gradients(target, {&source, 1}, Unreached::kZeros, at)[0]);
  }

  // Gradients of the target's sum with respect to each source.
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

  // Gradients of the targets' sum, weighted by the cotangents, with respect to each source. Empty
  // cotangents stand for ones.
  std::vector<Tensor> gradients(std::span<const Tensor> targets, std::span<const Tensor> cotangents,
                                std::span<const Value> sources,
                                Unreached unreached = Unreached::kZeros,
                                SourceLocation at = here()) const {
    if (!cotangents.empty() && cotangents.size() != targets.size()) {
      throw Error(Code::kInvalidArgument,
                  "gradients: " + std::to_string(cotangents.size()) + " cotangents for " +
                      std::to_string(targets.size()) + " targets",
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

  // The derivative of every element of the target with respect to every element of the source.
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

  // Returns the scope that the tape records. If that scope is tracing, sets its location.
  tenon_scope* scope(SourceLocation at) const {
    return detail::current.traced == scope_.get() ? current_scope(at) : scope_.get();
  }

  Scope scope_;
  Shared handle_;
};

}  // namespace tenon
