// The loops that turn a vector function into a span. Included by each file of spans, once for each
// instruction set.
//
// Elements after the last whole vector are computed by the same vector code, so an element's bits
// do not depend on its position in the span.

#if defined(TENON_CPU_SPAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_SPAN_INL_H_
#undef TENON_CPU_SPAN_INL_H_
#else
#define TENON_CPU_SPAN_INL_H_
#endif

#include <cstring>
#include <utility>

#include "plugins/simd/vectors/wasm_float64-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whether masked loads and stores of elements T access no memory outside the mask. AVX2 has no
// masks for elements of 1 and 2 bytes, for which Highway accesses the whole vector.
template <class T>
constexpr bool kHasMaskedAccess = HWY_TARGET == HWY_AVX3 ||
                                  (HWY_TARGET == HWY_AVX2 && sizeof(T) >= 4);

// Loads `n` elements, fewer than there are lanes. The other lanes are unspecified. Reads no memory
// after these elements.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_some(D d, const T* p, size_t n) {
  if constexpr (kHasMaskedAccess<T>) {
    return hn::MaskedLoad(hn::FirstN(d, n), d, p);
  } else {
    HWY_ALIGN T buffer[hn::MaxLanes(d)] = {};
    std::memcpy(buffer, p, n * sizeof(T));
    return hn::Load(d, buffer);
  }
}

// Stores the first `n` lanes of a vector, fewer than there are lanes.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_some(hn::Vec<D> v, D d, T* p, size_t n) {
  if constexpr (kHasMaskedAccess<T>) {
    hn::BlendedStore(v, hn::FirstN(d, n), d, p);
  } else {
    HWY_ALIGN T buffer[hn::MaxLanes(d)];
    hn::Store(v, d, buffer);
    std::memcpy(p, buffer, n * sizeof(T));
  }
}

// Memory for one vector.
template <class D, class T = hn::TFromD<D>>
struct VectorBuffer {
  HWY_ALIGN T lanes[hn::MaxLanes(D())];
};

// An input of a span. A uniform input is broadcast to a vector in `spread`, which every step loads.
// The buffer is not a member: the compiler would store the position to memory in each step.
template <class D, class T = hn::TFromD<D>>
class SpanInput {
 public:
  HWY_INLINE SpanInput(D d, const void* data, size_t step, VectorBuffer<D>& spread)
      : at_(static_cast<const T*>(data)), advance_(hn::Lanes(d)) {
    if (step == 0) {
      hn::Store(hn::Set(d, *at_), d, spread.lanes);
      at_ = spread.lanes;
      advance_ = 0;
    }
  }
  // Loads the next whole vector.
  HWY_INLINE hn::Vec<D> next(D d) {
    const auto v = hn::LoadU(d, at_);
    at_ += advance_;
    return v;
  }
  // Loads the last `n` elements, fewer than there are lanes.
  HWY_INLINE hn::Vec<D> load_last(D d, size_t n) const { return load_some(d, at_, n); }

 private:
  const T* at_;
  size_t advance_;
};

// The span of a function. `Function` is an empty class with a template operator()(d, vector...,
// params).
template <class T, class Function>
void unary_span(const void* const* in, const size_t* step, void* out, size_t n,
                const SpanParams& params) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const Function function;
  VectorBuffer<decltype(d)> spread;
  SpanInput<decltype(d)> x(d, in[0], step[0], spread);
  T* to = static_cast<T*>(out);
  for (; n >= lanes; n -= lanes, to += lanes) hn::StoreU(function(d, x.next(d), params), d, to);
  if (n != 0) store_some(function(d, x.load_last(d, n), params), d, to, n);
}

template <class T, class Function>
void binary_span(const void* const* in, const size_t* step, void* out, size_t n,
                 const SpanParams& params) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const Function function;
  VectorBuffer<decltype(d)> spread[2];
  SpanInput<decltype(d)> a(d, in[0], step[0], spread[0]), b(d, in[1], step[1], spread[1]);
  T* to = static_cast<T*>(out);
  for (; n >= lanes; n -= lanes, to += lanes) {
    const auto left = a.next(d);
    hn::StoreU(function(d, left, b.next(d), params), d, to);
  }
  if (n != 0) store_some(function(d, a.load_last(d, n), b.load_last(d, n), params), d, to, n);
}

