// Saves various programs and the results that Tenon computes. compare.py runs the programs in
// onnxruntime and compares.
//
//   tenon_saved_programs FOLDER
//
// FOLDER/PROGRAM is the saved program. FOLDER/PROGRAM.safetensors holds its calls, as tensors
// call.K.in.I and call.K.out.I, and for each state the value after all calls, as state.NAME. Each
// program is also read back, and must return the same results.

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <tenon/tenon.hpp>

using namespace tenon;

namespace {

// ---- reproducible numbers

class Numbers {
 public:
  explicit Numbers(uint32_t seed) : state_(seed) {}
  // Returns numbers between -scale and scale.
  Tensor real(const Shape& shape, float scale = 1) {
    std::vector<float> values(count(shape));
    for (float& value : values) value = scale * (static_cast<float>(next()) / 0x1p23F - 1);
    return Tensor(std::span<const float>(values), shape);
  }
  Tensor whole(const Shape& shape, uint32_t below) {
    std::vector<int64_t> values(count(shape));
    for (int64_t& value : values) value = next() % below;
    return Tensor(std::span<const int64_t>(values), shape);
  }

 private:
  static size_t count(const Shape& shape) {
    size_t n = 1;
    for (const int64_t size : shape) n *= static_cast<size_t>(size);
    return n;
  }
  uint32_t next() {
    state_ = state_ * 1664525 + 1013904223;
    return state_ >> 8;
  }
  uint32_t state_;
};

// ---- a program and its calls

using Tensors = std::vector<Tensor>;

struct Case {
  std::string name;
  std::vector<InputSpec> inputs;
  Function::Code code;
  std::vector<Tensors> calls;
  std::optional<Generator> generator = {};
};

// Reads the program from its folder, and checks that the same calls return the same results.
void check_reread(const std::string& path, const Case& c, const NamedTensors& all) {
  const Program program(path);
  const Function f = program.function(c.name);
  const auto compare = [&](const std::string& name, const Tensor& got) {
    const Tensor& want = all.at(name);
    const Tensor apart = cast(got, {.to = kFloat64}) - cast(want, {.to = kFloat64});
    const double far = max(abs(apart)).item<double>();
    if (!(far <= 1e-5)) {
      throw std::runtime_error(c.name + ": after the program is read back, " + name +
                               " differs by " + std::to_string(far));
    }
  };
  for (size_t k = 0; k < c.calls.size(); ++k) {
    const Tensors outputs = f(c.calls[k]);
    for (size_t i = 0; i < outputs.size(); ++i) {
      compare("call." + std::to_string(k) + ".out." + std::to_string(i), outputs[i]);
    }
  }
  for (const Variable& variable : program.variables()) {
    compare("state." + std::string(variable.name()), variable.read());
  }
}

// Saves the program of a case, its calls with their results, and its states.
void save(const std::string& folder, const Case& c) {
  const Function f(c.code, {.name = c.name, .signature = c.inputs});
  const Trace trace = f.trace(c.inputs);
  const std::string path = folder + "/" + c.name;
  Program::save(path, {{c.name, trace}});
  NamedTensors all;
  for (size_t k = 0; k < c.calls.size(); ++k) {
    const std::string prefix = "call." + std::to_string(k);
    const Tensors outputs = f(c.calls[k]);
    for (size_t i = 0; i < c.calls[k].size(); ++i) {
      all.emplace(prefix + ".in." + std::to_string(i), c.calls[k][i]);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      all.emplace(prefix + ".out." + std::to_string(i), outputs[i]);
    }
  }
  for (const Variable& variable : trace.variables()) {
    all.emplace("state." + std::string(variable.name()), variable.read());
  }
  if (c.generator) all.emplace("state.generator", c.generator->state());
  save_safetensors(path + ".safetensors", all);
  check_reread(path, c, all);
  std::printf("%s\n", c.name.c_str());
}

// ---- the programs

constexpr int64_t kUnknown = TENON_SIZE_UNKNOWN;

// Makes a variable, which is saved with the program.
Variable weight(const std::string& name, const Tensor& value) {
  return Variable(value, {.name = name});
}

// Returns a case with a program for a multi-layer perceptron.
Case mlp() {
  Numbers n(1);
  const Variable w1 = weight("w1", n.real({16, 32}, 0.4F)), b1 = weight("b1", n.real({32}));
  const Variable w2 = weight("w2", n.real({32, 32}, 0.3F)), b2 = weight("b2", n.real({32}));
  const Variable w3 = weight("w3", n.real({32, 10}, 0.3F)), b3 = weight("b3", n.real({10}));
  const auto code = [=](std::span<const Tensor> in, const Statics&) -> Tensors {
    const Tensor h1 = relu(dense(in[0], w1, b1));
    const Tensor h2 = silu(dense(h1, w2, b2));
    return {softmax(dense(h2, w3, b3))};
  };
  return {"mlp",
          {{.name = "x", .shape = {kUnknown, 16}, .size_names = {"batch"}}},
          code,
          {{n.real({3, 16})}, {n.real({1, 16})}, {n.real({8, 16})}}};
}

// Returns a case with a program for a convolutional network.
Case convnet() {
  Numbers n(2);
  const Variable w1 = weight("conv.w", n.real({8, 3, 3, 3}, 0.3F));
  const Variable b1 = weight("conv.b", n.real({8}, 0.1F));
  const Variable scale = weight("norm.scale", n.real({8}) + 1.5F);
  const Variable bias = weight("norm.bias", n.real({8}));
  const Variable mean = weight("norm.mean", n.real({8}, 0.1F));
  const Variable var = weight("norm.var", n.real({8}, 0.4F) + 1.F);
  const Variable w2 = weight("depthwise.w", n.real({8, 1, 3, 3}, 0.3F));
  const Variable w3 = weight("dense.w", n.real({8 * 4 * 4, 10}, 0.1F));
  const Variable b3 = weight("dense.b", n.real({10}));
  const auto code = [=](std::span<const Tensor> in, const Statics&) -> Tensors {
    Tensor x = conv(in[0], w1, b1, {.pads = {1, 1, 1, 1}});
    x = relu(batch_norm(x, scale, bias, mean, var));
    x = max_pool(x, {.kernel_shape = {2, 2}, .strides = {2, 2}}).y;
    x = gelu(depthwise(x, w2, {}, {.pads = {1, 1, 1, 1}}));
    x = avg_pool(x, {.kernel_shape = {2, 2}, .strides = {2, 2}});
    return {log_softmax(dense(flatten(x), w3, b3))};
  };
  return {"convnet",
          {{.name = "image", .shape = {kUnknown, 3, 16, 16}, .size_names = {"batch"}}},
          code,
          {{n.real({2, 3, 16, 16})}, {n.real({5, 3, 16, 16})}}};
}

// An LSTM whose first axis is time. Returns all outputs and the last states.
Case lstm(const std::string& name, bool reverse) {
  Numbers n(3);
  const Variable w = weight("w", n.real({4 * 6, 5}, 0.5F)),
                 r = weight("r", n.real({4 * 6, 6}, 0.5F));
  const Variable b = weight("b", n.real({8 * 6}, 0.5F));
  const auto code = [=](std::span<const Tensor> in, const Statics&) -> Tensors {
    const Tensor weights[] = {w, r, b};
    const Block step = [&](std::span<const Tensor> s) -> Tensors {
      const auto next = lstm_cell(s[2], s[0], s[1], weights[0], weights[1], weights[2]);
      return {next.h, next.c, next.h};
    };
    ScanResult found = scan(step, in.subspan(1), in.subspan(0, 1), reverse);
    return {found.carried[0], found.carried[1], found.stacked[0]};
  };
  const auto call = [&](int64_t time) -> Tensors {
    return {n.real({time, 2, 5}), n.real({2, 6}), n.real({2, 6})};
  };
  return {name,
          {{.name = "x", .shape = {kUnknown, 2, 5}, .size_names = {"time"}},
           {.name = "h", .shape = {2, 6}},
           {.name = "c", .shape = {2, 6}}},
          code,
          {call(4), call(1), call(9)}};
}

// A loop whose trip count is an input. Its body contains a branch.
Case loop() {
  Numbers n(4);
  const Variable w = weight("w", n.real({4, 4}));
  const auto code = [=](std::span<const Tensor> in, const Statics&) -> Tensors {
    const Tensor weights = w, trips = in[0];
    const auto found = while_loop([&](const Tensor& i, const Tensor&) { return less(i, trips); },
                                  [&](const Tensor& i, const Tensor& x) {
                                    const Tensor next = cond(
                                        greater(max(x), 0.5F), [&] { return x * 0.5F; },
                                        [&] { return tanh(matmul(x, weights)); });
                                    return std::array{i + int64_t{1}, next};
                                  },
                                  Tensor(int64_t{0}), in[1]);
    return {found[1]};
  };
  const auto call = [&](int64_t trips) -> Tensors {
    return {Tensor(std::span<const int64_t>(&trips, 1), Shape{}), n.real({3, 4})};
  };
  return {"loop",
          {{.name = "n", .dtype = kInt64}, {.name = "x", .shape = {3, 4}}},
          code,
          {call(0), call(1), call(7)}};
}

// The gradients of a loop with respect to its inputs.
Case loop_gradient() {
  Numbers n(6);
  const Variable w = weight("w", n.real({5, 5}));
  const auto code = [=](std::span<const Tensor> in, const Statics&) -> Tensors {
    const Tape tape;
    const Tensor weights = w;
    tape.watch(weights);
    tape.watch(in[0]);
    const Block step = [&](std::span<const Tensor> s) -> Tensors {
      const Tensor y = tanh(matmul(s[0], weights) + s[1]);
      return {y, y * y};
    };
    const ScanResult found = scan(step, in.subspan(1), in.subspan(0, 1));
    const Tensor y = sum(found.carried[0]) + sum(found.stacked[0]);
    const Tensors gradients = tape.gradients(y, {weights, in[0]});
    return {y, gradients[0], gradients[1]};
  };
  const auto call = [&](int64_t time) -> Tensors { return {n.real({time, 2, 5}), n.real({2, 5})}; };
  return {"loop_gradient",
          {{.name = "x", .shape = {kUnknown, 2, 5}, .size_names = {"time"}},
           {.name = "h", .shape = {2, 5}}},
          code,
          {call(3), call(6)}};
}

// ---- training steps, in which parameters are states

struct TrainedVariable {
  Variable value, m, v;
};

// Makes a trained variable with random values, and its two moments, which are zero.
TrainedVariable make_trained_variable(Numbers& n, const std::string& name, const Shape& shape,
                                      float scale) {
  const Tensor value = n.real(shape, scale), zeros = value * 0.F;
  return {weight(name, value), weight(name + ".m", zeros), weight(name + ".v", zeros)};
}

// Returns the gradients of the loss with respect to the variables `all`.
Tensors gradients_of(const Tape& tape, const Tensor& loss, std::span<const TrainedVariable> all) {
  std::vector<Value> sources;
  for (const TrainedVariable& each : all) sources.emplace_back(each.value);
  return tape.gradients(loss, sources);
}

Case adam_step() {
  Numbers n(5);
  const std::vector<TrainedVariable> all = {make_trained_variable(n, "w1", {8, 16}, 0.4F),
                                            make_trained_variable(n, "b1", {16}, 0.1F),
                                            make_trained_variable(n, "w2", {16, 3}, 0.4F)};
  const Variable step = weight("step", n.real({}, 0));
  const auto code = [=](std::span<const Tensor> in, const Statics&) -> Tensors {
    const Tape tape;
    const Tensor hidden = tanh(dense(in[0], all[0].value, all[1].value));
    const Tensor logits = matmul(hidden, all[2].value.read());
    const Tensor loss = sparse_softmax_cross_entropy(logits, in[1]).loss;
    const Tensors gradients = gradients_of(tape, loss, all);
    step.assign(step.read() + 1.F);
    for (size_t i = 0; i < all.size(); ++i) {
      const auto next = adam(all[i].value, gradients[i], all[i].m, all[i].v, step, 0.01F);
      all[i].value.assign(next.new_p);
      all[i].m.assign(next.new_m);
      all[i].v.assign(next.new_v);
    }
    return {loss};
  };
  Case c{"adam_step",
         {{.name = "x", .shape = {6, 8}}, {.name = "labels", .dtype = kInt64, .shape = {6}}},
         code,
         {}};
  for (int i = 0; i < 3; ++i) c.calls.push_back({n.real({6, 8}), n.whole({6}, 3)});
  return c;
}

Case momentum_step() {
  Numbers n(7);
  const std::vector<TrainedVariable> all = {make_trained_variable(n, "filter", {4, 1, 3, 3}, 0.4F),
                                            make_trained_variable(n, "w", {4 * 4 * 4, 3}, 0.2F)};
  const auto code = [=](std::span<const Tensor> in, const Statics&) -> Tensors {
    const Tape tape;
    Tensor x = relu(conv(in[0], all[0].value, {}, {.pads = {1, 1, 1, 1}}));
    x = max_pool(x, {.kernel_shape = {2, 2}, .strides = {2, 2}}).y;
    const Tensor logits = matmul(flatten(x), all[1].value.read());
    const Tensor loss = sparse_softmax_cross_entropy(logits, in[1]).loss;
    const Tensors gradients = gradients_of(tape, loss, all);
    for (size_t i = 0; i < all.size(); ++i) {
      const auto next = momentum(all[i].value, gradients[i], all[i].m, 0.05F, {.nesterov = true});
      all[i].value.assign(next.new_p);
      all[i].m.assign(next.new_v);
    }
    return {loss};
  };
  Case c{"momentum_step",
         {{.name = "x", .shape = {6, 1, 8, 8}}, {.name = "labels", .dtype = kInt64, .shape = {6}}},
         code,
         {}};
  for (int i = 0; i < 3; ++i) c.calls.push_back({n.real({6, 1, 8, 8}), n.whole({6}, 3)});
  return c;
}

// Random words from a generator. Every runtime must compute the same bits.
Case random_numbers() {
  Numbers n(8);
  const Generator generator(1234567890123);
  const auto code = [=](std::span<const Tensor> in, const Statics&) -> Tensors {
    const Tensor dropped = generator.dropout(in[0], {.ratio = 0.3});
    return {dropped, generator.uniform({3, 3}), generator.uniform({5}, 0, 1, kFloat64)};
  };
  return {"random_numbers",
          {{.name = "x", .shape = {5, 7}}},
          code,
          {{n.real({5, 7})}, {n.real({5, 7})}},
          generator};
}

}  // namespace

int main(int n, char** arguments) try {
  if (n != 2) {
    std::fprintf(stderr, "usage: tenon_saved_programs FOLDER\n");
    return 2;
  }
  const std::string folder = arguments[1];
  std::filesystem::create_directories(folder);
  const ScopeGuard in(Scope(Context::shared(), "ref"));
  for (const Case& c : {mlp(), convnet(), lstm("lstm", false), lstm("lstm_reverse", true), loop(),
                        loop_gradient(), adam_step(), momentum_step(), random_numbers()}) {
    save(folder, c);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", arguments[0], error.what());
  return 1;
}
