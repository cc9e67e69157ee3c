// The exception that a failed call throws.

#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <tenon/handle.hpp>
#if __has_include(<source_location>)
#include <source_location>
#endif

namespace tenon {

// A source line of the program, for error messages. Each function of the binding takes the line of
// its call, as its last parameter or in an Input; the default is here(). A function of your own can
// pass on the line of its caller:
//
//   Tensor dense(const Tensor& x, SourceLocation at = here()) { return relu(matmul({x, at}, w)); }
class SourceLocation {
 public:
  constexpr SourceLocation() = default;  // An unknown source line.
  constexpr SourceLocation(const char* file, uint32_t line) : file_(file), line_(line) {}
#ifdef __cpp_lib_source_location
  constexpr SourceLocation(const std::source_location& at)
      : SourceLocation(at.file_name(), at.line()) {}
#endif

  constexpr const char* file() const { return file_; }
  constexpr uint32_t line() const { return line_; }
  // Returns the text shown in errors: "train.cc:12". Empty if unknown.
  std::string str() const;

 private:
  const char* file_ = "";
  uint32_t line_ = 0;
};

// Returns the line of the call. Unlike std::source_location, these builtins exist in every
// supported compiler. They contain no function name, so they add no strings to a program.
constexpr SourceLocation here(const char* file = __builtin_FILE(),
                              uint32_t line = __builtin_LINE()) {
  return {file, line};
}

namespace detail {

// Returns whether a file is a header of this binding. Errors do not report such lines.
constexpr bool is_binding_header(std::string_view file) {
  constexpr std::string_view self = __FILE__;
  constexpr std::string_view folder =
      self.substr(0, self.size() - std::string_view("error.hpp").size());
  return file.starts_with(folder);
}

}  // namespace detail

inline std::string SourceLocation::str() const {
  if (line_ == 0 || detail::is_binding_header(file_)) return "";
  return std::string(file_) + ":" + std::to_string(line_);
}

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

// The exception of a failed call. Copies share the C error: copying does not allocate, and strings
// stay valid as long as any copy.
class Error : public std::exception {
 public:
  // Creates an error that a callback can throw.
  Error(Code code, std::string_view message, SourceLocation at = here())
      : Error(Shared::adopt(
                  tenon_error_create(static_cast<tenon_code>(code), detail::c_text(message))),
              at) {}

  // Takes ownership of the caller's reference.
  static Error adopt(tenon_error* error, SourceLocation at = {}) {
    return Error(Shared::adopt(error), at);
  }
  // Adds a reference to an object that the caller keeps.
  static Error share(const tenon_error* error, SourceLocation at = {}) {
    return Error(Shared::share(const_cast<tenon_error*>(error)), at);
  }

  // Returns the message and, if known, the line of the call:
  // "gather: C2: index 7 is outside [-3, 3) (called at train.cc:12)".
  const char* what() const noexcept override {
    return texts_ ? texts_->what.c_str() : message().data();
  }
  // Returns the message without the line: "gather: C2: index 7 is outside [-3, 3)".
  std::string_view message() const noexcept { return detail::view(tenon_error_message(get())); }
  Code code() const noexcept {
    const tenon_code code = tenon_error_code(get());
    return code > TENON_OK && code <= TENON_INTERNAL ? static_cast<Code>(code) : Code::kInternal;
  }
  std::string_view code_name() const noexcept {
    return detail::view(tenon_code_name(tenon_error_code(get())));
  }
  // The op, argument and device that the error concerns. Each is empty if it does not apply.
  std::string_view op() const noexcept { return detail::view(tenon_error_op(get())); }
  std::string_view argument() const noexcept { return detail::view(tenon_error_argument(get())); }
  std::string_view device() const noexcept { return detail::view(tenon_error_device(get())); }
  // Returns the line of the innermost call that failed: "train.cc:12". For a traced op, this is the
  // line that traced it. A location set by Scope::set_location() overrides the line.
  std::string_view location() const noexcept {
    return texts_ ? std::string_view(texts_->location) : std::string_view("");
  }

