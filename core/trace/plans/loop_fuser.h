// Loop fusion: merges elementwise launches over one iteration space, and reductions over its rows,
// into a single kernel, if the device supports loop kernels (core/device/loop_table.h).
// Intermediate values that only the group reads need no memory. A loop may be the epilogue of an
// anchor kernel such as a matmul.
//
// loop_groups.cc groups launches, loop_builder.cc builds the loops. Both take O(n) time for n
// launches: groups have at most kMaxInstructions members, a launch without shared operands is
// compared with at most kMaxSmallGroups groups, and grouping runs at most kMaxRounds times.

#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/trace/plans/plan_chains.h"

namespace tenon {

class LaunchPlan::LoopFuser {
 public:
  // `attrs` holds the attributes of each launch; empty if it cannot be fused.
  LoopFuser(LaunchPlan& program, uint32_t flags, std::span<const OwnedAttrs> attrs)
      : program_(program), flags_(flags), attrs_(attrs) {}

  // Replaces groups of launches in the plan by loops.
  void run();

  // Launches with at most this many elements are fused even if they share no operands, because
  // launch overhead dominates.
  static constexpr int64_t kMaxSmallElements = 4096;
  // kMaxSmallGroups: maximum number of groups of one size with which a small launch is compared.
  // kMaxRounds: maximum number of grouping rounds. A new round starts if the device rejects a loop.
  static constexpr size_t kMaxSmallGroups = 16, kMaxRounds = 8;

 private:
  struct Group {
    std::vector<uint32_t> members;
    std::vector<uint32_t> reads;  // Views of external inputs, without duplicates.
    Ints sizes;                   // Sizes of the iteration space.
    uint32_t row_axes = 0;        // Mask of the axes of a row; 0: no reductions.
    uint32_t anchor = kNone;      // The anchor, one of the members.
    bool is_open = true;
    // The fused launch and its views, set when the loop kernel is prepared.
    struct Loop {
      Launch launch;
      std::vector<uint32_t> views;
    };
    std::optional<Loop> loop;
  };
  // External inputs of a loop: per-element ones, then per-row ones.
  struct Reads {
    std::vector<uint32_t> elements, rows;
    bool has_elements = false;  // Whether at least one input is not broadcast along the rows.
  };
  // The source of an operand in a loop: an external input, or the value of another member.
  struct Source {
    enum class Kind : uint8_t { kElements, kRows, kMember } kind;
    uint32_t number;
  };

  const Launch& launch(uint32_t i) const { return program_.launches_[i]; }
  const tenon_view& view(uint32_t k) const { return program_.views_[k]; }
  const ViewSource& view_source(uint32_t k) const { return program_.shown_[k]; }
  // Returns the input views of launch i.
  std::vector<uint32_t> inputs_of(uint32_t i) const;
  // Returns the first output view of launch i.
  uint32_t output_of(uint32_t i) const { return launch(i).first_view + launch(i).n_inputs; }

  // ---- grouping

