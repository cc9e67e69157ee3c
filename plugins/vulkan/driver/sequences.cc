#include "plugins/vulkan/driver/sequences.h"

#include <algorithm>
#include <bit>

#include "plugins/vulkan/driver/cached_commands.h"
#include "plugins/vulkan/driver/device.h"
#include "plugins/vulkan/spirv/sequence.h"

namespace tenon_vulkan {
namespace {

// Maximum number of SPIR-V words in the shader of a sequence. Compile time grows with the size of a
// shader, and some drivers compile it at the first dispatch.
constexpr size_t kMaxWords = size_t{1} << 14;

// Starting this many dispatches takes as long as compiling the shader of one part: on software
// drivers, 20 us for a dispatch and 20 ms for a compilation.
constexpr uint64_t kDispatchesPerCompilation = 1000;

// A dispatch is small if one workgroup needs at most this many rounds over its indices.
constexpr uint64_t kMaxRounds = 4;

// Returns how often one workgroup must iterate to process all indices of the dispatch.
uint64_t rounds_of(const BoundDispatch& dispatch) {
  return std::max<uint64_t>(1, (dispatch.n + kLocalSize - 1) / kLocalSize);
}

bool is_small(const BoundDispatch& dispatch) {
  const bool is_one_group = dispatch.groups == std::array<uint32_t, 3>{1, 1, 1};
  return dispatch.iterations > 0 && (is_one_group || dispatch.n > 0) &&
         rounds_of(dispatch) <= kMaxRounds && dispatch.pipeline->layout().kinds.texels == 0;
}

}  // namespace

Sequence::Sequence(const Device& device, std::span<const BoundDispatch> dispatches) {
  const uint32_t most = device.capabilities().max_operands;
  for (const BoundDispatch& dispatch : dispatches) {
    if (!is_small(dispatch) || !add(dispatch, most)) return;
  }
}

bool Sequence::add(const BoundDispatch& dispatch, uint32_t most_bindings) {
  const uint64_t iterations = 1 + dispatch.iterations * rounds_of(dispatch);
  if (iterations_ + iterations > kMaxIterations) return false;
  if (bindings_.empty()) bindings_.push_back(dispatch.bindings[0]);
  std::vector<uint32_t> numbers;
  if (!add_bindings(dispatch.bindings.subspan(1), most_bindings, numbers)) return false;
  const auto is_again = [&](const Part& part) {
    return part.pipeline == dispatch.pipeline && part.bindings == numbers;
  };
  if (parts_.empty() || !is_again(parts_.back())) {
    const size_t n_words = n_words_ + dispatch.pipeline->spirv().size();
    if (!parts_.empty() && n_words > kMaxWords) return false;
    parts_.push_back({dispatch.pipeline, std::move(numbers), 0});
    n_words_ = n_words;
  }
  parts_.back().end = static_cast<uint32_t>(++size_);
  iterations_ += iterations;
  n_ = std::max(n_, dispatch.n == 0 ? kLocalSize : dispatch.n);
  first_words_.push_back(dispatch.first_word);
  for (const Access& access : dispatch.accesses) {
    const auto is_same = [&](const Access& each) { return each == access; };
    if (std::none_of(accesses_.begin(), accesses_.end(), is_same)) accesses_.push_back(access);
  }
  return true;
}

bool Sequence::add_bindings(std::span<const Binding> bindings, uint32_t most_bindings,
                            std::vector<uint32_t>& numbers) {
  const size_t n_before = bindings_.size();
  for (const Binding& binding : bindings) {
    const auto found = std::find(bindings_.begin(), bindings_.end(), binding);
    numbers.push_back(static_cast<uint32_t>(found - bindings_.begin()));
    if (found == bindings_.end()) bindings_.push_back(binding);
  }
  if (bindings_.size() <= most_bindings + 1) return true;
  bindings_.resize(n_before);
  return false;
}

uint64_t Sequence::min_replays_to_pay_off() const {
  if (size_ < 2) return CachedCommands::kNever;
  return std::max<uint64_t>(1, parts_.size() * kDispatchesPerCompilation / size_);
}

tenon_error* Sequence::get_pipeline(Device& device,
                                    std::shared_ptr<const Pipeline>& pipeline) const {
  // Idle invocations cost processor time on software drivers. GPUs run whole subgroups in any case.
  const Capabilities& capabilities = device.capabilities();
  const uint64_t wanted = std::bit_ceil(std::max<uint64_t>(n_, capabilities.subgroup_size));
  const auto local_size = static_cast<uint32_t>(std::min<uint64_t>(wanted, kLocalSize));
  std::vector<spirv::Part> parts;
  for (const Part& part : parts_) parts.push_back({part.pipeline->spirv(), part.bindings});
  const std::vector<uint32_t> module = spirv::merge_shaders(parts, capabilities, local_size);
  const auto n_operands = static_cast<uint32_t>(bindings_.size() - 1);
  return device.pipelines().get(module, {.n_operands = n_operands}, pipeline);
}

std::vector<uint32_t> Sequence::parameters() const {
  std::vector<uint32_t> words;
  for (const Part& part : parts_) words.push_back(part.end);
  words.insert(words.end(), first_words_.begin(), first_words_.end());
  return words;
}

BoundDispatch Sequence::bound_dispatch(const Pipeline& pipeline, uint32_t first_word) const {
  return {&pipeline, bindings_, accesses_, first_word, {1, 1, 1}, iterations_, n_};
}

}  // namespace tenon_vulkan
