// docs/programs.md: saves, opens, calls and trains functions.

#include <iostream>
#include <tenon/tenon.hpp>

using namespace tenon;

static void save() {
  const Variable w(matrix<float>({{1}, {2}}), {.name = "w"});
  const auto predict = function([&](const Tensor& x) { return matmul(x, w); });
  const auto train = function([&](const Tensor& x, const Tensor& y) {
    const Tape tape;
    const Tensor loss = sum(square(matmul(x, w) - y));
    w -= 0.25f * tape.gradient(loss, w);
    return loss;
  });
  const InputSpec x = {.name = "x", .shape = {TENON_SIZE_UNKNOWN, 2}, .size_names = {"n", ""}};
  const InputSpec y = {.name = "y", .shape = {TENON_SIZE_UNKNOWN, 1}, .size_names = {"n", ""}};
  Program::save("line", {{"predict", predict.trace({x})}, {"train", train.trace({x, y})}});
}

// Return the inputs and the targets of the training.
static Tensor xs() { return matrix<float>({{1, 0}, {0, 1}, {1, 1}}); }
static Tensor ys() { return matrix<float>({{3}, {-1}, {2}}); }

static void open_and_train() {
  const Program line("line");
  const Function predict = line.function("predict"), train = line.function("train");
  std::cout << "before: " << transpose(predict(xs())[0]) << "\n";
  for (int step = 0; step < 100; ++step) train(xs(), ys());
  std::cout << "after: " << transpose(predict(xs())[0]) << "\n";
  for (const Variable& v : line.variables()) std::cout << v.name() << " has learned\n";
}

static void read_onnx() {
  const Program model("line/predict.onnx");
  const ProgramFunction only = model.functions()[0];
  for (const InputSpec& input : only.signatures[0].inputs) {
    std::cout << "takes " << input.name << "\n";
  }
  std::cout << transpose(model.function()(xs())[0]) << "\n";
}

static void save_one_function() {
  const Program line("line");
  for (const ProgramFunction& f : line.functions()) {
    if (f.name != "predict") continue;
    std::vector<std::pair<std::string, Trace>> traces;
    for (const ProgramSignature& each : f.signatures) {
      traces.emplace_back("predict", line.function("predict").trace(each.inputs, each.statics));
    }
    Program::save("published", traces);
  }
  std::cout << "published functions: " << Program("published").functions().size() << "\n";
}

static void save_signatures() {
  const auto scale = function(
      [](const Tensor& x, const Statics& statics) {
        return cast(x, {.to = kFloat32}) * statics.at("by").as_double();
      },
      {.name = "scale", .defaults = {{"by", 1.0}}});
  const Shape open = {TENON_SIZE_UNKNOWN};
  const InputSpec numbers = {.name = "x", .shape = open, .size_names = {"n"}};
  const InputSpec bytes = {"x", kUint8, open, {"n"}};
  Program::save("scales", {{"scale", scale.trace({numbers})},
                           {"scale", scale.trace({bytes})},
                           {"scale", scale.trace({bytes}, {{"by", 0.5}})}});

  const Function read = Program("scales").function("scale");
  const Tensor x = vector<uint8_t>({1, 2});
  std::cout << read(x)[0] << " " << read(x, Statics{{"by", 0.5}})[0] << "\n";
  try {
    read(x, Statics{{"by", 2.0}});
  } catch (const Error& error) {
    std::cout << error.message() << "\n";
  }
}

static void declare_unknown_sizes() {
  try {
    Program("line").function("classify");
  } catch (const Error& error) {
    std::cout << error.message() << "\n";
  }
}

int main() {
  save();
  open_and_train();
  read_onnx();
  save_one_function();
  save_signatures();
  declare_unknown_sizes();
}
