// Writes programs of all kinds as folders, with what Tenon computes of them: compare.py runs the
// same in onnxruntime.
//
//   tenon_saved_programs PLUGINS FOLDER
//
// FOLDER/PROGRAM is the program, FOLDER/PROGRAM.safetensors its calls: call.K.in.I and call.K.out.I,
// and of a program with states what they hold after all calls, state.NAME.

#include <cmath>
#include <cstdio>
#include <functional>

#include "core/autograd/tape.h"
#include "core/dispatch/dispatch.h"
#include "core/dispatch/generator.h"
#include "core/dispatch/variable.h"
#include "core/io/onnx/named_call.h"
#include "core/io/safetensors.h"
#include "core/io/save_program.h"
#include "core/ops/formulas.h"
#include "core/trace/control.h"
#include "core/trace/function.h"

using namespace tenon;
using onnx::call_named;
using onnx::call_named1;

namespace {

constexpr int64_t kUnknown = InputSpec::kUnknown;

// ---- numbers that are the same everywhere

class Numbers {
 public:
  explicit Numbers(uint32_t seed) : state_(seed) {}
  // Between -scale and scale.
  Tensor real(const Dims& shape, double scale = 1, DType dtype = DType::kF32) {
    std::vector<double> values(static_cast<size_t>(int64_t{count(shape)}));
    for (double& value : values) value = scale * (2.0 * next() / 0x1p24 - 1);
    const Tensor x = from_host(current_scope(), current_scope().device(),
                               TensorType(DType::kF64, shape), values.data());
    return cast(x, dtype);
  }
  Tensor whole(const Dims& shape, uint32_t below) {
    std::vector<int64_t> values(static_cast<size_t>(int64_t{count(shape)}));
    for (int64_t& value : values) value = next() % below;
    return from_host(current_scope(), current_scope().device(), TensorType(DType::kI64, shape),
                     values.data());
  }

 private:
  uint32_t next() {
    state_ = state_ * 1664525 + 1013904223;
    return state_ >> 8;
  }
  uint32_t state_;
};

// ---- a program and its calls

using Code = std::function<Tensors(TensorSpan in)>;

struct Saved {
  std::string name;
  std::vector<InputSpec> inputs;
  Code code;
  std::vector<Tensors> calls;
};

TensorToStore stored(Scope& scope, std::string name, const Tensor& x) {
  return {std::move(name), x->type,
          [&scope, x](void* to, uint64_t size) { to_host(scope, x, to, size); }};
}

void save(Scope& scope, const std::string& folder, const Saved& saved) {
  const auto f = Ref<Function>::adopt(new Function(
      scope.context(), saved.name,
      [&](Scope&, TensorSpan in, const Statics&) { return saved.code(in); },
      {.signature = saved.inputs, .has_signature = true}));
  const FunctionToSave one = {saved.name, f->trace(scope, saved.inputs, {})};
  const std::string path = folder + "/" + saved.name;
  save_program(scope, path, {&one, 1});
  std::vector<TensorToStore> all;
  for (size_t k = 0; k < saved.calls.size(); ++k) {
    const std::string prefix = "call." + std::to_string(k);
    const Tensors outputs = f->call(scope, saved.calls[k], {});
    for (size_t i = 0; i < saved.calls[k].size(); ++i) {
      all.push_back(stored(scope, prefix + ".in." + std::to_string(i), saved.calls[k][i]));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      all.push_back(stored(scope, prefix + ".out." + std::to_string(i), outputs[i]));
    }
  }
  for (const Ref<Cell>& cell : one.trace->states()) {
    const bool is_variable = cell->kind() == Kind::kVariable;
    const std::string name =
        is_variable ? static_cast<Variable&>(*cell).name() : std::string("generator");
    all.push_back(stored(scope, "state." + name, cell->held()));
  }
  save_safetensors(path + ".safetensors", std::move(all), {});
  std::printf("%s\n", saved.name.c_str());
}

// ---- the programs

class Weights {
 public:
  explicit Weights(Scope& scope) : scope_(scope) {}
  const Ref<Variable>& operator()(const std::string& name, const Tensor& value) {
    all_.push_back(Ref<Variable>::adopt(new Variable(scope_, value, name, true)));
    return all_.back();
  }

