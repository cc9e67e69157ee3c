// Checks randomly drawn programs: traced, with individual passes disabled, differentiated, and
// fused.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "conformance/functions/draw_program.h"
#include "conformance/functions/tracing.h"
#include "conformance/kit/guard.h"

namespace tenon_kit::functions {
namespace {

using tenon::Tensor;

// ---- drawing of programs

// Returns the dtypes from which inputs are drawn: those that the plugin claims for `add`, or else
// for any op. float32 occurs several times, so that it is drawn more often.
std::vector<tenon_dtype> input_dtypes(const Bench& bench) {
  std::set<tenon_dtype> found;
  for (const bool arithmetic : {true, false}) {
    for (const Claim& claim : bench.claims) {
      if (!claim.claimed || claim.inputs.empty() || (arithmetic && claim.op->name != "add"))
        continue;
      found.insert(claim.inputs.begin(), claim.inputs.end());
    }
    if (!found.empty()) break;
  }
  std::vector<tenon_dtype> dtypes(found.begin(), found.end());
  if (found.contains(TENON_FLOAT32)) dtypes.insert(dtypes.end(), dtypes.size(), TENON_FLOAT32);
  return dtypes;
}

// Draws `n` programs, with seeds that are counted from `first`.
std::vector<Program> draw_programs(const Bench& bench, size_t n, uint64_t first) {
  const std::vector<tenon_dtype> dtypes = input_dtypes(bench);
  if (dtypes.empty()) throw Unsupported("no claimed signature takes an input");
  std::vector<Program> programs;
  for (uint64_t i = 0; i < n; ++i) {
    Program program =
        draw_program(bench.env.device, dtypes, bench.env.seed * 1000003 + first + i, bench.claims);
    if (!program.steps.empty()) programs.push_back(std::move(program));
  }
  if (programs.empty()) throw Unsupported("no call can be built from the claimed signatures");
  return programs;
}

std::vector<Program> some_programs(const Bench& bench) {
  return draw_programs(bench, bench.env.thorough ? 1500 : 120, 0);
}
std::vector<Program> few_programs(const Bench& bench) {
  return draw_programs(bench, bench.env.thorough ? 400 : 40, 1 << 20);
}

// ---- properties of a program

// Returns the program as the body of a function. The body captures the program's constants.
Code code_of(const Bench& bench, const Program& program) {
  return [program, constants = make_all(bench, program.constants)](std::span<const Tensor> in) {
    return outputs_of(program, evaluate(program, Tensors(in.begin(), in.end()), constants));
  };
}

// Returns the inputs of three calls: the program's inputs, inputs with other values, and inputs in
// other layouts.
std::vector<Tensors> inputs_of(const Bench& bench, const Program& program) {
  return {make_all(bench, program.inputs), make_all(bench, with_other_values(program.inputs)),
          make_all(bench, with_other_layouts(program.inputs))};
}

// Runs the code eagerly, once for each of the inputs, and returns the results of each run.
std::vector<Results> run_eagerly(const Bench& bench, const Code& code,
                                 const std::vector<Tensors>& inputs) {
  std::vector<Results> want;
  for (const Tensors& in : inputs) want.push_back(read_all(bench, code(in)));
  return want;
}

// Returns the sets of passes that the check disables: no pass, all passes, and each pass alone. The
// smoke test uses the empty set and one of the others.
std::vector<std::vector<std::string>> pass_sets(const Bench& bench, const Program& program) {
  std::vector<std::vector<std::string>> all = {{}, {}};
  for (const tenon::Pass& pass : tenon::passes()) {
    all[1].emplace_back(pass.name);
    all.push_back({std::string(pass.name)});
  }
  if (bench.env.thorough || bench.is_shrinking) return all;
  const size_t chosen = 1 + std::hash<std::string>()(to_line(program)) % (all.size() - 1);
  return {all[0], all[chosen]};
}

// Describes how the results of the traced program differ from eager results; empty if they are
// equal.
Fault traced_results_match(const Bench& bench, const Program& program) {
  const tenon::ScopeGuard in = on_device(bench);
  const Code code = code_of(bench, program);
  const std::vector<Tensors> inputs = inputs_of(bench, program);
  const std::vector<Results> want = run_eagerly(bench, code, inputs);
  for (const std::vector<std::string>& off : pass_sets(bench, program)) {
    const PassesOff passes(off);
    const tenon::Function traced = as_function(code);
    const Fault fault = compare_calls(
        bench, [&](const Tensors& x) { return traced(x); }, inputs, want);
    if (fault.empty()) continue;
    if (off.empty()) return "traced, " + fault;
    return fmt::format("traced, without {}, {}", fmt::join(off, " and "), fault);
  }
  return "";
}

// Whether the plugin claims the problem's op with the dtype of input 0.
bool is_claimed(const Bench& bench, const Problem& problem) {
  return std::any_of(bench.claims.begin(), bench.claims.end(), [&](const Claim& claim) {
    return claim.claimed && claim.op == problem.op && !claim.inputs.empty() &&
           claim.inputs[0] == problem.inputs.at(0).dtype;
  });
}

// Whether the result of `prod` may depend on the order of its factors, because a partial product
// may overflow.
bool depends_on_order(const Problem& problem) {
  if (problem.op->name != "prod") return false;
  Real most = 1;
  for (const Real x : problem.inputs[0].values()) most *= std::max(Real(1), real_abs(x));
  return most >= greatest(problem.inputs[0].dtype);
}

// Whether sums of the operand's values neither overflow nor lose digits to underflow. Level 2 tests
// ops on values outside this range.
bool is_moderate(const Operand& x) {
  if (!is_float(x.dtype)) return true;
  const Reals values = x.values();
  const Real most = facts(x.dtype).size == 2 ? 16 : 1000;
  return std::all_of(values.begin(), values.end(), [&](Real v) {
    return v == 0 || (real_abs(v) > Real(1e-3) && real_abs(v) < most);
  });
}

// Compares each step alone with the oracle, on the input values that occurred in the program.
Fault steps_match_oracle(const Bench& bench, const Program& program) {
  const tenon::ScopeGuard in = on_device(bench);
  const Results values = read_all(bench, evaluate(program, make_all(bench, program.inputs),
                                                  make_all(bench, program.constants)));
  const auto operand = [&](size_t k) {
    const size_t n = program.inputs.size();
    const Operand* given = k < n                                  ? &program.inputs[k]
                           : k < program.n_inputs_and_constants() ? &program.constants[k - n]
                                                                  : nullptr;
    Operand x = explicit_operand(values[k].dtype, values[k].shape, values[k].values());
    x.scalar = given && given->scalar;
    return x;
  };
  // A scalar adopts the dtype of the tensor that it is combined with.
  const auto adopt = [](std::vector<Operand>& inputs) {
    for (Operand& x : inputs) {
      if (!std::exchange(x.scalar, false)) continue;
      for (const Operand& partner : inputs) {
        if (!is_bool(partner.dtype) && !is_bool(x.dtype)) x.dtype = partner.dtype;
      }
      for (Real& value : x.fill.values) value = rounded(value, x.dtype);
    }
  };
  size_t next = program.n_inputs_and_constants();
  for (const Step& step : program.steps) {
    const size_t first = std::exchange(next, next + step.n_outputs);
    Problem problem;
    problem.op = step.op;
    problem.attrs = step.attrs;
    for (const size_t k : step.inputs) problem.inputs.push_back(operand(k));
    adopt(problem.inputs);
    if (!std::all_of(problem.inputs.begin(), problem.inputs.end(), is_moderate)) continue;
    const Results got(values.begin() + static_cast<ptrdiff_t>(first),
                      values.begin() + static_cast<ptrdiff_t>(next));
    if (is_float(got[0].dtype) && depends_on_order(problem)) continue;
    const Finding finding = is_claimed(bench, problem)
                                ? judge_values(bench.env, problem, got)
                                : judge_decomposition(bench.env, problem, got);
    if (!finding.passed) return "step " + step.op->name + ": " + finding.message;
  }
  return "";
}

// Checks that first- and second-order gradients of the function equal those of eager code.
Fault gradients_match(const Bench& bench, const Program& program) {
  const tenon::ScopeGuard in = on_device(bench);
  const std::vector<Tensors> inputs = inputs_of(bench, program);
  const Code code = code_of(bench, program);
  const std::vector<size_t> sources = differentiable_inputs(program.inputs);
  const tenon::Function traced = as_function(code);
  const auto call = [](const tenon::Function& f) {
    return [&f](const Tensors& x) { return f(x); };
  };
  try {
    Code by_tape = code, around = [&](std::span<const Tensor> x) { return traced(x); };
    for (const char* order : {"first", "second"}) {
      by_tape = gradient_of(by_tape, sources);
      around = gradient_of(around, sources);
      const std::vector<Results> want = run_eagerly(bench, by_tape, inputs);
      if (want[0].empty()) return "";
      const tenon::Function within = as_function(by_tape, "gradient");
      if (Fault fault = compare_calls(bench, call(within), inputs, want); !fault.empty()) {
        return fmt::format("{} gradients by a tape in a function, {}", order, fault);
      }
      if (Fault fault = compare_calls(bench, around, inputs, want); !fault.empty()) {
        return fmt::format("{} gradients by a tape around a function, {}", order, fault);
      }
    }
  } catch (const tenon::Error& error) {
    // A derivative may need kernels that the plugin does not claim; such programs are skipped.
    if (error.code() != tenon::Code::kUnimplemented) throw;
  }
  return "";
}

// ---- loops

// The plugin's claims from kernel lines whose signature ends with `word`, such as LOOP.
std::vector<Claim> claims_with_signature_suffix(std::string_view word) {
  tenon_plugin plugin = guard::plugin();
  std::vector<tenon_kernel> lines;
  const auto* line = reinterpret_cast<const char*>(plugin.kernels);
  for (size_t i = 0; i < plugin.n_kernels; ++i, line += plugin.kernel_size) {
    tenon_kernel kernel = {};
    std::memcpy(&kernel, line, std::min(plugin.kernel_size, sizeof kernel));
    if (std::string_view(kernel.signature.data, kernel.signature.size).ends_with(word)) {
      lines.push_back(kernel);
    }
  }
  plugin.kernels = lines.data();
  plugin.n_kernels = lines.size();
  plugin.kernel_size = sizeof(tenon_kernel);
  return read_claims(plugin).rows;
}

const std::vector<Claim>& loop_claims() {
  static const std::vector<Claim> claims = claims_with_signature_suffix("LOOP");
  return claims;
}
const std::vector<Claim>& anchor_claims() {
  static const std::vector<Claim> claims = claims_with_signature_suffix("ANCHOR");
  return claims;
}

using ClaimsByDType = std::map<tenon_dtype, std::vector<const Claim*>>;

bool is_reduction(const Claim& claim) {
  return std::any_of(claim.op->attrs.begin(), claim.op->attrs.end(), [](const AttrFacts& attr) {
    return attr.name == "axes" || attr.name == "axis";
  });
}

// Claims for loop programs, grouped by the dtype of their first input, in random order.
ClaimsByDType shuffled_loop_claims(Draw& draw) {
  if (loop_claims().empty() || !guard::has_loops())
    throw Unsupported("the plugin claims no op for loop programs");
  ClaimsByDType by_dtype;
  for (const Claim& claim : loop_claims()) by_dtype[claim.inputs.at(0)].push_back(&claim);
  for (auto& [dtype, claims] : by_dtype) {
    for (size_t i = claims.size(); i-- > 1;) {
      std::swap(claims[i], claims[static_cast<size_t>(draw.between(0, static_cast<int64_t>(i)))]);
    }
  }
  return by_dtype;
}

constexpr size_t kInOne = 8;

std::vector<Program> loop_programs(const Bench& bench) {
  std::vector<Program> programs;
  Draw draw(bench.env.seed);
  for (int round = 0; round < (bench.env.thorough ? 8 : 1); ++round) {
    for (const auto& [dtype, claims] : shuffled_loop_claims(draw)) {
      for (size_t i = 0; i < claims.size(); i += kInOne) {
        const size_t n = std::min(kInOne, claims.size() - i);
        programs.push_back(draw_loop(bench.env.device, {&claims[i], n}, draw.seed()));
      }
    }
  }
  return programs;
}

// Returns random programs for row fusion: each contains a claimed reduction and some of the other
// ops that the plugin claims for loop programs.
std::vector<Program> row_programs(const Bench& bench) {
  std::vector<Program> programs;
  Draw draw(bench.env.seed);
  for (int round = 0; round < (bench.env.thorough ? 8 : 1); ++round) {
    for (auto& [dtype, claims] : shuffled_loop_claims(draw)) {
      const auto rest = std::stable_partition(claims.begin(), claims.end(),
                                              [](const Claim* x) { return is_reduction(*x); });
      const auto n_reductions = static_cast<size_t>(rest - claims.begin());
      const std::span<const Claim* const> others(
          claims.data() + n_reductions, std::min<size_t>(kInOne, claims.size() - n_reductions));
      for (auto each = claims.begin(); each != rest; ++each) {
        programs.push_back(draw_rows(bench.env.device, **each, others, draw.seed()));
      }
    }
  }
  if (programs.empty()) throw Unsupported("the plugin claims no reduction for loop programs");
  return programs;
}

// Programs that combine each anchor with an epilogue of claims for loop programs.
std::vector<Program> programs_with_epilogues(const Bench& bench) {
  if (anchor_claims().empty()) throw Unsupported("the plugin claims no op as an anchor");
  std::vector<Program> programs;
  Draw draw(bench.env.seed);
  for (int round = 0; round < (bench.env.thorough ? 8 : 1); ++round) {
    ClaimsByDType others = shuffled_loop_claims(draw);
    for (const Claim& anchor : anchor_claims()) {
      std::vector<const Claim*>& claims = others[anchor.outputs.at(0)];
      std::erase_if(claims, [](const Claim* x) { return is_reduction(*x); });
      if (claims.empty()) continue;
      std::rotate(claims.begin(), claims.begin() + 1, claims.end());
      const auto n = static_cast<size_t>(draw.between(1, kInOne));
      const std::span some(claims.data(), std::min(n, claims.size()));
      Program program = draw_epilogue(bench.env.device, anchor, some, draw.seed());
      if (!program.steps.empty()) programs.push_back(std::move(program));
    }
  }
  if (programs.empty()) throw Unsupported("no call can be built from its claimed anchors");
  return programs;
}

// Describes how the results of the traced program differ from eager results, with all passes
// enabled.
Fault call_results_match(const Bench& bench, const Program& program) {
  const tenon::ScopeGuard in = on_device(bench);
  const Code code = code_of(bench, program);
  const std::vector<Tensors> inputs = inputs_of(bench, program);
  const std::vector<Results> want = run_eagerly(bench, code, inputs);
  const tenon::Function traced = as_function(code);
  return compare_calls(
      bench, [&](const Tensors& x) { return traced(x); }, inputs, want);
}

// Returns a fault if the plugin has prepared no loop program.
Fault no_loop_ran(const Bench&) {
  if (guard::n_loops() > 0) return "";
  return fmt::format("the plugin claims {} ops for loop programs, but prepared no loop program",
                     loop_claims().size());
}

// Returns a fault if the plugin has prepared no loop program over rows.
Fault no_row_loop_ran(const Bench&) {
  return guard::n_row_loops() > 0 ? ""
                                  : "the plugin claims reductions for loop programs, but prepared "
                                    "no loop program over rows";
}

// Returns a fault if the plugin has prepared no loop program with an anchor.
Fault no_anchor_loop_ran(const Bench&) {
  return guard::n_anchor_loops() > 0
             ? ""
             : "the plugin claims anchors, but no loop program with an anchor was prepared";
}

// ---- recordings

std::vector<Program> replayed_programs(const Bench& bench) {
  if (!guard::has_recordings()) throw Unsupported("the device does not support recordings");
  if ((bench.env.features & TENON_FEATURE_SYNCHRONOUS) != 0) {
    throw Unsupported("a SYNCHRONOUS device is never recorded");
  }
  return few_programs(bench);
}

// Returns a fault if the device has replayed no recording.
Fault nothing_was_replayed(const Bench&) {
  if (guard::n_replays() > 0) return "";
  if (guard::n_recordings() == 0)
    throw Unsupported("the device refuses all recordings that the host requests");
  return "the device made recordings, but none was replayed";
}

}  // namespace

std::vector<FunctionCheck> program_checks() {
  return {
      {.part = "functions.programs",
       .name = "traced",
       .what = "Random programs have bitwise equal results call by call and as functions, with all "
               "passes and with each pass disabled.",
       .programs = some_programs,
       .holds = traced_results_match},
      {.part = "functions.programs",
       .name = "traced_right",
       .what = "The calls of such programs stay within the ops' error bounds.",
       .programs = some_programs,
       .holds = steps_match_oracle},
      {.part = "functions.programs",
       .name = "traced_gradients",
       .what = "Their first and second gradients are bitwise equal for an eager tape, a tape "
               "inside a function and a tape around one.",
       .programs = few_programs,
       .holds = gradients_match},
      {.part = "functions.loops",
       .name = "in_loops",
       .what = "Each call marked LOOP has the same result in a loop as alone, to the bit.",
       .programs = loop_programs,
       .holds = call_results_match,
       .missing = no_loop_ran},
      {.part = "functions.loops",
       .name = "in_rows",
       .what = "Each reduction marked LOOP, fused with calls on its rows, has the same results as "
               "the separate calls, to the bit.",
       .programs = row_programs,
       .holds = call_results_match,
       .missing = no_row_loop_ran},
      {.part = "functions.loops",
       .name = "epilogues",
       .what = "Each call marked ANCHOR, fused with an epilogue, has the same results as the "
               "separate calls, to the bit.",
       .programs = programs_with_epilogues,
       .holds = call_results_match,
       .missing = no_anchor_loop_ran},
      {.part = "functions.recordings",
       .name = "replayed",
       .what = "Replays of a function's recorded launches, with other values, scalars and memory "
               "in each, have the same results as single launches, to the bit.",
       .programs = replayed_programs,
       .holds = call_results_match,
       .missing = nothing_was_replayed},
  };
}

}  // namespace tenon_kit::functions
