// fold: precomputes calls that depend only on inline scalars and sizes, on the devices where they
// would run, and stores the results. Large results are not stored: recomputing them costs less than
// keeping them.
//
// A small model may request more memory than the machine has. Therefore all sizes are bounded
// before anything is computed: each result by kMaxBytes, all results of one graph by kMaxAllBytes
// and, if a composite may need more than its result, its attributes by kMaxGrowth. A call beyond
// these bounds remains in the graph.
//
// Takes O(n) time for n nodes, plus the time of the folded calls.

#include <algorithm>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/search.h"
#include "core/dispatch/dispatch.h"
#include "core/trace/graph/region.h"
#include "core/trace/passes/pass.h"
#include "core/trace/passes/rewriter.h"
#include "core/trace/plans/subgraph.h"

namespace tenon {
namespace {

constexpr uint64_t kMaxBytes = 16 * 1024;
constexpr uint64_t kMaxAllBytes = 64 * 1024 * 1024;
constexpr int64_t kMaxGrowth = 1 << 20;

// Multiplies the integers among attributes that may enlarge results: padding, repetitions, window
// sizes.
class Growth final : public AttrVisitor {
 public:
  bool is_bounded() const { return growth_ <= kMaxGrowth; }

  void on_int(std::string_view, int64_t value) override { add(value); }
  void on_ints(std::string_view, std::span<const int64_t> values) override {
    for (const int64_t value : values) add(value);
  }
  void on_float(std::string_view, double) override {}
  void on_bool(std::string_view, bool) override {}
  void on_dtype(std::string_view, DType) override {}
  void on_enum(std::string_view, int32_t, const EnumInfo&) override {}
  void on_string(std::string_view, std::string_view) override {}

 private:
  void add(int64_t value) {
    const bool is_large = value > kMaxGrowth || value < -kMaxGrowth;
    const int64_t size = is_large ? kMaxGrowth + 1 : std::max<int64_t>(std::abs(value), 1);
    growth_ = std::min(growth_ * size, kMaxGrowth + 1);
  }

  int64_t growth_ = 1;
};

class Folder {
 public:
  Folder(Scope& scope, const Graph& graph, Tensors& constants)
      : scope_(scope), graph_(graph), constants_(constants), copy_(graph) {
    values_.resize(graph.n_slots());
    const size_t first = graph.inputs().size() - constants.size();
    for (size_t i = 0; i < constants.size(); ++i) {
      values_[graph.inputs()[first + i]->first_slot] = constants[i];
    }
  }

  std::shared_ptr<Graph> run() {
    for (const Node& node : graph_.nodes()) {
      if (node.kind == NodeKind::kConstant) values_[node.first_slot] = node.constant;
      if (node.kind == NodeKind::kInput) continue;
      copy_.copy(node);
      if (node.kind == NodeKind::kCall && can_fold(node)) fold(node);
    }
    return copy_.finish();
  }

 private:
  bool can_fold(const Node& node) const {
    for (const Value& x : node.inputs) {
      if (x && !values_[x.slot()]) return false;
    }
    for (const TensorType& type : node.types) {
      if (type.lists || type.weak || !known(type.shape)) return false;
      if (bytes_of(type) > kMaxBytes || bytes_ + bytes_of(type) > kMaxAllBytes) return false;
    }
    return !has_regions(*node.op) && !has_formulas(node.attrs.view()) && !may_report_late(node) &&
           !may_need_large_intermediates(node);
  }

  // Whether intermediate values of a composite may be larger than its inputs and outputs.
  static bool may_need_large_intermediates(const Node& node) {
    if (!node.op->decompose || node.attrs.view().empty()) return false;
    Growth growth;
    node.op->attrs->visit(node.attrs.view().data, growth);
    return !growth.is_bounded();
  }

  // Whether an asynchronous device may report an invalid index after the call has returned. If such
  // a call were folded, the function would fail only once instead of in each call.
  static bool may_report_late(const Node& node) {
    if (node.device->synchronous()) return false;
    const bool takes_integers = any_of(node.inputs, [](const Value& x) {
      return x && !is_floating(x.type().dtype) && x.type().dtype != DType::kBool;
    });
    return may_report(*node.op) || (node.op->decompose && takes_integers);
  }

  void fold(const Node& node) {
    SmallVector<TensorImpl*, 6> inputs;
    for (const Value& x : node.inputs) inputs.push_back(x ? values_[x.slot()].get() : nullptr);
    Tensors found;
    try {
      const Scope::OnDevice on(scope_, *node.device);
      const Scope::Apart apart(scope_);
      found = apply(scope_, *node.op, node.attrs.view(), inputs);
    } catch (const Error& error) {
      if (error.is_transient()) throw;
      return;  // The call remains in the graph and fails when the function runs.
    }
    Values instead;
    for (uint32_t i = 0; i < found.size(); ++i) {
      values_[node.first_slot + i] = found[i];
      bytes_ += bytes_of(node.types[i]);
      instead.push_back(
          copy_.graph().add_input(node.types[i], InputRole::kCapture, "", *node.device));
      constants_.push_back(found[i]);
    }
    copy_.map_outputs(node, instead.span());
  }

  Scope& scope_;
  const Graph& graph_;
  Tensors& constants_;
  Rewriter copy_;
  uint64_t bytes_ = 0;          // Total of the folded results.
  std::vector<Tensor> values_;  // The known values, by slot of the source graph.
};

}  // namespace

std::shared_ptr<Graph> fold_constants(Scope& scope, const Graph& graph, Tensors& constants) {
  return Folder(scope, graph, constants).run();
}

}  // namespace tenon
