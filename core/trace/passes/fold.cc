// fold: what depends on inline scalars and sizes alone is computed now, where it would run, and
// kept. Large results are not: to make them again costs less than to have them all the time.

#include "core/base/error.h"
#include "core/base/search.h"
#include "core/dispatch/dispatch.h"
#include "core/trace/passes/pass.h"
#include "core/trace/passes/rewriter.h"
#include "core/trace/region.h"
#include "core/trace/slice.h"

namespace tenon {
namespace {

constexpr int64_t kMostBytes = 16 * 1024;

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
      if (int64_t{count(type.shape)} * static_cast<int64_t>(size_of(type.dtype)) > kMostBytes) {
        return false;
      }
    }
    return !has_regions(*node.op) && !has_formulas(node.attrs.view()) && !may_report_late(node);
  }

  // Whether a kernel may find an index wrong, and the device says so only later: the function would
  // fail once instead of at every call.
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
    } catch (const Error&) {
      return;  // It fails where it stands, if it is needed.
    }
    Values instead;
    for (uint32_t i = 0; i < found.size(); ++i) {
      values_[node.first_slot + i] = found[i];
      instead.push_back(
          copy_.graph().add_input(node.types[i], InputRole::kCapture, "", *node.device));
      constants_.push_back(found[i]);
    }
    copy_.put(node, instead.span());
  }

  Scope& scope_;
  const Graph& graph_;
  Tensors& constants_;
  Rewriter copy_;
  std::vector<Tensor> values_;  // Of what is known, by the slots of the old graph.
};

}  // namespace

std::shared_ptr<Graph> fold_constants(Scope& scope, const Graph& graph, Tensors& constants) {
  return Folder(scope, graph, constants).run();
}

}  // namespace tenon