  // Returns the error that caused this error, if any.
  std::optional<Error> cause() const {
    const tenon_error* cause = tenon_error_cause(get());
    if (!cause) return std::nullopt;
    return share(cause);
  }

  // Returns a copy of the error with this location; an empty location keeps that of the error.
  Error at(std::string_view location) const noexcept {
    Error error = *this;
    if (!location.empty()) error.texts_ = texts(message(), location);
    return error;
  }

  tenon_error* get() const noexcept { return handle_.get(); }

 private:
  using Shared = Handle<tenon_error, tenon_error_retain, tenon_error_release>;
  struct Texts {
    std::string what, location;
  };

  Error(Shared handle, SourceLocation at) : handle_(std::move(handle)) {
    const std::string_view stated = detail::view(tenon_error_location(get()));
    if (!stated.empty()) {
      texts_ = texts(message(), stated);
    } else if (at.line() != 0) {
      texts_ = texts(message(), at);
    }
  }

  // Returns the texts of what() and location(); NULL if the location is empty or memory is
  // exhausted.
  static std::shared_ptr<const Texts> texts(std::string_view message,
                                            std::string_view location) noexcept try {
    return std::make_shared<const Texts>(
        Texts{std::string(message) + " (called at " + std::string(location) + ")",
              std::string(location)});
  } catch (...) {
    return nullptr;
  }
  static std::shared_ptr<const Texts> texts(std::string_view message, SourceLocation at) noexcept
      try {
    const std::string location = at.str();
    return location.empty() ? nullptr : texts(message, std::string_view(location));
  } catch (...) {
    return nullptr;
  }

  Shared handle_;
  std::shared_ptr<const Texts> texts_;
};

namespace detail {

// An exception that a callback threw while C code called it. `error` is the C error that the
// callback returned; `exception` is the original exception if it is not an Error. raise() rethrows
// it on the same thread when the outer C call fails with `error`. C calls in between may have
// prepended names to the message.
struct Thrown {
  std::exception_ptr exception;
  std::optional<Error> error;
};
inline thread_local Thrown thrown;

// Returns whether `outer` is `inner`, possibly with names prepended to its message.
inline bool is_same_error(const Error& inner, const Error& outer) {
  if (inner.code() != outer.code() || !outer.message().ends_with(inner.message())) return false;
  const std::string_view front =
      outer.message().substr(0, outer.message().size() - inner.message().size());
  return front.empty() || front.ends_with(": ");
}

[[noreturn]] inline void raise(tenon_error* raised, SourceLocation at) {
  const Error error = Error::adopt(raised, at);
  const Thrown pending = std::exchange(thrown, {});
  if (pending.error && is_same_error(*pending.error, error)) {
    if (pending.exception) std::rethrow_exception(pending.exception);
    throw error.at(pending.error->location());
  }
  throw error;
}

// Runs the body of a callback and converts an exception to the error that the callback returns.
template <class Body>
tenon_error* no_throw(Body&& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (const Error& error) {
    thrown = {nullptr, error};
  } catch (const std::exception& exception) {
    thrown = {std::current_exception(), Error(Code::kInternal, exception.what(), {})};
  } catch (...) {
    thrown = {std::current_exception(),
              Error(Code::kInternal,
                    "a callback threw an exception that is not derived from std::exception", {})};
  }
  tenon_error_retain(thrown.error->get());
  return thrown.error->get();
}

}  // namespace detail

// Throws the error that a C call returned, and takes ownership of it. Returns if it is NULL.
inline void check(tenon_error* error, SourceLocation at = here()) {
  if (error) [[unlikely]]
    detail::raise(error, at);
}

namespace detail {

// Returns the object that a C call creates: make<Shared>(at, [](tenon_tape** out) { return ...; }).
template <class Shared, class Call>
Shared make(SourceLocation at, Call&& call) {
  decltype(std::declval<Shared>().get()) object = nullptr;
  check(call(&object), at);
  return Shared::adopt(object);
}

}  // namespace detail
}  // namespace tenon
