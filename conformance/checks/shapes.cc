// Shapes: what inference promises, broadcasting, no elements, every rank, the edges of vectors.

#include <algorithm>

#include "conformance/checks/check.h"

namespace tenon_kit {
namespace {

Finding test_value(const Environment& env, const Problem& problem) {
  Finding finding = judge_values(env, problem, env.device.run(problem));
  finding.trusted = true;
  return finding;
}

bool is_elementwise(const Environment&, const Claim& claim) {
  return claim.op->elementwise && !claim.inputs.empty();
}

// A problem of an elementwise op with all its inputs of one shape.
std::vector<Problem> with_shapes(const Environment& env, const Claim& claim,
                                 const std::vector<Sizes>& shapes) {
  std::vector<Problem> problems;
  if (!is_elementwise(env, claim)) return problems;
  std::vector<Problem> own = valid_problems(claim, 1, env.seed, env.oracle);
  if (own.empty()) return problems;
  const auto has_values = [](const Problem& p) {
    return std::all_of(p.inputs.begin(), p.inputs.end(), [](const Operand& x) {
      return !x.absent && !x.scalar && x.fill.kind == Fill::Kind::kUniform;
    });
  };
  const auto found = std::find_if(own.begin(), own.end(), has_values);
  if (found == own.end() || found->inputs.size() != claim.inputs.size()) return problems;
  for (const Sizes& shape : shapes) {
    Problem problem = *found;
    problem.expected.clear();
    for (Operand& x : problem.inputs) x.shape = shape;
    problems.push_back(std::move(problem));
  }
  return problems;
}

// ---- inferred

// Where the data say how large an output is, inference knows no more than the most that it can be.
bool is_sized_by_data(const Problem& problem) {
  return problem.op->attr("size") != nullptr && problem.attr("size").whole() == -1;
}

Finding test_inferred(const Environment& env, const Problem& problem) {
  const auto types = env.oracle.infer(problem);
  const std::vector<Result> got = env.device.run(problem);
  if (got.size() != types.size()) return Finding::fault("the number of outputs is another");
  for (size_t i = 0; i < got.size(); ++i) {
    auto [dtype, shape] = types[i];
    for (size_t axis = 0; is_sized_by_data(problem) && axis < shape.size(); ++axis) {
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
    for (Problem& problem : with_shapes(env, claim, {{}})) {
      for (size_t i = 0; i < problem.inputs.size(); ++i) problem.inputs[i].shape = pattern[i % 2];
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

// ---- empty

std::vector<Problem> empty_problems(const Environment& env, const Claim& claim) {
  std::vector<Problem> problems = with_shapes(env, claim, {{0}, {0, 3}, {3, 0}, {2, 0, 4}});
  for (Problem& own : valid_problems(claim, 0, env.seed, env.oracle)) {
    const bool empty = std::any_of(own.inputs.begin(), own.inputs.end(), [](const Operand& x) {
      return !x.absent && !x.scalar && count_of(x.shape) == 0;
    });
    if (empty) problems.push_back(std::move(own));
  }
  return problems;
}

// ---- ranks

std::vector<Problem> rank_problems(const Environment& env, const Claim& claim) {
  std::vector<Sizes> shapes;
  for (size_t rank = 0; rank <= 8; ++rank) {
    Sizes shape(rank, 2);
    if (rank > 1) shape[rank / 2] = 3;
    shapes.push_back(shape);
  }
  Sizes most(16, 1);
  most[0] = most[7] = most[15] = 2;
  shapes.push_back(most);
  return with_shapes(env, claim, shapes);
}

// ---- sizes

std::vector<Problem> size_problems(const Environment& env, const Claim& claim) {
  std::vector<Sizes> shapes;
  for (const int64_t n : edge_sizes()) {
    shapes.push_back({n});
    if (n > 0 && n < 70) shapes.push_back({3, n});
  }
  return with_shapes(env, claim, shapes);
}

// ---- arguments that are wrong

bool has_errors(const Environment&, const Claim& claim) {
  const std::vector<Problem> cases = registry_cases(*claim.op);
  return std::any_of(cases.begin(), cases.end(), [](const auto& p) { return !p.error.empty(); });
}

std::vector<Problem> error_problems(const Environment&, const Claim& claim) {
  std::vector<Problem> problems = registry_cases(*claim.op);
  std::erase_if(problems, [](const Problem& p) { return p.error.empty(); });
  return problems;
}

Finding test_error(const Environment& env, const Problem& problem) {
  try {
    env.device.run(problem);
  } catch (const tenon::Error& error) {
    const std::string message(error.message());
    if (message.find(problem.error) == std::string::npos) {
      return Finding::fault("the message lacks \"" + problem.error + "\": " + message);
    }
    if (problem.op->composite) return {};  // Who has no kernel names one of its parts.
    // The values in it are those that the oracle sees.
    try {
      env.oracle.run(problem);
    } catch (const tenon::Error& own) {
      if (own.message() != message) {
        return Finding::fault("the message should be \"" + std::string(own.message()) +
                              "\": " + message);
      }
    }
    return {};
  }
  return Finding::fault("the call did not fail with " + problem.error);
}

}  // namespace

std::vector<Check> shape_checks() {
  return {
      {"inferred", 2, "Outputs have the dtypes and shapes that inference gives.", always,
       some_problems, test_inferred},
      {"broadcast", 2, "Inputs are broadcast against each other.",
       [](const Environment& env, const Claim& c) {
         return is_elementwise(env, c) && c.inputs.size() > 1;
       },
       broadcast_problems, test_value},
      {"empty", 2, "Tensors without elements.",
       [](const Environment& env, const Claim& c) { return !empty_problems(env, c).empty(); },
       empty_problems, test_value},
      {"ranks", 2, "Ranks 0 to 8, and 16.", is_elementwise, rank_problems, test_value},
      {"sizes", 2, "The edges of vectors and tiles.", is_elementwise, size_problems, test_value},
      {"errors", 2, "What is wrong is refused with the rule that it breaks.", has_errors,
       error_problems, test_error},
  };
}

}  // namespace tenon_kit
