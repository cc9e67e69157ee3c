// A CUDA graph of kernels that run one after another.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plugins/cuda/driver/driver.h"

namespace tenon_cuda {

// A kernel of a graph.
struct GraphKernel {
  CUfunction function;
  uint32_t n_blocks, block_size;
  std::span<const uint64_t> parameters;
};

// The context of the device must be current in every call.
class Graph {
 public:
  explicit Graph(const Driver& driver) : driver_(driver) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  // Appends a kernel, which runs after all earlier ones.
  tenon_error* add(const GraphKernel& kernel);
  // Makes the graph executable. Called once, after all kernels were added.
  tenon_error* instantiate();
  // Replaces the parameters of kernel `i` in later launches. Launches that are already enqueued
  // keep their parameters.
  tenon_error* update(size_t i, const GraphKernel& kernel);
  tenon_error* launch(CUstream stream);

 private:
  const Driver& driver_;
  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
  std::vector<CUgraphNode> nodes_;
};

}  // namespace tenon_cuda
