#include "core/trace/plans/executable.h"

#include "core/trace/passes/pass.h"
#include "core/trace/passes/rewriter.h"

namespace tenon {
namespace {

// Returns a graph of the nodes that compute the `wanted` values from the `given` ones.
std::shared_ptr<Graph> copy_subgraph(const Graph& graph, std::span<const Node* const> nodes,
                                     std::span<const Value> given, std::span<const Value> wanted) {
  auto part = std::make_shared<Graph>(graph.shared_sizes());
  std::vector<Value> now(graph.n_slots());
  for (const Value& x : given) {
    now[x.slot()] = part->add_input(x.type(), InputRole::kArgument, x.name(), *x.node->device);
  }
  for (const Node* node : nodes) {
    Values inputs;
    for (const Value& x : node->inputs) inputs.push_back(x ? now[x.slot()] : Value());
    Node& made = part->add_copy(*node, std::move(inputs));
    for (uint32_t i = 0; i < made.types.size(); ++i) now[node->first_slot + i] = made.output(i);
  }
  std::vector<Value> outputs;
  for (const Value& y : wanted) outputs.push_back(now[y.slot()]);
  part->set_outputs(std::move(outputs));
  return part;
}

}  // namespace

Executable::Executable(const Graph& graph, std::span<const Value> given,
                       std::span<const Value> wanted)
    : graph_(graph),
      given_(given.begin(), given.end()),
      wanted_(wanted.begin(), wanted.end()),
      original_(graph, given, wanted) {}

// Returns the optimised subgraph, which the first call creates. Returns NULL if a tape or a tracer
// is active.
const Executable::Optimised* Executable::optimised(Scope& scope) const {
  if (scope.innermost()) return nullptr;
  if (is_optimised_.load(std::memory_order_acquire)) return &optimised_;
  const std::lock_guard guard(mutex_);
  if (is_optimised_.load(std::memory_order_relaxed)) return &optimised_;
  optimised_.constants.clear();  // A failed attempt may have left constants.
  const SizeTable::Use use(graph_.sizes());
  const bool is_whole = given_.size() == graph_.inputs().size() && is_disabled(scope, "dce");
  const Subgraph all(graph_, given_, wanted_, is_whole);
  const std::shared_ptr<Graph> part = copy_subgraph(graph_, all.nodes(), given_, wanted_);
  optimised_.graph = run_passes(scope, *part, optimised_.constants);
  if (!optimised_.graph) optimised_.graph = part;
  const Graph& graph = *optimised_.graph;
  optimised_.slice.emplace(graph, first_outputs_of(graph.inputs()), graph.outputs(), is_whole);
  is_optimised_.store(true, std::memory_order_release);
  return &optimised_;
}

Tensors Executable::apply(Scope& scope, std::span<const Size> sizes, TensorSpan given,
                          std::span<const uint8_t> spare) const {
  const Optimised* code = optimised(scope);
  if (!code) return original_.apply(scope, sizes, given);
  if (code->constants.empty()) return code->slice->apply(scope, sizes, given, spare);
  Tensors all(given);
  for (const Tensor& x : code->constants) all.push_back(x);
  return code->slice->apply(scope, sizes, all, spare);
}

// Runs the subgraph as a loop body; see Subgraph::repeat(). Returns false if nothing was run.
bool Executable::repeat(Scope& scope, std::span<const Size> sizes, Tensors& given,
                        TripLimit& limit) const {
  const Optimised* code = optimised(scope);
  if (!code) return false;
  const size_t n = given.size();
  for (const Tensor& x : code->constants) given.push_back(x);
  const bool done = code->slice->repeat(scope, sizes, given, limit);
  given.resize(n);
  return done;
}

}  // namespace tenon