 private:
  Scope& scope_;
  std::vector<Ref<Variable>> all_;
};

Saved mlp(Scope& scope, Weights& weights) {
  Numbers numbers(1);
  const auto w1 = weights("w1", numbers.real({16, 32}, 0.4)), b1 = weights("b1", numbers.real({32}));
  const auto w2 = weights("w2", numbers.real({32, 32}, 0.3)), b2 = weights("b2", numbers.real({32}));
  const auto w3 = weights("w3", numbers.real({32, 10}, 0.3)), b3 = weights("b3", numbers.real({10}));
  const auto code = [&scope, w1, b1, w2, b2, w3, b3](TensorSpan in) -> Tensors {
    const auto layer = [&](const Tensor& x, const Ref<Variable>& w, const Ref<Variable>& b) {
      return call_named1("dense", {}, {x, w->read(scope), b->read(scope)});
    };
    const Tensor h1 = call_named1("relu", {}, {layer(in[0], w1, b1)});
    const Tensor h2 = call_named1("silu", {}, {layer(h1, w2, b2)});
    return {call_named1("softmax", {}, {layer(h2, w3, b3)})};
  };
  return {"mlp",
          {{.name = "x", .dtype = DType::kF32, .sizes = {kUnknown, 16}, .dim_names = {"batch", ""}}},
          code,
          {{numbers.real({3, 16})}, {numbers.real({1, 16})}, {numbers.real({8, 16})}}};
}

Saved convnet(Scope& scope, Weights& weights) {
  Numbers numbers(2);
  const auto w1 = weights("conv.w", numbers.real({8, 3, 3, 3}, 0.3));
  const auto b1 = weights("conv.b", numbers.real({8}, 0.1));
  const auto scale = weights("bn.scale", numbers.real({8}) + number(1.5));
  const auto bias = weights("bn.bias", numbers.real({8}));
  const auto mean = weights("bn.mean", numbers.real({8}, 0.1));
  const auto var = weights("bn.var", numbers.real({8}, 0.4) + number(1));
  const auto w2 = weights("depthwise.w", numbers.real({8, 1, 3, 3}, 0.3));
  const auto w3 = weights("dense.w", numbers.real({8 * 4 * 4, 10}, 0.1));
  const auto b3 = weights("dense.b", numbers.real({10}));
  const auto code = [=, &scope](TensorSpan in) -> Tensors {
    const auto read = [&](const Ref<Variable>& v) { return v->read(scope); };
    Tensor x = call_named1("conv", {{"pads", Ints{1, 1, 1, 1}}}, {in[0], read(w1), read(b1)});
    x = call_named1("batch_norm", {}, {x, read(scale), read(bias), read(mean), read(var)});
    x = call_named1("relu", {}, {x});
    x = call_named1("max_pool", {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}, {x});
    x = call_named1("depthwise", {{"pads", Ints{1, 1, 1, 1}}}, {x, read(w2)});
    x = call_named1("gelu", {}, {x});
    x = call_named1("avg_pool", {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}, {x});
    x = call_named1("flatten", {}, {x});
    x = call_named1("dense", {}, {x, read(w3), read(b3)});
    return {call_named1("log_softmax", {}, {x})};
  };
  return {"convnet",
          {{.name = "image",
            .dtype = DType::kF32,
            .sizes = {kUnknown, 3, 16, 16},
            .dim_names = {"batch", "", "", ""}}},
          code,
          {{numbers.real({2, 3, 16, 16})}, {numbers.real({5, 3, 16, 16})}}};
}

// Time first. It gives the last state and all outputs.
Saved lstm(Scope& scope, Weights& weights, bool reverse) {
  Numbers numbers(3);
  const std::string prefix = reverse ? "r." : "f.";
  const auto w = weights(prefix + "w", numbers.real({4 * 6, 5}, 0.5));
  const auto r = weights(prefix + "r", numbers.real({4 * 6, 6}, 0.5));
  const auto b = weights(prefix + "b", numbers.real({8 * 6}, 0.5));
  const auto code = [=, &scope](TensorSpan in) -> Tensors {
    const Tensor wr = w->read(scope), rr = r->read(scope), br = b->read(scope);
    const auto step = [&](TensorSpan s) -> Tensors {
      const Tensors next = call_named("lstm_cell", {}, {s[2], s[0], s[1], wr, rr, br});
      return {next[0], next[1], next[0]};
    };
    return scan(scope, step, in.subspan(1), in.subspan(0, 1), {.reverse = reverse});
  };
  const auto call = [&](int64_t time) -> Tensors {
    return {numbers.real({time, 2, 5}), numbers.real({2, 6}), numbers.real({2, 6})};
  };
  return {reverse ? "lstm_reverse" : "lstm",
          {{.name = "x",
            .dtype = DType::kF32,
            .sizes = {kUnknown, 2, 5},
            .dim_names = {"time", "", ""}},
           {.name = "h", .dtype = DType::kF32, .sizes = {2, 6}},
           {.name = "c", .dtype = DType::kF32, .sizes = {2, 6}}},
          code,
          {call(4), call(1), call(9)}};
}

Saved loop(Scope& scope, Weights& weights) {
  Numbers numbers(4);
  const auto w = weights("w", numbers.real({4, 4}));
  const auto code = [=, &scope](TensorSpan in) -> Tensors {
    const Tensor wr = w->read(scope), n = in[0];
    const auto condition = [&](TensorSpan s) -> Tensors { return {less(s[0], n)}; };
    const auto body = [&](TensorSpan s) -> Tensors {
      const Tensor grows = greater(call_named1("max", {}, {s[1]}), number(0.5));
      const Tensors x = cond(
          scope, grows, [&](TensorSpan) -> Tensors { return {s[1] * number(0.5)}; },
          [&](TensorSpan) -> Tensors { return {call_named1("tanh", {}, {matmul(s[1], wr)})}; });
      return {s[0] + integer(1), x[0]};
    };
    const Tensor zero = fill(integer(0), Dims{}, DType::kI64);
    return {while_loop(scope, condition, body, Tensors{zero, in[1]})[1]};
  };
  const auto call = [&](int64_t trips) -> Tensors {
    return {fill(integer(trips), Dims{}, DType::kI64), numbers.real({3, 4})};
  };
  return {"loop",
          {{.name = "n", .dtype = DType::kI64}, {.name = "x", .dtype = DType::kF32, .sizes = {3, 4}}},
          code,
          {call(0), call(1), call(7)}};
}

// One step of training; what it learns are states.
Saved training(Scope& scope, Weights& weights, const std::string& name, bool with_images) {
  Numbers numbers(5);
  struct Parameter {
    Ref<Variable> value, m, v;
  };
  std::vector<Parameter> parameters;
  const auto parameter = [&](const std::string& own, const Dims& shape, double scale) {
    const Tensor zeros = tenon::zeros(TensorType(DType::kF32, shape));
    parameters.push_back({weights(own, numbers.real(shape, scale)), weights(own + ".m", zeros),
                          weights(own + ".v", zeros)});
  };
  if (with_images) {
    parameter("conv", {4, 1, 3, 3}, 0.4);
    parameter("w", {4 * 4 * 4, 3}, 0.2);
  } else {
    parameter("w1", {8, 16}, 0.4);
    parameter("b1", {16}, 0.1);
    parameter("w2", {16, 3}, 0.4);
  }
  const auto step = weights("step", cast(fill(integer(0), Dims{}, DType::kI64), DType::kF32));
  const auto code = [=, &scope](TensorSpan in) -> Tensors {
    const auto tape = Ref<Tape>::adopt(new Tape(Ref<Scope>::share(&scope), {}));
    Tensors p;
    std::vector<Source> sources;
    for (const Parameter& each : parameters) {
      p.push_back(each.value->read(scope));
      tape->watch(p.back());
      sources.emplace_back(p.back());
    }
    Tensor logits;
    if (with_images) {
      Tensor x = call_named1("conv", {{"pads", Ints{1, 1, 1, 1}}}, {in[0], p[0]});
      x = call_named1("relu", {}, {x});
      x = call_named1("max_pool", {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}, {x});
      logits = matmul(call_named1("flatten", {}, {x}), p[1]);
    } else {
      logits = matmul(call_named1("tanh", {}, {call_named1("dense", {}, {in[0], p[0], p[1]})}), p[2]);
    }
    const Tensor loss = call_named("sparse_softmax_cross_entropy", {}, {logits, in[1]})[0];
    const Tensors gradients = tape->gradient(Tensors{loss}, {}, sources);
    const Tensor now = step->read(scope) + number(1);
    step->assign(scope, now);
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Parameter& each = parameters[i];
      if (with_images) {
        const Tensors next = call_named("momentum", {{"nesterov", int64_t{1}}},
                                        {p[i], gradients[i], each.m->read(scope), number(0.05)});
        each.value->assign(scope, next[0]);
        each.m->assign(scope, next[1]);
      } else {
        const Tensors next =
            call_named("adam", {}, {p[i], gradients[i], each.m->read(scope), each.v->read(scope),
                                    now, number(0.01)});
        each.value->assign(scope, next[0]);
        each.m->assign(scope, next[1]);
        each.v->assign(scope, next[2]);
      }
    }
    return {loss};
  };
  const std::vector<int64_t> sizes =
      with_images ? std::vector<int64_t>{6, 1, 8, 8} : std::vector<int64_t>{6, 8};
  std::vector<Tensors> calls;
  for (const int64_t n : {6, 6, 6}) {
    Dims shape{n};
    for (size_t i = 1; i < sizes.size(); ++i) shape.push_back(sizes[i]);
    calls.push_back({numbers.real(shape), numbers.whole({n}, 3)});
  }
  return {name,
          {{.name = "x", .dtype = DType::kF32, .sizes = sizes},
           {.name = "labels", .dtype = DType::kI64, .sizes = {sizes[0]}}},
          code,
          calls};
}

