#include "plugins/cuda/driver/graph.h"

namespace tenon_cuda {
namespace {

// The parameters of a node, in the form that the driver reads.
class NodeParameters {
 public:
  explicit NodeParameters(const GraphKernel& kernel)
      : size_(kernel.parameters.size_bytes()),
        extra_{kParameterPointer, const_cast<uint64_t*>(kernel.parameters.data()), kParameterSize,
               &size_, kParameterEnd},
        parameters_{.function = kernel.function,
                    .grid_x = kernel.n_blocks,
                    .grid_y = 1,
                    .grid_z = 1,
                    .block_x = kernel.block_size,
                    .block_y = 1,
                    .block_z = 1,
                    .shared_bytes = 0,
                    .parameters = nullptr,
                    .extra = extra_,
                    .kernel = nullptr,
                    .context = nullptr} {}
  NodeParameters(const NodeParameters&) = delete;
  NodeParameters& operator=(const NodeParameters&) = delete;

  const CUkernelNodeParameters* get() const { return &parameters_; }

 private:
  size_t size_;
  void* extra_[5];
  CUkernelNodeParameters parameters_;
};

}  // namespace

Graph::~Graph() {
  if (executable_ != nullptr) driver_.cu.GraphExecDestroy(executable_);
  if (graph_ != nullptr) driver_.cu.GraphDestroy(graph_);
}

tenon_error* Graph::add(const GraphKernel& kernel) {
  if (graph_ == nullptr) {
    const CUresult result = driver_.cu.GraphCreate(&graph_, 0);
    if (tenon_error* error = driver_.check(result, "creating a graph")) return error;
  }
  const CUgraphNode* const last = nodes_.empty() ? nullptr : &nodes_.back();
  CUgraphNode node = nullptr;
  const CUresult result = driver_.cu.GraphAddKernelNode(
      &node, graph_, last, last != nullptr ? 1 : 0, NodeParameters(kernel).get());
  if (tenon_error* error = driver_.check(result, "adding a kernel to a graph")) return error;
  nodes_.push_back(node);
  return nullptr;
}

tenon_error* Graph::instantiate() {
  return driver_.check(driver_.cu.GraphInstantiate(&executable_, graph_, 0),
                       "instantiating a graph");
}

tenon_error* Graph::update(size_t i, const GraphKernel& kernel) {
  const CUresult result =
      driver_.cu.GraphExecKernelNodeSetParams(executable_, nodes_[i], NodeParameters(kernel).get());
  return driver_.check(result, "updating a kernel of a graph");
}

tenon_error* Graph::launch(CUstream stream) {
  return driver_.check(driver_.cu.GraphLaunch(executable_, stream), "launching a graph");
}

}  // namespace tenon_cuda
