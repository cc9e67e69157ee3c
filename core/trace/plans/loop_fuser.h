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
  // `attrs` has one entry per launch.
  LoopFuser(LaunchPlan& program, uint32_t flags, std::span<const OwnedAttrs> attrs)
      : program_(program), flags_(flags), attrs_(attrs) {}

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
    uint32_t row_axes = 0;        // 0: no reductions.
    uint32_t anchor = kNone;      // The anchor, one of the members.
    bool is_open = true;
    // Set at the end: the fused launch and its views.
    struct Loop {
      Launch launch;
      std::vector<uint32_t> views;
    };
    std::optional<Loop> loop;
  };
  // External inputs of a loop: per-element ones, then per-row ones.
  struct Reads {
    std::vector<uint32_t> elements, rows;
    bool has_elements = false;  // Whether some per-element input is not broadcast along the rows.
  };
  // The source of an operand in a loop: an external input, or the value of another member.
  struct Source {
    enum class Kind : uint8_t { kElements, kRows, kMember } kind;
    uint32_t number;
  };

  const Launch& launch(uint32_t i) const { return program_.launches_[i]; }
  const tenon_view& view(uint32_t k) const { return program_.views_[k]; }
  const ViewSource& shown(uint32_t k) const { return program_.shown_[k]; }
  std::vector<uint32_t> inputs_of(uint32_t i) const;
  uint32_t output_of(uint32_t i) const { return launch(i).first_view + launch(i).n_inputs; }

  // ---- grouping

  void find_groups();
  std::optional<uint32_t> axes_reduced_by(uint32_t i) const;
  bool can_join(uint32_t i);
  bool can_be_anchor(uint32_t i) const;
  bool writes_new_buffer(uint32_t i) const;
  Ints sizes_of_launch(uint32_t i) const;
  bool is_per_row(uint32_t i) const { return is_per_row_elementwise_[i] || reduced_[i] != 0; }
  Group* producer_group(uint32_t k);
  bool reads_output_from_start(uint32_t k) const;
  bool is_dense_output(uint32_t k) const;
  bool is_exact_output(uint32_t k) const;
  bool broadcasts_rows(uint32_t k, const Group& group) const;
  static bool is_row_shape_of(const Ints& sizes, const Group& group);
  static bool iterates_over_rows_of(const Group& a, const Group& b);
  // The stage of launches that read the output of `launch`.
  uint32_t stage_of_readers(uint32_t launch) const;
  bool can_read(uint32_t i, uint32_t k, const Group& group) const;
  void add_launch(uint32_t i);
  void close_if_overwritten(uint32_t i);
  void join(uint32_t i);
  void add_group(Group group);
  bool fit(const Group& a, const Group& b) const;
  bool may_run_in_parallel(uint32_t i, const Group& group) const;
  void absorb(Group& own, Group& other);
  std::vector<uint32_t>& small_groups(const Ints& sizes);
  Group* find_small_group(uint32_t i, const Group& own);
  bool is_same_operand(uint32_t a, uint32_t b) const;
  uint32_t add_read(std::vector<uint32_t>& reads, uint32_t k) const;

  // ---- building loops

  bool make_loops();
  std::optional<Group::Loop> make(const Group& group);
  bool is_broadcast_along(uint32_t k, uint32_t axes) const;
  bool are_addressable(std::span<const uint32_t> views) const;
  LoopSpec::Anchor anchor_of(const Group& group) const;
  Source add_input(Reads& reads, const Group& group, uint32_t i, uint32_t k);
  OwnedAttrs attrs_in_loop(uint32_t i) const;
  uint32_t view_in_loop(uint32_t k, const Group& group, bool per_row);
  std::string name_of(const Group& group) const;
  void rewrite();

  LaunchPlan& program_;
  uint32_t flags_;
  std::span<const OwnedAttrs> attrs_;
  std::vector<uint32_t> writer_;     // By buffer: last launch so far that wrote it.
  std::vector<uint32_t> n_readers_;  // By buffer: number of launch views that read it.
  // By launch:
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

// Returns the shape of a per-row value. The axes of the row have size 1 if `keeps`, else are
// removed.
Ints rows_of(const Ints& sizes, uint32_t row_axes, bool keeps);

inline Ints sizes_of(const tenon_view& view) {
  return Ints(std::span<const int64_t>(view.sizes, view.rank));
}

}  // namespace tenon