// The gradient by time steps and weights of a loop, which goes back through it.
Saved loop_gradient(Scope& scope, Weights& weights) {
  Numbers numbers(6);
  const auto w = weights("u", numbers.real({5, 5}));
  const auto code = [=, &scope](TensorSpan in) -> Tensors {
    const auto tape = Ref<Tape>::adopt(new Tape(Ref<Scope>::share(&scope), {}));
    const Tensor wr = w->read(scope);
    tape->watch(wr);
    tape->watch(in[0]);
    const auto step = [&](TensorSpan s) -> Tensors {
      const Tensor y = call_named1("tanh", {}, {matmul(s[0], wr) + s[1]});
      return {y, y * y};
    };
    const Tensors found = scan(scope, step, in.subspan(1), in.subspan(0, 1));
    const Tensor y = call_named1("sum", {}, {found[0]}) + call_named1("sum", {}, {found[1]});
    const std::vector<Source> sources = {wr, in[0]};
    const Tensors gradients = tape->gradient(Tensors{y}, {}, sources);
    return {y, gradients[0], gradients[1]};
  };
  const auto call = [&](int64_t time) -> Tensors {
    return {numbers.real({time, 2, 5}), numbers.real({2, 5})};
  };
  return {"loop_gradient",
          {{.name = "x",
            .dtype = DType::kF32,
            .sizes = {kUnknown, 2, 5},
            .dim_names = {"time", "", ""}},
           {.name = "h", .dtype = DType::kF32, .sizes = {2, 5}}},
          code,
          {call(3), call(6)}};
}

