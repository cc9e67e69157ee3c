#include "plugins/vulkan/kernels/axes.h"

#include <algorithm>
#include <bit>

namespace tenon_vulkan {

using spirv::U32;
using spirv::Var;

// Computes the constants of Granlund and Montgomery's method.
Divisor make_divisor(uint32_t number) {
  const auto bits = static_cast<uint32_t>(std::bit_width(number - 1));
  const uint64_t power = uint64_t{1} << bits;
  const uint64_t multiplier = ((power - number) << 32) / number + 1;
  return {static_cast<uint32_t>(multiplier), bits - 1};
}

void Division::push(spirv::Words& words, int64_t number) {
  const auto word = static_cast<uint32_t>(number);
  const Divisor divisor = word > 1 ? make_divisor(word) : Divisor{};
  words.insert(words.end(), {word, divisor.multiplier, divisor.shift});
}

Division Division::load(spirv::Code& code, U32 at) {
  return {code.parameter(at), code.parameter(at + 1), code.parameter(at + 2)};
}

U32 Division::quotient(U32 x) const {
  const U32 high = x.code->multiply_wide(x, multiplier).second;
  return (high + ((x - high) >> 1)) >> shift;
}

std::pair<U32, U32> Division::divide(U32 x) const {
  const U32 whole = quotient(x);
  return {whole, x - whole * number};
}

std::pair<U32, U32> Division::divide_by_any_divisor(U32 x) const {
  const U32 whole = select(number == 1, x, quotient(x));
  return {whole, x - whole * number};
}

void Axes::push(spirv::Words& words) const {
  words.push_back(static_cast<uint32_t>(std::max(rank_, kAtOnce)));
  for (size_t i = 0; i < rank_; ++i) {
    Division::push(words, sizes_[i]);
    for (size_t k = 0; k < n_operands_; ++k) {
      words.push_back(static_cast<uint32_t>(strides_[k][axes_[i]]));
    }
  }
  for (size_t i = rank_; i < kAtOnce; ++i) {
    words.resize(words.size() + Division::kWords + n_operands_);
  }
}

AxesCode::AxesCode(spirv::Code& code, U32 at, uint32_t n_operands)
    : code_(code), at_(at), count_(code.parameter(at)), n_operands_(n_operands) {
  for (uint32_t i = 0; i < Axes::kAtOnce; ++i) first_.push_back(load(code.u32(i)));
}

AxesCode::Axis AxesCode::load(U32 axis) const {
  const U32 at = axis_at(axis);
  Axis loaded = {Division::load(code_, at), {}};
  for (uint32_t k = 0; k < n_operands_; ++k) {
    loaded.strides.push_back(code_.parameter(at + (Division::kWords + k)));
  }
  return loaded;
}

std::vector<U32> AxesCode::line_offsets(U32 number) const {
  std::vector<U32> places;
  for (const U32 stride : last_strides()) places.push_back(number * stride);
  return places;
}

std::vector<U32> AxesCode::operand_offsets(U32 number) const {
  // Adds the operands' offsets along this axis to `sums`. Returns the linear index over the
  // remaining axes.
  const auto go_over = [&](const Axis& axis, U32 rest, std::vector<U32>& sums) {
    const auto [quotient, coordinate] = axis.size.divide(rest);
    for (uint32_t k = 0; k < n_operands_; ++k) {
      const U32 part = coordinate * axis.strides[k];
      sums[k] = sums[k].code == nullptr ? part : sums[k] + part;
    }
    return quotient;
  };
  std::vector<U32> places(n_operands_);
  for (const Axis& axis : first_) number = go_over(axis, number, places);
  std::vector<Var<U32>> sums;
  for (const U32 place : places) sums.push_back(code_.var(place));
  const Var<U32> rest = code_.var(number);
  code_.for_(code_.u32(Axes::kAtOnce), count_, code_.u32(1), [&](U32 i) {
    std::vector<U32> now;
    for (const Var<U32>& sum : sums) now.push_back(sum.get());
    rest.set(go_over(load(i), rest.get(), now));
    for (uint32_t k = 0; k < n_operands_; ++k) sums[k].set(now[k]);
  });
  for (uint32_t k = 0; k < n_operands_; ++k) places[k] = sums[k].get();
  return places;
}

}  // namespace tenon_vulkan
