#include <tenon/error.h>

#include <cstdlib>

#include "capi/src/boundary.h"

using namespace tenon::capi;

namespace {

// Returns a text field of an error without a copy; empty if `error` is NULL.
tenon_string field(const tenon_error* error, std::string tenon::ErrorInfo::*text) {
  if (!error) return TENON_STR("");
  return borrow_text(error->info.*text);
}

}  // namespace

tenon_error* tenon_error_create(tenon_code code, tenon_string message) {
  const std::string_view text =
      message.data ? std::string_view(message.data, message.size) : std::string_view();
  return tenon::make_error(tenon::code_from_c(code), text);
}

void tenon_error_retain(tenon_error* error) {
  if (error) error->owners.fetch_add(1, std::memory_order_relaxed);
}

void tenon_error_release(tenon_error* error) { tenon::release_error(error); }

tenon_code tenon_error_code(const tenon_error* error) {
  return error ? static_cast<tenon_code>(error->info.code) : TENON_OK;
}

tenon_string tenon_error_message(const tenon_error* error) {
  if (!error) return TENON_STR("");
  const std::string_view message = tenon::message_of(*error);
  return {message.data(), message.size()};
}

tenon_string tenon_error_op(const tenon_error* error) {
  return field(error, &tenon::ErrorInfo::op);
}

tenon_string tenon_error_argument(const tenon_error* error) {
  return field(error, &tenon::ErrorInfo::argument);
}

tenon_string tenon_error_device(const tenon_error* error) {
  return field(error, &tenon::ErrorInfo::device);
}

tenon_string tenon_error_location(const tenon_error* error) {
  return field(error, &tenon::ErrorInfo::location);
}

const tenon_error* tenon_error_cause(const tenon_error* error) {
  return error ? error->cause : nullptr;
}

tenon_string tenon_code_name(tenon_code code) {
  const tenon::Code known = code == TENON_OK ? tenon::Code::kOk : tenon::code_from_c(code);
  const std::string_view name = tenon::name_of(known);
  return {name.data(), name.size()};
}

void tenon_string_release(tenon_string text) { std::free(const_cast<char*>(text.data)); }