Saved random(Scope& scope) {
  Numbers numbers(7);
  const auto generator = Ref<Generator>::adopt(new Generator(scope, 1234567890123));
  const auto code = [=, &scope](TensorSpan in) -> Tensors {
    const Tensor state = generator->load(scope);
    const Tensors dropped = call_named("dropout", {{"ratio", 0.3}}, {in[0], state});
    const Tensors drawn =
        call_named("random_uniform", {{"shape", Ints{3, 3}}}, {dropped[2]});
    generator->store(scope, drawn[1]);
    return {dropped[0], drawn[0]};
  };
  return {"random",
          {{.name = "x", .dtype = DType::kF32, .sizes = {5, 7}}},
          code,
          {{numbers.real({5, 7})}, {numbers.real({5, 7})}}};
}

}  // namespace

int main(int n, char** arguments) try {
  if (n != 3) {
    std::fprintf(stderr, "usage: tenon_saved_programs PLUGINS FOLDER\n");
    return 2;
  }
  ContextOptions options;
  options.plugin_paths.push_back(arguments[1]);
  const auto context = Ref<Context>::adopt(new Context(options));
  const auto scope = Ref<Scope>::adopt(new Scope(*context, &context->device("ref")));
  const Scope::Enter enter(*scope);
  Weights weights(*scope);
  const std::string folder = arguments[2];
  save(*scope, folder, mlp(*scope, weights));
  save(*scope, folder, convnet(*scope, weights));
  save(*scope, folder, training(*scope, weights, "training", false));
  save(*scope, folder, training(*scope, weights, "training_images", true));
  save(*scope, folder, lstm(*scope, weights, false));
  save(*scope, folder, lstm(*scope, weights, true));
  save(*scope, folder, loop(*scope, weights));
  save(*scope, folder, loop_gradient(*scope, weights));
  save(*scope, folder, random(*scope));
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s: %s\n", arguments[0], error.what());
  return 1;
}
