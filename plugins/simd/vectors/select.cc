// The spans of `where`. The bools are converted to a vector mask. Elements are not interpreted.

#include "plugins/simd/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/select.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/span-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

// Returns a mask of the lanes whose bool is not 0.
template <class D, class V>
HWY_INLINE hn::Mask<D> mask_of_bools(D d, V bools) {
  if constexpr (sizeof(hn::TFromD<D>) == 1) {
    return hn::Ne(bools, hn::Zero(d));
  } else if constexpr (sizeof(hn::TFromD<D>) == 8) {
    const hn::Rebind<uint32_t, D> words;
    return hn::Ne(hn::PromoteTo(d, hn::PromoteTo(words, bools)), hn::Zero(d));
  } else {
    return hn::Ne(hn::PromoteTo(d, bools), hn::Zero(d));
  }
}

// The span of `where`: copies elements of in[1] where in[0] is true, and of in[2] elsewhere.
template <class T>
void select_span_of(const void* const* in, const size_t* step, void* out, size_t n,
                    const SpanParams&) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  constexpr size_t kStep = hn::MaxLanes(d);
  const uint8_t* condition = static_cast<const uint8_t*>(in[0]);
  T* to = static_cast<T*>(out);
  if (step[0] == 0) {
    const size_t picked = *condition != 0 ? 1 : 2;
    if (step[picked] == 0) {
      std::fill_n(to, n, *static_cast<const T*>(in[picked]));
    } else {
      std::memmove(to, in[picked], n * sizeof(T));
    }
    return;
  }
  VectorBuffer<decltype(d)> spread[2];
  SpanInput<decltype(d)> x(d, in[1], step[1], spread[0]), y(d, in[2], step[2], spread[1]);
  for (; n >= kStep; n -= kStep, to += kStep, condition += kStep) {
    const auto mask = mask_of_bools(d, hn::LoadU(bytes, condition));
    const auto left = x.next(d);
    hn::StoreU(hn::IfThenElse(mask, left, y.next(d)), d, to);
  }
  if (n == 0) return;
  uint8_t rest[kStep] = {};
  std::memcpy(rest, condition, n);
  const auto mask = mask_of_bools(d, hn::LoadU(bytes, rest));
  store_some(hn::IfThenElse(mask, x.load_last(d, n), y.load_last(d, n)), d, to, n);
}

// Returns the span of `where` for one instruction set.
Span where_span_of_target(size_t size) {
  switch (size) {
    case 1:
      return select_span_of<uint8_t>;
    case 2:
      return select_span_of<uint16_t>;
    case 4:
      return select_span_of<uint32_t>;
    default:
      return select_span_of<uint64_t>;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

// Returns the span of `where` for the widest vectors of the processor.
Span where_span(size_t size) { return TENON_SIMD_CHOOSE(where_span_of_target(size)); }

}  // namespace tenon_simd
#endif
