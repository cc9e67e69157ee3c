// Checks casts, and integer arithmetic at the limits of the range. Expected values are computed
// here, because the oracle cannot validate its own loops.

#include <algorithm>
#include <utility>

#include "conformance/checks/check.h"
#include "conformance/kit/fill.h"

namespace tenon_kit {
namespace {

// Returns a vector with these values.
Operand make_row(tenon_dtype dtype, Reals values) {
  const auto n = static_cast<int64_t>(values.size());
  return explicit_operand(dtype, {n}, std::move(values));
}

Operand make_operand(tenon_dtype dtype, Sizes shape, Fill::Kind kind, uint64_t seed) {
  Operand x;
  x.dtype = dtype;
  x.shape = std::move(shape);
  x.fill = {.kind = kind, .seed = seed};
  return x;
}

// ---- casts

bool is_cast(const Environment&, const Claim& claim) { return claim.op->name == "cast"; }

// Values at and next to the midpoints between adjacent values of the narrower float type `to`,
// where rounding changes direction. Covers all exponents of `to`, including subnormals, and values
// out of its range.
Reals ties(tenon_dtype from, tenon_dtype to) {
  const DTypeFacts& f = facts(to);
  Reals values;
  for (int e = f.least_exponent - f.precision - 1; e <= f.greatest_exponent + 1; ++e) {
    const Real power = real_scale(1, e), unit = ulp(power, to);
    // Midpoints above three values: one with the last significand bit 0 (the tie rounds down), one
    // with the last bit 1 (it rounds up), and the largest one below the next power of two.
    for (const Real below : {power, power + unit, 2 * power - unit}) {
      const Real middle = below + unit / 2;
      const Real step = is_float(from) ? ulp(middle, from) : Real(1);
      for (const Real x : {middle, middle + step, middle - step}) {
        if (rounded(x, from) != x) continue;
        values.push_back(x);
        values.push_back(-x);
      }
    }
  }
  return values;
}

std::vector<Problem> cast_problems(const Environment& env, const Claim& claim) {
  const tenon_dtype from = claim.inputs[0], to = claim.outputs[0];
  std::vector<Operand> inputs = {make_row(from, powers_of_two_and_neighbours(from)),
                                 make_row(from, special_values(from))};
  if (is_float(to)) {
    Reals values = ties(from, to);
    if (!values.empty()) inputs.push_back(make_row(from, std::move(values)));
  }
  if (env.thorough) {
    inputs.push_back(make_operand(from, {2000}, Fill::Kind::kBits, env.seed));
    inputs.push_back(make_operand(from, {2000}, Fill::Kind::kMagnitudes, env.seed + 1));
    if (facts(from).size == 2) {
      Reals all;
      for (int i = 0; i < 65536; ++i) all.push_back(i);
      inputs.push_back(make_row(from, decode(encode(all, TENON_UINT16), from)));
    }
  }
  std::vector<Problem> problems;
  for (Operand& x : inputs) {
    Problem problem;
    problem.op = claim.op;
    problem.attrs["to"] = name_of(to);
    problem.inputs = {std::move(x)};
    problems.push_back(std::move(problem));
  }
  return problems;
}

// Wraps to two's complement with the width of the dtype.
Real wrap_to_dtype(Real whole, tenon_dtype dtype) {
  const int bits = static_cast<int>(8 * facts(dtype).size);
  const Real modulus = real_scale(1, bits);
  Real rest = whole - modulus * real_rint(whole / modulus);
  while (rest < least(dtype)) rest += modulus;
  while (rest > greatest(dtype)) rest -= modulus;
  return rest;
}

Real expected_cast(Real x, tenon_dtype from, tenon_dtype to) {
  if (!is_float(from)) x += 0;  // Adding 0 turns -0 into 0, because integers have no negative zero.
  if (is_bool(to)) return x != 0 ? 1 : 0;  // NaN is not zero.
  if (is_float(to)) return rounded(x, to);
  if (!is_float(from)) return wrap_to_dtype(x, to);
  if (!real_is_finite(x)) return rounded(x, to);  // NaN becomes 0; infinities saturate.
  const Real nearest = real_rint(x);
  return rounded(real_abs(nearest) > real_abs(x) ? nearest - (x < 0 ? -1 : 1) : nearest, to);
}

// Compares the device's result with `want`. Also returns the index of the first element that
// differs, or the number of elements if no element or only the shape differs.
std::pair<Finding, size_t> run_and_compare(const Environment& env, const Problem& problem,
                                           const Reals& want) {
  const std::vector<Result> got = env.device.run(problem);
  Result right = got[0];
  right.bytes = encode(want, right.dtype);
  if (right.bytes.size() != got[0].bytes.size()) {
    return {Finding::fault("the output has the wrong shape"), want.size()};
  }
  const std::string fault = compare_bits(got[0], right);
  if (fault.empty()) return {Finding(), want.size()};
  return {Finding::fault(fault), first_difference(got[0], right)};
}

// Checks that casts return the expected values, which expected_cast() computes.
Finding test_cast(const Environment& env, const Problem& problem) {
  const Operand& x = problem.inputs.at(0);
  const tenon_dtype to = dtype_named(problem.attr("to").text());
  const Reals values = x.values();
  Reals want = values;
  for (Real& value : want) value = expected_cast(value, x.dtype, to);
  auto [finding, at] = run_and_compare(env, problem, want);
  // Reports the input value rather than its index.
  if (at < values.size()) {
    finding.message.insert(finding.message.find(" is "), " of " + text(values[at]));
  }
  return finding;
}

// ---- casts of NaNs with any payload

bool is_cast_from_float(const Environment& env, const Claim& claim) {
  return is_cast(env, claim) && is_float(claim.inputs[0]);
}

// Problems for casts of NaNs. The text of a problem cannot hold NaN payloads, so test_nans() writes
// NaN bits into two of every three elements.
std::vector<Problem> nan_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems;
  for (const Layout layout : {Layout::kDense, Layout::kTransposed}) {
    Problem problem;
    problem.op = claim.op;
    problem.attrs["to"] = name_of(claim.outputs[0]);
    problem.inputs = {uniform_operand(claim.inputs[0], {5, 33}, env.seed)};
    problem.inputs[0].layout = layout;
    problems.push_back(std::move(problem));
  }
  return problems;
}

// Checks that casts of NaNs with any payload give the expected values.
Finding test_nans(const Environment& env, const Problem& problem) {
  const Operand& x = problem.inputs.at(0);
  const tenon_dtype to = dtype_named(problem.attr("to").text());
  const std::vector<uint64_t> nans = nan_bits(x.dtype);
  const Reals values = x.values();
  Operand bits = x;
  bits.dtype = bits_dtype(x.dtype);
  Reals words = decode(encode(values, x.dtype), bits.dtype), want;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_nan = i % 3 != 0;
    if (is_nan) words[i] = static_cast<Real>(nans[i % nans.size()]);
    want.push_back(expected_cast(is_nan ? Real(NAN) : values[i], x.dtype, to));
  }
  Problem view;
  view.op = &op_named("bitcast");
  view.attrs["dtype"] = name_of(x.dtype);
  const tenon::Tensor made = env.device.make(with_values(bits, words));
  const std::vector<tenon::Tensor> inputs = {env.device.call(view, {made})[0]};
  const std::vector<Result> got = env.device.run(problem, inputs);
  const Result right = {to, got[0].shape, encode(want, to)};
  const std::string fault = compare_bits(got[0], right);
  if (fault.empty()) return {};
  const size_t at = std::min(first_difference(got[0], right), words.size() - 1);
  return Finding::fault(fault + ", for the input bits " + text(words[at]));
}

