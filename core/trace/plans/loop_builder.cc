// Builds loop kernels from groups of launches.

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "core/base/work_steps.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/plans/loop_fuser.h"

namespace tenon {

void LaunchPlan::LoopFuser::run() {
  n_readers_.assign(program_.buffers_.size(), 0);
  is_excluded_.assign(program_.launches_.size(), false);
  for (uint32_t i = 0; i < program_.launches_.size(); ++i) {
    for (const uint32_t k : inputs_of(i)) {
      if (view_source(k).buffer != kNone) ++n_readers_[view_source(k).buffer];
    }
  }
  bool is_done = false;
  for (size_t round = 0; round < kMaxRounds && !is_done; ++round) {
    count_steps(program_.launches_.size());
    find_groups();
    is_done = make_loops();
  }
  replace_launches();
}

// Returns false if the device rejected a group with reductions or an anchor. These are then
// excluded from fusion, so that the rest of the group can become a loop.
bool LaunchPlan::LoopFuser::make_loops() {
  bool is_done = true;
  for (Group& group : groups_) {
    if (group.members.size() < 2) continue;
    group.loop = make(group);
    if (group.loop || (group.row_axes == 0 && group.anchor == kNone)) continue;
    for (const uint32_t i : group.members) {
      is_excluded_[i] = is_excluded_[i] || reduced_[i] != 0 || i == group.anchor;
    }
    is_done = false;
  }
  return is_done;
}

// Whether a view is broadcast along these axes.
bool LaunchPlan::LoopFuser::is_broadcast_along(uint32_t k, uint32_t axes) const {
  const tenon_view& x = view(k);
  bool repeats = false;
  for (size_t axis = 0; axis < x.rank; ++axis) {
    if (!(axes >> axis & 1) || x.sizes[axis] == 1) continue;
    if (x.strides[axis] != 0) return false;
    repeats = true;
  }
  return repeats;
}

// Adds view k, an external input of launch i, to `reads` unless an equal view is present. Returns
// the input as the source of an operand.
LaunchPlan::LoopFuser::Source LaunchPlan::LoopFuser::add_input(Reads& reads, const Group& group,
                                                               uint32_t i, uint32_t k) {
  const bool per_row =
      view(k).strides_class != TENON_STRIDES_UNIFORM &&
      (is_per_row_elementwise_[i] || (reads.has_elements && is_broadcast_along(k, group.row_axes)));
  const uint32_t own = view_in_loop(k, group, per_row);
  if (per_row) return {Source::Kind::kRows, add_read(reads.rows, own)};
  return {Source::Kind::kElements, add_read(reads.elements, own)};
}

std::optional<LaunchPlan::LoopFuser::Group::Loop> LaunchPlan::LoopFuser::make(const Group& group) {
  std::unordered_map<uint32_t, uint32_t> given;  // For each buffer, the member that writes it.
  for (uint32_t n = 0; n < group.members.size(); ++n) {
    given[view_source(output_of(group.members[n])).buffer] = n;
  }
  Reads reads;
  // A loop kernel takes its iteration space from a per-element input, so at least one is required.
  for (const uint32_t i : group.members) {
    if (i == group.anchor) continue;
    for (const uint32_t k : inputs_of(i)) {
      reads.has_elements = reads.has_elements ||
                           (!given.contains(view_source(k).buffer) && !is_per_row_elementwise_[i] &&
                            !is_broadcast_along(k, group.row_axes));
    }
  }
  std::vector<Source> sources;  // Operands of the instructions, in order.
  std::vector<uint32_t> n_own_readers(group.members.size(), 0);
  for (const uint32_t i : group.members) {
    if (i == group.anchor) continue;
    for (const uint32_t k : inputs_of(i)) {
      const auto at = given.find(view_source(k).buffer);
      if (at == given.end()) {
        sources.push_back(add_input(reads, group, i, k));
      } else {
        sources.push_back({Source::Kind::kMember, at->second});
        ++n_own_readers[at->second];
      }
    }
  }
  if (group.row_axes != 0 && reads.elements.empty()) return std::nullopt;
  LoopSpec spec;
  spec.flags = flags_;
  spec.rank = static_cast<uint32_t>(group.sizes.size());
  spec.row_axes = group.row_axes;
  spec.n_row_inputs = static_cast<uint32_t>(reads.rows.size());
  const auto n_elements = static_cast<uint32_t>(reads.elements.size());
  std::vector<uint32_t> inputs = std::move(reads.elements);
  inputs.insert(inputs.end(), reads.rows.begin(), reads.rows.end());
  const auto n_inputs = static_cast<uint32_t>(inputs.size());
  for (const uint32_t k : inputs) {
    spec.inputs.push_back({dtype_from_c(view(k).dtype), view(k).strides_class});
  }
  Group::Loop loop = {launch(group.members.back()), {}};
  size_t anchor_at = 0;  // Index of the anchor among the members.
  if (group.anchor != kNone) {
    spec.anchor = anchor_of(group);
    loop.views = inputs_of(group.anchor);
    loop.launch.workspace_bytes = launch(group.anchor).workspace_bytes;
    // For error reports and is_light(), the op of the fused launch is that of its anchor.
    loop.launch.op = launch(group.anchor).op;
    loop.launch.location = launch(group.anchor).location;
    while (group.members[anchor_at] != group.anchor) ++anchor_at;
  }
  loop.views.insert(loop.views.end(), inputs.begin(), inputs.end());
  loop.launch.n_inputs = static_cast<uint32_t>(loop.views.size());
  const auto value_of = [&](size_t member) {
    const bool is_anchor = group.members[member] == group.anchor;
    return n_inputs + static_cast<uint32_t>(is_anchor ? 0 : member + (member < anchor_at ? 1 : 0));
  };
  auto source = sources.begin();
  for (const uint32_t i : group.members) {
    if (i == group.anchor) continue;
    LoopSpec::Instruction& made = spec.instructions.emplace_back();
    made.line = launch(i).kernel->loop_line();
    made.attrs = attrs_in_loop(i);
    made.dtype = dtype_from_c(view(output_of(i)).dtype);
    if (is_per_row(i)) made.flags |= TENON_LOOP_PER_ROW;
    if (reduced_[i] != 0) made.flags |= TENON_LOOP_REDUCES;
    for (uint32_t k = 0; k < launch(i).n_inputs; ++k, ++source) {
      const uint32_t number = source->number;
      made.inputs.push_back(source->kind == Source::Kind::kMember ? value_of(number)
                            : source->kind == Source::Kind::kRows ? n_elements + number
                                                                  : number);
    }
  }
  // The last member comes first: its output may reuse the memory of an input that is dead after the
  // loop.
  for (size_t n = group.members.size(); n-- > 0;) {
    const uint32_t i = group.members[n], buffer = view_source(output_of(i)).buffer;
    const bool is_inside = program_.buffers_[buffer].place == Buffer::Place::kBlock &&
                           n_readers_[buffer] == n_own_readers[n];
    if (is_inside) continue;
    spec.outputs.push_back(value_of(n));
    loop.views.push_back(view_in_loop(output_of(i), group, is_per_row(i)));
  }
  if (spec.outputs.empty()) return std::nullopt;
  const bool can_be_chunked = group.row_axes == 0 && group.anchor == kNone;
  if (!can_be_chunked && !are_addressable(loop.views)) return std::nullopt;
  if (loop.launch.workspace_bytes != 0) loop.views.push_back(launch(group.anchor).end_outputs());
  const auto is_among = [](const auto& inputs) {
    return std::any_of(inputs.begin(), inputs.end(),
                       [](const auto& x) { return x.strides == TENON_STRIDES_STRIDED; });
  };
  const bool is_strided = is_among(spec.inputs) || is_among(spec.anchor.inputs);
  Ref<const PreparedKernel> kernel = program_.device_.loops().find(spec);
  if (!kernel->exists() || (is_strided && !kernel->supports_strided_inputs())) return std::nullopt;
  loop.launch.kernel = std::move(kernel);
  loop.launch.fused = name_of(group);
  loop.launch.profile.clear();
  loop.launch.n_outputs = static_cast<uint32_t>(spec.outputs.size());
  return loop;
}

// Whether kernels can address all bytes of these views; see max_operand_bytes.
bool LaunchPlan::LoopFuser::are_addressable(std::span<const uint32_t> views) const {
  const uint64_t most = program_.device_.properties().max_operand_bytes;
  return most == 0 || std::all_of(views.begin(), views.end(), [&](uint32_t k) {
           const tenon_view& x = view(k);
           int64_t n = 1;
           if (x.strides_class != TENON_STRIDES_UNIFORM) {
             for (size_t axis = 0; axis < x.rank; ++axis) {
               n += (x.sizes[axis] - 1) * std::abs(x.strides[axis]);
             }
           }
           return n * static_cast<int64_t>(size_of(dtype_from_c(x.dtype))) <=
                  static_cast<int64_t>(most);
         });
}

LoopSpec::Anchor LaunchPlan::LoopFuser::anchor_of(const Group& group) const {
  const Launch& own = launch(group.anchor);
  LoopSpec::Anchor anchor;
  anchor.line = own.kernel->anchor_line();
  anchor.attrs = attrs_[group.anchor];
  anchor.dtype = dtype_from_c(view(output_of(group.anchor)).dtype);
  for (const uint32_t k : inputs_of(group.anchor)) {
    anchor.inputs.push_back({dtype_from_c(view(k).dtype), view(k).strides_class, view(k).rank});
  }
  return anchor;
}

// Returns the attributes of launch `i` in a loop. Equivalent reductions get the same attributes.
OwnedAttrs LaunchPlan::LoopFuser::attrs_in_loop(uint32_t i) const {
  if (reduced_[i] == 0) return attrs_[i];
  if (attrs_[i].view().type == &attrs_type<ArgReduceAttrs>()) {
    return OwnedAttrs(
        any_attrs(ArgReduceAttrs{.axis = std::countr_zero(reduced_[i]), .keepdims = true}));
  }
  ReduceAttrs attrs{.axes = {}, .keepdims = true};
  for (uint32_t axis = 0; axis < TENON_MAX_RANK; ++axis) {
    if (reduced_[i] >> axis & 1) attrs.axes.push_back(axis);
  }
  return OwnedAttrs(any_attrs(attrs));
}

// Returns a view of the data of view `k` with the sizes of the loop or, if `per_row` is true, of
// the per-row values of the loop. Adds the view to the plan if it differs from view `k`.
uint32_t LaunchPlan::LoopFuser::view_in_loop(uint32_t k, const Group& group, bool per_row) {
  const Ints sizes = per_row ? row_shape(group.sizes, group.row_axes, true) : group.sizes;
  const tenon_view& x = view(k);
  if (sizes_of(x) == sizes) return k;
  const size_t rank = sizes.size();
  const bool is_uniform = x.strides_class == TENON_STRIDES_UNIFORM;
  auto words = std::make_unique<int64_t[]>(2 * rank + 1);
  std::copy(sizes.begin(), sizes.end(), words.get());
  bool is_dense = !is_uniform;
  int64_t dense = 1;
  for (size_t axis = rank, own = x.rank; axis-- > 0; dense *= sizes[axis]) {
    if (x.rank == rank || !(group.row_axes >> axis & 1)) --own;
    int64_t& stride = words[rank + axis];
    stride = is_uniform ? 0 : sizes[axis] == 1 ? dense : x.strides[own];
    is_dense = is_dense && stride == dense;
  }
  tenon_view made = x;
  made.rank = static_cast<uint16_t>(rank);
  made.sizes = words.get();
  made.strides = words.get() + rank;
  made.strides_class = is_uniform ? TENON_STRIDES_UNIFORM
                       : is_dense ? TENON_STRIDES_DENSE
                                  : TENON_STRIDES_STRIDED;
  program_.words_.push_back(std::move(words));
  program_.shown_.push_back(ViewSource(view_source(k)));
  program_.views_.push_back(made);
  return static_cast<uint32_t>(program_.views_.size() - 1);
}

// Returns "fused(mul, add x2, tanh)" or, with an anchor, "fused(matmul, add, tanh)".
std::string LaunchPlan::LoopFuser::name_of(const Group& group) const {
  std::vector<uint32_t> members = group.members;
  if (group.anchor != kNone) {
    const auto anchor = std::find(members.begin(), members.end(), group.anchor);
    std::rotate(members.begin(), anchor, anchor + 1);
  }
  std::string name = "fused(";
  for (size_t n = 0; n < members.size();) {
    const OpDef* op = launch(members[n]).op;
    size_t end = n + 1;
    while (end < members.size() && launch(members[end]).op == op) ++end;
    name += (n > 0 ? ", " : "") + op->name;
    if (end - n > 1) name += " x" + std::to_string(end - n);
    n = end;
  }
  return name + ")";
}

void LaunchPlan::LoopFuser::replace_launches() {
  std::vector<Launch> launches;
  std::vector<tenon_view> views;
  std::vector<ViewSource> all_shown;
  const auto keep_view = [&](uint32_t k) {
    views.push_back(view(k));
    all_shown.push_back(view_source(k));
  };
  for (uint32_t i = 0; i < program_.launches_.size(); ++i) {
    const Group* group = group_[i] == kNone ? nullptr : &groups_[group_[i]];
    const auto first_view = static_cast<uint32_t>(views.size());
    if (group && group->loop) {
      if (group->members.back() != i) continue;
      launches.push_back(group->loop->launch);
      launches.back().duration_ns = 0;
      for (const uint32_t member : group->members) {
        launches.back().duration_ns += launch(member).duration_ns;
      }
      for (const uint32_t k : group->loop->views) keep_view(k);
    } else {
      const Launch& own = launch(i);
      const uint32_t n = own.n_inputs + own.n_outputs + (own.workspace_bytes ? 1 : 0);
      for (uint32_t k = 0; k < n; ++k) keep_view(own.first_view + k);
      launches.push_back(own);
    }
    launches.back().first_view = first_view;
  }
  program_.launches_ = std::move(launches);
  program_.views_ = std::move(views);
  program_.shown_ = std::move(all_shown);
}

void LaunchPlan::fuse(uint32_t flags, std::span<const OwnedAttrs> attrs) {
  chains_ = Chains::find(*this, LoopFuser::kMaxSmallElements);
  LoopFuser(*this, flags, attrs).run();
}

}  // namespace tenon
