// docs/programs.md: functions that are saved, opened, called and trained on.

#include <iostream>
#include <tenon/tenon.hpp>

using namespace tenon;

static void save() {
  const Variable w(matrix<float>({{1}, {2}}), {.name = "w"});
  const Function predict([&](std::span<const Tensor> in, const Statics&) -> std::vector<Tensor> {
    return {matmul(in[0], w)};
  });
  const Function train([&](std::span<const Tensor> in, const Statics&) -> std::vector<Tensor> {
    const Tape tape;
    const Tensor loss = sum(square(matmul(in[0], w) - in[1]));
    w.assign(w - 0.25f * tape.gradient(loss, w));
    return {loss};
  });
  const InputSpec inputs[] = {
      {.name = "x", .shape = {TENON_SIZE_UNKNOWN, 2}, .size_names = {"n", ""}},
      {.name = "y", .shape = {TENON_SIZE_UNKNOWN, 1}, .size_names = {"n", ""}}};
  Program::save("line", {{"predict", predict.trace({inputs, 1})}, {"train", train.trace(inputs)}});
}

static Tensor xs() { return matrix<float>({{1, 0}, {0, 1}, {1, 1}}); }
static Tensor ys() { return matrix<float>({{3}, {-1}, {2}}); }

static void open_and_train() {
  const Program line("line");
  const Function predict = line.function("predict"), train = line.function("train");
  const Tensor in[] = {xs(), ys()};
  std::cout << "before: " << transpose(predict({in, 1})[0]) << "\n";
  for (int step = 0; step < 100; ++step) train(in);
  std::cout << "after: " << transpose(predict({in, 1})[0]) << "\n";
  for (const Variable& v : line.variables()) std::cout << v.name() << " has learned\n";
}

static void read_onnx() {
  const Program model("line/predict.onnx");
  for (const ProgramFunction& f : model.functions()) {
    for (const InputSpec& input : f.inputs) std::cout << "takes " << input.name << "\n";
  }
  const Tensor in[] = {xs()};
  std::cout << transpose(model.function()(in)[0]) << "\n";
}

static void publish_one() {
  const Program line("line");
  for (const ProgramFunction& f : line.functions()) {
    if (f.name != "predict") continue;
    Program::save("published", {{"predict", line.function("predict").trace(f.inputs)}});
  }
  std::cout << "published functions: " << Program("published").functions().size() << "\n";
}

static void say_what_is_unknown() {
  try {
    Program("line").function("classify");
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
  }
}

int main() {
  save();
  open_and_train();
  read_onnx();
  publish_one();
  say_what_is_unknown();
}
