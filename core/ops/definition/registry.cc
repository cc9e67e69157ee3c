#include "core/ops/definition/registry.h"

#include <algorithm>
#include <vector>

#include "core/base/immortal.h"

#if defined(TENON_KEPT_OPS)
#include TENON_KEPT_OPS  // Written by bindings/js/small/small.cmake: defines tenon_kept::contains().
#endif

namespace tenon {

namespace ops {
#define TENON_OP(id, name) OpDef name##_def();
#include "core/ops/ops.def"
}  // namespace ops

namespace {

constexpr uint32_t kMaxId = 0
#define TENON_OP(id, name) +((id) - (id)) + 1
#include "core/ops/ops.def"
                            + 1023;  // Ids have gaps between families of ops.

#if defined(TENON_KEPT_OPS)
// Returns the definition of an op that this build leaves out. It accepts all inputs, and all its
// calls fail.
OpDef left_out_def() {
  OpDef op;
  op.attrs = &attrs_type<NoAttrs>();
  op.variadic = true;
  op.optional_inputs = ~uint32_t{0};
  op.infer = [](const OpDef& self, const void*, TypeSpan) -> TensorTypes {
    fail(Code::kUnimplemented,
         "this build of Tenon leaves out the op {}; the variant simd of the full package has it",
         {self.name});
  };
  return op;
}
#define TENON_DEFINITION(name) tenon_kept::contains(#name) ? ops::name##_def : left_out_def
#else
#define TENON_DEFINITION(name) ops::name##_def
#endif

struct Registry {
  std::vector<OpDef> ops;
  std::vector<const OpDef*> by_id;
  std::vector<const OpDef*> by_name;

  Registry() : by_id(kMaxId + 1, nullptr) {
    struct Entry {
      uint32_t id;
      const char* name;
      OpDef (*make)();
    };
    constexpr Entry kEntries[] = {
#define TENON_OP(id, name) {id, #name, TENON_DEFINITION(name)},
#include "core/ops/ops.def"
    };
    ops.reserve(std::size(kEntries));
    for (const Entry& entry : kEntries) {
      ops.push_back(entry.make());
      ops.back().id = entry.id;
      if (ops.back().name.empty()) ops.back().name = entry.name;
    }
    for (const OpDef& op : ops) {
      by_id[op.id] = &op;
      by_name.push_back(&op);
    }
    std::sort(by_name.begin(), by_name.end(),
              [](const OpDef* a, const OpDef* b) { return a->name < b->name; });
  }
};

const Registry& registry() {
  static const Immortal<Registry> instance{Registry()};
  return instance;
}

}  // namespace

const OpDef* find_op(uint32_t id) {
  const auto& by_id = registry().by_id;
  return id < by_id.size() ? by_id[id] : nullptr;
}

const OpDef* find_op(std::string_view name) {
  const auto& by_name = registry().by_name;
  const auto at =
      std::lower_bound(by_name.begin(), by_name.end(), name,
                       [](const OpDef* op, std::string_view n) { return op->name < n; });
  return at != by_name.end() && (*at)->name == name ? *at : nullptr;
}

std::span<const OpDef> all_ops() { return registry().ops; }

}  // namespace tenon
