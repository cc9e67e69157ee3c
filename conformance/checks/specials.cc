// Checks special values (NaN, infinities, zeros, limits of the range) in ops whose elements depend
// on several inputs: reductions, sorts, scans, matrix products and moves. Elementwise ops get every
// combination of special values.

#include <algorithm>
#include <set>

#include "conformance/checks/check.h"
#include "conformance/kit/fill.h"
#include "conformance/kit/index_rules.h"

namespace tenon_kit {
namespace {

using Names = std::set<std::string>;

// Ops that only compare or move values.
const Names kOrdering = {"max",      "min",     "argmax", "argmin",   "cummax", "cummin",
                         "sort",     "argsort", "top_k",  "max_pool", "copy",   "concat",
                         "pad",      "gather",  "fill",   "nonzero",  "unique", "gather_elements",
                         "gather_nd"};
// Ops that combine the values of a row. Rows have at most two values that are not neutral (0 for
// sums, 1 for products), so the result does not depend on the order of the operations.
const Names kSums = {"sum", "mean", "cumsum"};
const Names kProducts = {"prod", "cumprod"};
const Names kSoftmaxes = {"softmax", "log_softmax"};

// ---- elementwise: each special value of one input with each special value of the others

// Whether the claim is tested as an elementwise function: with every special value of each input.
bool is_function(const Claim& claim) {
  // Also tests functions that a device decomposes; excludes ops whose numeric class is composite.
  return claim.op->elementwise && !claim.inputs.empty() && claim.op->numeric != "composite";
}

// Returns the problem with the dtype's threshold values in input `which`, each combined with
// special values of the other inputs. If there are many inputs, it uses fewer special values.
Problem at_thresholds(const Claim& claim, Problem problem, size_t which) {
  const size_t inputs = claim.inputs.size();
  for (size_t i = 0; i < inputs; ++i) {
    Reals values = i == which ? threshold_values(claim.inputs[i]) : special_values(claim.inputs[i]);
    if (i != which && inputs > 2) {
      Reals some;
      const size_t step = values.size() > 8 ? 5 : 1;
      for (size_t k = 0; k < values.size(); k += step) some.push_back(values[k]);
      values = std::move(some);
    }
    Sizes shape(inputs, 1);
    shape[i] = static_cast<int64_t>(values.size());
    problem.inputs[i] = explicit_operand(claim.inputs[i], shape, std::move(values));
  }
  return problem;
}

std::vector<Problem> function_problems(const Environment& env, const Claim& claim) {
  Problem problem;
  problem.op = claim.op;
  const int64_t n = 40;
  const size_t inputs = claim.inputs.size();
  for (size_t i = 0; i < inputs; ++i) {
    Operand x;
    x.dtype = claim.inputs[i];
    x.fill = {.kind = Fill::Kind::kSpecial, .seed = env.seed + i};
    x.shape = inputs == 1 ? Sizes{n} : Sizes(inputs, 1);
    if (inputs > 1) x.shape[i] = n;
    problem.inputs.push_back(std::move(x));
  }
  for (const Problem& own : retargeted_cases(claim)) {
    if (!own.attrs.empty()) problem.attrs = own.attrs;
  }
  std::vector<Problem> problems = {problem};
  for (size_t which = 0; which < inputs && (env.thorough || inputs == 1); ++which) {
    problems.push_back(at_thresholds(claim, problem, which));
  }
  for (const Fill::Kind kind : {Fill::Kind::kBits, Fill::Kind::kMagnitudes}) {
    for (size_t i = 0; i < inputs; ++i) {
      problem.inputs[i].shape = {env.thorough ? 20000 : 500};
      problem.inputs[i].fill = {.kind = kind, .seed = env.seed + 7 * i + 1};
    }
    problems.push_back(problem);
  }
  return problems;
}

// ---- ordering and moving

std::vector<Problem> ordering_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems;
  for (Problem& problem : valid_problems(claim, 12, env.seed, env.oracle)) {
    for (size_t i = 0; i < problem.inputs.size(); ++i) {
      Operand& x = problem.inputs[i];
      if (x.absent || x.scalar || is_index(*claim.op, i)) continue;
      x.fill = {.kind = Fill::Kind::kSpecial, .seed = env.seed + 3 * problems.size() + i};
    }
    problem.name.clear();
    problem.expected.clear();
    problems.push_back(std::move(problem));
  }
  return problems;
}

// ---- sums and products

// Rows with one or two values that are not neutral, at varying positions. With more values, a
// result near the ends of the range would depend on the order of summation.
struct Rows {
  int64_t n = 0;
  Reals values;
};

Rows rows_with_pairs(tenon_dtype dtype, int64_t length, Real neutral, bool is_mean) {
  const Reals all = special_values(dtype);
  const Real most = greatest(dtype), inf = INFINITY;
  const Reals partners = {neutral, inf, -inf, NAN, most, -most, 1, -Real(0), real_scale(1, -3)};
  Rows rows;
  for (const Real a : all) {
    for (const Real b : partners) {
      const bool finite = real_is_finite(a) && real_is_finite(b);
      // For a mean, half the sum must be in range.
      if (is_mean && finite && real_abs(a + b) > most) continue;
      Reals row(static_cast<size_t>(length), neutral);
      row[static_cast<size_t>(rows.n % length)] = a;
      row[static_cast<size_t>((rows.n + 1 + rows.n / length % (length - 1)) % length)] = b;
      rows.values.insert(rows.values.end(), row.begin(), row.end());
      ++rows.n;
    }
  }
  return rows;
}

// Returns an operand that holds the rows [from, to); as its columns if `as_columns` is true.
Operand operand_of_rows(const Rows& rows, tenon_dtype dtype, int64_t from, int64_t to,
                        bool as_columns) {
  const auto length = static_cast<int64_t>(rows.values.size()) / rows.n;
  Operand x =
      explicit_operand(dtype, {to - from, length},
                       {rows.values.begin() + from * length, rows.values.begin() + to * length});
  if (!as_columns) return x;
  Operand y = x;
  y.shape = {length, to - from};
  for (int64_t i = 0; i < to - from; ++i) {
    for (int64_t j = 0; j < length; ++j) {
      y.fill.values[static_cast<size_t>(j * (to - from) + i)] =
          x.fill.values[static_cast<size_t>(i * length + j)];
    }
  }
  return y;
}

std::vector<Problem> sum_problems(const Environment&, const Claim& claim) {
  const std::string& name = claim.op->name;
  const bool is_scan = name.starts_with("cum");
  std::vector<Problem> problems;
  for (const int64_t length : {5, 37}) {
    const Rows rows =
        rows_with_pairs(claim.inputs[0], length, kProducts.contains(name) ? 1 : 0, name == "mean");
    // At most 900 results per problem. For outputs with over 1,000 results the kit also checks the
    // root mean square of the errors, which infinities would make useless.
    const int64_t most = is_scan ? 900 / length : 900;
    for (int64_t from = 0; from < rows.n; from += most) {
      const bool as_columns = from / most % 2 == 1 || length == 5;
      const int64_t axis = as_columns ? 0 : 1;
      Problem problem;
      problem.op = claim.op;
      if (is_scan) {
        problem.attrs["axis"] = axis;
        problem.attrs["reverse"] = from / most % 3 == 1;
      } else {
        problem.attrs["axes"] = Sizes{axis};
      }
      problem.inputs = {
          operand_of_rows(rows, claim.inputs[0], from, std::min(from + most, rows.n), as_columns)};
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

// ---- matrix products: inf * 0 gives NaN in the affected elements only

// Returns a matrix of small numbers and zeros with at most one special value in each row, or in
// each column if `as_columns` is true. The products of special values and small numbers are in
// range.
Operand matrix_with_specials(tenon_dtype dtype, int64_t lines, int64_t length, const Reals& special,
                             uint64_t seed, bool as_columns) {
  Draw draw(seed);
  const Reals plain_values = {0, -Real(0), 0.25, -0.25, 0.5, -0.5, 1, -1, 0};
  Reals values;
  for (int64_t i = 0; i < lines * length; ++i) values.push_back(draw.one_of(plain_values));
  for (int64_t line = 0; line < lines; ++line) {
    if (draw.between(0, 2) == 0) continue;  // A third of the rows have no special value.
    const int64_t place = draw.between(0, length - 1);
    const int64_t at = as_columns ? place * lines + line : line * length + place;
    values[static_cast<size_t>(at)] = draw.one_of(special);
  }
  return explicit_operand(dtype, as_columns ? Sizes{length, lines} : Sizes{lines, length},
                          std::move(values));
}

std::vector<Problem> matmul_problems(const Environment& env, const Claim& claim) {
  struct Product {
    int64_t m, k, n;
  };
  const tenon_dtype dtype = claim.inputs[0];
  const Real inf = INFINITY, most = greatest(dtype);
  const Real smallest = real_scale(1, facts(dtype).least_exponent - facts(dtype).precision + 1);
  const Reals of_a = {inf, -inf, NAN, most, -most, smallest, inf}, of_b = {inf, -inf, NAN, 0};
  std::vector<Problem> problems;
  for (const auto& [m, k, n] :
       {Product{3, 5, 4}, {31, 33, 32}, {8, 129, 17}, {1, 65, 30}, {30, 65, 1}}) {
    for (int turn = 0; turn < 4; ++turn) {
      const bool transpose_a = turn % 2 == 1, transpose_b = turn / 2 == 1;
      const uint64_t seed = env.seed + problems.size();
      Problem problem;
      problem.op = claim.op;
      problem.attrs["transpose_a"] = transpose_a;
      problem.attrs["transpose_b"] = transpose_b;
      problem.inputs = {
          matrix_with_specials(dtype, m, k, of_a, seed, transpose_a),
          matrix_with_specials(claim.inputs[1], n, k, of_b, seed + 1000, !transpose_b)};
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

// ---- softmax

std::vector<Problem> softmax_problems(const Environment& env, const Claim& claim) {
  const tenon_dtype dtype = claim.inputs[0];
  std::vector<Problem> problems;
  for (const int64_t length : {1, 5, 37}) {
    Rows rows;
    Draw draw(env.seed);
    const auto add = [&](Reals row) {
      rows.values.insert(rows.values.end(), row.begin(), row.end());
      ++rows.n;
    };
    for (const Real a : special_values(dtype)) {
      add(Reals(static_cast<size_t>(length), a));  // All elements are equal.
      Reals row = uniform_operand(dtype, {length}, draw.seed()).values();
      draw.one_of(row) = a;
      add(row);
      draw.one_of(row) = -Real(INFINITY);
      add(row);
    }
    for (const bool as_columns : {false, true}) {
      Problem problem;
      problem.op = claim.op;
      problem.attrs["axis"] = as_columns ? 0 : 1;
      problem.inputs = {operand_of_rows(rows, dtype, 0, rows.n, as_columns)};
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

// ---- which of these problems apply to an op

using Problems = std::vector<Problem> (*)(const Environment&, const Claim&);

// Returns the function that makes the problems of the claim; NULL if the check does not apply.
Problems problem_maker_for(const Environment& env, const Claim& claim) {
  if (is_function(claim)) return function_problems;
  const std::string& name = claim.op->name;
  if (!env.thorough || claim.inputs.empty()) return nullptr;
  if (kOrdering.contains(name)) return ordering_problems;
  if (!is_float(claim.inputs[0])) return nullptr;  // The check `wraps` covers integers.
  if (kSums.contains(name) || kProducts.contains(name)) return sum_problems;
  if (name == "matmul") return matmul_problems;
  return kSoftmaxes.contains(name) ? softmax_problems : nullptr;
}

// Whether the check for special values applies to the claim.
bool takes_specials(const Environment& env, const Claim& claim) {
  return problem_maker_for(env, claim) != nullptr;
}

std::vector<Problem> special_problems(const Environment& env, const Claim& claim) {
  return problem_maker_for(env, claim)(env, claim);
}

// ---- the sign of zeros, which IEEE 754 defines for these ops

const Names kIeeeZeros = {"add", "sub", "mul", "div", "sqrt", "reciprocal", "fma", "sort"};

// Whether IEEE 754 defines the sign of zero results for the claim's op in strict numerics.
bool has_signed_zeros(const Environment& env, const Claim& claim) {
  const std::string& name = claim.op->name;
  if (env.profile != Profile::kStrict || !kIeeeZeros.contains(name)) return false;
  if (name == "fma" && (env.features & TENON_FEATURE_IEEE_FMA) == 0) return false;
  return is_float(claim.inputs[0]);
}

std::vector<Problem> zero_problems(const Environment& env, const Claim& claim) {
  if (claim.op->name != "sort") {
    std::vector<Problem> problems = function_problems(env, claim);
    problems.resize(1);
    return problems;
  }
  // Problems with zeros of both signs. -0 and 0 compare equal, so a stable sort keeps their order.
  std::vector<Problem> problems;
  for (const int64_t length : {9, 70, 600}) {
    for (const bool descending : {false, true}) {
      Draw draw(env.seed + static_cast<uint64_t>(length));
      Reals values;
      for (int64_t i = 0; i < 2 * length; ++i) {
        values.push_back(draw.one_of(Reals{0, -Real(0), -Real(0), 1, -1, NAN}));
      }
      Problem problem;
      problem.op = claim.op;
      problem.attrs["descending"] = descending;
      problem.attrs["axis"] = 1;
      problem.inputs = {explicit_operand(claim.inputs[0], {2, length}, std::move(values))};
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

// Checks that zeros have the sign that IEEE 754 specifies.
Finding test_signs_of_zeros(const Environment& env, const Problem& problem) {
  const bool exact = problem.op->numeric == "exact";
  const std::vector<Result> got = env.device.run(problem);
  const std::vector<Result> want = env.oracle.run(exact ? problem : widen(problem));
  const Reals values = got[0].values(), oracle = want[0].values();
  if (values.size() != oracle.size()) return Finding::fault("the output has the wrong shape");
  for (size_t i = 0; i < values.size(); ++i) {
    // Compares only elements whose result is zero; other checks cover the rest.
    if (values[i] != 0 || rounded(oracle[i], got[0].dtype) != 0) continue;
    if (real_sign(values[i]) == real_sign(oracle[i])) continue;
    return Finding::fault("element " + std::to_string(i) + " is " + text(values[i]) + ", not " +
                          text(-values[i]));
  }
  return {};
}

// ---- moves keep all bits: payloads of NaNs, subnormals and signs of zeros

const Names kMoves = {"copy",       "concat",          "pad",
                      "fill",       "where",           "gather",
                      "gather_nd",  "gather_elements", "scatter_elements",
                      "scatter_nd", "dynamic_slice",   "dynamic_update_slice"};

// Returns the index of the first input that holds values to move, not conditions.
size_t first_data_input(const Problem& problem) { return problem.op->name == "where" ? 1 : 0; }

// Whether the claim's op moves floats, of which it must preserve all bits.
bool is_float_move(const Environment&, const Claim& claim) {
  return kMoves.contains(claim.op->name) && is_float(claim.inputs[claim.op->name == "where"]);
}

std::vector<Problem> bits_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems;
  // Integers have no NaNs, subnormals or signed zeros.
  if (!is_float_move(env, claim)) return problems;
  for (Problem& problem : valid_problems(claim, env.thorough ? 8 : 1, env.seed, env.oracle)) {
    if (problems.size() == 2 && !env.thorough) break;
    for (size_t i = first_data_input(problem); i < problem.inputs.size(); ++i) {
      Operand& x = problem.inputs[i];
      if (x.absent || is_index(*claim.op, i)) continue;
      x.scalar = false;
      x.fill = {.kind = Fill::Kind::kBits, .seed = env.seed + 5 * problems.size() + i};
    }
    if (claim.op->attr("reduction")) problem.attrs["reduction"] = "none";
    problem.name.clear();
    problem.expected.clear();
    problems.push_back(std::move(problem));
  }
  // For `copy`, also tests other layouts than dense, which kernels may copy by different code. The
  // rows are long enough to hold all NaNs.
  for (const Layout layout : {Layout::kDense, Layout::kTransposed, Layout::kStepped}) {
    if (claim.op->name != "copy") break;
    Problem problem;
    problem.op = claim.op;
    problem.inputs = {uniform_operand(claim.inputs[0], {7, 33}, env.seed)};
    problem.inputs[0].fill = {.kind = Fill::Kind::kBits, .seed = env.seed};
    problem.inputs[0].layout = layout;
    problems.push_back(std::move(problem));
  }
  return problems;
}

// The bits of an operand, as integers. For Fill::Kind::kBits, the first elements are NaNs whose
// payloads a faulty cast or copy loses; of the rest, one third are infinities and NaNs with any
// payload, one third zeros and subnormals, and one third random bits.
Operand as_bits(const Operand& x) {
  const tenon_dtype dtype = bits_dtype(x.dtype);
  const DTypeFacts& f = facts(x.dtype);
  Operand bits = x;
  bits.dtype = dtype;
  Reals values = decode(encode(x.values(), x.dtype), dtype);
  if (x.fill.kind == Fill::Kind::kBits) {
    values = bits.values();
    const int exponent_bits = static_cast<int>(8 * f.size) - f.precision;
    const uint64_t exponent = ((uint64_t{1} << exponent_bits) - 1) << (f.precision - 1);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto own = static_cast<uint64_t>(values[i]);
      if (i % 3 == 0) values[i] = static_cast<Real>(own | exponent);
      if (i % 3 == 1) values[i] = static_cast<Real>(own & ~exponent);
    }
    const std::vector<uint64_t> nans = nan_bits(x.dtype);
    for (size_t i = 0; i < nans.size() && i < values.size(); ++i) {
      values[i] = static_cast<Real>(nans[i]);
    }
  }
  return with_values(bits, std::move(values));
}

// Checks that ops that move data preserve all bits.
Finding test_bits(const Environment& env, const Problem& problem) {
  const size_t first = first_data_input(problem);
  const tenon_dtype own = problem.inputs.at(first).dtype;
  const OpFacts& bitcast = op_named("bitcast");
  Problem whole = problem, view;
  view.op = &bitcast;
  view.attrs["dtype"] = name_of(own);
  for (const AttrFacts& attr : problem.op->attrs) {
    if (attr.type == "dtype") whole.attrs[attr.name] = name_of(bits_dtype(own));
  }
  std::vector<tenon::Tensor> inputs;
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const Operand& x = problem.inputs[i];
    const bool is_data = i >= first && !x.absent && !is_index(*problem.op, i);
    if (is_data) whole.inputs[i] = as_bits(x);
    const tenon::Tensor made = env.device.make(whole.inputs[i]);
    inputs.push_back(is_data ? env.device.call(view, {made})[0] : made);
  }
  const std::vector<Result> got = env.device.run(problem, inputs), want = env.oracle.run(whole);
  const size_t size = facts(own).size;
  for (size_t i = 0; i < got[0].bytes.size() && i < want[0].bytes.size(); i += size) {
    const auto at = static_cast<std::ptrdiff_t>(i), end = at + static_cast<std::ptrdiff_t>(size);
    const std::span<const std::byte> a(got[0].bytes), b(want[0].bytes);
    if (std::equal(a.begin() + at, a.begin() + end, b.begin() + at)) continue;
    const auto bits = [&](std::span<const std::byte> from) {
      return text(decode(from.subspan(i, size), bits_dtype(own))[0]);
    };
    return Finding::fault("element " + std::to_string(i / size) + " has the bits " + bits(a) +
                          ", not " + bits(b));
  }
  return got[0].shape == want[0].shape ? Finding()
                                       : Finding::fault("the output has the wrong shape");
}

}  // namespace

std::vector<Check> special_checks() {
  return {
      {"special", 2,
       "Results are right for zeros, infinities, NaN, extremes, subnormals, and both sides of "
       "thresholds.",
       takes_specials, special_problems, run_and_judge},
      {"zeros", 2, "Zeros have the sign that IEEE 754 specifies.", has_signed_zeros, zero_problems,
       test_signs_of_zeros},
      {"bits", 2, "Data movement preserves every bit pattern.", is_float_move, bits_problems,
       test_bits},
  };
}

}  // namespace tenon_kit
