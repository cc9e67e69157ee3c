// Checks branches and loops: eager and traced, nested, and their gradients.

#include <fmt/format.h>

#include "conformance/functions/tracing.h"

namespace tenon_kit::functions {
namespace {

using tenon::Tensor;
using tenon::while_loop;
using tenon::WhileOptions;

// Arguments of each body: x and w of float32[3], a count n of int64[], and rows of float32[n,3].
struct LoopInputs {
  Tensor x, w, n, rows;
};

// Returns `first` after `n` iterations of y = tanh(y w) + x / 8 in a while loop with the options
// `how`.
Tensor repeat_step(const WhileOptions& how, const LoopInputs& in, const Tensor& n,
                   const Tensor& first) {
  return while_loop(
      how, [&](const Tensor& i, const Tensor&) { return less(i, n); },
      [&](const Tensor& i, const Tensor& y) {
        return std::array{i + 1, tanh(y * in.w) + in.x * 0.125f};
      },
      0, first)[1];
}

Tensors call_cond(const WhileOptions&, const LoopInputs& in) {
  return {tenon::cond(
      greater(in.n, 0), [&] { return in.x * in.w; }, [&] { return tanh(in.x) - in.w; })};
}

Tensors call_case(const WhileOptions&, const LoopInputs& in) {
  const tenon::Block blocks[] = {
      [&](std::span<const Tensor>) {
        return Tensors{in.x + in.w, in.w};
      },
      [&](std::span<const Tensor>) {
        return Tensors{in.x * in.w, in.x};
      },
      [&](std::span<const Tensor>) {
        return Tensors{sin(in.x), in.x * 2.f};
      },
  };
  return tenon::switch_case(in.n, blocks);
}

Tensors call_while_loop(const WhileOptions& how, const LoopInputs& in) {
  return {repeat_step(how, in, in.n, in.x * in.w), in.rows};
}

// A loop that swaps two carried values in each iteration; a third carried value never changes.
Tensors loop_with_swapped_values(const WhileOptions& how, const LoopInputs& in) {
  const auto found = while_loop(
      how,
      [&](const Tensor& i, const Tensor&, const Tensor&, const Tensor&) { return less(i, in.n); },
      [&](const Tensor& i, const Tensor& a, const Tensor& b, const Tensor& k) {
        return std::array{i + 1, b, a * k + b, k};
      },
      in.n - in.n, in.x, in.w, in.x * in.w);
  return {found[1], found[2], found[3]};
}

// A loop that computes each of two carried values from the other one in reverse order.
Tensors loop_with_crossed_values(const WhileOptions& how, const LoopInputs& in) {
  const auto found = while_loop(
      how, [&](const Tensor& i, const Tensor&, const Tensor&) { return less(i, in.n); },
      [&](const Tensor& i, const Tensor& a, const Tensor& b) {
        return std::array{i + 1, flip(b, {.axes = {0}}) * 0.75f, flip(a, {.axes = {0}}) + in.x};
      },
      in.n - in.n, in.x, in.w);
  return {found[1], found[2]};
}

// A loop whose number of iterations is data-dependent.
Tensors data_dependent_loop(const WhileOptions& how, const LoopInputs& in) {
  const auto found = while_loop(
      how,
      [&](const Tensor& i, const Tensor& y) {
        return logical_and(less(sum(square(y)), cast(in.n, {.to = in.x.dtype()})), less(i, 7));
      },
      [&](const Tensor& i, const Tensor& y) {
        return std::array{i + 1, y * 1.5f + in.w};
      },
      in.n - in.n, in.x);
  return {cast(found[0], {.to = in.x.dtype()}) * in.x, found[1]};
}

Tensors scan_rows(const WhileOptions& how, const LoopInputs& in) {
  const tenon::Block body = [&](std::span<const Tensor> h) {
    const Tensor next = tanh(h[0] * in.w + h[1]);
    return Tensors{next, next * h[1]};
  };
  const Tensor initial[] = {in.x}, xs[] = {in.rows};
  const tenon::ScanResult found = tenon::scan(body, initial, xs, false, how.policy);
  return {found.carried[0], found.stacked[0]};
}

Tensors scan_rows_in_reverse(const WhileOptions& how, const LoopInputs& in) {
  const tenon::Block body = [&](std::span<const Tensor> h) {
    return Tensors{h[0] * 0.5f + h[1] * in.w, h[0]};
  };
  const Tensor initial[] = {in.x}, xs[] = {in.rows};
  const tenon::ScanResult found = tenon::scan(body, initial, xs, true, how.policy);
  return {found.carried[0], found.stacked[0]};
}

Tensors loop_in_branch(const WhileOptions& how, const LoopInputs& in) {
  return {tenon::cond(
      greater(in.n, 1), [&] { return repeat_step(how, in, in.n, in.x * in.w); },
      [&] { return in.x * in.x; })};
}

Tensors branch_in_loop(const WhileOptions& how, const LoopInputs& in) {
  return {while_loop(
      how, [&](const Tensor& i, const Tensor&) { return less(i, in.n); },
      [&](const Tensor& i, const Tensor& y) {
        const Tensor next = tenon::cond(
            equal(mod(i, 2), 0), [&] { return sin(y * in.w); }, [&] { return y + in.x; });
        return std::array{i + 1, next};
      },
      in.n - in.n, in.x)[1]};
}

Tensors loop_in_loop(const WhileOptions& how, const LoopInputs& in) {
  return {while_loop(
      how, [&](const Tensor& i, const Tensor&) { return less(i, in.n); },
      [&](const Tensor& i, const Tensor& y) {
        return std::array{i + 1, repeat_step(how, in, i, y) * 0.5f};
      },
      in.n - in.n, in.w)[1]};
}

Tensors scan_in_loop(const WhileOptions& how, const LoopInputs& in) {
  return {while_loop(
      how, [&](const Tensor& i, const Tensor&) { return less(i, in.n); },
      [&](const Tensor& i, const Tensor& y) {
        LoopInputs inner = in;
        inner.x = y;
        const Tensors found = scan_rows(how, inner);
        return std::array{i + 1, found[0] + sum(found[1])};
      },
      in.n - in.n, in.x)[1]};
}

struct Form {
  const char* name;
  Tensors (*code)(const WhileOptions&, const LoopInputs&);
  bool has_loop;
  bool has_loop_in_loop = false;
};
constexpr Form kForms[] = {
    {"cond", call_cond, false},
    {"case", call_case, false},
    {"while", call_while_loop, true},
    {"while with swapped carried values", loop_with_swapped_values, true},
    {"while with carried values computed from each other", loop_with_crossed_values, true},
    {"while with a data-dependent number of iterations", data_dependent_loop, true},
    {"scan", scan_rows, true},
    {"scan in reverse order", scan_rows_in_reverse, true},
    {"while in cond", loop_in_branch, true},
    {"cond in while", branch_in_loop, true},
    {"while in while", loop_in_loop, true, true},
    {"scan in while", scan_in_loop, true, true},
};
constexpr tenon::LoopPolicy kPolicies[] = {tenon::LoopPolicy::stack, tenon::LoopPolicy::recompute,
                                           tenon::LoopPolicy::bounded};
constexpr const char* kPolicyNames[] = {"stack", "recompute", "bounded"};

Code make_code(const Form& form, tenon::LoopPolicy policy) {
  const WhileOptions how = {.policy = policy,
                            .max_trips = policy == tenon::LoopPolicy::bounded ? 8 : 0};
  return [form, how](std::span<const Tensor> in) {
    return form.code(how, {in[0], in[1], in[2], in[3]});
  };
}

// Returns the operands of a body that iterates `n` times. Their values do not depend on `dtype`.
std::vector<Operand> operands(int64_t n, int64_t n_rows, tenon_dtype dtype) {
  const auto drawn = [&](Sizes shape, uint64_t seed) {
    Operand x = uniform_operand(TENON_FLOAT32, std::move(shape), seed);
    x = explicit_operand(x);
    x.dtype = dtype;
    return x;
  };
  return {drawn({3}, 1), drawn({3}, 2), explicit_operand(TENON_INT64, {}, {Real(n)}),
          drawn({n_rows, 3}, 3)};
}
constexpr int64_t kTrips[] = {0, 1, 3, 2};

// Makes the inputs of one call for each number of iterations in kTrips. In all calls, the input
// `rows` has `n_rows` rows.
std::vector<Tensors> inputs_in(const Session& session, tenon_dtype dtype, int64_t n_rows) {
  std::vector<Tensors> all;
  for (const int64_t n : kTrips) all.push_back(session.make(operands(n, n_rows, dtype)));
  return all;
}

// Compares results with a tolerance for the rounding errors of a few dozen float32 operations.
Fault compare_with_tolerance(const Results& got, const Results& want) {
  for (size_t k = 0; k < got.size() && k < want.size(); ++k) {
    if (got[k].shape != want[k].shape) {
      return fmt::format("output {}: {}", k, compare_types(got[k], got[k].dtype, want[k].shape));
    }
    const Verdict verdict =
        compare(got[k].values(), got[k].dtype, want[k].values(), {.rtol = 1e-4, .atol = 1e-5});
    if (!verdict.passed) return fmt::format("output {}, {}", k, verdict.message);
  }
  return got.size() == want.size() ? "" : "the numbers of outputs differ";
}

// Calls run(form) for each form for which the device has kernels. Returns the sum of the results,
// the numbers of cases.
uint64_t for_each_form(const std::function<uint64_t(const Form&)>& run) {
  std::string refusal;
  uint64_t cases = 0;
  for (const Form& form : kForms) {
    try {
      cases += run(form);
    } catch (const tenon::Error& error) {
      if (error.code() != tenon::Code::kUnimplemented) {
        throw std::runtime_error(fmt::format("{}: a call failed: {}", form.name, error.message()));
      }
      refusal = error.message();
    }
  }
  if (cases == 0)
    throw Unsupported("the check needs a signature that the plugin does not claim: " + refusal);
  return cases;
}

// Runs `code` eagerly on the device and returns its results. Checks them against those of `wide`,
// which computes the same in float64, on the oracle.
std::vector<Results> checked_eager_results(const Bench& bench, const Form& form, const Code& code,
                                           const Code& wide, int64_t n_rows) {
  std::vector<Results> want, oracle;
  {
    const tenon::ScopeGuard in = on_device(bench);
    for (const Tensors& x : inputs_in(bench.env.device, TENON_FLOAT32, n_rows)) {
      want.push_back(read_all(bench, code(x)));
    }
  }
  const Session& session = bench.env.oracle;
  const tenon::ScopeGuard in(session.scope());
  size_t k = 0;
  for (const Tensors& x : inputs_in(session, TENON_FLOAT64, n_rows)) {
    Results right;
    for (const Tensor& y : wide(x)) right.push_back(session.read(y));
    if (const Fault fault = compare_with_tolerance(want[k], right); !fault.empty()) {
      throw std::runtime_error(fmt::format("{}, {} trips, eager: {}", form.name, kTrips[k], fault));
    }
    ++k;
  }
  return want;
}

// Checks that the results of `called` equal `want`. `how` describes the call in messages.
void require_same_results(const Bench& bench, const Form& form, const std::string& how,
                          const std::function<Tensors(const Tensors&)>& called, int64_t n_rows,
                          const std::vector<Results>& want) {
  const std::vector<Tensors> inputs = inputs_in(bench.env.device, TENON_FLOAT32, n_rows);
  const Fault fault = compare_calls(bench, called, inputs, want);
  if (!fault.empty()) throw std::runtime_error(fmt::format("{}, {}: {}", form.name, how, fault));
}

// Checks that branches, loops and scans give the same bits traced and eagerly, and agree with the
// oracle.
uint64_t test_control(const Bench& bench) {
  return for_each_form([&](const Form& form) {
    uint64_t cases = 0;
    for (const int64_t n_rows : {0, 1, 4}) {
      const Code code = make_code(form, tenon::LoopPolicy::stack);
      const std::vector<Results> want = checked_eager_results(bench, form, code, code, n_rows);
      const tenon::ScopeGuard in = on_device(bench);
      for (size_t policy = 0; policy < (form.has_loop ? 3u : 1u); ++policy) {
        const tenon::Function traced = as_function(make_code(form, kPolicies[policy]));
        require_same_results(
            bench, form, fmt::format("traced, policy {}", kPolicyNames[policy]),
            [&](const Tensors& x) { return traced(x); }, n_rows, want);
        cases += want.size();
      }
      if (!bench.env.thorough && n_rows == 0) continue;
      for (const tenon::Pass& pass : tenon::passes()) {
        if (!bench.env.thorough && pass.name != "fuse") continue;
        const PassesOff off({std::string(pass.name)});
        const tenon::Function traced = as_function(code);
        require_same_results(
            bench, form, fmt::format("traced, without {}", pass.name),
            [&](const Tensors& x) { return traced(x); }, n_rows, want);
        cases += want.size();
      }
    }
    return cases;
  });
}

// Computes the results of each call, and checks that they equal those of eager code up to rounding
// errors.
std::vector<Results> checked_results(const Bench& bench, const Form& form, const Code& code,
                                     int64_t n_rows, const std::vector<Results>& eager) {
  std::vector<Results> found;
  for (const Tensors& x : inputs_in(bench.env.device, TENON_FLOAT32, n_rows)) {
    found.push_back(read_all(bench, code(x)));
    const Fault fault = compare_with_tolerance(found.back(), eager[found.size() - 1]);
    if (!fault.empty()) throw std::runtime_error(fmt::format("{}, traced: {}", form.name, fault));
  }
  return found;
}

// Checks the gradients with respect to x, w and the rows. First-order gradients equal those of
// eager code bit for bit, because no form uses a captured value after the loop or as its initial
// value. For second-order gradients and nested loops, a loop accumulates its own contribution first
// (docs/design/0022). These results depend on the loop's policy, and differ from eager code by
// rounding errors only.
uint64_t test_gradients(const Bench& bench, int order) {
  return for_each_form([&](const Form& form) {
    uint64_t cases = 0;
    for (const int64_t n_rows : {0, 3}) {
      if (order == 2 && n_rows == 0 && !bench.env.thorough) continue;
      const auto derived = [&](Code code) {
        for (int n = 0; n < order; ++n) code = gradient_of(code, {0, 1, 3});
        return code;
      };
      const Code by_tape = derived(make_code(form, tenon::LoopPolicy::stack));
      const std::vector<Results> eager =
          checked_eager_results(bench, form, by_tape, by_tape, n_rows);
      const bool is_exact = order == 1 && !form.has_loop_in_loop;
      const tenon::ScopeGuard in = on_device(bench);
      for (size_t policy = 0; policy < (form.has_loop ? 3u : 1u); ++policy) {
        const Code code = make_code(form, kPolicies[policy]);
        const Code traced_once = [f = as_function(derived(code))](std::span<const Tensor> x) {
          return f(x);
        };
        const std::vector<Results> want =
            is_exact ? eager : checked_results(bench, form, traced_once, n_rows, eager);
        const std::string how =
            fmt::format("policy {}, gradients by a tape ", kPolicyNames[policy]);
        const tenon::Function within = as_function(derived(code), "gradient");
        require_same_results(
            bench, form, how + "in a function", [&](const Tensors& x) { return within(x); }, n_rows,
            want);
        const tenon::Function traced = as_function(code);
        const Code around = derived([&](std::span<const Tensor> x) { return traced(x); });
        require_same_results(
            bench, form, how + "around a function", [&](const Tensors& x) { return around(x); },
            n_rows, want);
        cases += 2 * want.size();
      }
    }
    return cases;
  });
}

uint64_t test_first_gradients(const Bench& bench) { return test_gradients(bench, 1); }
uint64_t test_second_gradients(const Bench& bench) { return test_gradients(bench, 2); }

}  // namespace

std::vector<FunctionCheck> control_checks() {
  return {
      {.part = "functions.control",
       .name = "control_flow",
       .what = "Nested branches, loops and scans with zero, one or more trips have bitwise equal "
               "results traced and eager, and agree with the oracle.",
       .test = test_control},
      {.part = "functions.control",
       .name = "control_gradients",
       .what = "So do their gradients under each loop policy, with the tape inside or around the "
               "function.",
       .test = test_first_gradients},
      {.part = "functions.control",
       .name = "control_gradients_2",
       .what = "Their second gradients are bitwise equal with the tape inside or around the "
               "function, and agree with eager code and the oracle.",
       .test = test_second_gradients},
  };
}

}  // namespace tenon_kit::functions
