// Shared by the fuzz targets: a scope on ref, and the check of what may be thrown.

#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/dispatch/context.h"
#include "core/dispatch/scope.h"

namespace tenon::fuzz {

// Created once and never destroyed.
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

// Runs `read` on the bytes. It may throw any error that rejects them, but not kInternal.
template <class Read>
int reads_or_refuses(const uint8_t* data, size_t size, const Read& read) {
  try {
    read(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const Error& error) {
    if (error.code() == Code::kInternal) std::abort();
  }
  return 0;
}

}  // namespace tenon::fuzz
