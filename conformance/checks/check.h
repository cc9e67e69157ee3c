// A check: one named property that holds for every claimed op and dtype. A check generates problems
// and tests one of them; the caller shrinks a failing problem to the smallest that still fails.
//
// To add a check, create a file in this folder that returns a list of checks, and add its function
// to checks.cc.

#pragma once

#include <memory>

#include "conformance/generate/generate.h"
#include "conformance/kit/judge.h"

namespace tenon_kit {

struct Environment {
  const Session& device;  // The device under test, wrapped by the guard (kit/guard.h).
  const Session& oracle;
  Profile profile = Profile::kStrict;
  tenon_features features = 0;
  bool thorough = false;  // True in an ordinary run, false in the smoke test.
  bool large = false;     // Whether every op is also tested on tensors of gigabytes.
  uint64_t seed = 1;
  // Opens an additional session on the device under test, in which the device computes with
  // `threads` threads.
  std::shared_ptr<Session> (*with_threads)(uint32_t threads) = nullptr;
};

struct Finding {
  bool passed = true;
  bool trusted = true;
  std::string message;
  bool leaked = false;     // Whether the call leaked memory or another resource.
  bool threw = false;      // Whether the call itself failed.
  double ulp = 0;          // The largest error, in ulp.
  std::string impossible;  // Why the check cannot run here; the cell is UNSUPPORTED.
  std::vector<CurvePoint> curve;

  // Returns a finding that reports this fault.
  static Finding fault(std::string text) { return {.passed = false, .message = std::move(text)}; }
};

struct Check {
  const char* name;
  int level;
  const char* what;  // Describes the property in one sentence, for the report.
  bool (*applies)(const Environment&, const Claim&);
  std::vector<Problem> (*problems)(const Environment&, const Claim&);
  Finding (*test)(const Environment&, const Problem&);
  bool of_kernel = false;  // Passes only if the claimed kernel has run.
  // The check also runs for unclaimed signatures in an ordinary run: the property holds for
  // decompositions too.
  bool of_unclaimed = false;
};

const std::vector<Check>& all_checks();
// Name of the only check that runs for unclaimed signatures alone. Other checks run for claimed
// signatures, or for both.
inline constexpr const char* kUnclaimedCheck = "unclaimed";

const Check* find_check(std::string_view name);

// The lists of checks, one for each file of this folder. checks.cc concatenates them.
std::vector<Check> value_checks();
std::vector<Check> special_checks();
std::vector<Check> cast_checks();
std::vector<Check> index_checks();
std::vector<Check> aliasing_checks();
std::vector<Check> curve_checks();
std::vector<Check> shape_checks();
std::vector<Check> memory_checks();
std::vector<Check> relation_checks();
std::vector<Check> gradient_checks();
std::vector<Check> adjoint_checks();
std::vector<Check> kink_checks();
std::vector<Check> stress_checks();
std::vector<Check> long_line_checks();
std::vector<Check> work_size_checks();
std::vector<Check> common_checks();
std::vector<Check> large_tensor_checks();
std::vector<Check> unclaimed_checks();

// ---- functions shared by several checks

// Selects all claims.
inline bool always(const Environment&, const Claim&) { return true; }
// Selects claims whose first input is floating point.
inline bool has_float_input(const Environment&, const Claim& claim) {
  return !claim.inputs.empty() && is_float(claim.inputs[0]);
}

// A few valid problems of the claim: the registry's cases and some generated problems.
std::vector<Problem> some_problems(const Environment& env, const Claim& claim);

// takes_all_halves: whether, in a thorough run, the claim's op is elementwise with one 16-bit float
// input. all_halves: problems with all 65,536 such values as input, one for each variant of
// attributes in the registry's cases.
bool takes_all_halves(const Environment& env, const Claim& claim);
std::vector<Problem> all_halves(const Environment& env, const Claim& claim);

// Compares the device's results with the outputs that the problem lists, or else with the oracle's
// results.
Finding judge_values(const Environment& env, const Problem& problem,
                     const std::vector<Result>& got);

// Like judge_values(), for ops without a kernel on the device. A decomposition in a half type
// rounds after each step, so it gets the tolerance of a composite, whatever the op's numeric class
// is.
Finding judge_decomposition(const Environment& env, Problem problem,
                            const std::vector<Result>& got);

// Runs the problem on the device and judges the results with judge_values(). For checks whose
// property is not the correctness of values, but which need correct values.
Finding run_and_judge(const Environment& env, const Problem& problem);

// Returns the unsigned integer dtype with as many bits as a float dtype.
tenon_dtype bits_dtype(tenon_dtype dtype);

// The bits of NaNs whose payloads a faulty rounding or truncation loses: all bits set, signalling
// NaNs with only the lowest or the highest payload bit, and a plain quiet NaN, each with both
// signs.
std::vector<uint64_t> nan_bits(tenon_dtype dtype);

// Describes the first output and element in which the results of two runs differ in bits. Returns
// an empty string if the bits are equal.
std::string bit_difference(const std::vector<Result>& a, const std::vector<Result>& b);

}  // namespace tenon_kit
