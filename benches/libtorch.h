// Includes libtorch and reports its version. Included by every NAME_libtorch.cc.

#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>

#include <string>

#if __has_include(<torch/csrc/api/include/torch/version.h>)
#include <torch/csrc/api/include/torch/version.h>
#elif __has_include(<torch/version.h>)
#include <torch/version.h>
#endif

// Returns the version in the headers of libtorch.
inline std::string version_of_libtorch() {
#if defined(TORCH_VERSION)
  return TORCH_VERSION;
#else
  return "of unknown version";
#endif
}
