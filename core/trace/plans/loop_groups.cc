// Groups launches into loops.
//
// Launches are visited in order. A launch is merged with the groups that produce its inputs. The
// loop runs at the position of the group's last launch. Therefore a group is closed as soon as a
// launch that is not a member reads one of its values.
//
// The first reduction of a group determines the axes of its rows. Later launches may also iterate
// over one element per row, with the row's axes kept as size 1 or removed. A launch over all
// elements may read per-row values, broadcast along the row.

#include <algorithm>
#include <numeric>

#include "core/base/work_steps.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/plans/loop_fuser.h"

namespace tenon {
namespace {

constexpr size_t kMaxInstructions = 48;
constexpr size_t kMaxReads = 20;
constexpr uint32_t kMaxStages = 4;
constexpr size_t kMaxReductions = 4;  // Maximum number of reductions per stage.
// Maximum number of large inputs of a loop: at least kLargeElements elements in memory. A loop runs
// after all its inputs are computed, so their memory is in use at the same time.
constexpr size_t kMaxLargeReads = 5;
constexpr int64_t kLargeElements = 64 * 1024;
// Maximum number of elements of a row. Reductions over longer rows are not fused, because other
// kernels use several threads for one row.
constexpr int64_t kMaxRowSize = 32 * 1024;

// Whether two views have the same sizes.
bool same_sizes(const tenon_view& a, const tenon_view& b) {
  return a.rank == b.rank && std::equal(a.sizes, a.sizes + a.rank, b.sizes);
}

// Returns the product of the sizes of the axes in a mask.
int64_t count_along(const Ints& sizes, uint32_t axes) {
  int64_t n = 1;
  for (size_t axis = 0; axis < sizes.size(); ++axis) n *= axes >> axis & 1 ? sizes[axis] : 1;
  return n;
}

// Returns the number of elements in memory: broadcast axes count as 1.
int64_t count_distinct(const tenon_view& view) {
  if (view.strides_class == TENON_STRIDES_UNIFORM) return 1;
  int64_t n = 1;
  for (size_t axis = 0; axis < view.rank; ++axis)
    n *= view.strides[axis] == 0 ? 1 : view.sizes[axis];
  return n;
}

}  // namespace

Ints row_shape(const Ints& sizes, uint32_t row_axes, bool keeps) {
  Ints rows;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    const bool is_of_row = row_axes >> axis & 1;
    if (!is_of_row || keeps) rows.push_back(is_of_row ? 1 : sizes[axis]);
  }
  return rows;
}

void LaunchPlan::LoopFuser::find_groups() {
  const size_t n = program_.launches_.size();
  writer_.assign(program_.buffers_.size(), kNone);
  reduced_.assign(n, 0);
  stage_.assign(n, 0);
  is_per_row_elementwise_.assign(n, false);
  group_.clear();
  groups_.clear();
  small_groups_.clear();
  first_open_ = 0;
  for (uint32_t i = 0; i < n; ++i) add_launch(i);
}

std::vector<uint32_t> LaunchPlan::LoopFuser::inputs_of(uint32_t i) const {
  std::vector<uint32_t> views(launch(i).n_inputs);
  std::iota(views.begin(), views.end(), launch(i).first_view);
  return views;
}

