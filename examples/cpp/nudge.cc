// Modifies a picture of a boot until a classifier, loaded from a file, classifies it as a sneaker.
// Makes ten line searches along the gradient of the loss with respect to the pixels, eagerly and
// traced. Writes the picture before and after.
//
//   nudge PROGRAM DATA    the program that ./dev demo saved, and the folder with its images

#include <cstdio>
#include <iostream>
#include <tenon/tenon.hpp>

extern "C" {
#include "examples/c/idx.h"
#include "examples/c/png.h"
}

using namespace tenon;

static constexpr int64_t kSneaker = 7, kBoot = 9;

static void write_picture(const Tensor& image, const char* path) {
  const std::vector<uint8_t> pixels = cast(image, {.to = kUint8}).to_vector<uint8_t>();
  FILE* out = std::fopen(path, "wb");
  if (!out) throw std::runtime_error(std::string(path) + " cannot be written");
  png_write(out, pixels.data(), kImageSide, kImageSide);
  std::fclose(out);
}

// Changes the image by ten line searches so that the program at `path` classifies it as a sneaker.
static void nudge(const char* path, Tensor image) {
  const Program program(path);
  const Function scores = program.function("classify");
  const Tensor wanted = vector<int64_t>({kSneaker});
  const auto loss = [&](const Tensor& x) {
    return sparse_softmax_cross_entropy(scores(x)[0], wanted).loss;
  };
  const auto report = [&](const char* label) {
    std::printf("%sclass %d, loss %.2f", label,
                static_cast<int>(argmax(scores(image)[0], {.axis = 1}).item<int64_t>()),
                loss(image).item<double>());
  };
  write_picture(image, "before.png");
  report("");
  for (int i = 0; i < 10; ++i) {
    // Makes one step: halves its length until the loss decreases by at least the amount that the
    // gradient predicts (Armijo's rule).
    const Gradients found = gradients(loss, image);
    const Tensor& slopes = found.by_argument[0];
    const double before = found.value.item<double>(), slope = sum_square(slopes).item<double>();
    for (double rate = 1e5; rate > 1; rate /= 2) {
      const Tensor next = clip(sgd(image, slopes, rate), 0, 255);
      if (loss(next).item<double>() > before - 1e-4 * rate * slope) continue;
      image = next;
      break;
    }
  }
  report("; nudged: ");
  std::printf("\n");
  write_picture(image, "after.png");
}

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: nudge PROGRAM DATA\n");
    return 2;
  }
  image_set images = image_set_read(argv[2], "t10k");
  size_t boot = 0;
  while (images.labels[boot] != kBoot) ++boot;
  const std::span<const uint8_t> pixels(images.pixels + boot * kImagePixels, kImagePixels);
  const Tensor image = cast(Tensor(pixels, Shape{1, 1, kImageSide, kImageSide}), {.to = kFloat32});
  image_set_free(&images);
  for (const bool traced : {false, true}) {
    run_functions_eagerly(!traced);
    std::printf("%s: ", traced ? "traced" : "eager");
    nudge(argv[1], image);
  }
}
