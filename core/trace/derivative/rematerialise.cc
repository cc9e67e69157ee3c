#include "core/trace/derivative/rematerialise.h"

#include <algorithm>
#include <optional>

#include "core/base/work_steps.h"

namespace tenon {
namespace {

// Whether the value is an output of a call that has inputs.
bool is_call_result(const Value& x) {
  return x && x.node->kind == NodeKind::kCall && !x.node->inputs.empty();
}

// Returns the calls on which these values depend, in execution order.
std::vector<const Node*> calls_needed_for(const Graph& graph, uint32_t end,
                                          std::span<const Value> values) {
  std::vector<bool> is_needed(graph.n_slots(), false);
  for (const Value& x : values) is_needed[x.slot()] = true;
  std::vector<const Node*> calls;
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    if (node->first_slot >= end || node->kind != NodeKind::kCall) continue;
    bool any = false;
    for (uint32_t i = 0; i < node->types.size(); ++i) any = any || is_needed[node->first_slot + i];
    if (!any) continue;
    calls.push_back(&*node);
    for (const Value& x : node->inputs) {
      if (x) is_needed[x.slot()] = true;
    }
  }
  std::reverse(calls.begin(), calls.end());
  return calls;
}

// The values saved at the cuts, their bytes, and the bytes of the largest span between two cuts.
struct Cuts {
  std::vector<Value> kept;
  uint64_t kept_bytes = 0, longest = 0;
};

// Cuts the calls into spans. A span ends when its calls have produced `span_bytes` bytes.
Cuts cut_into_spans(const Graph& graph, std::span<const Node* const> calls, const BytesOf& bytes_of,
                    uint64_t span_bytes) {
  std::vector<size_t> last_use(graph.n_slots(), 0);
  for (size_t i = 0; i < calls.size(); ++i) {
    for (const Value& x : calls[i]->inputs) {
      if (x) last_use[x.slot()] = i;
    }
  }
  Cuts cuts;
  std::vector<bool> is_kept(graph.n_slots(), false);
  std::vector<Value> made;
  uint64_t bytes = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    count_steps();
    const Node& node = *calls[i];
    for (uint32_t k = 0; k < node.types.size(); ++k) {
      const Value y{const_cast<Node*>(&node), k};
      bytes += bytes_of(y);
      if (is_call_result(y)) made.push_back(y);
    }
    cuts.longest = std::max(cuts.longest, bytes);
    if (bytes < span_bytes || i + 1 == calls.size()) continue;
    bytes = 0;
    count_steps(made.size());
    std::erase_if(made, [&](const Value& x) { return last_use[x.slot()] <= i; });
    for (const Value& x : made) {
      if (is_kept[x.slot()]) continue;
      is_kept[x.slot()] = true;
      cuts.kept.push_back(x);
      cuts.kept_bytes += bytes_of(x);
    }
  }
  return cuts;
}

}  // namespace

std::vector<Value> choose_residuals(const Graph& graph, uint32_t end, std::span<const Value> needed,
                                    const BytesOf& bytes_of, uint64_t budget) {
  uint64_t all = 0;
  for (const Value& x : needed) all += is_call_result(x) ? bytes_of(x) : 0;
  if (all <= budget) return {needed.begin(), needed.end()};
  const std::vector<const Node*> calls = calls_needed_for(graph, end, needed);
  uint64_t total = 0;
  for (const Node* node : calls) {
    for (uint32_t k = 0; k < node->types.size(); ++k) {
      total += bytes_of({const_cast<Node*>(node), k});
    }
  }
  Cuts best = {.longest = total};
  constexpr uint64_t kMaxSpans = 64;
  for (uint64_t n = 2; n <= std::min<uint64_t>(kMaxSpans, calls.size()); ++n) {
    Cuts cuts = cut_into_spans(graph, calls, bytes_of, total / n);
    const bool is_less = cuts.kept_bytes + cuts.longest < best.kept_bytes + best.longest;
    if (cuts.kept_bytes <= budget && is_less) best = std::move(cuts);
  }
  std::vector<bool> is_kept(graph.n_slots(), false);
  for (const Value& x : best.kept) is_kept[x.slot()] = true;
  std::vector<Value> more;
  for (const Value& x : needed) {
    if (is_call_result(x) && !is_kept[x.slot()]) more.push_back(x);
  }
  std::stable_sort(more.begin(), more.end(), [&](const Value& a, const Value& b) {
    const bool is_costly_a = !a.node->op->elementwise, is_dear_b = !b.node->op->elementwise;
    return is_costly_a != is_dear_b ? is_costly_a : bytes_of(a) < bytes_of(b);
  });
  for (const Value& x : more) {
    if (best.kept_bytes + bytes_of(x) > budget) continue;
    best.kept_bytes += bytes_of(x);
    best.kept.push_back(x);
  }
  return best.kept;
}

}  // namespace tenon