// ---- integers wrap

using Words = std::vector<uint64_t>;  // The bits of integers, sign-extended.

// Returns the values of an integer operand as words.
Words to_words(const Operand& x) {
  Words words;
  for (const Real value : x.values()) {
    words.push_back(value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value))
                              : static_cast<uint64_t>(value));
  }
  return words;
}

// An operand as `rows` rows of `length` elements each, for ops along the last axis and for matrix
// products.
struct Lines {
  int64_t rows = 1, length = 0;
  explicit Lines(const Sizes& shape) : length(shape.back()) {
    for (size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  }
};

// Returns the expected results of an elementwise op: `f` applied to the words of its one or two
// inputs.
Words expected_elementwise(const Problem& problem, uint64_t (*f)(uint64_t, uint64_t)) {
  Words a = to_words(problem.inputs.at(0));
  const Words b = to_words(problem.inputs.back());
  for (size_t i = 0; i < a.size(); ++i) a[i] = f(a[i], b[i]);
  return a;
}

// Expected results of sums or products along rows: a total for each row or, if `keeps_all`, all
// partial totals.
Words expected_row_totals(const Problem& problem, bool sums, bool keeps_all) {
  const Lines lines(problem.inputs.at(0).shape);
  const Words x = to_words(problem.inputs[0]);
  Words y;
  for (int64_t i = 0; i < lines.rows; ++i) {
    uint64_t total = sums ? 0 : 1;
    for (int64_t j = 0; j < lines.length; ++j) {
      const uint64_t next = x[static_cast<size_t>(i * lines.length + j)];
      total = sums ? total + next : total * next;
      if (keeps_all) y.push_back(total);
    }
    if (!keeps_all) y.push_back(total);
  }
  return y;
}

Words expected_matmul(const Problem& problem) {
  const Lines a(problem.inputs.at(0).shape), b(problem.inputs.at(1).shape);
  const Words x = to_words(problem.inputs[0]), y = to_words(problem.inputs[1]);
  Words result;
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < b.length; ++j) {
      uint64_t total = 0;
      for (int64_t k = 0; k < a.length; ++k) {
        total +=
            x[static_cast<size_t>(i * a.length + k)] * y[static_cast<size_t>(k * b.length + j)];
      }
      result.push_back(total);
    }
  }
  return result;
}

