// How elementwise kernels run.
//
// A span is the loop of one op and dtype over elements that lie side by side, or of which one
// stands for all. elementwise.cc brings every layout into spans: it merges axes, gathers what has
// strides into tiles, and converts halves, which compute in float32. The loop that computes is thus
// the same for every layout, and so are the bits.

#pragma once

#include "plugins/cpu/kernels.h"

namespace tenon_cpu {

constexpr size_t kMaxSpanInputs = 3;

// Constants from an op's attributes.
struct SpanParams {
  double alpha = 0;
};

// Computes out[k] from in[i][k * step[i]] for k of [0, n); step is 1, or 0 where one element stands
// for all. `out` may be an input whose step is 1.
using Span = void (*)(const void* const* in, const size_t* step, void* out, size_t n,
                      const SpanParams& params);

// How much work an element is, which decides from which size on threads pay.
enum class Cost : uint8_t { kLight, kHeavy };

struct SpanEntry {
  uint32_t op;
  tenon_dtype dtype;  // Of the last input, as it is computed.
  Span span;
  Cost cost = Cost::kLight;
};

struct SpanTable {
  const SpanEntry* entries;
  size_t n;
};

// Each file of spans has its table.
SpanTable arithmetic_spans();
SpanTable exponentials_spans();
SpanTable hyperbolic_spans();
SpanTable logarithms_spans();
SpanTable power_spans();
SpanTable special_spans();
SpanTable trigonometry_spans();
Span gelu_tanh_span(tenon_dtype dtype);  // gelu's other form.
Span select_span();                      // where, of elements of four bytes.

// The entry for an op and a dtype, or NULL.
const SpanEntry* find_span(uint32_t op, tenon_dtype dtype);

// What a kernel made below is made of: loop.cc takes it apart.
class SpanKernel : public tenon_sdk::Kernel {
 public:
  Span span() const { return span_; }
  Cost cost() const { return cost_; }
  const SpanParams& params() const { return params_; }
  bool converts() const { return converts_; }  // Halves: the span computes in float32.

 protected:
  SpanKernel(Span span, Cost cost, const SpanParams& params, bool converts)
      : span_(span), params_(params), cost_(cost), converts_(converts) {}

  Span span_;
  SpanParams params_;
  Cost cost_;
  bool converts_;
};

// A kernel that runs a span, whatever the layout of the operands; halves of inputs and output are
// converted from and to float32 on the way.
Prepared make_elementwise(const Request& request, Span span, Cost cost = Cost::kLight,
                          const SpanParams& params = {});

// The same without conversions: the span knows the dtypes as they are.
Prepared make_moving(const Request& request, Span span);

// Converts `n` elements between a half and float32.
void widen_half(tenon_dtype half, const void* from, float* to, size_t n);
void narrow_half(tenon_dtype half, const float* from, void* to, size_t n);

}  // namespace tenon_cpu
