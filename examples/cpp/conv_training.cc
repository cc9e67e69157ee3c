// Trains a small convolutional network on Fashion-MNIST, eagerly and as a traced function, saves
// it, and loads the saved files. examples/c/conv_training.c is the same program and prints the same
// text.
//
//   conv_training_cpp DATA FOLDER [THREADS]

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tenon/tenon.hpp>
#include <vector>

extern "C" {
#include "examples/c/idx.h"
}

using namespace tenon;

constexpr int64_t kBatch = 64, kSteps = 20;

struct Network {
  Variable conv1, conv2, dense;

  static Network random() {
    const Generator generator(7);
    const auto normal = [&](const Shape& shape, double scale, const char* name) {
      return Variable(generator.normal(shape, 0, scale), {.name = name});
    };
    // Initializer lists are evaluated from left to right, which fixes the order in which the
    // weights are drawn.
    return {normal({8, 1, 3, 3}, 0.3, "conv1"), normal({16, 8, 3, 3}, 0.15, "conv2"),
            normal({784, 10}, 0.05, "dense")};
  }

  std::vector<Variable> weights() const { return {conv1, conv2, dense}; }

  // Maps f32[n,1,28,28] to a row of ten logits for each image.
  Tensor logits(const Tensor& images) const {
    const auto block = [](const Tensor& x, const Tensor& w) {
      return max_pool(relu(conv(x, w, {}, {.pads = {1, 1, 1, 1}})),
                      {.kernel_shape = {2, 2}, .strides = {2, 2}})
          .y;
    };
    return matmul(flatten(block(block(images, conv1), conv2)), dense);
  }
};

Tensor loss_of(const Tensor& logits, const Tensor& labels) {
  return sparse_softmax_cross_entropy(logits, labels).loss;
}

// The learning rate of a step: halved after every ten steps.
Tensor learning_rate(const Tensor& step) {
  return while_loop([](const Tensor&, const Tensor& left) { return greater_equal(left, 10); },
                    [](const Tensor& rate, const Tensor& left) {
                      return std::pair(rate * 0.5, left - 10);
                    },
                    0.1, step)
      .first;
}

// Makes one training step. Returns the loss before it.
Tensor train(const Network& net, const Tensor& images, const Tensor& labels, const Tensor& step) {
  static const auto clip_gradient = custom_gradient(
      [](const Tensor& x) { return identity(x); },
      [](const Backward& call) { return std::vector{clip(call.cotangents[0], -0.01, 0.01)}; });
  const std::vector<Variable> weights = net.weights();
  const Tape tape;
  const Tensor loss = loss_of(clip_gradient(net.logits(images)), labels);
  const std::vector<Tensor> gradients =
      tape.gradients(loss, std::vector<Value>(weights.begin(), weights.end()));
  const Tensor rate = learning_rate(step);
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i].assign(sgd(weights[i], gradients[i], rate));
  }
  return loss;
}

void print_loss(const char* what, const Tensor& loss) {
  std::printf("%s %.12f\n", what, loss.item<double>());
}

struct Batch {
  Tensor images, labels;
};

// The images of one step as numbers from 0 to 1, and their labels.
Batch make_batch(const image_set& data, int64_t step) {
  const Shape shape = {kBatch, 1, kImageSide, kImageSide};
  const auto* pixels = data.pixels + step * kBatch * kImagePixels;
  const auto* labels = data.labels + step * kBatch;
  const Tensor bytes(std::span(pixels, kBatch * kImagePixels), shape);
  return {cast(bytes, {.to = kFloat32}) * (1.0 / 255),
          cast(Tensor(std::span(labels, kBatch), Shape{kBatch}), {.to = kInt32})};
}

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: conv_training_cpp DATA FOLDER [THREADS]\n", stderr);
    return 2;
  }
  const std::string program = std::string(argv[2]) + "/conv_training_cpp.program";
  const std::string file = std::string(argv[2]) + "/conv_training_cpp.safetensors";
  image_set data = image_set_read(argv[1], "train");
  try {
    const auto threads = argc > 3 ? static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10)) : 0;
    const ScopeGuard in(Scope(Context({.threads = threads})));
    const Network net = Network::random();

    const auto traced =
        function([&](const Tensor& images, const Tensor& labels, const Tensor& step) {
          return train(net, images, labels, step);
        });
    for (int64_t step = 0; step < 2 * kSteps; ++step) {
      const auto [images, labels] = make_batch(data, step);
      if (step < kSteps) {
        print_loss("eager", train(net, images, labels, step));
      } else {
        print_loss("traced", traced(images, labels, step));
      }
    }

    const auto classify = function([&](const Tensor& images) { return net.logits(images); });
    const InputSpec any_number = {.name = "images",
                                  .shape = {TENON_SIZE_UNKNOWN, 1, kImageSide, kImageSide}};
    Program::save(program, {{"classify", classify.trace({any_number})}});
    save_safetensors(file, {{"conv1", net.conv1}, {"conv2", net.conv2}, {"dense", net.dense}});

    const auto [images, labels] = make_batch(data, 0);
    const Tensor logits = Program(program).function("classify")(images)[0];
    print_loss("program", loss_of(logits, labels));
    const Safetensors weights(file);
    const Network loaded = {Variable(weights.load("conv1")), Variable(weights.load("conv2")),
                            Variable(weights.load("dense"))};
    print_loss("safetensors", loss_of(loaded.logits(images), labels));
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  image_set_free(&data);
}
