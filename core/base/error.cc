#include "core/base/error.h"

#define FMT_HEADER_ONLY
#include <fmt/args.h>
#include <fmt/format.h>

#include "core/base/shape.h"

namespace tenon {

std::string_view name_of(Code code) {
  switch (code) {
    case Code::kOk:
      return "OK";
    case Code::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case Code::kOutOfRange:
      return "OUT_OF_RANGE";
    case Code::kNotFound:
      return "NOT_FOUND";
    case Code::kUnimplemented:
      return "UNIMPLEMENTED";
    case Code::kUnavailable:
      return "UNAVAILABLE";
    case Code::kOutOfMemory:
      return "OUT_OF_MEMORY";
    case Code::kCancelled:
      return "CANCELLED";
    case Code::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case Code::kDataLoss:
      return "DATA_LOSS";
    case Code::kDeviceLost:
      return "DEVICE_LOST";
    case Code::kInternal:
      break;
  }
  return "INTERNAL";
}

void Error::set_op(std::string_view name) {
  if (!info_.op.empty()) return;
  info_.op = name;
  const std::string_view message = info_.message;
  const bool is_named = message.starts_with(name) && message.substr(name.size()).starts_with(' ');
  if (!is_named) info_.message = std::string(name) + ": " + info_.message;
}

void Error::set_argument(std::string_view name) {
  if (info_.argument.empty()) info_.argument = name;
}

void Error::set_device(std::string_view name) {
  if (info_.device.empty()) info_.device = name;
}

void Error::set_location(std::string_view location) {
  if (info_.location.empty()) info_.location = location;
}

void checked_math::fail(const char* operation, int64_t a, int64_t b) {
  tenon::fail(Code::kOutOfRange, "{} {} {} overflows int64 or divides by zero", {a, operation, b});
}

std::string to_string(const Dims& dims) {
  std::string out = "[";
  for (const Size size : dims) {
    if (out.size() > 1) out += ",";
    out += to_string(size);
  }
  return out + "]";
}

std::string to_string(const TensorType& type) {
  std::string text;
  const bool of_tokens = type.lists >= TensorType::kToken;
  const int lists = of_tokens ? type.lists - TensorType::kToken : type.lists;
  for (int i = 0; i < lists; ++i) text += "list of ";
  if (of_tokens) return text + (type.dtype == DType::kBool ? "token" : "record");
  return text + std::string(name_of(type.dtype)) + to_string(type.shape);
}

void FormatArg::append_to(std::string& out) const {
  switch (kind_) {
    case Kind::kInt:
      out += fmt::format("{}", int_);
      return;
    case Kind::kUint:
      out += fmt::format("{}", static_cast<uint64_t>(int_));
      return;
    case Kind::kDouble:
      out += fmt::format("{}", double_);
      return;
    case Kind::kDims:
      out += to_string(*dims_);
      return;
    case Kind::kType:
      out += to_string(*type_);
      return;
    case Kind::kSize:
      out += to_string(Size::from_word(int_));
      return;
    case Kind::kText:
      out += text_;
      return;
  }
}

std::string format(std::string_view pattern, std::initializer_list<FormatArg> args) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const FormatArg& arg : args) {
    std::string text;
    arg.append_to(text);
    store.push_back(text);
  }
  return fmt::vformat(fmt::string_view(pattern.data(), pattern.size()), store);
}

void fail(Code code, std::string_view pattern, std::initializer_list<FormatArg> args) {
  throw Error(code, format(pattern, args));
}

void fail_because(const Error& cause, Code code, std::string_view pattern,
                  std::initializer_list<FormatArg> args) {
  ErrorInfo info = cause.info();
  info.code = code;
  info.message = format(pattern, args);
  info.cause = std::make_shared<ErrorInfo>(cause.info());
  throw Error(std::move(info));
}

}  // namespace tenon