struct Wrapping {
  const char* op;
  Words (*result)(const Problem&);
};
const Wrapping kWrapping[] = {
    {"add",
     [](const Problem& p) {
       return expected_elementwise(p, [](auto a, auto b) { return a + b; });
     }},
    {"sub",
     [](const Problem& p) {
       return expected_elementwise(p, [](auto a, auto b) { return a - b; });
     }},
    {"mul",
     [](const Problem& p) {
       return expected_elementwise(p, [](auto a, auto b) { return a * b; });
     }},
    {"neg",
     [](const Problem& p) { return expected_elementwise(p, [](auto a, auto) { return 0 - a; }); }},
    {"square",
     [](const Problem& p) { return expected_elementwise(p, [](auto a, auto) { return a * a; }); }},
    {"abs",
     [](const Problem& p) {
       const bool has_sign = is_signed(p.inputs.at(0).dtype);
       Words words = to_words(p.inputs[0]);
       for (uint64_t& x : words) x = has_sign && x >> 63 != 0 ? 0 - x : x;
       return words;
     }},
    {"sum", [](const Problem& p) { return expected_row_totals(p, true, false); }},
    {"prod", [](const Problem& p) { return expected_row_totals(p, false, false); }},
    {"cumsum", [](const Problem& p) { return expected_row_totals(p, true, true); }},
    {"cumprod", [](const Problem& p) { return expected_row_totals(p, false, true); }},
    {"matmul", expected_matmul},
};

// Returns the op's entry in the table of ops whose integer results wrap; NULL if there is none.
const Wrapping* find_wrapping(const OpFacts& op) {
  for (const Wrapping& row : kWrapping) {
    if (op.name == row.op) return &row;
  }
  return nullptr;
}

// Whether the claim's op computes integers that wrap.
bool has_wrapping_integers(const Environment&, const Claim& claim) {
  return find_wrapping(*claim.op) && is_integer(claim.inputs[0]);
}

std::vector<Problem> wrap_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems;
  const bool is_product = claim.op->name == "matmul";
  for (const int64_t length : {3, env.thorough ? 67 : 5}) {
    for (const Fill::Kind kind : {Fill::Kind::kSpecial, Fill::Kind::kBits}) {
      Problem problem;
      problem.op = claim.op;
      if (claim.op->attr("axes")) problem.attrs["axes"] = Sizes{1};
      if (claim.op->attr("axis")) problem.attrs["axis"] = 1;
      problem.inputs = {make_operand(claim.inputs[0], {19, length}, kind, env.seed)};
      if (claim.inputs.size() > 1) {
        const Sizes other = is_product ? Sizes{length, 21} : Sizes{19, length};
        problem.inputs.push_back(make_operand(claim.inputs[1], other, kind, env.seed + 1));
      }
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

// Checks that integer arithmetic wraps at the ends of the range of the dtype.
Finding test_wrap(const Environment& env, const Problem& problem) {
  const tenon_dtype dtype = problem.inputs.at(0).dtype;
  Reals want;
  for (const uint64_t word : find_wrapping(*problem.op)->result(problem)) {
    want.push_back(wrap_to_dtype(static_cast<Real>(word), dtype));
  }
  return run_and_compare(env, problem, want).first;
}

}  // namespace

std::vector<Check> cast_checks() {
  return {
      {"casts", 2, "Casts wrap, saturate and round once, at the ends of either dtype.", is_cast,
       cast_problems, test_cast},
      {"nan_casts", 2, "NaNs with any payload and sign stay NaN, or become 0 or true.",
       is_cast_from_float, nan_problems, test_nans},
      {"wraps", 2, "Integers wrap at the ends of their range.", has_wrapping_integers,
       wrap_problems, test_wrap},
  };
}

}  // namespace tenon_kit
