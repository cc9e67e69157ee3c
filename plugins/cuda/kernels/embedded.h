// Kernels that consist of a file of device/ with type definitions, and a function that dispatches a
// launch.

#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "plugins/cuda/kernels/device_code.h"
#include "plugins/cuda/kernels/kernels.h"
#include "plugins/cuda/kernels/lazy_functions.h"
#include "plugins/cuda/kernels/loop_plan.h"

namespace tenon_cuda {

// Returns a type definition such as "typedef float T;" for a name that a file of device/ uses.
inline std::string type_line(const char* type, const char* name) {
  return std::string("typedef ") + type + " " + name + ";\n";
}

// Concatenates types.cuh, scalar.cuh and reduce.cuh, then `lines`, then the file.
std::string embedded_source(std::string_view lines, std::string_view file);

// Dispatches the functions of a kernel for a launch.
class Dispatcher {
 public:
  Dispatcher(Encoder& encoder, tenon_device_p* device, const Function* functions)
      : encoder_(encoder), device_(device), functions_(functions) {}

  tenon_device_p* device() const { return device_; }
  // Dispatches function `i` of the kernel with `n_blocks` blocks.
  tenon_error* run(size_t i, uint32_t n_blocks, const Parameters& parameters) const {
    return encoder_.dispatch({.function = functions_[i],
                              .n_blocks = n_blocks,
                              .block_size = kBlockSize,
                              .parameters = parameters.words()});
  }
  // Dispatches function `i` for `n` elements. A thread may process several elements.
  tenon_error* run_over(size_t i, int64_t n, const Parameters& parameters) const {
    return n == 0 ? nullptr : run(i, blocks_for(device_, n), parameters);
  }

 private:
  Encoder& encoder_;
  tenon_device_p* const device_;
  const Function* const functions_;
};

// Returns 0, the workspace size of kernels that need no workspace.
inline uint64_t no_workspace(const tenon_launch&) { return 0; }

template <size_t n, class Enqueue, class Workspace>
class EmbeddedKernel final : public Kernel {
 public:
  EmbeddedKernel(const Request& request, const std::array<const char*, n>& functions,
                 std::string source, Enqueue enqueue, Workspace workspace)
      : device_(request.device()),
        functions_(functions),
        source_(std::move(source)),
        enqueue_(std::move(enqueue)),
        workspace_(std::move(workspace)) {
    set_name(op_name(request.op()));
  }

  uint64_t workspace(const tenon_launch& launch) const override { return workspace_(launch); }

  tenon_error* enqueue(Encoder& encoder, const tenon_launch& launch) const override {
    const Function* functions = nullptr;
    const auto source = [&] { return source_; };
    if (tenon_error* error = functions_.get(device_, name(), source, &functions)) return error;
    return enqueue_(Dispatcher(encoder, device_, functions), launch);
  }

 private:
  tenon_device_p* const device_;
  const LazyFunctions<n> functions_;
  const std::string source_;
  const Enqueue enqueue_;
  const Workspace workspace_;
};

// Prepares a kernel with these functions. `enqueue(dispatcher, launch)` dispatches a launch and
// returns an error or NULL.
template <size_t n, class Enqueue, class Workspace = uint64_t (*)(const tenon_launch&)>
Prepared embedded_kernel(const Request& request, const std::array<const char*, n>& functions,
                         std::string source, Enqueue enqueue, Workspace workspace = no_workspace,
                         uint32_t traits = kTraits) {
  using Made = EmbeddedKernel<n, Enqueue, Workspace>;
  return {.kernel = std::make_unique<Made>(request, functions, std::move(source),
                                           std::move(enqueue), std::move(workspace)),
          .traits = traits};
}

// Pushes a struct Site: the address of the launch's error record, and the site that is written to
// it if an index is out of range.
inline void push_site(Parameters& parameters, const tenon_launch& launch) {
  parameters.push_address(error_record_address(launch));
  parameters.push(launch.site);
}

// Returns the strides of a view; all are 0 if the view is uniform.
inline std::array<int64_t, kMaxRank> strides_of(const tenon_view& view) {
  std::array<int64_t, kMaxRank> strides = {};
  if (view.strides_class != TENON_STRIDES_UNIFORM) {
    std::copy_n(view.strides, view.rank, strides.begin());
  }
  return strides;
}

// Returns the sizes of a view with 1 in place of the size of `axis`. A shape with these sizes has
// one element for each line of the view.
inline std::array<int64_t, kMaxRank> line_sizes(const tenon_view& view, size_t axis) {
  std::array<int64_t, kMaxRank> sizes = {};
  std::copy_n(view.sizes, view.rank, sizes.begin());
  sizes[axis] = 1;
  return sizes;
}
// Returns the number of lines of a view along an axis.
inline int64_t count_lines(const tenon_view& view, size_t axis) {
  int64_t n = 1;
  for (size_t i = 0; i < view.rank; ++i) n *= i == axis ? 1 : view.sizes[i];
  return n;
}

}  // namespace tenon_cuda
