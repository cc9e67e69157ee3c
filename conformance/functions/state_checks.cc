// Checks variables and generators in functions, donated inputs, and dead calls.

#include <fmt/format.h>

#include "conformance/functions/draw_program.h"
#include "conformance/functions/tracing.h"

namespace tenon_kit::functions {
namespace {

using tenon::Tensor;

// ---- variables and generators

// The variables and the generator that a body captures. Eager execution and the function use
// separate objects of this type.
struct World {
  tenon::Variable a, b;
  tenon::Generator g;
};

Operand float_operand(uint64_t seed) { return uniform_operand(TENON_FLOAT32, {2, 3}, seed); }

World make_world(const Bench& bench) {
  const Session& device = bench.env.device;
  return {tenon::Variable(device.make(float_operand(11))),
          tenon::Variable(device.make(float_operand(12))), tenon::Generator(7)};
}

// A named body that takes x (float32[2,3]) and n (int64[]).
struct Form {
  const char* name;
  Tensors (*code)(const World&, const Tensor& x, const Tensor& n);
};

Tensors read_after_write(const World& w, const Tensor& x, const Tensor&) {
  w.a.assign(w.a * 0.5f + x);
  return {w.a + x};
}
Tensors assign_repeatedly(const World& w, const Tensor& x, const Tensor&) {
  w.a.assign(x);
  w.b.assign(w.a + w.b);
  w.a.assign(w.b * 2.f);
  return {w.a.read(), w.b.read()};
}
Tensors return_previous_value(const World& w, const Tensor& x, const Tensor&) {
  const Tensor before = w.a;
  w.a.assign(x + before);
  return {before, w.a - before};
}
Tensors swap_variables(const World& w, const Tensor& x, const Tensor&) {
  const Tensor a = w.a, b = w.b;
  w.a.assign(b);
  w.b.assign(a);
  return {w.a * x};
}
Tensors assign_view(const World& w, const Tensor& x, const Tensor&) {
  w.a.assign(flip(w.a, {.axes = {1}}));
  return {w.a + x, w.a};
}
Tensors return_and_assign(const World& w, const Tensor& x, const Tensor&) {
  const Tensor y = w.a + x;
  w.a.assign(y);
  w.b.assign(y);
  return {y, y * 2.f};
}
Tensors assign_in_branch(const World& w, const Tensor& x, const Tensor& n) {
  const tenon::Block then = [&](std::span<const Tensor>) {
    w.a.assign(w.a + x);
    return Tensors{w.b * 2.f};
  };
  const tenon::Block otherwise = [&](std::span<const Tensor>) {
    w.b.assign(w.b - x);
    return Tensors{w.a * 3.f};
  };
  const Tensors found = tenon::cond(greater(n, 1), then, otherwise);
  return {found[0], w.a + w.b};
}
Tensors assign_in_loop(const World& w, const Tensor& x, const Tensor& n) {
  const Tensor y = tenon::while_loop([&](const Tensor& i, const Tensor&) { return less(i, n); },
                                     [&](const Tensor& i, const Tensor& y) {
                                       w.a.assign(w.a * 0.5f + y);
                                       return std::array{i + 1, y + w.a};
                                     },
                                     n - n, x)[1];
  return {y};
}
Tensors draw_uniform_numbers(const World& w, const Tensor& x, const Tensor&) {
  const Tensor first = w.g.uniform({2, 3}), second = w.g.uniform({5});
  w.a.assign(first);
  return {first + x, second, w.g.bernoulli({7}, 0.5)};
}
Tensors draw_in_loop(const World& w, const Tensor& x, const Tensor& n) {
  return {tenon::while_loop([&](const Tensor& i, const Tensor&) { return less(i, n); },
                            [&](const Tensor& i, const Tensor& y) {
                              return std::array{i + 1, y + w.g.uniform({2, 3})};
                            },
                            n - n, x)[1]};
}
Tensors draw_in_branch(const World& w, const Tensor& x, const Tensor& n) {
  const Tensor y = tenon::cond(
      greater(n, 1),
      [&] {
        return w.g.uniform({2, 3});
      },
      [&] { return x * 1.5f; });
  return {y, w.g.uniform({2})};
}
// A step of gradient descent with momentum.
Tensors training_step(const World& w, const Tensor& x, const Tensor&) {
  const tenon::Tape tape;
  const Tensor a = w.a;
  tape.watch(a);
  const Tensor loss = sum(square(a * x - 1.f));
  const Tensor grad = tape.gradient(loss, a);
  w.b.assign(w.b * 0.5f + grad);
  w.a.assign(a - w.b * 0.125f);
  return {loss};
}

constexpr Form kForms[] = {
    {"reads a variable after assigning it", read_after_write},
    {"assigns a variable several times", assign_repeatedly},
    {"returns the previous value of a variable", return_previous_value},
    {"swaps two variables", swap_variables},
    {"assigns a view of a variable to it", assign_view},
    {"returns a value and assigns it to two variables", return_and_assign},
    {"a branch assigns", assign_in_branch},
    {"a loop assigns", assign_in_loop},
    {"numbers are drawn", draw_uniform_numbers},
    {"a loop draws", draw_in_loop},
    {"a branch draws", draw_in_branch},
    {"a training step", training_step},
};
constexpr int64_t kTrips[] = {2, 0, 3, 1, 2, 5};

// Runs the body call by call. Returns, for each call, the outputs followed by the state of the
// variables and the generator.
std::vector<Results> run(const Bench& bench, const World& world,
                         const std::function<Tensors(const Tensors&)>& code) {
  std::vector<Results> all;
  Tensors before;  // The outputs of the previous call.
  for (size_t call = 0; call < std::size(kTrips); ++call) {
    const Tensors in = {
        bench.env.device.make(float_operand(20 + call)),
        bench.env.device.make(explicit_operand(TENON_INT64, {}, {Real(kTrips[call])}))};
    const Tensors outputs = code(in);
    Results results = read_all(bench, outputs);
    for (const Result& x : read_all(bench, {world.a.read(), world.b.read(), world.g.state()})) {
      results.push_back(x);
    }
    if (!before.empty()) {
      Results kept = all.back();
      kept.resize(before.size());
      if (const Fault fault = bit_difference(read_all(bench, before), kept); !fault.empty()) {
        throw std::runtime_error(
            fmt::format("call {} changes an output of the previous call: {}", call + 1, fault));
      }
    }
    before = outputs;
    all.push_back(std::move(results));
  }
  return all;
}

// Checks that variables and generators have the same values after calls of a function as after
// eager code.
uint64_t test_states(const Bench& bench) {
  const tenon::ScopeGuard in = on_device(bench);
  uint64_t cases = 0;
  std::string refusal;
  for (const Form& form : kForms) {
    for (const bool fused : {true, false}) {
      const PassesOff off(fused ? std::vector<std::string>() : std::vector<std::string>{"fuse"});
      try {
        const World plain_world = make_world(bench), world = make_world(bench);
        const std::vector<Results> want = run(bench, plain_world, [&](const Tensors& x) {
          return form.code(plain_world, x[0], x[1]);
        });
        const tenon::Function traced =
            as_function([&](std::span<const Tensor> x) { return form.code(world, x[0], x[1]); });
        const std::vector<Results> got =
            run(bench, world, [&](const Tensors& x) { return traced(x); });
        for (size_t call = 0; call < want.size(); ++call) {
          const Fault fault = bit_difference(got[call], want[call]);
          if (!fault.empty()) {
            throw std::runtime_error(fmt::format("{}{}, call {}: {}", form.name,
                                                 fused ? "" : ", without fuse", call + 1, fault));
          }
          ++cases;
        }
      } catch (const tenon::Error& error) {
        if (error.code() != tenon::Code::kUnimplemented) throw;
        refusal = error.message();
      }
    }
  }
  if (cases == 0)
    throw Unsupported("the check needs a signature that the plugin does not claim: " + refusal);
  return cases;
}

// ---- donated inputs

std::vector<Program> programs_to_donate_to(const Bench& bench) {
  std::vector<Program> programs;
  for (uint64_t i = 0; i < (bench.env.thorough ? 300u : 40u); ++i) {
    Program program =
        draw_program(bench.env.device, {TENON_FLOAT32}, bench.env.seed * 1000003 + (2u << 20) + i);
    if (!program.steps.empty()) programs.push_back(std::move(program));
  }
  if (programs.empty()) throw Unsupported("no call can be built from the claimed signatures");
  return programs;
}

// Checks that donation changes nothing else. Each call donates different inputs. Inputs that were
// not donated, live views of donated inputs, and outputs of earlier calls must not change.
Fault donation_preserves_values(const Bench& bench, const Program& program) {
  const tenon::ScopeGuard in = on_device(bench);
  const Tensors constants = make_all(bench, program.constants);
  const Code code = [&](std::span<const Tensor> x) {
    return outputs_of(program, evaluate(program, {x.begin(), x.end()}, constants));
  };
  const Results want = read_all(bench, code(make_all(bench, program.inputs)));
  const tenon::Function traced = as_function(code);
  std::vector<Tensors> given;
  for (size_t call = 0; call < 8; ++call) {
    Tensors inputs = make_all(bench, program.inputs), kept;
    Results before;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const bool donates = !program.inputs[k].scalar && (k + call) % 3 != 2 && call > 0;
      // In half of the calls, a view of the donated input stays alive.
      if (!donates || call % 2 == 0) {
        kept.push_back(donates ? tenon::identity(inputs[k]) : inputs[k]);
      }
      if (donates) inputs[k].donate();
    }
    before = read_all(bench, kept);
    const Tensors outputs = traced(inputs);
    given.push_back(outputs);
    inputs.clear();
    if (Fault fault = bit_difference(read_all(bench, kept), before); !fault.empty()) {
      return fmt::format(
          "call {}: an input that was not donated, or a live view of a donated one, changed: {}",
          call + 1, fault);
    }
    for (const Tensors& earlier : given) {
      if (Fault fault = bit_difference(read_all(bench, earlier), want); !fault.empty()) {
        return fmt::format("call {}, with donated inputs: {}", call + 1, fault);
      }
    }
  }
  return "";
}

// ---- dead calls

// Checks dead calls with a gather whose result is unused and whose index is out of range. Eager
// code fails; a function eliminates the call, unless the pass "dce" is off. This is the only
// permitted difference between functions and eager code.
uint64_t test_dead_calls(const Bench& bench) {
  const tenon::ScopeGuard in = on_device(bench);
  const Session& device = bench.env.device;
  const Tensor x = device.make(uniform_operand(TENON_FLOAT32, {3}, 1));
  const Tensor at = device.make(explicit_operand(TENON_INT64, {1}, {5}));
  const Code code = [](std::span<const Tensor> v) {
    const Tensor unused = tenon::gather(v[0], v[1]);
    return Tensors{v[0] + v[0]};
  };
  const auto fails = [&](const std::function<Tensors()>& call) {
    try {
      read_all(bench, call());
      device.scope().wait();
      return false;
    } catch (const tenon::Error& error) {
      if (error.code() == tenon::Code::kUnimplemented) throw;
      return true;
    }
  };
  const Results want = read_all(bench, {x + x});
  const Tensors inputs = {x, at};
  if (!fails([&] { return code(inputs); })) {
    throw std::runtime_error("eager: a gather out of range does not fail");
  }
  const tenon::Function traced = as_function(code);
  for (int call = 1; call <= 4; ++call) {
    const Fault fault = bit_difference(read_all(bench, traced(inputs)), want);
    if (!fault.empty()) throw std::runtime_error(fmt::format("call {}: {}", call, fault));
  }
  const PassesOff off({"dce"});
  const tenon::Function kept = as_function(code);
  for (int call = 1; call <= 4; ++call) {
    if (!fails([&] { return kept(inputs); })) {
      throw std::runtime_error(
          fmt::format("without the pass dce, call {}: a gather out of range does not fail", call));
    }
  }
  return 9;
}

}  // namespace

std::vector<FunctionCheck> state_checks() {
  return {
      {.part = "functions.state",
       .name = "states",
       .what = "After each call, variables and generators have the values that eager code leaves, "
               "and earlier outputs are unchanged.",
       .test = test_states},
      {.part = "functions.state",
       .name = "donated",
       .what = "Only donated inputs are overwritten: other inputs, views with other owners and "
               "earlier outputs stay unchanged.",
       .programs = programs_to_donate_to,
       .holds = donation_preserves_values},
      {.part = "functions.state",
       .name = "dead_calls",
       .what = "A dead call that would fail is eliminated, unless the pass dce is disabled.",
       .test = test_dead_calls},
  };
}

}  // namespace tenon_kit::functions
