// Loops instead of launches: elementwise launches over the same elements, and reductions over rows
// of them, become one, where the device has loops (core/device/loop_table.h). What only they read
// of each other needs no memory. A loop may go behind a head, such as a product, whose value its
// launches read.
//
// program_fuse.cc finds the groups of launches, program_loops.cc makes loops of them. Both take
// O(n) time for n launches: groups have at most kMostInstructions members, a launch that shares
// nothing is compared with at most kMaxNear groups, and groups are formed at most kMaxRounds times.

#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/trace/program_chains.h"

namespace tenon {

class Program::Fuser {
 public:
  // `attrs` are those of each launch.
  Fuser(Program& program, uint32_t flags, std::span<const OwnedAttrs> attrs)
      : program_(program), flags_(flags), attrs_(attrs) {}

  void run();

  // Launches of at most so many elements are joined also where they share nothing: what they cost
  // is that they are launches.
  static constexpr int64_t kSmall = 4096;
  // Groups of one size that such a launch is compared with; and how often groups are formed anew
  // because the device refused a loop.
  static constexpr size_t kMaxNear = 16, kMaxRounds = 8;

 private:
  struct Group {
    std::vector<uint32_t> members;
    std::vector<uint32_t> reads;  // Views of what comes from elsewhere, each once.
    Ints sizes;                   // Of the elements.
    uint32_t row_axes = 0;        // 0: nothing is reduced.
    uint32_t head = kNone;        // One of the members.
    bool is_open = true;
    // Filled in at the end: the launch, and the views of the program that it has.
    struct Loop {
      Launch launch;
      std::vector<uint32_t> views;
    };
    std::optional<Loop> loop;
  };
  // What a loop takes from elsewhere: per element, and behind that per row.
  struct Reads {
    std::vector<uint32_t> elements, rows;
    bool has_elements = false;  // Without those that repeat along the rows.
  };
  // One of these, or what a member of the group gives.
  struct Source {
    enum class Kind : uint8_t { kElements, kRows, kMember } kind;
    uint32_t number;
  };

  const Launch& launch(uint32_t i) const { return program_.launches_[i]; }
  const tenon_view& view(uint32_t k) const { return program_.views_[k]; }
  const Shown& shown(uint32_t k) const { return program_.shown_[k]; }
  std::vector<uint32_t> inputs_of(uint32_t i) const;
  uint32_t output_of(uint32_t i) const { return launch(i).first_view + launch(i).n_inputs; }

  // ---- which launches

  void find_groups();
  std::optional<uint32_t> axes_reduced_by(uint32_t i) const;
  bool can_join(uint32_t i);
  bool can_lead(uint32_t i) const;
  bool writes_anew(uint32_t i) const;
  Ints sizes_of_launch(uint32_t i) const;
  bool is_per_row(uint32_t i) const { return is_on_rows_[i] || reduced_[i] != 0; }
  Group* giver(uint32_t k);
  bool is_of_value(uint32_t k) const;
  bool is_dense_value(uint32_t k) const;
  bool is_value(uint32_t k) const;
  bool repeats_rows(uint32_t k, const Group& group) const;
  static bool is_rows_of(const Ints& sizes, const Group& group);
  static bool goes_over_rows(const Group& a, const Group& b);
  uint32_t stage_behind(uint32_t i) const;
  bool can_read(uint32_t i, uint32_t k, const Group& group) const;
  void look_at(uint32_t i);
  void close_if_overwritten(uint32_t i);
  void join(uint32_t i);
  void add_group(Group group);
  bool fit(const Group& a, const Group& b) const;
  bool is_beside(uint32_t i, const Group& group) const;
  void absorb(Group& own, Group& other);
  std::vector<uint32_t>& near(const Ints& sizes);
  Group* find_near(uint32_t i, const Group& own);
  bool is_alike(uint32_t a, uint32_t b) const;
  uint32_t add_read(std::vector<uint32_t>& reads, uint32_t k) const;

  // ---- the loops of groups

  bool make_loops();
  std::optional<Group::Loop> make(const Group& group);
  bool repeats_along(uint32_t k, uint32_t axes) const;
  bool are_seen(std::span<const uint32_t> views) const;
  LoopSpec::Head head_of(const Group& group) const;
  Source add_input(Reads& reads, const Group& group, uint32_t i, uint32_t k);
  OwnedAttrs attrs_in_loop(uint32_t i) const;
  uint32_t in_loop(uint32_t k, const Group& group, bool per_row);
  std::string name_of(const Group& group) const;
  void rewrite();

  Program& program_;
  uint32_t flags_;
  std::span<const OwnedAttrs> attrs_;
  std::vector<uint32_t> writer_;     // Of each buffer: the last launch that wrote it so far.
  std::vector<uint32_t> n_readers_;  // Of each buffer: the views of launches that read it.
  // Of each launch:
  std::vector<bool> is_single_;    // A reduction or a head that no loop may have.
  std::vector<uint32_t> reduced_;  // The axes that it reduces; 0 where it is elementwise.
  std::vector<uint32_t> stage_;    // If it joined: that of the loop.
  std::vector<bool> is_on_rows_;   // It is elementwise, with one element for each row.
  std::vector<uint32_t> group_;
  std::vector<Group> groups_;
  size_t first_open_ = 0;  // All groups before this one are closed.
  // Of each size, the last groups without a head that may still be open and have room.
  std::map<std::vector<int64_t>, std::vector<uint32_t>> near_;
};

// The sizes of what has one element for each row: with the row's axes, or without them.
Ints rows_of(const Ints& sizes, uint32_t row_axes, bool keeps);

inline Ints sizes_of(const tenon_view& view) {
  return Ints(std::span<const int64_t>(view.sizes, view.rank));
}

}  // namespace tenon