// Returns the axes that a launch reduces, as a mask; nullopt if it is not a reduction.
std::optional<uint32_t> LaunchPlan::LoopFuser::axes_reduced_by(uint32_t i) const {
  const AnyAttrs attrs = attrs_[i].view();
  const size_t rank = view(launch(i).first_view).rank;
  if (attrs.type == &attrs_type<ReduceAttrs>()) {
    return axes_mask(static_cast<const ReduceAttrs*>(attrs.data)->axes, rank);
  }
  if (attrs.type == &attrs_type<ArgReduceAttrs>()) {
    const int64_t axis = static_cast<const ArgReduceAttrs*>(attrs.data)->axis;
    return uint32_t{1} << (axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  }
  return std::nullopt;
}

bool LaunchPlan::LoopFuser::can_join(uint32_t i) {
  const Launch& own = launch(i);
  if (!own.kernel->loop_line() || own.workspace_bytes != 0 || !writes_new_buffer(i)) return false;
  const std::optional<uint32_t> reduced = axes_reduced_by(i);
  for (const uint32_t k : inputs_of(i)) {
    if (!reduced && !same_sizes(view(k), view(output_of(i)))) return false;
  }
  if (!reduced) return true;
  if (is_excluded_[i] || count_along(sizes_of(view(own.first_view)), *reduced) > kMaxRowSize) {
    return false;
  }
  reduced_[i] = *reduced;
  return *reduced != 0;
}

bool LaunchPlan::LoopFuser::can_be_anchor(uint32_t i) const {
  return launch(i).kernel->anchor_line() && !is_excluded_[i] && writes_new_buffer(i);
}

// Whether the launch has one output, which fills a buffer that was not written before and that the
// launch does not read.
bool LaunchPlan::LoopFuser::writes_new_buffer(uint32_t i) const {
  const ViewSource& result = view_source(output_of(i));
  if (launch(i).n_outputs != 1 || result.offset != 0 || writer_[result.buffer] != kNone) {
    return false;
  }
  const std::vector<uint32_t> inputs = inputs_of(i);
  return std::none_of(inputs.begin(), inputs.end(),
                      [&](uint32_t k) { return view_source(k).buffer == result.buffer; });
}

// Returns the iteration space of a launch: the sizes of its output or, in a reduction,
// of its input.
Ints LaunchPlan::LoopFuser::sizes_of_launch(uint32_t i) const {
  return sizes_of(view(reduced_[i] != 0 ? launch(i).first_view : output_of(i)));
}

// Returns the open group that computes the value of view `k`; NULL if there is none.
LaunchPlan::LoopFuser::Group* LaunchPlan::LoopFuser::producer_group(uint32_t k) {
  const uint32_t buffer = view_source(k).buffer;
  if (buffer == kNone || writer_[buffer] == kNone || group_[writer_[buffer]] == kNone) {
    return nullptr;
  }
  Group& group = groups_[group_[writer_[buffer]]];
  return group.is_open ? &group : nullptr;
}

// Whether the view shows exactly the output of the last launch that wrote its buffer.
bool LaunchPlan::LoopFuser::is_exact_output(uint32_t k) const {
  return is_dense_output(k) && same_sizes(view(k), view(output_of(writer_[view_source(k).buffer])));
}
bool LaunchPlan::LoopFuser::is_dense_output(uint32_t k) const {
  return reads_output_from_start(k) && view(k).strides_class == TENON_STRIDES_DENSE;
}
bool LaunchPlan::LoopFuser::reads_output_from_start(uint32_t k) const {
  return view_source(k).offset == 0 &&
         view(k).dtype == view(output_of(writer_[view_source(k).buffer])).dtype;
}

// Whether a view over a group's elements broadcasts per-row values along the rows.
bool LaunchPlan::LoopFuser::broadcasts_rows(uint32_t k, const Group& group) const {
  const tenon_view& x = view(k);
  int64_t dense = 1;
  for (size_t axis = x.rank; axis-- > 0;) {
    if (x.sizes[axis] == 1) continue;
    const bool is_of_row = group.row_axes >> axis & 1;
    const int64_t stride = x.strides_class == TENON_STRIDES_UNIFORM ? 0 : x.strides[axis];
    if (stride != (is_of_row ? 0 : dense)) return false;
    if (!is_of_row) dense *= x.sizes[axis];
  }
  return reads_output_from_start(k);
}

bool LaunchPlan::LoopFuser::is_row_shape_of(const Ints& sizes, const Group& group) {
  return group.row_axes != 0 && (sizes == row_shape(group.sizes, group.row_axes, true) ||
                                 sizes == row_shape(group.sizes, group.row_axes, false));
}

// Launches that read a reduction belong to the stage after it.
uint32_t LaunchPlan::LoopFuser::stage_of_readers(uint32_t launch) const {
  return stage_[launch] + (reduced_[launch] != 0 ? 1 : 0);
}

// Whether launch `i`, which reads view `k`, can join the group that computes the value of the view.
bool LaunchPlan::LoopFuser::can_read(uint32_t i, uint32_t k, const Group& group) const {
  const uint32_t from = writer_[view_source(k).buffer];
  if (sizes_of_launch(i) == group.sizes) {
    const bool is_same_row =
        reduced_[i] == 0 || group.row_axes == 0 || reduced_[i] == group.row_axes;
    return is_same_row && stage_of_readers(from) < kMaxStages &&
           (is_per_row(from) ? broadcasts_rows(k, group) : is_exact_output(k));
  }
  if (reduced_[i] != 0 || !is_row_shape_of(sizes_of_launch(i), group)) return false;
  return is_per_row(from) && is_dense_output(k);
}

void LaunchPlan::LoopFuser::add_launch(uint32_t i) {
  const bool joins = can_join(i);
  for (const uint32_t k : inputs_of(i)) {
    Group* const group = producer_group(k);
    if (!group || (joins && can_read(i, k, *group) && !may_run_in_parallel(i, *group))) continue;
    group->is_open = false;
  }
  group_.push_back(kNone);
  if (joins) {
    merge_with_producers(i);
  } else if (can_be_anchor(i)) {
    add_group({.members = {i}, .sizes = sizes_of_launch(i), .anchor = i});
  } else {
    close_if_overwritten(i);
  }
  for (uint32_t n = 0; n < launch(i).n_outputs; ++n)
    writer_[view_source(output_of(i) + n).buffer] = i;
}

// If the launch overwrites a buffer, closes all groups. Their members might read or write the
// buffer.
void LaunchPlan::LoopFuser::close_if_overwritten(uint32_t i) {
  for (uint32_t n = 0; n < launch(i).n_outputs; ++n) {
    if (writer_[view_source(output_of(i) + n).buffer] == kNone) continue;
    count_steps(groups_.size() - first_open_);
    for (; first_open_ < groups_.size(); ++first_open_) groups_[first_open_].is_open = false;
  }
}

void LaunchPlan::LoopFuser::merge_with_producers(uint32_t i) {
  Group own;
  own.members = {i};
  own.sizes = sizes_of_launch(i);
  own.row_axes = reduced_[i];
  for (const uint32_t k : inputs_of(i)) {
    if (producer_group(k))
      stage_[i] = std::max(stage_[i], stage_of_readers(writer_[view_source(k).buffer]));
  }
  for (const uint32_t k : inputs_of(i)) {
    if (Group* group = producer_group(k)) absorb(own, *group);
  }
  for (const uint32_t k : inputs_of(i)) {
    const uint32_t buffer = view_source(k).buffer;
    const bool is_own = buffer != kNone && std::find(own.members.begin(), own.members.end(),
                                                     writer_[buffer]) != own.members.end();
    if (!is_own) add_read(own.reads, k);
  }
  if (own.members.size() == 1 && count_along(own.sizes, ~uint32_t{0}) <= kMaxSmallElements) {
    if (Group* const small_groups = find_small_group(i, own)) absorb(own, *small_groups);
  }
  std::sort(own.members.begin(), own.members.end());
  add_group(std::move(own));
}

// Indices of the open groups of this size that have room for another launch.
std::vector<uint32_t>& LaunchPlan::LoopFuser::small_groups(const Ints& sizes) {
  std::vector<uint32_t>& numbers = small_groups_[{sizes.begin(), sizes.end()}];
  std::erase_if(numbers, [&](uint32_t number) {
    count_steps();
    const Group& group = groups_[number];
    return !group.is_open || !(group.sizes == sizes) || group.members.size() >= kMaxInstructions ||
           group.reads.size() + 2 >= kMaxReads;
  });
  return numbers;
}

// Returns the first group of small_groups() with which `own`, a group of one launch, can be merged.
LaunchPlan::LoopFuser::Group* LaunchPlan::LoopFuser::find_small_group(uint32_t i,
                                                                      const Group& own) {
  for (const uint32_t number : small_groups(own.sizes)) {
    count_steps();
    Group& group = groups_[number];
    if (can_merge(group, own) && !may_run_in_parallel(i, group)) return &group;
  }
  return nullptr;
}

void LaunchPlan::LoopFuser::add_group(Group group) {
  const auto number = static_cast<uint32_t>(groups_.size());
  count_steps(group.members.size());
  for (const uint32_t member : group.members) group_[member] = number;
  if (group.anchor == kNone && count_along(group.sizes, ~uint32_t{0}) <= kMaxSmallElements) {
    std::vector<uint32_t>& others = small_groups(group.sizes);
    if (others.size() == kMaxSmallGroups) others.erase(others.begin());
    others.push_back(number);
  }
  groups_.push_back(std::move(group));
}

// Whether the launch may run in parallel with a member of the group. Fusing would serialise them.
bool LaunchPlan::LoopFuser::may_run_in_parallel(uint32_t i, const Group& group) const {
  return program_.chains_ &&
         std::any_of(group.members.begin(), group.members.end(),
                     [&](uint32_t member) { return program_.chains_->parallel_to(i)[member]; });
}

// Whether `a` iterates over the rows of `b`: one element per row.
bool LaunchPlan::LoopFuser::iterates_over_rows_of(const Group& a, const Group& b) {
  return a.row_axes == 0 && a.sizes != b.sizes && is_row_shape_of(a.sizes, b);
}

bool LaunchPlan::LoopFuser::can_merge(const Group& a, const Group& b) const {
  const bool is_same =
      a.sizes == b.sizes && (a.row_axes == b.row_axes || a.row_axes == 0 || b.row_axes == 0);
  if (!is_same && !iterates_over_rows_of(a, b) && !iterates_over_rows_of(b, a)) return false;
  if (a.anchor != kNone && b.anchor != kNone) return false;
  if (std::min(a.anchor, b.anchor) != kNone && (a.row_axes | b.row_axes) != 0) return false;
  size_t n_reductions[kMaxStages] = {};
  for (const auto* members : {&a.members, &b.members}) {
    for (const uint32_t i : *members) {
      if (reduced_[i] != 0 && ++n_reductions[stage_[i]] > kMaxReductions) return false;
    }
  }
  const auto large_reads = [&](const Group& group) {
    const auto n = std::count_if(group.reads.begin(), group.reads.end(), [&](uint32_t k) {
      return count_distinct(view(k)) >= kLargeElements;
    });
    return static_cast<size_t>(n);
  };
  const bool has_many_reads = a.reads.size() + b.reads.size() > kMaxLargeReads;
  if (has_many_reads && large_reads(a) + large_reads(b) > kMaxLargeReads) return false;
  return a.members.size() + b.members.size() <= kMaxInstructions &&
         a.reads.size() + b.reads.size() + 2 <= kMaxReads;
}

// Merges `other` into `own` if the two fit into one loop. Otherwise only closes `other`.
void LaunchPlan::LoopFuser::absorb(Group& own, Group& other) {
  other.is_open = false;
  if (!can_merge(own, other)) return;
  for (const auto& [rows, elements] : {std::pair(&own, &other), std::pair(&other, &own)}) {
    if (!iterates_over_rows_of(*rows, *elements)) continue;
    for (const uint32_t i : rows->members) is_per_row_elementwise_[i] = true;
    rows->sizes = elements->sizes;
  }
  own.row_axes |= other.row_axes;
  own.anchor = std::min(own.anchor, other.anchor);
  own.members.insert(own.members.end(), other.members.begin(), other.members.end());
  for (const uint32_t k : other.reads) add_read(own.reads, k);
  other.members.clear();
}

// Whether two views show the same elements in the same layout.
bool LaunchPlan::LoopFuser::is_same_operand(uint32_t a, uint32_t b) const {
  const tenon_view &x = view(a), &y = view(b);
  if (a == b) return true;
  if (view_source(a).buffer != view_source(b).buffer ||
      view_source(a).offset != view_source(b).offset || x.dtype != y.dtype ||
      x.strides_class != y.strides_class) {
    return false;
  }
  if (view_source(a).buffer == kNone) {  // Inline scalars.
    const ElementBits &p = program_.scalars_[view_source(a).scalar],
                      &q = program_.scalars_[view_source(b).scalar];
    return view_source(a).scalar_input == view_source(b).scalar_input &&
           (view_source(a).scalar_input != kNone || std::equal(p.words, p.words + 2, q.words));
  }
  return x.strides_class != TENON_STRIDES_STRIDED ||
         (same_sizes(x, y) && std::equal(x.strides, x.strides + x.rank, y.strides));
}

// Adds a view unless an equal one is present; returns its index.
uint32_t LaunchPlan::LoopFuser::add_read(std::vector<uint32_t>& reads, uint32_t k) const {
  const auto at = std::find_if(reads.begin(), reads.end(),
                               [&](uint32_t other) { return is_same_operand(other, k); });
  const auto number = static_cast<uint32_t>(at - reads.begin());
  if (at == reads.end()) reads.push_back(k);
  return number;
}

}  // namespace tenon
