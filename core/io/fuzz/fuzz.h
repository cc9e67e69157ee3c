// Helpers of the fuzz targets: a scope on the device of the plugin `ref`, and a check that only
// expected errors are thrown.

#pragma once

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/dispatch/context.h"
#include "core/dispatch/scope.h"

namespace tenon::fuzz {

// Returns the scope that all inputs share. It is created on first use and never destroyed.
inline Scope& scope() {
  static Scope* const made = [] {
    ContextOptions options;
    options.log = [](int32_t, std::string_view) {};
    options.plugin_paths = {TENON_FUZZ_PLUGINS};
    options.memory_limit_bytes = uint64_t{1} << 26;
    auto* context = new Context(std::move(options));
    auto* scope = new Scope(*context, &context->device("ref"));
    static const Scope::Enter* const enter = new Scope::Enter(*scope);
    static_cast<void>(enter);
    return scope;
  }();
  return *made;
}

// Calls `read` with the fuzzer's bytes. Errors that reject the bytes are expected. An error with
// code kInternal, or more than one second of processor time, aborts the process, which libFuzzer
// reports as a crash. libFuzzer's own limit is wall time, which a busy machine can exceed.
template <class Read>
int call_reader(const uint8_t* data, size_t size, const Read& read) {
  constexpr std::clock_t kMaxTime = CLOCKS_PER_SEC;
  const std::clock_t begin = std::clock();
  try {
    read(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const Error& error) {
    if (error.code() == Code::kInternal) std::abort();
  }
  if (std::clock() - begin > kMaxTime) {
    std::fputs("fuzz: the input took more than one second of processor time\n", stderr);
    std::abort();
  }
  return 0;
}

}  // namespace tenon::fuzz
