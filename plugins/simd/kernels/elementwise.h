// Runs elementwise kernels.
//
// A span is the loop of one op and dtype over contiguous or uniform elements. elementwise.cc
// converts every layout to spans: it merges axes, packs strided operands into tiles, and converts
// half types, which compute in float32. So one loop computes all layouts and returns the same bits
// for each.

#pragma once

#include "plugins/simd/kernels.h"

namespace tenon_simd {

constexpr size_t kMaxSpanInputs = 3;

class HalfTable;

// Constants derived from an op's attributes.
struct SpanParams {
  double alpha = 0, beta = 0;
  const HalfTable* table = nullptr;  // half_table.cc uses it.
};

// Computes out[k] from in[i][k * step[i]] for k in [0, n). A step is 1, or 0 for a uniform operand.
// `out` may be the same memory as an input with step 1.
using Span = void (*)(const void* const* in, const size_t* step, void* out, size_t n,
                      const SpanParams& params);

// Amount of work per element. It determines the minimum number of elements for which several
// threads are used.
enum class Cost : uint8_t { kLight, kHeavy };

struct SpanEntry {
  uint32_t op;
  tenon_dtype dtype;  // Dtype of the last input, in which the span reads it.
  Span span;
  Cost cost = Cost::kLight;
};

struct SpanTable {
  const SpanEntry* entries;
  size_t n;
};

// Each function returns the table of the spans in one file of vectors/.
SpanTable arithmetic_spans();
SpanTable exponentials_spans();
SpanTable hyperbolic_spans();
SpanTable logarithms_spans();
SpanTable power_spans();
SpanTable special_function_spans();
SpanTable trigonometry_spans();
Span gelu_tanh_span(tenon_dtype dtype);  // The tanh approximation of gelu.
// The span of minimum(maximum(in[0], in[1]), in[2]); NULL if the dtype is not float32 or float64.
Span maximum_minimum_span(tenon_dtype dtype);
Span where_span(size_t size);  // The span of `where` for elements of `size` bytes.

// Returns the span that casts elements; NULL for half types. Defined in cast.cc.
Span cast_span(tenon_dtype from, tenon_dtype to);

// Finds the entry for an op and a dtype; NULL if there is none.
const SpanEntry* find_span(uint32_t op, tenon_dtype dtype);

// A kernel that runs a span. loop.cc fuses the spans of several kernels.
class SpanKernel : public tenon_sdk::Kernel {
 public:
  static constexpr char kKind = 0;
  const void* kind() const override { return &kKind; }
  Span span() const { return span_; }
  Cost cost() const { return cost_; }
  const SpanParams& params() const { return params_; }
  // Whether half types are converted to and from float32.
  bool converts() const { return converts_; }

 protected:
  SpanKernel(Span span, Cost cost, const SpanParams& params, bool converts)
      : span_(span), params_(params), cost_(cost), converts_(converts) {}

  Span span_;
  SpanParams params_;
  Cost cost_;
  bool converts_;
};

// Makes a kernel that runs a span for any layout of the operands. Half types of inputs and output
// are converted from and to float32.
Prepared make_elementwise(const Request& request, Span span, Cost cost = Cost::kLight,
                          const SpanParams& params = {});

// Makes a kernel that runs a span for any layout of the operands, without conversions. The span
// must support the dtypes.
Prepared make_without_conversion(const Request& request, Span span, Cost cost = Cost::kLight,
                                 const SpanParams& params = {});

// Convert `n` elements between a half type and float32.
void widen_half(tenon_dtype half, const void* from, float* to, size_t n);
void narrow_half(tenon_dtype half, const float* from, void* to, size_t n);

}  // namespace tenon_simd
