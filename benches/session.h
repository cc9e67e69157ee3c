// Helpers of all benches: a scope with one thread, a check that exits the program on an error, and
// tensors from host data.

#pragma once

#include <tenon/tenon.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace benches {

// Prints the message of `error` and exits, unless `error` is NULL.
inline void check(tenon_error* error) {
  if (!error) return;
  std::fprintf(stderr, "%s\n", tenon_error_message(error).data);
  std::exit(1);
}

// Returns the scope of all benches. Its context has one thread.
inline tenon_scope* scope() {
  static tenon_scope* scope = [] {
    tenon_context* context = nullptr;
    tenon_context_options options = TENON_CONTEXT_OPTIONS_DEFAULT;
    options.threads = 1;
    check(tenon_context_create(&options, &context));
    return tenon_context_default_scope(context);
  }();
  return scope;
}

// Copies row-major elements into a new tensor.
template <class T>
tenon_tensor* tensor(tenon_dtype dtype, const std::vector<int64_t>& shape,
                     const std::vector<T>& data) {
  tenon_tensor* x = nullptr;
  check(tenon_tensor_from_data(scope(), dtype, shape.data(), shape.size(), data.data(),
                               data.size() * sizeof(T), &x));
  return x;
}

}  // namespace benches
