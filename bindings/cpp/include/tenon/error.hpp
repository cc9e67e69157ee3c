// What a failed call throws.

#pragma once

#include <exception>
#include <optional>
#include <tenon/handle.hpp>

namespace tenon {

enum class Code : int32_t {
  kInvalidArgument = TENON_INVALID_ARGUMENT,
  kOutOfRange = TENON_OUT_OF_RANGE,
  kNotFound = TENON_NOT_FOUND,
  kUnimplemented = TENON_UNIMPLEMENTED,
  kUnavailable = TENON_UNAVAILABLE,
  kOutOfMemory = TENON_OUT_OF_MEMORY,
  kCancelled = TENON_CANCELLED,
  kFailedPrecondition = TENON_FAILED_PRECONDITION,
  kDataLoss = TENON_DATA_LOSS,
  kDeviceLost = TENON_DEVICE_LOST,
  kInternal = TENON_INTERNAL
};

// Shares the C error, so that a copy allocates nothing and texts live as long as the exception.
class Error : public std::exception {
 public:
  // An error for a callback to throw.
  Error(Code code, std::string_view message)
      : handle_(Shared::adopt(
            tenon_error_create(static_cast<tenon_code>(code), detail::c_text(message)))) {}

  static Error adopt(tenon_error* error) { return Error(Shared::adopt(error)); }
  static Error share(const tenon_error* error) {
    return Error(Shared::share(const_cast<tenon_error*>(error)));
  }

  // The op, the rule and the values: "gather: C2: index 7 is outside [-3, 3)".
  const char* what() const noexcept override { return message().data(); }
  std::string_view message() const noexcept { return detail::view(tenon_error_message(get())); }
  Code code() const noexcept {
    const tenon_code code = tenon_error_code(get());
    return code > TENON_OK && code <= TENON_INTERNAL ? static_cast<Code>(code) : Code::kInternal;
  }
  std::string_view code_name() const noexcept {
    return detail::view(tenon_code_name(tenon_error_code(get())));
  }
  // Each is empty where it does not apply.
  std::string_view op() const noexcept { return detail::view(tenon_error_op(get())); }
  std::string_view argument() const noexcept { return detail::view(tenon_error_argument(get())); }
  std::string_view device() const noexcept { return detail::view(tenon_error_device(get())); }
  // What Scope::set_location() was told before the call.
  std::string_view location() const noexcept { return detail::view(tenon_error_location(get())); }

  std::optional<Error> cause() const {
    const tenon_error* cause = tenon_error_cause(get());
    if (!cause) return std::nullopt;
    return share(cause);
  }

  tenon_error* get() const noexcept { return handle_.get(); }

 private:
  using Shared = Handle<tenon_error, tenon_error_retain, tenon_error_release>;
  explicit Error(Shared handle) : handle_(std::move(handle)) {}

  Shared handle_;
};

namespace detail {

// An exception of the user's own on its way through a C call: what a callback threw, and the C
// error that stands for it until check() meets one that says the same, on the same thread. The call
// that it comes out of may have put the op's name in front.
struct Thrown {
  std::exception_ptr exception;
  std::optional<Error> error;
};
inline thread_local Thrown thrown;

inline bool stands_for(const Error& inner, const Error& outer) {
  if (inner.code() != outer.code() || !outer.message().ends_with(inner.message())) return false;
  const std::string_view front =
      outer.message().substr(0, outer.message().size() - inner.message().size());
  return front.empty() || front.ends_with(": ");
}

[[noreturn]] inline void raise(tenon_error* raised) {
  Error error = Error::adopt(raised);
  const Thrown pending = std::exchange(thrown, {});
  if (pending.error && stands_for(*pending.error, error)) {
    std::rethrow_exception(pending.exception);
  }
  throw error;
}

// Runs the body of a callback; what it throws becomes the error that the callback returns.
template <class Body>
tenon_error* no_throw(Body&& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (const Error& error) {
    tenon_error_retain(error.get());
    return error.get();
  } catch (const std::exception& exception) {
    thrown = {std::current_exception(), Error(Code::kInternal, exception.what())};
  } catch (...) {
    thrown = {std::current_exception(), Error(Code::kInternal, "a callback threw")};
  }
  tenon_error_retain(thrown.error->get());
  return thrown.error->get();
}

}  // namespace detail

// Throws an error that a C call returned, which is taken over; NULL does nothing.
inline void check(tenon_error* error) {
  if (error) [[unlikely]]
    detail::raise(error);
}

namespace detail {

// The object that a C call makes: make<Shared>([](tenon_tape** out) { return ...; }).
template <class Shared, class Call>
Shared make(Call&& call) {
  decltype(std::declval<Shared>().get()) object = nullptr;
  check(call(&object));
  return Shared::adopt(object);
}

}  // namespace detail
}  // namespace tenon
