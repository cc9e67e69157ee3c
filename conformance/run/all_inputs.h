// A unary op at every input of a dtype: what comes of one part of them.

#pragma once

#include "conformance/checks/check.h"
#include "conformance/kit/json_fwd.h"

namespace tenon_kit {

// A part: the inputs whose bits are from `first` on.
struct InputPart {
  uint32_t first = 0;
  uint32_t count = 0;
};

// The parts of a dtype of 16 or 32 bits, in the order of their bits. Throws for any other dtype.
std::vector<InputPart> input_parts(tenon_dtype dtype);

// The value of the input with these bits.
double input_value(uint32_t bits, tenon_dtype dtype);

// An input at which something is said.
struct InputError {
  uint32_t bits = 0;
  double got = 0;
  double want = 0;  // The oracle's, not rounded.
};

struct PartResult {
  uint64_t n_inputs = 0;
  uint64_t n_beyond = 0;  // Of them with a result that is outside of the bound,
  InputError first;       // the first one, and what is said of it.
  std::string message;
  double ulp = 0;      // The largest error of a finite result,
  double allowed = 0;  // what was allowed there, in ulp too,
  InputError largest;  // and where it is.
};

Json to_json(const PartResult& part);
PartResult part_from_json(const Json& json);

// The op at one input, as a problem of one element.
Problem problem_at(const OpFacts& op, tenon_dtype dtype, uint32_t bits);

// Why an op cannot be tried so; empty if it can.
std::string reason_against(const OpFacts& op, tenon_dtype dtype, const Session& oracle);

PartResult run_part(const Environment& env, const OpFacts& op, tenon_dtype dtype, InputPart part);

// What results of a part may be beside the oracle's values; either is empty where nothing is.
struct Beside {
  std::span<const double> slack;  // Is allowed beside the bound.
  std::span<const double> other;  // Is right as well.
};

// Judges elements as compare_answers() does (kit/judge.h), with doubles as long as nothing is the
// matter: `first` is the bits of the first input. Adds to `result`.
void judge_part(std::span<const double> got, std::span<const double> want, tenon_dtype dtype,
                const Bound& bound, uint32_t first, PartResult& result, const Beside& beside = {});

}  // namespace tenon_kit
