// Caches launch plans for composite ops that are called repeatedly.

#include <array>

#include "core/base/search.h"
#include "core/dispatch/composites.h"
#include "core/dispatch/dispatch.h"
#include "core/ops/definition/formulas.h"
#include "core/trace/passes/pass.h"
#include "core/trace/plans/launch_plan.h"

namespace tenon {
namespace {

// The cache key of a call, without the op and its attributes.
using Words = SmallVector<int64_t, 24>;

void append_type(Words& words, const TensorType& type) {
  words.push_back(static_cast<int64_t>(type.dtype) | static_cast<int64_t>(type.weak) << 8 |
                  static_cast<int64_t>(type.rank()) << 16);
  for (const Size size : type.shape) words.push_back(size.word());
}

Words cache_key_of(Scope& scope, const CompositePlans::Key& key, TensorSpan inputs) {
  Words words = {static_cast<int64_t>(key.part), reinterpret_cast<intptr_t>(&scope.device())};
  for (const TensorType& type : key.types) append_type(words, type);
  for (const Tensor& x : inputs) {
    if (!x) {
      words.push_back(-1);
      continue;
    }
    append_type(words, x->type);
    if (x->dense) continue;
    for (const Size stride : x->strides) words.push_back(stride.word());
  }
  return words;
}

uint64_t hash_of(const CompositePlans::Key& key, const Words& words) {
  uint64_t hash = detail::mix(key.op.id, key.attrs.hash());
  for (const int64_t word : words) hash = detail::mix(hash, static_cast<uint64_t>(word));
  return hash;
}

// While it exists, the scope has no source line, so that a plan records none. Later calls that
// replay the plan have other lines.
class WithoutLocation {
 public:
  explicit WithoutLocation(Scope& scope) : scope_(scope), line_(scope.location()) {
    scope_.set_location({});
  }
  ~WithoutLocation() { scope_.set_location(std::move(line_)); }
  WithoutLocation(const WithoutLocation&) = delete;

 private:
  Scope& scope_;
  std::string line_;
};

// The tensors that are not null, and a mask of their positions.
struct Present {
  explicit Present(TensorSpan all) {
    for (const Tensor& x : all) {
      is_there.push_back(static_cast<bool>(x));
      if (x) tensors.push_back(x);
    }
  }

  Tensors tensors;
  SmallVector<bool, 8> is_there;
};

// Inserts a null tensor at each position that the mask marks as absent.
Tensors restore_absent(Tensors tensors, const SmallVector<bool, 8>& is_there) {
  Tensors all;
  size_t next = 0;
  for (const bool there : is_there) all.push_back(there ? std::move(tensors[next++]) : Tensor());
  return all;
}

class Plans final : public CompositePlans {
 public:
  explicit Plans(Context& context) : fuse_(find_pass("fuse")), context_(context) {}

  Tensors run(Scope& scope, const Key& key, TensorSpan inputs, const Code& code) override {
    // Runs the decomposition op by op, on aliases of donated inputs, because only the call as a
    // whole may consume them.
    const auto in_parts = [&] {
      const auto is_donated_tensor = [](const Tensor& x) {
        return x && x->donation == Donation::kDonated;
      };
      if (!any_of(inputs, is_donated_tensor)) return code(inputs);
      Tensors own;
      for (const Tensor& x : inputs)
        own.push_back(is_donated_tensor(x) ? tracked_alias(scope, x) : x);
      return code(own);
    };
    if (scope.innermost() || scope.recorder() || is_disabled(key.op)) return in_parts();
    const Words words = cache_key_of(scope, key, inputs);
    const uint64_t hash = hash_of(key, words);
    const Entry* const entry = find(hash, key, words);
    if (!entry) return was_seen_before(hash) ? record(scope, key, words, inputs, code) : in_parts();
    if (!entry->program) return in_parts();
    Tensors given;
    SmallVector<uint8_t, 16> spare;
    for (const Tensor& x : inputs) {
      if (!x) continue;
      // A donated tensor is reusable if only the caller and `inputs` own it. Its memory then also
      // has two owners: the tensor and its alias in `given`.
      const bool is_spare = x->donation == Donation::kDonated && x->owners() == 2;
      spare.push_back(is_spare ? uint8_t{2} : uint8_t{0});
      given.push_back(without_donation(scope, x));
    }
    if (!entry->program->serves(given)) return in_parts();
    return restore_absent(entry->program->run(scope, given, spare.span()), entry->gives);
  }

