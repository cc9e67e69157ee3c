#include "conformance/kit/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tenon_kit {
namespace {

// Returns infinity if the oracle's value overflows in the dtype, else the value itself.
Real saturate_to_infinity(Real x, tenon_dtype dtype) {
  const Real whole = rounded(x, dtype);
  return real_is_inf(whole) ? whole : x;
}

// Whether the result `got` is between the values `one` and `other`, or equal to one of them.
bool is_between(Real got, Real one, Real other) {
  if (real_is_nan(got)) return real_is_nan(other);
  return (one <= got && got <= other) || (other <= got && got <= one);
}

struct Judgement {
  bool passed = false;
  double ulps = 0;  // The error in ulp, if both it and the tolerance are finite.
  double used = 0;  // The ratio of the error to the tolerance.
};

// Compares a result with the value `want`, within the bound plus `slack`.
Judgement judge_one(Real got, Real want, Real slack, tenon_dtype dtype, const Bound& bound) {
  Judgement judged;
  if (real_is_nan(want) || real_is_nan(got)) {
    judged.passed = real_is_nan(want) == real_is_nan(got);
    return judged;
  }
  const bool rounds_once = bound.ulp <= 0.5 && bound.rtol == 0 && bound.atol == 0 && slack == 0;
  if (real_is_inf(want) || real_is_inf(got)) {
    // Near the largest finite value, an infinity and a large number may both be within the bound.
    const Real most = greatest(dtype);
    const Real edge = most - std::max(Real(bound.ulp) * ulp(most, dtype), Real(bound.rtol) * most) -
                      (real_is_finite(slack) ? slack : Real(0));
    const bool same_side = real_sign(want) == real_sign(got);
    const bool near = same_side && (bound.ulp > 0.5 || bound.rtol > 0 || slack > 0) &&
                      real_abs(want) >= edge && real_abs(got) >= edge;
    judged.passed = want == got || near;
    return judged;
  }
  const Real unit = ulp(want, dtype), error = real_abs(got - want);
  const Real allowed = slack + std::max({Real(bound.ulp) * unit, Real(bound.rtol) * real_abs(want),
                                         Real(bound.atol)});
  if (error == 0) {
    judged.passed =
        !bound.bits || !is_float(dtype) || want != 0 || real_sign(want) == real_sign(got);
    return judged;
  }
  // Accepts zero if the exact result may have been subnormal and the device flushes.
  const Real least = real_abs(want) - (rounds_once ? Real(0) : allowed);
  if (bound.flushes && got == 0 && least < smallest_normal(dtype)) {
    judged.passed = true;
    return judged;
  }
  judged.passed = error <= allowed;
  judged.ulps = static_cast<double>(error / unit);
  if (allowed > 0) judged.used = static_cast<double>(error / allowed);
  return judged;
}

// Judges an element by the first answer that accepts it. If none does, reports the fault relative
// to the first answer.
Judgement judge_element(std::span<const Real> got, size_t i, tenon_dtype dtype,
                        std::span<const Answer> answers, const Bound& bound) {
  Judgement first;
  for (const Answer& answer : answers) {
    const Real want = saturate_to_infinity(answer.oracle[i], dtype);
    const Real slack = answer.slack.empty() ? Real(0) : answer.slack[i];
    const Judgement judged = judge_one(got[i], want, slack, dtype, bound);
    if (judged.passed) return judged;
    if (!answer.to.empty() && is_between(got[i], want, answer.to[i])) return {.passed = true};
    if (&answer == answers.data()) first = judged;
  }
  return first;
}

}  // namespace

Verdict compare_answers(std::span<const Real> got, tenon_dtype dtype,
                        std::span<const Answer> answers, const Bound& bound) {
  Verdict verdict;
  const std::span<const Real> oracle = answers[0].oracle;
  if (got.size() != oracle.size()) {
    verdict.passed = false;
    verdict.message = fmt::format("there are {} elements, not {}", got.size(), oracle.size());
    return verdict;
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const Judgement judged = judge_element(got, i, dtype, answers, bound);
    verdict.largest_ulp = std::max(verdict.largest_ulp, judged.ulps);
    verdict.used = std::max(verdict.used, judged.used);
    if (judged.passed || !verdict.passed) continue;
    const Real want = saturate_to_infinity(oracle[i], dtype);
    verdict.passed = false;
    verdict.message = fmt::format("element {} is {}, not {}", i, text(got[i]), text(want));
    if (is_float(dtype) && real_is_finite(got[i]) && real_is_finite(want)) {
      verdict.message += fmt::format(" ({:.3g} ulp off)", judged.ulps);
    }
  }
  return verdict;
}

Verdict compare(const Reals& got, tenon_dtype dtype, const Reals& oracle, const Bound& bound,
                const Reals& slack) {
  const Answer answer = {.oracle = oracle, .slack = slack};
  return compare_answers(got, dtype, {&answer, 1}, bound);
}

bool can_reveal_fault(std::span<const Real> oracle, tenon_dtype dtype) {
  const Real low = least(dtype), high = greatest(dtype);
  const auto plain = std::count_if(oracle.begin(), oracle.end(), [&](Real x) {
    return x == 0 || real_is_nan(x) || x <= low || x >= high;
  });
  return !oracle.empty() && static_cast<double>(plain) <= 0.3 * static_cast<double>(oracle.size());
}

bool can_reveal_fault_sparse(std::span<const Real> oracle, std::span<const Reals> inputs) {
  const auto enough = [&](auto&& differs) {
    size_t n = 0;
    for (size_t i = 0; i < oracle.size(); ++i) n += differs(i);
    return n > 0 && 10 * n >= oracle.size();
  };
  if (!enough([&](size_t i) { return oracle[i] != 0; })) return false;
  return std::all_of(inputs.begin(), inputs.end(), [&](const Reals& x) {
    return x.size() != oracle.size() || enough([&](size_t i) { return oracle[i] != x[i]; });
  });
}

std::string type_text(tenon_dtype dtype, const Sizes& shape) {
  return fmt::format("{}[{}]", name_of(dtype), fmt::join(shape, ","));
}

std::string compare_types(const Result& got, tenon_dtype dtype, const Sizes& shape) {
  if (got.dtype == dtype && got.shape == shape) return "";
  return fmt::format("the type is {}, not {}", type_text(got.dtype, got.shape),
                     type_text(dtype, shape));
}

size_t first_difference(const Result& a, const Result& b) {
  const size_t size = facts(a.dtype).size;
  const Reals x = a.values(), y = b.values();
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::memcmp(&a.bytes[i * size], &b.bytes[i * size], size) == 0) continue;
    if (!real_is_nan(x[i]) || !real_is_nan(y[i])) return i;
  }
  return x.size();
}

std::string compare_bits(const Result& a, const Result& b) {
  if (std::string types = compare_types(a, b.dtype, b.shape); !types.empty()) return types;
  if (a.bytes == b.bytes) return "";
  const size_t i = first_difference(a, b);
  const Reals x = a.values(), y = b.values();
  if (i == x.size()) return "";
  return fmt::format("element {} is {}, not {}", i, text(x[i]), text(y[i]));
}

}  // namespace tenon_kit
