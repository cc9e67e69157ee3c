// Spans of the trigonometric functions and their inverses.

#include "plugins/simd/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/simd/vectors/trigonometry.cc"
#include <hwy/foreach_target.h>  // Must come before highway.h.
#include <hwy/highway.h>

#include "plugins/simd/vectors/dispatch.h"
#include "plugins/simd/vectors/functions-inl.h"
#include "plugins/simd/vectors/span-inl.h"
#include "plugins/simd/vectors/trig-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon_simd {
namespace HWY_NAMESPACE {

TENON_CPU_FUNCTION1(Sin, sin(d, x))
TENON_CPU_FUNCTION1(Cos, cos(d, x))
TENON_CPU_FUNCTION1(Tan, tan(d, x))
TENON_CPU_FUNCTION1(Asin, asin(d, x))
TENON_CPU_FUNCTION1(Acos, acos(d, x))
TENON_CPU_FUNCTION1(Atan, atan(d, x))
TENON_CPU_FUNCTION2(Atan2, atan2(d, a, b))

constexpr SpanEntry kSpans[] = {
    TENON_CPU_SPANS(unary, sin, Sin, kHeavy),      TENON_CPU_SPANS(unary, cos, Cos, kHeavy),
    TENON_CPU_SPANS(unary, tan, Tan, kHeavy),      TENON_CPU_SPANS(unary, asin, Asin, kHeavy),
    TENON_CPU_SPANS(unary, acos, Acos, kHeavy),    TENON_CPU_SPANS(unary, atan, Atan, kHeavy),
    TENON_CPU_SPANS(binary, atan2, Atan2, kHeavy),
};

SpanTable trigonometry_table() { return {kSpans, sizeof(kSpans) / sizeof(SpanEntry)}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon_simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon_simd {

SpanTable trigonometry_spans() { return TENON_SIMD_CHOOSE(trigonometry_table()); }

}  // namespace tenon_simd
#endif
