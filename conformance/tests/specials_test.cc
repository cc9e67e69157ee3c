// Tests which cases the checks of special values, casts, indices, ranks and aliasing cover, and
// that the reference passes these checks.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "conformance/kit/fill.h"
#include "conformance/kit/index_rules.h"
#include "conformance/kit/whole.h"
#include "conformance/run/claim_run.h"

namespace tenon_kit {
namespace {

// A process has one guard, so it has one runner.
const Runner& runner() {
  static const Runner runner({.plugin = TENON_TEST_REF});
  return runner;
}

const Claim& claim_of(const std::string& op, const std::string& dtypes) {
  for (const Claim& claim : runner().claims()) {
    if (claim.op->name == op && claim.dtypes == dtypes) return claim;
  }
  throw std::runtime_error("no such claim");
}

std::vector<Problem> problems_of(const char* check, const char* op, const char* dtypes) {
  return find_check(check)->problems(runner().environment(), claim_of(op, dtypes));
}

bool applies(const char* check, const char* op, const char* dtypes) {
  return find_check(check)->applies(runner().environment(), claim_of(op, dtypes));
}

bool holds(const Reals& values, Real x) {
  return std::find(values.begin(), values.end(), x) != values.end();
}

// ---- thresholds

TEST(Fill, ContainsBothSidesOfThresholds) {
  const Reals values = threshold_values(TENON_FLOAT32);
  const Real step = real_scale(1, -21);  // The spacing of float32 between 4 and 8.

  for (const Real x : {Real(6), Real(6) + step, Real(6) - step, Real(-3), Real(0.5)}) {
    EXPECT_TRUE(holds(values, x)) << text(x);
  }
  // The largest argument of exp whose result is finite, and the next one.
  const auto overflows = [](Real x) { return std::exp(static_cast<double>(x)) > 0x1.ffffffp127; };
  EXPECT_TRUE(std::any_of(values.begin(), values.end(), [&](Real x) {
    return overflows(x) && !overflows(x - 2 * ulp(x, TENON_FLOAT32));
  }));
  for (const Real x : values) EXPECT_EQ(rounded(x, TENON_FLOAT32), x);
}

TEST(Fill, ContainsNeighboursOfPowersOfTwo) {
  const Reals bytes = powers_of_two_and_neighbours(TENON_UINT8);
  for (const int x : {0, 1, 127, 128, 129, 255}) EXPECT_TRUE(holds(bytes, x)) << x;
  EXPECT_FALSE(holds(bytes, 256));
  EXPECT_FALSE(holds(bytes, -1));
  EXPECT_TRUE(holds(powers_of_two_and_neighbours(TENON_INT64), least(TENON_INT64)));
  EXPECT_TRUE(holds(powers_of_two_and_neighbours(TENON_FLOAT32), Real(127.5)));
}

// ---- ranks and sizes

size_t rank_of(const Problem& problem) {
  const AttrValue* const made = problem.attrs.find("shape");
  return made ? made->list().size() : problem.inputs[0].shape.size();
}

TEST(Ranks, CoverOpsThatAreNotElementwise) {
  const char* const whole[][2] = {{"sum", "f32"},
                                  {"copy", "f32"},
                                  {"nonzero", "f32->i64"},
                                  {"cumsum", "f32"},
                                  {"argmax", "f32->i64"},
                                  {"sort", "f32"},
                                  {"concat", "f32"},
                                  {"pad", "f32"},
                                  {"matmul", "f32"},
                                  {"gather_nd", "f32,i64->f32"},
                                  {"scatter_elements", "f32,i64,f32->f32"},
                                  {"dynamic_slice", "f32,i64->f32"},
                                  {"iota", "f32"},
                                  {"fill", "f32"}};
  for (const auto& [op, dtypes] : whole) {
    std::set<size_t> ranks;
    for (const Problem& problem : problems_of("ranks", op, dtypes)) ranks.insert(rank_of(problem));
    for (const size_t rank : {1, 2, 3, 4, 5, 6, 7, 8, 16}) {
      EXPECT_TRUE(ranks.contains(rank)) << op << " of rank " << rank;
    }
  }
}

TEST(Ranks, CoverFirstMiddleAndLastAxes) {
  std::set<std::vector<int64_t>> axes;
  for (const Problem& problem : problems_of("ranks", "sum", "f32")) {
    if (rank_of(problem) == 8) axes.insert(problem.attr("axes").list());
  }
  EXPECT_EQ(axes, (std::set<std::vector<int64_t>>{{}, {0}, {7}, {4}, {-1, 0}}));
}

TEST(Sizes, CoverEachRelevantAxis) {
  for (const int64_t n : edge_sizes()) {
    bool m = false, k = false, columns = false;
    for (const Problem& problem : problems_of("sizes", "matmul", "f32")) {
      const bool a = problem.attr("transpose_a").flag(), b = problem.attr("transpose_b").flag();
      const Sizes &x = problem.inputs[0].shape, &y = problem.inputs[1].shape;
      m = m || x[a ? 1 : 0] == n;
      k = k || x[a ? 0 : 1] == n;
      columns = columns || y[b ? 0 : 1] == n;
    }
    EXPECT_TRUE(m && k && columns) << n;
  }
}

TEST(Sizes, IncludeEmptyOperands) {
  size_t empty = 0;
  for (const Problem& problem : problems_of("empty", "gather", "f32,i64->f32")) {
    empty += count_of(problem.inputs[0].shape) == 0 || count_of(problem.inputs[1].shape) == 0;
  }
  EXPECT_GE(empty, 3u);
}

// ---- special values

TEST(SpecialValues, AreTestedInReductionsMatrixProductsAndDataMovement) {
  const char* const ops[][2] = {{"sum", "f32"},
                                {"prod", "f16"},
                                {"max", "f32"},
                                {"argmax", "f32->i64"},
                                {"cumsum", "f64"},
                                {"sort", "bf16"},
                                {"top_k", "f32->f32,i64"},
                                {"matmul", "f32"},
                                {"max_pool", "f32->f32,i64"},
                                {"gather", "f32,i64->f32"},
                                {"where", "bool,f32->f32"}};
  for (const auto& [op, dtypes] : ops) {
    ASSERT_TRUE(applies("special", op, dtypes)) << op;
    bool nan = false, infinity = false;
    for (const Problem& problem : problems_of("special", op, dtypes)) {
      for (const Operand& operand : problem.inputs) {
        for (const Real x : operand.values()) {
          nan = nan || real_is_nan(x);
          infinity = infinity || real_is_inf(x);
        }
      }
    }
    EXPECT_TRUE(nan && infinity) << op;
  }
}

// ---- the reference passes these checks; mutants/named/reach.toml lists faults that they catch

Row row_of(const char* check, const Claim& claim) {
  return runner().run(claim, *find_check(check), [](const Problem&) {});
}

TEST(NewChecks, PassOnTheReferencePlugin) {
  const char* const cells[][3] = {{"casts", "cast", "f64->i8"},
                                  {"casts", "cast", "i64->f16"},
                                  {"casts", "cast", "f16->u64"},
                                  {"casts", "cast", "u64->bf16"},
                                  {"casts", "cast", "f64->bf16"},
                                  {"wraps", "matmul", "i8"},
                                  {"wraps", "abs", "i64"},
                                  {"zeros", "sub", "f32"},
                                  {"zeros", "sort", "f16"},
                                  {"bits", "copy", "f16"},
                                  {"bits", "where", "bool,f32->f32"},
                                  {"indices", "gather", "f32,i32->f32"},
                                  {"indices", "gather_nd", "f32,i32->f32"},
                                  {"indices", "scatter_nd", "f32,i64,f32->f32"},
                                  {"aliasing", "matmul", "f32"},
                                  {"aliasing", "where", "bool,f32->f32"},
                                  {"special", "matmul", "f16"},
                                  {"special", "pow", "f64"},
                                  {"ranks", "cumsum", "f32"},
                                  {"sizes", "sort", "i8"}};
  for (const auto& [check, op, dtypes] : cells) {
    const Row row = row_of(check, claim_of(op, dtypes));
    EXPECT_EQ(row.status, Status::kPass)
        << check << " " << op << " " << dtypes << ": " << row.message;
    EXPECT_GT(row.cases, 0u);
  }
}

// ---- indices

TEST(Indices, CoverNegativeAndOutOfRangeValues) {
  bool above = false, below = false, from_end = false;
  std::set<std::string> composites;
  for (const Problem& problem : problems_of("indices", "gather", "f32,i32->f32")) {
    if (problem.op->composite) composites.insert(problem.op->name);
    if (problem.op->name != "gather") continue;
    for (const Real x : problem.inputs[1].values()) {
      above = above || x == greatest(TENON_INT32);
      below = below || x == least(TENON_INT32);
      from_end = from_end || x == -1;
    }
  }
  EXPECT_TRUE(above && below && from_end);
  for (const char* op : {"embedding", "segment_reduce", "nll", "bincount", "rotary_embedding"}) {
    EXPECT_TRUE(composites.contains(op)) << op;
  }
}

// A negative index is either counted from the end or too small.
TEST(Indices, CoverValuesBelowTheSmallestValidIndex) {
  std::set<std::string> below;
  for (const Problem& problem : problems_of("indices", "gather", "f32,i32->f32")) {
    const std::string& op = problem.op->name;
    const Reals at = problem.inputs[index_rule_of(*problem.op)->input].values();
    if (op == "bincount" && holds(at, -1)) below.insert(op);
    // The cache has three positions, so -4 is too small even if indices count from the end.
    if (op == "kv_cache_update" && holds(at, -4)) below.insert(op);
    if (op == "reverse_sequence" && std::any_of(at.begin(), at.end(), [](Real x) { return x < 0; }))
      below.insert(op);
  }
  EXPECT_EQ(below, (std::set<std::string>{"bincount", "kv_cache_update"}));
}

// ---- sizes of real work

TEST(WorkSizes, EveryCaseOfFloat32IsValid) {
  const std::pair<const char*, size_t> counts[] = {
      {"matmul", 8}, {"conv", 5},     {"conv_backward_filter", 5},
      {"copy", 5},   {"sum", 7},      {"max", 3},
      {"cumsum", 4}, {"max_pool", 2}, {"window_sum", 1}};

  for (const auto& [op, n] : counts) {
    const char* const dtypes = std::string_view(op) == "max_pool" ? "f32->f32,i64" : "f32";
    EXPECT_EQ(problems_of("work_sizes", op, dtypes).size(), n) << op;
  }
}

TEST(WorkSizes, ExpectedProductsAgreeWithTheReference) {
  for (const int flips : {0, 1, 2, 3}) {
    Problem problem;
    problem.op = &op_named("matmul");
    problem.attrs = {{"transpose_a", (flips & 1) != 0}, {"transpose_b", (flips & 2) != 0}};
    for (const Sizes& shape :
         {flips & 1 ? Sizes{4, 3} : Sizes{3, 4}, flips & 2 ? Sizes{5, 4} : Sizes{4, 5}}) {
      Operand x;
      x.shape = shape;
      x.fill = {.kind = Fill::Kind::kWhole, .low = -2, .high = 3, .seed = shape.size()};
      problem.inputs.push_back(x);
    }

    const Finding finding = find_check("work_sizes")->test(runner().environment(), problem);

    EXPECT_TRUE(finding.passed) << finding.message;
  }
}

TEST(WholeNumbers, AreTheSameInEveryLayout) {
  const Session& device = runner().environment().device;
  for (const Layout layout : kLayouts) {
    Operand x = uniform_operand(TENON_INT16, {3, 4, 5}, 0);
    x.fill = {.kind = Fill::Kind::kWhole, .low = -300, .high = 300, .seed = 7};
    x.layout = layout;

    EXPECT_EQ(device.read(device.make(x)).values(), x.values()) << name_of(layout);
  }
}

TEST(WholeNumbers, RoundOrWrapIfTheDTypeCannotRepresentThem) {
  const int32_t values[] = {-1, 300, 257};

  EXPECT_EQ(decode(encode_integers(values, TENON_UINT8), TENON_UINT8), (Reals{255, 44, 1}));
  EXPECT_EQ(decode(encode_integers(values, TENON_BFLOAT16), TENON_BFLOAT16), (Reals{-1, 300, 256}));
}

TEST(CommonConfigurations, IncludeWindowsInTheSmokeTest) {
  const auto strided = [](const Problem& p) { return p.attr("strides").list() == Sizes{2, 2}; };
  const Claim& pool = claim_of("max_pool", "f32->f32,i64");
  const std::vector<Problem> pools = common_problems(pool, false, 1, runner().environment().oracle);
  EXPECT_TRUE(std::any_of(pools.begin(), pools.end(), [&](const Problem& p) {
    return strided(p) && p.attr("kernel_shape").list() == Sizes{2, 2};
  }));
  const std::vector<Problem> convs =
      common_problems(claim_of("conv", "f32"), false, 1, runner().environment().oracle);
  EXPECT_TRUE(std::any_of(convs.begin(), convs.end(), [&](const Problem& p) {
    return p.attr("group").whole() > 1 && p.attr("dilations").list() == Sizes{2, 2};
  }));
}

TEST(NanPayloads, AllEncodeNaN) {
  for (const tenon_dtype dtype : {TENON_FLOAT16, TENON_BFLOAT16, TENON_FLOAT32, TENON_FLOAT64}) {
    const std::vector<uint64_t> bits = nan_bits(dtype);
    EXPECT_EQ(std::set<uint64_t>(bits.begin(), bits.end()).size(), bits.size());
    for (const uint64_t each : bits) {
      const std::vector<std::byte> bytes = encode({static_cast<Real>(each)}, bits_dtype(dtype));
      EXPECT_TRUE(real_is_nan(decode(bytes, dtype)[0])) << name_of(dtype) << " " << each;
    }
  }
}

}  // namespace
}  // namespace tenon_kit
