// Checks shapes: inferred types, broadcasting, empty tensors, all ranks, sizes at the edges of
// vectors, and elementwise launches that a device splits among threads.

#include <algorithm>

#include "conformance/checks/check.h"

namespace tenon_kit {
namespace {

bool is_elementwise(const Environment&, const Claim& claim) {
  return claim.op->elementwise && !claim.inputs.empty();
}

// Returns one problem of an elementwise op for each of the shapes, which all inputs of that problem
// have. Values are random if a problem with random values exists.
std::vector<Problem> with_shapes(const Environment& env, const Claim& claim,
                                 const std::vector<Sizes>& shapes) {
  std::vector<Problem> problems;
  if (!is_elementwise(env, claim)) return problems;
  std::vector<Problem> own = valid_problems(claim, 1, env.seed, env.oracle);
  if (own.empty()) return problems;
  const auto all_inputs = [](const Problem& p, bool (*holds)(const Operand&)) {
    return std::all_of(p.inputs.begin(), p.inputs.end(), holds);
  };
  auto found = std::find_if(own.begin(), own.end(), [&](const Problem& p) {
    return all_inputs(p, [](const Operand& x) {
      return !x.absent && !x.scalar && x.fill.kind == Fill::Kind::kUniform;
    });
  });
  // If no problem has random values only, uses the last one, which is a generated problem.
  if (found == own.end() && all_inputs(own.back(), [](const Operand& x) {
        return !x.absent && !x.scalar && count_of(x.shape) > 0;
      })) {
    found = own.end() - 1;
  }
  if (found == own.end() || found->inputs.size() != claim.inputs.size()) return problems;
  for (const Sizes& shape : shapes) {
    Problem problem = *found;
    problem.expected.clear();
    for (Operand& x : problem.inputs) resize_operand(x, shape);
    problems.push_back(std::move(problem));
  }
  return problems;
}

bool have_equal_values(const Problem& a, const Problem& b) {
  return a.attrs == b.attrs && std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(),
                                          b.inputs.end(), [](const Operand& x, const Operand& y) {
                                            return x.absent == y.absent && x.shape == y.shape;
                                          });
}

// ---- inferred

// Whether an output size is data-dependent. Type inference returns only an upper bound of it.
bool has_data_dependent_size(const Problem& problem) {
  for (const char* name : {"size", "length"}) {
    if (problem.op->attr(name) != nullptr && problem.attr(name).whole() == -1) return true;
  }
  return false;
}

// Checks that outputs have the dtypes and shapes that type inference returns.
Finding test_inferred(const Environment& env, const Problem& problem) {
  const auto types = env.oracle.infer(problem);
  const std::vector<Result> got = env.device.run(problem);
  if (got.size() != types.size()) return Finding::fault("the number of outputs is wrong");
  for (size_t i = 0; i < got.size(); ++i) {
    auto [dtype, shape] = types[i];
    for (size_t axis = 0; has_data_dependent_size(problem) && axis < shape.size(); ++axis) {
      if (axis < got[i].shape.size()) shape[axis] = std::min(shape[axis], got[i].shape[axis]);
    }
    const std::string fault = compare_types(got[i], dtype, shape);
    if (!fault.empty()) return Finding::fault("output " + std::to_string(i) + ": " + fault);
  }
  return {};
}

// ---- broadcast

std::vector<Problem> broadcast_problems(const Environment& env, const Claim& claim) {
  const std::vector<std::vector<Sizes>> patterns = {
      {{3, 4}, {4}}, {{4}, {3, 4}}, {{3, 1}, {1, 4}}, {{1}, {2, 3}},   {{2, 1, 4}, {3, 1}},
      {{}, {5}},     {{5}, {}},     {{0, 3}, {3}},    {{2, 3}, {1, 1}}};
  std::vector<Problem> problems;
  for (const auto& pattern : patterns) {
    for (Problem& problem : with_shapes(env, claim, {{12}})) {
      for (size_t i = 0; i < problem.inputs.size(); ++i) {
        resize_operand(problem.inputs[i], pattern[i % 2]);
      }
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

// ---- problems with a requested rank or size, made by the generators of op families

// Adds the problems that generate_for() makes for the requested rank or size, without duplicates:
// one for each choice of the axis (SizeRequest::turn).
void add_requested(const Environment& env, const Claim& claim, SizeRequest wish,
                   std::vector<Problem>& problems) {
  const size_t first = problems.size();
  for (wish.turn = 0; wish.turn < kTurns; ++wish.turn) {
    std::optional<Problem> problem = generate_for(claim, wish, env.seed, env.oracle);
    if (!problem) continue;
    const bool known =
        std::any_of(problems.begin() + static_cast<std::ptrdiff_t>(first), problems.end(),
                    [&](const Problem& p) { return have_equal_values(p, *problem); });
    if (!known) problems.push_back(std::move(*problem));
  }
}

// Whether the generators of op families can meet one of the requests.
bool can_generate_any(const Environment& env, const Claim& claim,
                      const std::vector<SizeRequest>& wishes) {
  if (claim.op->elementwise) return is_elementwise(env, claim);
  return env.thorough && std::any_of(wishes.begin(), wishes.end(), [&](const SizeRequest& wish) {
           return generate_for(claim, wish, env.seed, env.oracle).has_value();
         });
}

// ---- empty

std::vector<Problem> empty_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = with_shapes(env, claim, {{0}, {0, 3}, {3, 0}, {2, 0, 4}});
  if (!claim.op->elementwise && env.thorough) add_requested(env, claim, {.size = 0}, problems);
  for (Problem& own : valid_problems(claim, 0, env.seed, env.oracle)) {
    const bool empty = std::any_of(own.inputs.begin(), own.inputs.end(), [](const Operand& x) {
      return !x.absent && !x.scalar && count_of(x.shape) == 0;
    });
    if (empty) problems.push_back(std::move(own));
  }
  return problems;
}

// ---- ranks

constexpr int64_t kRanks[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 16};

// Whether problems with a requested rank exist for the claim.
bool has_ranks(const Environment& env, const Claim& claim) {
  return can_generate_any(env, claim, {{.rank = 1}, {.rank = 2}, {.rank = 3}});
}

// Adds each problem once more for each other layout of input 0. For use with `copy`, which must
// handle all layouts in all ranks.
void add_layouts(std::vector<Problem>& problems) {
  const std::vector<Problem> dense = problems;
  for (const Problem& own : dense) {
    for (const Layout layout : kLayouts) {
      if (layout == Layout::kDense) continue;
      problems.push_back(own);
      problems.back().inputs[0].layout = layout;
    }
  }
}

std::vector<Problem> rank_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems;
  if (claim.op->elementwise) {
    std::vector<Sizes> shapes;
    for (const int64_t rank : kRanks) shapes.push_back(shape_of_rank(rank));
    return with_shapes(env, claim, shapes);
  }
  for (const int64_t rank : kRanks) add_requested(env, claim, {.rank = rank}, problems);
  if (claim.op->name == "copy") add_layouts(problems);
  return problems;
}

// ---- sizes

// Whether problems with a requested size exist for the claim.
bool has_sizes(const Environment& env, const Claim& claim) {
  return can_generate_any(env, claim,
                          {{.size = 3}, {.size = 3, .turn = 1}, {.size = 3, .turn = 2}});
}

std::vector<Problem> size_problems(const Environment& env, const Claim& claim) {
  if (!claim.op->elementwise) {
    std::vector<Problem> problems;
    for (const int64_t n : edge_sizes()) add_requested(env, claim, {.size = n}, problems);
    return problems;
  }
  std::vector<Sizes> shapes;
  for (const int64_t n : edge_sizes()) {
    shapes.push_back({n});
    if (n > 0 && n < 70) shapes.push_back({3, n});
  }
  return with_shapes(env, claim, shapes);
}

// ---- launches that are split among threads

// Input values repeat with this prime period, so that no two rows or blocks of a launch are equal.
constexpr int64_t kPeriod = 1021;
const Sizes kSplit = {417, 545};
constexpr uint32_t kThreads = 4;

std::vector<Problem> split_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = with_shapes(env, claim, {{kPeriod}, {kPeriod}});
  if (claim.op->name == "isnan" || claim.op->name == "isinf") {
    // Drawn values are always finite.
    const Real values[] = {1, NAN, INFINITY, -2};
    for (Problem& problem : problems) {
      Operand& x = problem.inputs[0];
      x.fill = {.kind = Fill::Kind::kValues};
      for (int64_t i = 0; i < kPeriod; ++i) x.fill.values.push_back(values[i % 4]);
    }
  }
  for (size_t i = 1; i < problems.size(); ++i) {
    problems[i].inputs[0].layout = Layout::kTransposed;
  }
  return problems;
}

// Returns `n` bytes that repeat `bytes`.
std::vector<std::byte> repeated(const std::vector<std::byte>& bytes, size_t n) {
  std::vector<std::byte> result;
  result.reserve(n);
  while (result.size() < n) {
    const auto size = static_cast<std::ptrdiff_t>(std::min(bytes.size(), n - result.size()));
    result.insert(result.end(), bytes.begin(), bytes.begin() + size);
  }
  return result;
}

// Runs the problem with each operand repeated to a large tensor. Each period of the large result
// must equal the result of the small problem, or be another valid result of it.
Finding test_split(const Environment& env, const Problem& problem) {
  const std::shared_ptr<Session> threaded = env.with_threads ? env.with_threads(kThreads) : nullptr;
  const Session& device = threaded ? *threaded : env.device;
  Problem small = problem;
  std::vector<tenon::Tensor> inputs;
  for (Operand& x : small.inputs) {
    Operand large = x;
    large.shape = kSplit;
    const std::vector<std::byte> own = encode(x.values(), x.dtype);
    const auto n = static_cast<size_t>(count_of(kSplit)) * facts(x.dtype).size;
    inputs.push_back(device.make_of_bytes(large, repeated(own, n)));
    x.layout = Layout::kDense;
  }
  const std::vector<Result> want = env.device.run(small), got = device.run(problem, inputs);
  for (size_t i = 0; i < got.size() && i < want.size(); ++i) {
    if (const std::string t = compare_types(got[i], want[i].dtype, kSplit); !t.empty()) {
      return Finding::fault(t);
    }
    const size_t period = want[i].bytes.size(), size = facts(want[i].dtype).size;
    for (size_t at = 0; at < got[i].bytes.size(); at += period) {
      const auto begin = got[i].bytes.begin() + static_cast<std::ptrdiff_t>(at);
      const size_t n = std::min(period, got[i].bytes.size() - at);
      const auto end = begin + static_cast<std::ptrdiff_t>(n);
      if (std::equal(begin, end, want[i].bytes.begin())) continue;
      std::vector<Result> own = want;  // Results with other bits may be valid as well.
      std::copy(begin, end, own[i].bytes.begin());
      Finding finding = judge_values(env, small, own);
      if (finding.passed) continue;
      finding.message = "of " + type_text(got[i].dtype, kSplit) + ", elements from " +
                        std::to_string(at / size) + ": " + finding.message;
      return finding;
    }
  }
  Finding finding = judge_values(env, small, want);
  // The check `value` tests whether the oracle's values could reveal a fault.
  finding.trusted = true;
  return finding;
}

bool is_split_among_threads(const Environment& env, const Claim& claim) {
  return env.thorough && is_elementwise(env, claim);
}

// ---- invalid arguments

bool has_errors(const Environment&, const Claim& claim) {
  const std::vector<Problem>& cases = registry_cases(*claim.op);
  return std::any_of(cases.begin(), cases.end(), [](const auto& p) { return !p.error.empty(); });
}

std::vector<Problem> error_problems(const Environment&, const Claim& claim) {
  std::vector<Problem> problems = registry_cases(*claim.op);
  std::erase_if(problems, [](const Problem& p) { return p.error.empty(); });
  return problems;
}

// Checks that an invalid call fails with an error that names the violated rule.
Finding test_error(const Environment& env, const Problem& problem) {
  try {
    env.device.run(problem);
  } catch (const tenon::Error& error) {
    const std::string message(error.message());
    if (message.find(problem.error) == std::string::npos) {
      return Finding::fault("the error message does not contain \"" + problem.error +
                            "\": " + message);
    }
    // If the device has no kernel for a composite, the error names an op of its decomposition, so
    // the message is not compared.
    if (problem.op->composite) return {};
    // The oracle's error message for the same problem is the expected one.
    try {
      env.oracle.run(problem);
    } catch (const tenon::Error& own) {
      if (own.message() != message) {
        return Finding::fault("the error message must be \"" + std::string(own.message()) +
                              "\": " + message);
      }
    }
    return {};
  }
  return Finding::fault("the call must fail with \"" + problem.error + "\", but did not");
}

}  // namespace

std::vector<Check> shape_checks() {
  return {
      {"inferred", 2, "Outputs have the inferred dtypes and shapes.", always, some_problems,
       test_inferred},
      {"broadcast", 2, "Inputs are broadcast against each other.",
       [](const Environment& env, const Claim& c) {
         return is_elementwise(env, c) && c.inputs.size() > 1;
       },
       broadcast_problems, run_and_judge},
      {"empty", 2, "Empty tensors.",
       [](const Environment& env, const Claim& c) { return !empty_problems(env, c).empty(); },
       empty_problems, run_and_judge},
      {"ranks", 2,
       "Results are right for ranks 0 to 8 and 16, with the axis first, last and in the middle.",
       has_ranks, rank_problems, run_and_judge},
      {"sizes", 2,
       "Results are right for sizes around vector and tile widths, along each relevant axis.",
       has_sizes, size_problems, run_and_judge},
      {"split", 2,
       "Elementwise launches of 200,000 elements, in dense and other layouts, are right on four "
       "threads.",
       is_split_among_threads, split_problems, test_split},
      {"errors", 2, "Invalid calls fail with an error that names the violated rule.", has_errors,
       error_problems, test_error},
  };
}

}  // namespace tenon_kit
