// Loops instead of launches: elementwise launches over the same elements become one, where the
// device has loops (core/device/loop_table.h). What only they read of each other needs no memory.
//
// The launches are looked at in their order. One joins the groups whose values it reads, which
// become one with it; a group runs where its last launch stood, so it is closed as soon as anyone
// else reads what it gives.

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "core/trace/program.h"

namespace tenon {
namespace {

constexpr size_t kMostInstructions = 48;
constexpr size_t kMostReads = 20;
// Launches of at most so many elements are joined also where they share nothing: what they cost is
// that they are launches.
constexpr int64_t kSmall = 4096;

bool same_sizes(const tenon_view& a, const tenon_view& b) {
  return a.rank == b.rank && std::equal(a.sizes, a.sizes + a.rank, b.sizes);
}

bool is_small(const tenon_view& view) {
  int64_t n = 1;
  for (size_t axis = 0; axis < view.rank; ++axis) n *= view.sizes[axis];
  return n <= kSmall;
}

}  // namespace

class Program::Fuser {
 public:
  Fuser(Program& program, uint32_t flags, std::span<const OwnedAttrs> attrs)
      : program_(program),
        flags_(flags),
        attrs_(attrs),
        writer_(program.buffers_.size(), kNone),
        n_readers_(program.buffers_.size(), 0) {}

  void run() {
    for (uint32_t i = 0; i < program_.launches_.size(); ++i) {
      for (const uint32_t k : inputs_of(i)) {
        if (shown(k).buffer != kNone) ++n_readers_[shown(k).buffer];
      }
    }
    for (uint32_t i = 0; i < program_.launches_.size(); ++i) look_at(i);
    for (Group& group : groups_) {
      if (group.members.size() > 1) group.loop = make(group);
    }
    rewrite();
  }

 private:
  struct Group {
    std::vector<uint32_t> members;
    std::vector<uint32_t> reads;  // Views of what comes from elsewhere, each once.
    bool is_open = true;
    // Filled in at the end: the launch, and the views of the old program that it has.
    struct Loop {
      Launch launch;
      std::vector<uint32_t> views;
    };
    std::optional<Loop> loop;
  };

  const Launch& launch(uint32_t i) const { return program_.launches_[i]; }
  const tenon_view& view(uint32_t k) const { return program_.views_[k]; }
  const Shown& shown(uint32_t k) const { return program_.shown_[k]; }
  std::vector<uint32_t> inputs_of(uint32_t i) const {
    std::vector<uint32_t> views(launch(i).n_inputs);
    std::iota(views.begin(), views.end(), launch(i).first_view);
    return views;
  }
  uint32_t output_of(uint32_t i) const { return launch(i).first_view + launch(i).n_inputs; }

  // ---- which launches

  bool can_join(uint32_t i) const {
    const Launch& own = launch(i);
    if (!own.kernel->loop_line() || own.n_outputs != 1 || own.workspace_bytes != 0) return false;
    const Shown& result = shown(output_of(i));
    if (result.offset != 0 || writer_[result.buffer] != kNone) return false;
    for (const uint32_t k : inputs_of(i)) {
      if (shown(k).buffer == result.buffer || !same_sizes(view(k), view(output_of(i))))
        return false;
    }
    return true;
  }

  // The open group that gave what view `k` shows, if one did.
  Group* giver(uint32_t k) {
    const uint32_t buffer = shown(k).buffer;
    if (buffer == kNone || writer_[buffer] == kNone || group_[writer_[buffer]] == kNone) {
      return nullptr;
    }
    Group& group = groups_[group_[writer_[buffer]]];
    return group.is_open ? &group : nullptr;
  }

  // Whether a view shows just what the last launch that wrote its buffer gave.
  bool is_value(uint32_t k) const {
    const tenon_view& given = view(output_of(writer_[shown(k).buffer]));
    return shown(k).offset == 0 && view(k).strides_class == TENON_STRIDES_DENSE &&
           view(k).dtype == given.dtype && same_sizes(view(k), given);
  }

