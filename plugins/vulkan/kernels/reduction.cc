#include "plugins/vulkan/kernels/reduction.h"

namespace tenon_vulkan {
namespace {

using spirv::Bool;
using spirv::Code;
using spirv::Element;
using spirv::Kind;
using spirv::U32;

// Returns the dtype in which sums and products accumulate. Integers of less than 32 bits accumulate
// in 32 bits; wrapping at the end equals wrapping at every step.
tenon_dtype accumulation_dtype(uint32_t op, tenon_dtype dtype) {
  if (op != TENON_OP_sum && op != TENON_OP_prod) return dtype;
  switch (spirv::kind_of(dtype)) {
    case Kind::kF32:
      return TENON_FLOAT32;
    case Kind::kWord:
      return spirv::is_signed_int(dtype) ? TENON_INT32 : TENON_UINT32;
    default:
      return dtype;
  }
}

// Returns the lowest or, if `is_greatest`, the greatest value of a dtype.
Element extreme_value(Code& code, tenon_dtype dtype, bool is_greatest) {
  const auto bits = static_cast<uint32_t>(8 * tenon_sdk::size_of(dtype));
  const bool is_signed = spirv::is_signed_int(dtype);
  switch (spirv::kind_of(dtype)) {
    case Kind::kF32:
      return {dtype, float_of(code.u32(is_greatest ? 0x7f800000u : 0xff800000u))};
    case Kind::kF64:
      return Element(code.as_f64(code.u32(0), code.u32(is_greatest ? 0x7ff00000u : 0xfff00000u)));
    default:
      break;
  }
  const uint64_t greatest = ~uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
  const uint64_t value = is_greatest ? greatest : is_signed ? ~greatest : 0;
  if (spirv::kind_of(dtype) == Kind::kWide) return {dtype, spirv::wide(code, value)};
  return {dtype, code.u32(static_cast<uint32_t>(value))};
}

bool is_max(uint32_t op) { return op == TENON_OP_max || op == TENON_OP_argmax; }

}  // namespace

Reduction::Reduction(uint32_t op, tenon_dtype dtype)
    : op_(op),
      dtype_(dtype),
      wide_(accumulation_dtype(op, dtype)),
      is_search_(op == TENON_OP_argmax || op == TENON_OP_argmin) {}

Reduction::Partial Reduction::identity(Code& code) const {
  const U32 beyond = code.u32(~0u);
  if (op_ == TENON_OP_sum) return {spirv::constant(code, wide_, 0), beyond};
  if (op_ == TENON_OP_prod) return {spirv::constant(code, wide_, 1), beyond};
  return {extreme_value(code, wide_, !is_max(op_)), beyond};
}

Reduction::Partial Reduction::make_partial(const Element& x, U32 index) const {
  return {spirv::cast(x, wide_), index};
}

Reduction::Partial Reduction::join(const Partial& a, const Partial& b) const {
  switch (op_) {
    case TENON_OP_sum:
      return {arithmetic(TENON_OP_add, a.value, b.value), a.index};
    case TENON_OP_prod:
      return {arithmetic(TENON_OP_mul, a.value, b.value), a.index};
    case TENON_OP_max:
      return {maximum(a.value, b.value), a.index};
    case TENON_OP_min:
      return {minimum(a.value, b.value), a.index};
    default:
      break;
  }
  // argmax and argmin select the first of equal elements, and the first NaN if there is one.
  const Element &x = a.value, &y = b.value;
  Bool beats = compare(is_max(op_) ? TENON_OP_less : TENON_OP_greater, x, y);
  Bool is_equal = compare(TENON_OP_equal, x, y);
  if (spirv::is_float(wide_)) {
    const Bool x_nan = is_nan(x), y_nan = is_nan(y);
    beats = beats | (y_nan & !x_nan);
    is_equal = is_equal | (x_nan & y_nan);
  }
  const Bool takes = beats | (is_equal & (b.index < a.index));
  return {spirv::select(takes, y, x), select(takes, b.index, a.index)};
}

Element Reduction::result(const Partial& partial) const {
  if (is_search_) return {TENON_INT64, spirv::zero_extended(partial.index)};
  return spirv::cast(partial.value, dtype_);
}

std::vector<Reduction::Partial> reduce_in_runs(
    Code& code, std::span<const Reduction* const> reductions, U32 begin, U32 end, U32 step,
    const std::function<void(U32 i, std::span<const PartialVar> run)>& body) {
  const auto start = [&] {
    std::vector<PartialVar> partials;
    for (const Reduction* reduction : reductions) partials.emplace_back(*reduction, code);
    return partials;
  };
  const std::vector<PartialVar> wholes = start();
  const U32 length = step * kRun;
  code.for_(begin, end, length, [&](U32 first) {
    const std::vector<PartialVar> run = start();
    code.for_(first, min(first + length, end), step, [&](U32 i) { body(i, run); });
    for (size_t k = 0; k < run.size(); ++k) {
      wholes[k].set(reductions[k]->join(wholes[k].get(), run[k].get()));
    }
  });
  std::vector<Reduction::Partial> partials;
  for (const PartialVar& whole : wholes) partials.push_back(whole.get());
  return partials;
}

Reduction::Partial GroupReduction::reduce_group(const Reduction::Partial& own) const {
  const U32 self = code_.local_index();
  // Waits until all invocations have read the previous contents of shared memory.
  code_.barrier();
  shared_.set(self, own);
  for (uint32_t half = code_.local_size() / 2; half > 0; half /= 2) {
    code_.barrier();
    code_.if_(self < half, [&] {
      shared_.set(self, reduction_.join(shared_.get(self), shared_.get(self + half)));
    });
  }
  code_.barrier();
  return shared_.get(code_.u32(0));
}

}  // namespace tenon_vulkan
