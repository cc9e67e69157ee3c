// A check: one named property that holds for every op and dtype which a plugin claims. It says
// which problems show it, and tests one; whoever runs it shrinks what fails to the smallest that
// still does.
//
// To add one: a file in this folder that ends in a list of checks, and its line in checks.cc.

#pragma once

#include <memory>

#include "conformance/generate/generate.h"
#include "conformance/kit/judge.h"

namespace tenon_kit {

struct Environment {
  const Session& device;  // Behind the guard (kit/guard.h).
  const Session& oracle;
  Profile profile = Profile::kStrict;
  tenon_features features = 0;
  bool thorough = false;  // The ordinary run; else the smoke test.
  uint64_t seed = 1;
  // Another session with the device, in which it computes with so many threads.
  std::shared_ptr<Session> (*with_threads)(uint32_t threads) = nullptr;
};

struct Finding {
  bool passed = true;
  bool trusted = true;
  std::string message;
  bool leaked = false;     // The fault is that something was not given back.
  bool threw = false;      // The fault is that the call itself failed.
  double ulp = 0;          // The largest error that was met.
  std::string impossible;  // Why it cannot be tried here: the cell is UNSUPPORTED.
  std::vector<CurvePoint> curve;

  static Finding fault(std::string text) { return {.passed = false, .message = std::move(text)}; }
};

struct Check {
  const char* name;
  int level;
  const char* what;  // One sentence, for the report.
  bool (*applies)(const Environment&, const Claim&);
  std::vector<Problem> (*problems)(const Environment&, const Claim&);
  Finding (*test)(const Environment&, const Problem&);
  bool of_kernel = false;  // It passes only if the kernel that is claimed has run.
  // It holds of an op however it is computed: the ordinary run tries it of what is not claimed,
  // too.
  bool of_unclaimed = false;
};

const std::vector<Check>& all_checks();
// The one of what is not claimed; others are of what is, or of either.
inline constexpr const char* kUnclaimedCheck = "unclaimed";

const Check* find_check(std::string_view name);

// The lists that checks.cc joins.
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
std::vector<Check> many_checks();
std::vector<Check> unclaimed_checks();

// ---- what checks share

inline bool always(const Environment&, const Claim&) { return true; }
inline bool if_float(const Environment&, const Claim& claim) {
  return !claim.inputs.empty() && is_float(claim.inputs[0]);
}

// A few valid problems of the claim, of all its kinds of attributes.
std::vector<Problem> some_problems(const Environment& env, const Claim& claim);

// Every float of 16 bits, of an elementwise op of one input, with each choice of attributes that a
// case has.
bool takes_all_halves(const Environment& env, const Claim& claim);
std::vector<Problem> all_halves(const Environment& env, const Claim& claim);

// Judges results of the device: against what the problem expects, or what the oracle gives.
Finding judge_values(const Environment& env, const Problem& problem,
                     const std::vector<Result>& got);

// The same of what a device has no kernel for: a decomposition in a half type rounds at each of its
// steps, so it is judged as a composite, whatever class a kernel of the op would be held to.
Finding judge_decomposition(const Environment& env, Problem problem,
                            const std::vector<Result>& got);

// The device's results, where it is about values that are plain.
Finding judge_plain(const Environment& env, const Problem& problem);

// Empty if the two runs gave the same bits, else the output and element.
std::string same_bits(const std::vector<Result>& a, const std::vector<Result>& b);

}  // namespace tenon_kit
