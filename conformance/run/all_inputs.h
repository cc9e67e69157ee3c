// Tests one part of the inputs of a dtype, for a unary op at every input.

#pragma once

#include "conformance/checks/check.h"
#include "conformance/kit/json_fwd.h"

namespace tenon_kit {

// A part: `count` inputs with consecutive bits from `first` on.
struct InputPart {
  uint32_t first = 0;
  uint32_t count = 0;
};

// The parts of a dtype with 16 or 32 bits, in the order of their bits. Throws for other dtypes.
std::vector<InputPart> input_parts(tenon_dtype dtype);

// The value of the input with these bits.
double input_value(uint32_t bits, tenon_dtype dtype);

// An input with its result.
struct InputError {
  uint32_t bits = 0;
  double got = 0;
  double want = 0;  // The oracle's value, not rounded.
};

struct PartResult {
  uint64_t n_inputs = 0;
  uint64_t n_beyond = 0;  // Number of inputs with a result beyond the bound,
  InputError first;       // the first of them, and its message.
  std::string message;
  double ulp = 0;      // The largest error of a finite result,
  double allowed = 0;  // the error allowed there, also in ulp,
  InputError largest;  // and its input.
};

Json to_json(const PartResult& part);
PartResult part_from_json(const Json& json);

// The op at one input, as a problem with one element.
Problem problem_at(const OpFacts& op, tenon_dtype dtype, uint32_t bits);

// Why an op cannot be tested this way; empty if it can.
std::string reason_against(const OpFacts& op, tenon_dtype dtype, const Session& oracle);

PartResult run_part(const Environment& env, const OpFacts& op, tenon_dtype dtype, InputPart part);

// Alternatives to the oracle's values for a part; empty if there are none.
struct Comparison {
  std::span<const double> slack;  // Added to the bound.
  std::span<const double> other;  // Equally valid results.
};

// Judges elements like compare_answers() (kit/judge.h), but in double unless an element fails.
// `first` is the bits of the first input. Accumulates in `result`.
void judge_part(std::span<const double> got, std::span<const double> want, tenon_dtype dtype,
                const Bound& bound, uint32_t first, PartResult& result,
                const Comparison& beside = {});

}  // namespace tenon_kit
