// Tests a unary op at every input of one part of a dtype's inputs.

#pragma once

#include "conformance/checks/check.h"
#include "conformance/kit/json_fwd.h"

namespace tenon_kit {

// A part of the inputs of a dtype: `count` inputs with consecutive bit patterns from `first` on.
struct InputPart {
  uint32_t first = 0;
  uint32_t count = 0;
};

// The parts of the inputs of a 16-bit or 32-bit dtype, in the order of their bits. Throws for other
// dtypes.
std::vector<InputPart> input_parts(tenon_dtype dtype);

// Converts the bit pattern of an input of this dtype to its value.
double input_value(uint32_t bits, tenon_dtype dtype);

// An input with its result and the oracle's value.
struct InputError {
  uint32_t bits = 0;
  double got = 0;
  double want = 0;  // The oracle's value, not rounded.
};

struct PartResult {
  uint64_t n_inputs = 0;
  uint64_t n_beyond = 0;  // Number of inputs whose result is beyond the bound.
  InputError first;       // The first input whose result is beyond the bound.
  std::string message;
  double ulp = 0;      // The largest error of a finite result, in ulp.
  double allowed = 0;  // The error allowed at the input with the largest error, in ulp.
  InputError largest;  // The input with the largest error.
};

Json to_json(const PartResult& part);
PartResult part_from_json(const Json& json);

// A problem that calls the op on a single input.
Problem problem_at(const OpFacts& op, tenon_dtype dtype, uint32_t bits);

// The reason why an op cannot be tested at every input; empty if it can.
std::string untestable_reason(const OpFacts& op, tenon_dtype dtype, const Session& oracle);

// Tests the op at every input of a part.
PartResult run_part(const Environment& env, const OpFacts& op, tenon_dtype dtype, InputPart part);

// Additional valid results for a part; empty if only the oracle's values are valid.
struct Comparison {
  std::span<const double> slack;  // An addition to the bound, for each input.
  std::span<const double> other;  // Another valid result, for each input.
};

// Compares `got` with the oracle's values `want`. Computes in double, which is fast, and calls
// compare_answers() (kit/judge.h) only for elements that fail there. `first` is the bit pattern of
// the first input. `beside` holds further valid results. Merges the outcome into `result`.
void judge_part(std::span<const double> got, std::span<const double> want, tenon_dtype dtype,
                const Bound& bound, uint32_t first, PartResult& result,
                const Comparison& beside = {});

}  // namespace tenon_kit
