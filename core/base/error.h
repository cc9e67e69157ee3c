// The core's exception type for user errors, and functions to throw it.

#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/dtype.h"
#include "core/base/size.h"

namespace tenon {

class Dims;
struct TensorType;

enum class Code : int32_t {
  kOk = TENON_OK,
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
  kInternal = TENON_INTERNAL,
};

std::string_view name_of(Code code);

// The data of an error: the message is self-contained; the fields locate the error.
struct ErrorInfo {
  Code code = Code::kInternal;
  std::string message;
  std::string op;                          // Name of the op that failed; may be empty.
  std::string argument;                    // Name of the invalid parameter; may be empty.
  std::string device;                      // Name of the device; may be empty.
  std::string location;                    // The user's source line, if a binding gave it.
  std::shared_ptr<const ErrorInfo> cause;  // The original error, with its own message.
};

class Error final : public std::exception {
 public:
  explicit Error(ErrorInfo info) : info_(std::move(info)) {}
  Error(Code code, std::string message) {
    info_.code = code;
    info_.message = std::move(message);
  }

  const char* what() const noexcept override { return info_.message.c_str(); }
  Code code() const { return info_.code; }
  // Whether the same call may succeed later: out of memory, or cancelled. Such an error does not
  // depend on the call itself. It must not be cached and must not trigger a fallback.
  bool is_transient() const { return code() == Code::kOutOfMemory || code() == Code::kCancelled; }
  const ErrorInfo& info() const { return info_; }

  // Adds the op's name to the fields and the message, unless they already name an inner op.
  void set_op(std::string_view name);
  void set_argument(std::string_view name);
  void set_device(std::string_view name);
  void set_location(std::string_view location);

 private:
  ErrorInfo info_;
};

// One value in a message. Borrows its argument.
class FormatArg {
 public:
  enum class Kind : uint8_t { kInt, kUint, kDouble, kText, kSize, kDims, kType };

  FormatArg(bool v) : kind_(Kind::kText), text_(v ? "true" : "false") {}
  FormatArg(int v) : kind_(Kind::kInt), int_(v) {}
  FormatArg(long v) : kind_(Kind::kInt), int_(v) {}
  FormatArg(long long v) : kind_(Kind::kInt), int_(v) {}
  FormatArg(unsigned v) : kind_(Kind::kUint), int_(static_cast<int64_t>(v)) {}
  FormatArg(unsigned long v) : kind_(Kind::kUint), int_(static_cast<int64_t>(v)) {}
  FormatArg(unsigned long long v) : kind_(Kind::kUint), int_(static_cast<int64_t>(v)) {}
  FormatArg(double v) : kind_(Kind::kDouble), double_(v) {}
  FormatArg(const char* v) : kind_(Kind::kText), text_(v) {}
  FormatArg(std::string_view v) : kind_(Kind::kText), text_(v) {}
  FormatArg(const std::string& v) : kind_(Kind::kText), text_(v) {}
  FormatArg(DType v) : kind_(Kind::kText), text_(name_of(v)) {}
  FormatArg(Size v) : kind_(Kind::kSize), int_(v.word()) {}
  FormatArg(const Dims& v) : kind_(Kind::kDims), dims_(&v) {}
  FormatArg(const TensorType& v) : kind_(Kind::kType), type_(&v) {}

  void append_to(std::string& out) const;

 private:
  Kind kind_;
  union {
    int64_t int_;
    double double_;
    std::string_view text_;
    const Dims* dims_;
    const TensorType* type_;
  };
};

// Replaces each {} of `pattern` by the next argument. Types print as f32[2,3], shapes as [2,3].
std::string format(std::string_view pattern, std::initializer_list<FormatArg> args);

[[noreturn]] void fail(Code code, std::string_view pattern,
                       std::initializer_list<FormatArg> args = {});

// Throws an error caused by `cause`, and keeps the cause with its op, argument, device and line.
[[noreturn]] void fail_because(const Error& cause, Code code, std::string_view pattern,
                               std::initializer_list<FormatArg> args = {});

// Throws INVALID_ARGUMENT unless `ok`. Patterns about an op begin with the constraint's label: "C1:
// x must be floating point, but is {}".
template <class... Args>
inline void require(bool ok, std::string_view pattern, const Args&... args) {
  if (!ok) [[unlikely]]
    fail(Code::kInvalidArgument, pattern, {FormatArg(args)...});
}

// The overload for sizes. If the test can be true but is not proved, adds a guard (size.h).
template <class... Args>
inline void require(const SizeTest& test, std::string_view pattern, const Args&... args) {
  if (!test.hold()) [[unlikely]]
    fail(Code::kInvalidArgument, pattern, {FormatArg(args)...});
}

template <class... Args>
inline void require_code(bool ok, Code code, std::string_view pattern, const Args&... args) {
  if (!ok) [[unlikely]]
    fail(code, pattern, {FormatArg(args)...});
}

std::string to_string(Size size);
std::string to_string(const Dims& dims);
std::string to_string(const TensorType& type);

}  // namespace tenon
