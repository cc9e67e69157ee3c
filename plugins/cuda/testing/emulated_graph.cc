// The functions of the emulated driver for graphs of kernels. A launch runs the nodes in an order
// that the dependencies permit but that differs from the order of their creation, so that a missing
// dependency changes results.

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "plugins/cuda/testing/emulated_kernels.h"

using namespace tenon_cuda;
using namespace tenon_emulated;

namespace {

struct Graph;

struct Node {
  Graph* graph;
  size_t number;  // Index among the nodes of the graph.
  Launch launch;
  std::vector<size_t> dependencies;  // Numbers of earlier nodes.
};
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};
struct Executable {
  const Graph* graph;
  std::vector<Launch> launches;   // In the order in which they run.
  std::vector<size_t> positions;  // By number of a node: its index in `launches`.
};

std::mutex mutex;
std::set<const Node*> live_nodes;  // The nodes of graphs that are not destroyed.

Graph& from_c(CUgraph graph) { return *reinterpret_cast<Graph*>(graph); }
Executable& from_c(CUgraphExec executable) { return *reinterpret_cast<Executable*>(executable); }
// Returns the node of a handle; NULL if its graph is destroyed or it was never a node.
Node* find_node(CUgraphNode handle) {
  auto* const node = reinterpret_cast<Node*>(handle);
  return live_nodes.count(node) != 0 ? node : nullptr;
}

// Returns the numbers of the nodes in the order in which they run: always the last one whose
// dependencies have run.
std::vector<size_t> order_of(const Graph& graph) {
  std::vector<size_t> order;
  std::vector<bool> has_run(graph.nodes.size());
  const auto is_ready = [&](const std::unique_ptr<Node>& node) {
    return !has_run[node->number] &&
           std::all_of(node->dependencies.begin(), node->dependencies.end(),
                       [&](size_t number) { return has_run[number]; });
  };
  while (order.size() < graph.nodes.size()) {
    const auto next = std::find_if(graph.nodes.rbegin(), graph.nodes.rend(), is_ready);
    has_run[(*next)->number] = true;
    order.push_back((*next)->number);
  }
  return order;
}

}  // namespace

ENTRY(cuGraphCreate)(CUgraph* graph, unsigned flags) {
  NEEDS_CONTEXT("cuGraphCreate")
  if (flags != 0) return invalid("cuGraphCreate: the flags must be 0");
  *graph = reinterpret_cast<CUgraph>(new Graph);
  return 0;
}

ENTRY(cuGraphDestroy)(CUgraph graph) {
  {
    std::lock_guard guard(mutex);
    for (const auto& node : from_c(graph).nodes) live_nodes.erase(node.get());
  }
  delete &from_c(graph);
  MAY_FAIL("cuGraphDestroy")
  return 0;
}

ENTRY(cuGraphAddKernelNode_v2)
(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t n_dependencies,
 const CUkernelNodeParameters* parameters) {
  NEEDS_CONTEXT("cuGraphAddKernelNode_v2")
  Graph& to = from_c(graph);
  auto made = std::make_unique<Node>(Node{&to, to.nodes.size(), {}, {}});
  if (const CUresult result = make_launch(*parameters, made->launch)) return result;
  std::lock_guard guard(mutex);
  for (size_t i = 0; i < n_dependencies; ++i) {
    const Node* const before = find_node(dependencies[i]);
    if (before == nullptr || before->graph != &to) {
      return invalid("cuGraphAddKernelNode: a dependency is not a node of the graph");
    }
    made->dependencies.push_back(before->number);
  }
  live_nodes.insert(made.get());
  *node = reinterpret_cast<CUgraphNode>(made.get());
  to.nodes.push_back(std::move(made));
  return 0;
}

ENTRY(cuGraphInstantiateWithFlags)
(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  NEEDS_CONTEXT("cuGraphInstantiateWithFlags")
  if (flags != 0) return invalid("cuGraphInstantiateWithFlags: the flags must be 0");
  const Graph& from = from_c(graph);
  auto made = std::make_unique<Executable>();
  made->graph = &from;
  made->positions.resize(from.nodes.size());
  for (const size_t number : order_of(from)) {
    made->positions[number] = made->launches.size();
    made->launches.push_back(from.nodes[number]->launch);
  }
  *executable = reinterpret_cast<CUgraphExec>(made.release());
  return 0;
}

ENTRY(cuGraphExecDestroy)(CUgraphExec executable) {
  delete &from_c(executable);
  MAY_FAIL("cuGraphExecDestroy")
  return 0;
}

ENTRY(cuGraphExecKernelNodeSetParams_v2)
(CUgraphExec executable, CUgraphNode node, const CUkernelNodeParameters* parameters) {
  NEEDS_CONTEXT("cuGraphExecKernelNodeSetParams_v2")
  Executable& changed = from_c(executable);
  Launch launch;
  if (const CUresult result = make_launch(*parameters, launch)) return result;
  std::lock_guard guard(mutex);
  const Node* const of = find_node(node);
  if (of == nullptr || of->graph != changed.graph) {
    return invalid("cuGraphExecKernelNodeSetParams: the node is not in the graph");
  }
  changed.launches[changed.positions[of->number]] = std::move(launch);
  return 0;
}

ENTRY(cuGraphLaunch)(CUgraphExec executable, CUstream stream) {
  NEEDS_CONTEXT("cuGraphLaunch")
  tenon_emulated::from_c(stream).enqueue([launches = from_c(executable).launches] {
    for (const Launch& launch : launches) run_launch(launch);
  });
  return 0;
}