  void look_at(uint32_t i) {
    const bool joins = can_join(i);
    for (const uint32_t k : inputs_of(i)) {
      if (Group* group = giver(k); group && !(joins && is_value(k))) group->is_open = false;
    }
    group_.push_back(kNone);
    if (joins) {
      join(i);
    } else {
      close_if_overwritten(i);
    }
    for (uint32_t n = 0; n < launch(i).n_outputs; ++n) writer_[shown(output_of(i) + n).buffer] = i;
  }

  // What is written over may be what a group reads or gives.
  void close_if_overwritten(uint32_t i) {
    for (uint32_t n = 0; n < launch(i).n_outputs; ++n) {
      if (writer_[shown(output_of(i) + n).buffer] == kNone) continue;
      for (Group& group : groups_) group.is_open = false;
    }
  }

  void join(uint32_t i) {
    Group own;
    own.members = {i};
    for (const uint32_t k : inputs_of(i)) {
      if (Group* group = giver(k)) absorb(own, *group);
    }
    for (const uint32_t k : inputs_of(i)) {
      const uint32_t buffer = shown(k).buffer;
      const bool is_own = buffer != kNone && std::find(own.members.begin(), own.members.end(),
                                                       writer_[buffer]) != own.members.end();
      if (!is_own) add_read(own.reads, k);
    }
    if (own.members.size() == 1 && is_small(view(output_of(i)))) {
      const auto near = std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) {
        return group.is_open && same_sizes(view(output_of(group.members[0])), view(output_of(i))) &&
               fit(group, own);
      });
      if (near != groups_.end()) absorb(own, *near);
    }
    std::sort(own.members.begin(), own.members.end());
    for (const uint32_t member : own.members)
      group_[member] = static_cast<uint32_t>(groups_.size());
    groups_.push_back(std::move(own));
  }

  static bool fit(const Group& a, const Group& b) {
    return a.members.size() + b.members.size() <= kMostInstructions &&
           a.reads.size() + b.reads.size() + 2 <= kMostReads;
  }

  // Makes two groups one, or closes the other where that would be too large.
  void absorb(Group& own, Group& other) {
    if (fit(own, other)) {
      own.members.insert(own.members.end(), other.members.begin(), other.members.end());
      for (const uint32_t k : other.reads) add_read(own.reads, k);
      other.members.clear();
    }
    other.is_open = false;
  }

  // Whether two views show the same elements in the same way.
  bool is_alike(uint32_t a, uint32_t b) const {
    const tenon_view &x = view(a), &y = view(b);
    if (a == b) return true;
    if (shown(a).buffer != shown(b).buffer || shown(a).offset != shown(b).offset ||
        x.dtype != y.dtype || x.strides_class != y.strides_class) {
      return false;
    }
    if (shown(a).buffer == kNone) {  // Inline scalars.
      const ElementBits &p = program_.scalars_[shown(a).scalar],
                        &q = program_.scalars_[shown(b).scalar];
      return shown(a).scalar_input == shown(b).scalar_input &&
             (shown(a).scalar_input != kNone || std::equal(p.words, p.words + 2, q.words));
    }
    return x.strides_class != TENON_STRIDES_STRIDED ||
           std::equal(x.strides, x.strides + x.rank, y.strides);
  }

  // The number of the view among these, which it becomes part of.
  uint32_t add_read(std::vector<uint32_t>& reads, uint32_t k) const {
    const auto at = std::find_if(reads.begin(), reads.end(),
                                 [&](uint32_t other) { return is_alike(other, k); });
    const auto number = static_cast<uint32_t>(at - reads.begin());
    if (at == reads.end()) reads.push_back(k);
    return number;
  }

  // ---- the loop of a group

  std::optional<Group::Loop> make(const Group& group) const {
    std::unordered_map<uint32_t, uint32_t> given;  // Buffers: which instruction's.
    for (uint32_t n = 0; n < group.members.size(); ++n) {
      given[shown(output_of(group.members[n])).buffer] = n;
    }
    LoopSpec spec;
    spec.flags = flags_;
    spec.rank = view(output_of(group.members[0])).rank;
    const auto n_inputs = static_cast<uint32_t>(group.reads.size());
    for (const uint32_t k : group.reads) {
      spec.inputs.push_back({dtype_from_c(view(k).dtype), view(k).strides_class});
    }
    std::vector<uint32_t> n_own_readers(group.members.size(), 0);
    for (const uint32_t i : group.members) {
      LoopSpec::Instruction& made = spec.instructions.emplace_back();
      made.line = launch(i).kernel->loop_line();
      made.attrs = attrs_[i];
      made.dtype = dtype_from_c(view(output_of(i)).dtype);
      std::vector<uint32_t> reads = group.reads;
      for (const uint32_t k : inputs_of(i)) {
        const auto at = given.find(shown(k).buffer);
        if (at == given.end()) {
          made.inputs.push_back(add_read(reads, k));
        } else {
          made.inputs.push_back(n_inputs + at->second);
          ++n_own_readers[at->second];
        }
      }
    }
    Group::Loop loop = {launch(group.members.back()), group.reads};
    // The last comes first, so that it may lie where an input ends.
    for (size_t n = group.members.size(); n-- > 0;) {
      const uint32_t k = output_of(group.members[n]), buffer = shown(k).buffer;
      const bool is_inside = program_.buffers_[buffer].place == Buffer::Place::kBlock &&
                             n_readers_[buffer] == n_own_readers[n];
      if (is_inside) continue;
      spec.outputs.push_back(n_inputs + static_cast<uint32_t>(n));
      loop.views.push_back(k);
    }
    if (spec.outputs.empty()) return std::nullopt;
    const bool is_strided = std::any_of(spec.inputs.begin(), spec.inputs.end(), [](const auto& x) {
      return x.strides == TENON_STRIDES_STRIDED;
    });
    Ref<const PreparedKernel> kernel = program_.device_.loops().find(spec);
    if (!kernel->exists() || (is_strided && !kernel->takes_strides())) return std::nullopt;
    loop.launch.kernel = std::move(kernel);
    loop.launch.fused = name_of(group);
    loop.launch.profile.clear();
    loop.launch.n_inputs = n_inputs;
    loop.launch.n_outputs = static_cast<uint32_t>(spec.outputs.size());
    return loop;
  }

  // "fused(mul, add x2, tanh)".
  std::string name_of(const Group& group) const {
    std::string name = "fused(";
    for (size_t n = 0; n < group.members.size();) {
      const OpDef* op = launch(group.members[n]).op;
      size_t end = n + 1;
      while (end < group.members.size() && launch(group.members[end]).op == op) ++end;
      name += (n > 0 ? ", " : "") + op->name;
      if (end - n > 1) name += " x" + std::to_string(end - n);
      n = end;
    }
    return name + ")";
  }

  void rewrite() {
    std::vector<Launch> launches;
    std::vector<tenon_view> views;
    std::vector<Shown> all_shown;
    const auto keep_view = [&](uint32_t k) {
      views.push_back(view(k));
      all_shown.push_back(shown(k));
    };
    for (uint32_t i = 0; i < program_.launches_.size(); ++i) {
      const Group* group = group_[i] == kNone ? nullptr : &groups_[group_[i]];
      const auto first_view = static_cast<uint32_t>(views.size());
      if (group && group->loop) {
        if (group->members.back() != i) continue;
        launches.push_back(group->loop->launch);
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

  Program& program_;
  uint32_t flags_;
  std::span<const OwnedAttrs> attrs_;  // Of each launch.
  std::vector<uint32_t> writer_;       // Of each buffer: the last launch that wrote it so far.
  std::vector<uint32_t> n_readers_;    // Of each buffer: the views of launches that read it.
  std::vector<uint32_t> group_;        // Of each launch.
  std::vector<Group> groups_;
};

void Program::fuse(uint32_t flags, std::span<const OwnedAttrs> attrs) {
  Fuser(*this, flags, attrs).run();
}

}  // namespace tenon