  // Groups all launches, in order.
  void find_groups();
  // Returns the axes that launch i reduces, as a mask; nullopt if it is no reduction.
  std::optional<uint32_t> axes_reduced_by(uint32_t i) const;
  // Whether launch i may be part of a loop.
  bool can_join(uint32_t i);
  // Whether launch i may be the anchor of a loop.
  bool can_be_anchor(uint32_t i) const;
  // Whether launch i has one output, in a buffer that was not written before.
  bool writes_new_buffer(uint32_t i) const;
  // Returns the iteration space of launch i.
  Ints sizes_of_launch(uint32_t i) const;
  // Whether launch i computes one value per row.
  bool is_per_row(uint32_t i) const { return is_per_row_elementwise_[i] || reduced_[i] != 0; }
  // Returns the open group that computes the value of view k; NULL if there is none.
  Group* producer_group(uint32_t k);
  // Whether view k starts where the launch that wrote its buffer did, with the same dtype.
  bool reads_output_from_start(uint32_t k) const;
  // Whether view k is dense, and starts where the launch that wrote its buffer did, with the same
  // dtype.
  bool is_dense_output(uint32_t k) const;
  // Whether view k is exactly the output of the launch that wrote its buffer.
  bool is_exact_output(uint32_t k) const;
  // Whether view k broadcasts per-row values along the rows of the group.
  bool broadcasts_rows(uint32_t k, const Group& group) const;
  // Whether `sizes` are those of the per-row values of the group.
  static bool is_row_shape_of(const Ints& sizes, const Group& group);
  // Whether group a has one element for each row of group b.
  static bool iterates_over_rows_of(const Group& a, const Group& b);
  // Returns the stage of a loop to which launches that read the output of `launch` belong.
  uint32_t stage_of_readers(uint32_t launch) const;
  // Whether launch i, which reads view k, can join the group that computes the view.
  bool can_read(uint32_t i, uint32_t k, const Group& group) const;
  // Adds launch i to a group, or closes the groups that it cannot join.
  void add_launch(uint32_t i);
  // Closes all groups if launch i overwrites a buffer.
  void close_if_overwritten(uint32_t i);
  // Merges launch i with the groups that compute its inputs.
  void merge_with_producers(uint32_t i);
  void add_group(Group group);
  // Whether two groups can be merged to one loop.
  bool can_merge(const Group& a, const Group& b) const;
  // Whether launch i may run in parallel with a member of the group.
  bool may_run_in_parallel(uint32_t i, const Group& group) const;
  // Merges `other` into `own` if the two fit into one loop. Closes `other` in any case.
  void absorb(Group& own, Group& other);
  // Returns the open groups of few elements with these sizes.
  std::vector<uint32_t>& small_groups(const Ints& sizes);
  // Returns a small group into which `own`, a group of launch i alone, can be merged; NULL if there
  // is none.
  Group* find_small_group(uint32_t i, const Group& own);
  // Whether views a and b show the same elements in the same layout.
  bool is_same_operand(uint32_t a, uint32_t b) const;
  // Adds view k to `reads` unless an equal view is present; returns its index.
  uint32_t add_read(std::vector<uint32_t>& reads, uint32_t k) const;

  // ---- building loops

  // Makes loops of the groups. Returns false if the device rejects one
  // with reductions or an anchor.
  bool make_loops();
  // Prepares the loop kernel of a group; nullopt if the device rejects it.
  std::optional<Group::Loop> make(const Group& group);
  // Whether view k is broadcast along these axes.
  bool is_broadcast_along(uint32_t k, uint32_t axes) const;
  // Whether kernels can address all bytes of these views.
  bool are_addressable(std::span<const uint32_t> views) const;
  // Describes the anchor of a group to the device.
  LoopSpec::Anchor anchor_of(const Group& group) const;
  // Adds view k, an external input of launch i, to `reads` unless an equal view is present. Returns
  // the input as the source of an operand.
  Source add_input(Reads& reads, const Group& group, uint32_t i, uint32_t k);
  // Returns the attributes of launch i; equivalent reductions have the same ones.
  OwnedAttrs attrs_in_loop(uint32_t i) const;
  // Returns a view of the data of view k with the sizes of the loop or, if `per_row` is true, of
  // the per-row values of the loop.
  uint32_t view_in_loop(uint32_t k, const Group& group, bool per_row);
  // Returns the name of the fused launch: "fused(mul, add x2, tanh)".
  std::string name_of(const Group& group) const;
  // Replaces the launches of each group by its loop.
  void replace_launches();

  LaunchPlan& program_;
  uint32_t flags_;
  std::span<const OwnedAttrs> attrs_;
  std::vector<uint32_t> writer_;     // By buffer: last launch so far that wrote it.
  std::vector<uint32_t> n_readers_;  // By buffer: number of launch views that read it.
  // Indexed by launch:
  std::vector<bool> is_excluded_;  // A reduction or anchor excluded from fusion.
  std::vector<uint32_t> reduced_;  // Mask of reduced axes; 0 if elementwise.
  std::vector<uint32_t> stage_;    // Stage of the launch in its loop, if it is in a group.
  std::vector<bool> is_per_row_elementwise_;  // An elementwise launch with one element per row.
  std::vector<uint32_t> group_;
  std::vector<Group> groups_;
  size_t first_open_ = 0;  // All groups before this index are closed.
  // The most recent groups of each size that have no anchor and may still accept launches.
  std::map<std::vector<int64_t>, std::vector<uint32_t>> small_groups_;
};

// Returns the shape of per-row values of a loop with these sizes. The axes along which rows extend
// have size 1 if `keeps` is true, else they are removed.
Ints row_shape(const Ints& sizes, uint32_t row_axes, bool keeps);

// Returns the sizes of a view.
inline Ints sizes_of(const tenon_view& view) {
  return Ints(std::span<const int64_t>(view.sizes, view.rank));
}

}  // namespace tenon
