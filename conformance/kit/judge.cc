#include "conformance/kit/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tenon_kit {
namespace {

// What the oracle's value is in the dtype, where that leaves its range.
Real in_range(Real x, tenon_dtype dtype) {
  const Real whole = rounded(x, dtype);
  return real_is_inf(whole) ? whole : x;
}

}  // namespace

Verdict compare(const Reals& got, tenon_dtype dtype, const Reals& oracle, const Bound& bound,
                const Reals& slack) {
  Verdict verdict;
  const auto fail = [&](size_t i, Real want, double ulps) {
    if (!verdict.passed) return;
    verdict.passed = false;
    verdict.message = fmt::format("element {} is {}, not {}", i, text(got[i]), text(want));
    if (is_float(dtype) && real_is_finite(got[i]) && real_is_finite(want)) {
      verdict.message += fmt::format(" ({:.3g} ulp off)", ulps);
    }
  };
  if (got.size() != oracle.size()) {
    verdict.passed = false;
    verdict.message = fmt::format("there are {} elements, not {}", got.size(), oracle.size());
    return verdict;
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const Real want = in_range(oracle[i], dtype);
    if (real_is_nan(want) || real_is_nan(got[i])) {
      if (real_is_nan(want) != real_is_nan(got[i])) fail(i, want, 0);
      continue;
    }
    if (real_is_inf(want) || real_is_inf(got[i])) {
      // An infinity may stand for what is as good as beyond the range, and the other way round.
      const Real most = greatest(dtype);
      const Real edge =
          most - std::max(Real(bound.ulp) * ulp(most, dtype), Real(bound.rtol) * most);
      const bool same_side = real_sign(want) == real_sign(got[i]);
      const bool near = same_side && (bound.ulp > 0.5 || bound.rtol > 0) &&
                        real_abs(want) >= edge && real_abs(got[i]) >= edge;
      if (!(want == got[i]) && !near) fail(i, want, 0);
      continue;
    }
    const Real error = real_abs(got[i] - want);
    if (error == 0) {
      if (bound.bits && is_float(dtype) && want == 0 && real_sign(want) != real_sign(got[i])) {
        fail(i, want, 0);
      }
      continue;
    }
    const Real unit = ulp(want, dtype);
    const auto ulps = static_cast<double>(error / unit);
    verdict.largest_ulp = std::max(verdict.largest_ulp, ulps);
    Real allowed =
        std::max({Real(bound.ulp) * unit, Real(bound.rtol) * real_abs(want), Real(bound.atol)});
    if (!slack.empty()) allowed += slack[i];
    if (allowed > 0) {
      verdict.used = std::max(verdict.used, static_cast<double>(error / allowed));
    }
    if (!(error <= allowed)) fail(i, want, ulps);
  }
  return verdict;
}

bool is_telling(const Reals& oracle) {
  const auto plain = std::count_if(oracle.begin(), oracle.end(),
                                   [](Real x) { return x == 0 || !real_is_finite(x); });
  return static_cast<double>(plain) <= 0.3 * static_cast<double>(oracle.size());
}

std::string type_text(tenon_dtype dtype, const Sizes& shape) {
  return fmt::format("{}[{}]", name_of(dtype), fmt::join(shape, ","));
}

std::string compare_types(const Result& got, tenon_dtype dtype, const Sizes& shape) {
  if (got.dtype == dtype && got.shape == shape) return "";
  return fmt::format("the type is {}, not {}", type_text(got.dtype, got.shape),
                     type_text(dtype, shape));
}

std::string compare_bits(const Result& a, const Result& b) {
  if (std::string types = compare_types(a, b.dtype, b.shape); !types.empty()) return types;
  if (a.bytes == b.bytes) return "";
  const size_t size = facts(a.dtype).size;
  const Reals x = a.values(), y = b.values();
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::memcmp(&a.bytes[i * size], &b.bytes[i * size], size) == 0) continue;
    if (real_is_nan(x[i]) && real_is_nan(y[i])) continue;
    return fmt::format("element {} is {}, not {}", i, text(x[i]), text(y[i]));
  }
  return "";
}

}  // namespace tenon_kit
