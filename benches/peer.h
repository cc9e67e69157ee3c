// Declares the peer of a bench: the library with which it compares Tenon. NAME_libtorch.cc contains
// the same work in PyTorch's C++ API, if that is installed.

#pragma once

#include <tenon/tenon.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#if defined(TENON_HAVE_LIBTORCH)
// Registers the benchmarks of NAME_libtorch.cc.
void register_libtorch();
std::string libtorch_version();
#endif

namespace benches {

// Registers the peer's benchmarks, or prints that there is no peer. Returns the versions of Tenon
// and of the peer.
inline std::vector<std::string> register_peer() {
  std::vector<std::string> versions = {"tenon " + std::string(tenon_version().data)};
#if defined(TENON_HAVE_LIBTORCH)
#if defined(__x86_64__)
  // Makes PyTorch use AVX-512 if the processor has it, which is not always its default.
  if (__builtin_cpu_supports("avx512f")) setenv("ATEN_CPU_CAPABILITY", "avx512", 1);
#endif
  register_libtorch();
  versions.push_back("libtorch " + libtorch_version());
#else
  std::fprintf(stderr, "built without libtorch: no ratios (./dev setup --peers installs it)\n");
#endif
  return versions;
}

}  // namespace benches