template <class T, class Function>
void ternary_span(const void* const* in, const size_t* step, void* out, size_t n,
                  const SpanParams& params) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const Function function;
  VectorBuffer<decltype(d)> spread[3];
  SpanInput<decltype(d)> a(d, in[0], step[0], spread[0]), b(d, in[1], step[1], spread[1]),
      c(d, in[2], step[2], spread[2]);
  T* to = static_cast<T*>(out);
  for (; n >= lanes; n -= lanes, to += lanes) {
    const auto first = a.next(d), second = b.next(d);
    hn::StoreU(function(d, first, second, c.next(d), params), d, to);
  }
  if (n != 0) {
    store_some(function(d, a.load_last(d, n), b.load_last(d, n), c.load_last(d, n), params), d, to,
               n);
  }
}

// bfloat16 is the upper half of float32.
template <class D>
HWY_INLINE hn::Vec<D> widen_bfloat16(D d, hn::Vec<hn::Rebind<uint16_t, D>> bits) {
  const hn::RebindToUnsigned<D> words;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(words, bits)));
}

// Rounds to nearest with ties to even, and makes NaN quiet. `kIsExact`: x needs no rounding.
template <bool kIsExact, class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> narrow_bfloat16(D d, hn::Vec<D> x) {
  const hn::RebindToUnsigned<D> words;
  const hn::RebindToSigned<D> integers;
  auto bits = hn::BitCast(words, x);
  if constexpr (!kIsExact) {
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(words, 1));
    const auto rounded = hn::Add(hn::Add(bits, hn::Set(words, 0x7fff)), odd);
    const auto quiet = hn::BitCast(d, hn::Or(bits, hn::Set(words, 0x400000)));
    bits = hn::BitCast(words, hn::IfThenElse(hn::IsNaN(x), quiet, hn::BitCast(d, rounded)));
  }
  const hn::Rebind<uint16_t, D> halves;
  return hn::DemoteTo(halves, hn::BitCast(integers, hn::ShiftRight<16>(bits)));
}

template <class Function, bool kIsExact, size_t... k>
HWY_INLINE void run_bfloat16_span(std::index_sequence<k...>, const void* const* in,
                                  const size_t* step, void* out, size_t n,
                                  const SpanParams& params) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<uint16_t, decltype(d)> halves;
  const size_t lanes = hn::Lanes(d);
  const Function function;
  VectorBuffer<decltype(halves)> spread[sizeof...(k)];
  SpanInput<decltype(halves)> x[] = {{halves, in[k], step[k], spread[k]}...};
  uint16_t* to = static_cast<uint16_t*>(out);
  const auto compute = [&](auto... bits) HWY_ATTR {
    return narrow_bfloat16<kIsExact>(d, function(d, widen_bfloat16(d, bits)..., params));
  };
  for (; n >= lanes; n -= lanes, to += lanes) {
    hn::StoreU(compute(x[k].next(halves)...), halves, to);
  }
  if (n != 0) store_some(compute(x[k].load_last(halves, n)...), halves, to, n);
}

// The span of a function of `kInputs` inputs in bfloat16, computed in float32.
template <class Function, bool kIsExact, size_t kInputs>
void bfloat16_span(const void* const* in, const size_t* step, void* out, size_t n,
                   const SpanParams& params) {
  run_bfloat16_span<Function, kIsExact>(std::make_index_sequence<kInputs>(), in, step, out, n,
                                        params);
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

// Defines two table entries: an op in float32 and in float64.
#define TENON_CPU_SPANS(kind, op, function, cost)                             \
  {TENON_OP_##op, TENON_FLOAT32, kind##_span<float, function>, Cost::cost}, { \
    TENON_OP_##op, TENON_FLOAT64, kind##_span<double, function>, Cost::cost   \
  }

// Defines three table entries of a light op: also in bfloat16, so that its elements are not
// converted in passes of their own. `is_exact`: whether each result is a bfloat16, such as an
// operand, and needs no rounding. Compact builds omit that entry.
#if defined(__EMSCRIPTEN__)
#define TENON_CPU_LIGHT_SPANS(kind, n_inputs, op, function, is_exact) \
  TENON_CPU_SPANS(kind, op, function, kLight)
#else
#define TENON_CPU_LIGHT_SPANS(kind, n_inputs, op, function, is_exact)          \
  TENON_CPU_SPANS(kind, op, function, kLight), {                               \
    TENON_OP_##op, TENON_BFLOAT16, bfloat16_span<function, is_exact, n_inputs> \
  }
#endif

#endif  // TENON_CPU_SPAN_INL_H_