  bool is_light(Scope& scope, const Key& key, TensorSpan inputs) override {
    if (is_disabled(key.op)) return false;
    const Words words = cache_key_of(scope, key, inputs);
    const uint64_t hash = hash_of(key, words);
    if (const Entry* entry = find(hash, key, words)) {
      return entry->program && entry->program->is_light();
    }
    return was_seen_before(hash);
  }

 private:
  // Each hash has kSlotsPerHash consecutive slots. With a single slot, two calls in a loop with
  // colliding hashes would evict each other in each iteration.
  static constexpr size_t kMaxEntries = 256, kMaxSeenHashes = 1024, kSlotsPerHash = 8;

  struct Entry {
    uint64_t hash = 0;
    const OpDef* op = nullptr;
    OwnedAttrs attrs;
    Words words;
    SmallVector<bool, 8> gives;                 // For each output, whether it is present.
    std::unique_ptr<const LaunchPlan> program;  // NULL if the launches cannot be recorded.

    bool is(uint64_t other_hash, const Key& key, const Words& other_words) const {
      return hash == other_hash && op == &key.op && words == other_words &&
             attrs.view() == key.attrs;
    }
  };

  // Whether caching is disabled. This is the case while debugging, and for ops that run user code,
  // which a replay would skip.
  bool is_disabled(const OpDef& op) const {
    return context_.runs_functions_eagerly() || context_.is_pass_disabled(fuse_) || op.payload;
  }

  const Entry* find(uint64_t hash, const Key& key, const Words& words) const {
    for (uint64_t place = hash; place != hash + kSlotsPerHash; ++place) {
      const Entry& entry = entries_[place % kMaxEntries];
      if (entry.is(hash, key, words)) return &entry;
    }
    return nullptr;
  }

  // Returns a free slot for a hash. If there is none, returns its slots in rotation.
  template <class All, class IsFree>
  auto& place_of(uint64_t hash, All& all, const IsFree& is_free) {
    for (uint64_t place = hash; place != hash + kSlotsPerHash; ++place) {
      if (is_free(all[place % all.size()])) return all[place % all.size()];
    }
    return all[(hash + next_victim_++ % kSlotsPerHash) % all.size()];
  }

  // Returns whether the hash was seen before, and stores it. Calls are recorded only when they are
  // repeated, because most calls occur either once or very often.
  bool was_seen_before(uint64_t hash) {
    for (uint64_t place = hash; place != hash + kSlotsPerHash; ++place) {
      if (seen_[place % kMaxSeenHashes] == hash) return true;
    }
    place_of(hash, seen_, [](uint64_t seen) { return seen == 0; }) = hash;
    return false;
  }

  Tensors record(Scope& scope, const Key& key, const Words& words, TensorSpan inputs,
                 const Code& code) {
    const Present present(inputs);
    Tensors given;
    for (const Tensor& x : present.tensors) given.push_back(without_donation(scope, x));
    Entry made = {hash_of(key, words), &key.op, OwnedAttrs(key.attrs), words, {}, nullptr};
    LaunchPlan::Recorded recorded;
    {
      const WithoutLocation no_line(scope);
      recorded = LaunchPlan::record(
          scope, common_device(scope, borrowed(given)), given, [&](TensorSpan own) {
            Present outputs(code(restore_absent(Tensors(own), present.is_there)));
            made.gives = std::move(outputs.is_there);
            return std::move(outputs.tensors);
          });
    }
    // A launch plan must not keep the context alive, just as a scope does not.
    if (recorded.program && recorded.program->make_context_owned()) {
      made.program = std::move(recorded.program);
    }
    Tensors outputs = restore_absent(std::move(recorded.outputs), made.gives);
    place_of(made.hash, entries_, [](const Entry& entry) { return !entry.op; }) = std::move(made);
    return outputs;
  }

  static SmallVector<TensorImpl*, 6> borrowed(TensorSpan tensors) {
    SmallVector<TensorImpl*, 6> all;
    for (const Tensor& x : tensors) all.push_back(x.get());
    return all;
  }

  const size_t fuse_;
  Context& context_;
  std::array<Entry, kMaxEntries> entries_;
  std::array<uint64_t, kMaxSeenHashes> seen_{};
  size_t next_victim_ = 0;
};

}  // namespace

std::unique_ptr<CompositePlans> new_composite_plans(Context& context) {
  return std::make_unique<Plans>(context);
}

}  // namespace tenon
