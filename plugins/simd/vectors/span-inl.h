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

#include "plugins/simd/vectors/wasm_float64-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Loads `n` elements, fewer than there are lanes. The other lanes are unspecified. Reads no memory
// after these elements.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_some(D d, const T* p, size_t n) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(d, n), d, p);
#else
  HWY_ALIGN T buffer[hn::MaxLanes(d)] = {};
  std::memcpy(buffer, p, n * sizeof(T));
  return hn::Load(d, buffer);
#endif
}

// Stores the first `n` lanes of a vector, fewer than there are lanes.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_some(hn::Vec<D> v, D d, T* p, size_t n) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  hn::BlendedStore(v, hn::FirstN(d, n), d, p);
#else
  HWY_ALIGN T buffer[hn::MaxLanes(d)];
  hn::Store(v, d, buffer);
  std::memcpy(p, buffer, n * sizeof(T));
#endif
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

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

// Defines two table entries: an op in float32 and in float64.
#define TENON_CPU_SPANS(kind, op, function, cost)                             \
  {TENON_OP_##op, TENON_FLOAT32, kind##_span<float, function>, Cost::cost}, { \
    TENON_OP_##op, TENON_FLOAT64, kind##_span<double, function>, Cost::cost   \
  }

#endif  // TENON_CPU_SPAN_INL_H_
