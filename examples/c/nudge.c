/* Modifies a picture of a boot until a classifier, loaded from a file, classifies it as a sneaker.
 * Makes ten line searches along the gradient of the loss with respect to the pixels, eagerly and
 * traced. Writes the picture before and after.
 *
 *   nudge PROGRAM DATA    the program that ./dev demo saved, and the folder with its images */

#include "examples/c/idx.h"
#include "examples/c/must.h"
#include "examples/c/png.h"

enum { kSneaker = 7, kBoot = 9 };

/* Computes the loss of the scores that a function returns. */
static tenon_error* loss(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                         size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  const int64_t wanted = kSneaker, one = 1;
  tenon_tensor *scores = NULL, *label = NULL;
  (void)n_inputs, (void)n_outputs;
  must(tenon_tensor_from_data(scope, TENON_INT64, &one, 1, &wanted, sizeof wanted, &label));
  must(tenon_function_call(scope, payload, inputs, 1, NULL, 0, &scores, 1, NULL));
  must(tenon_sparse_softmax_cross_entropy(scope, scores, label, NULL, &out_outputs[0], NULL));
  tenon_tensor_release(scores);
  tenon_tensor_release(label);
  return NULL;
}

static double evaluate(tenon_scope* scope, tenon_function* scores, tenon_tensor* image,
                       tenon_tensor** out_gradient) {
  const tenon_tensor_function function = {loss, scores, NULL};
  tenon_tensor* value = NULL;
  if (out_gradient) {
    must(tenon_gradients(scope, function, &image, 1, NULL, &value, 1, out_gradient, NULL));
  } else {
    must(loss(scores, scope, &image, 1, &value, 1));
  }
  const double result = number(scope, value);
  tenon_tensor_release(value);
  return result;
}

static double squared_norm(tenon_scope* scope, tenon_tensor* x) {
  tenon_tensor* sum = NULL;
  must(tenon_sum_square(scope, x, NULL, &sum));
  const double result = number(scope, sum);
  tenon_tensor_release(sum);
  return result;
}

/* Computes image - rate * gradient, clipped to the range of pixels. */
static tenon_tensor* moved(tenon_scope* scope, tenon_tensor* image, tenon_tensor* gradient,
                           double rate) {
  tenon_tensor *scale = tenon_scalar_f64(rate), *black = tenon_scalar_f64(0);
  tenon_tensor *white = tenon_scalar_f64(255), *next = NULL, *result = NULL;
  must(tenon_sgd(scope, image, gradient, scale, &next));
  must(tenon_clip(scope, next, black, white, &result));
  tenon_tensor* all[] = {scale, black, white, next};
  for (size_t i = 0; i < 4; ++i) tenon_tensor_release(all[i]);
  return result;
}

/* Makes one step: halves its length until the loss decreases by at least the amount that the
 * gradient predicts (Armijo's rule). */
static tenon_tensor* search(tenon_scope* scope, tenon_function* scores, tenon_tensor* image) {
  tenon_tensor *gradient = NULL, *next = NULL;
  const double before = evaluate(scope, scores, image, &gradient);
  const double slope = squared_norm(scope, gradient);
  for (double rate = 1e5; rate > 1; rate /= 2) {
    next = moved(scope, image, gradient, rate);
    if (evaluate(scope, scores, next, NULL) <= before - 1e-4 * rate * slope) break;
    tenon_tensor_release(next);
    next = NULL;
  }
  tenon_tensor_release(gradient);
  if (next) {
    tenon_tensor_release(image);
    return next;
  }
  return image;
}

static int64_t class_of(tenon_scope* scope, tenon_function* scores, tenon_tensor* image) {
  tenon_argmax_attrs of_a_picture = TENON_ARGMAX_ATTRS_DEFAULT;
  tenon_tensor *found = NULL, *best = NULL;
  int64_t index = -1;
  of_a_picture.axis = 1;
  must(tenon_function_call(scope, scores, &image, 1, NULL, 0, &found, 1, NULL));
  must(tenon_argmax(scope, found, &of_a_picture, &best));
  must(tenon_tensor_item_i64(scope, best, &index));
  tenon_tensor_release(best);
  tenon_tensor_release(found);
  return index;
}

static void write_picture(tenon_scope* scope, tenon_tensor* image, const char* path) {
  uint8_t pixels[kImagePixels];
  tenon_cast_attrs attrs = TENON_CAST_ATTRS_DEFAULT;
  tenon_tensor* bytes = NULL;
  FILE* out = fopen(path, "wb");
  attrs.to = TENON_UINT8;
  must(tenon_cast(scope, image, &attrs, &bytes));
  must(tenon_tensor_read(scope, bytes, pixels, sizeof pixels));
  tenon_tensor_release(bytes);
  if (!out) {
    fprintf(stderr, "%s cannot be written\n", path);
    exit(1);
  }
  png_write(out, pixels, kImageSide, kImageSide);
  fclose(out);
}

static void nudge(const char* path, const uint8_t* pixels, bool traced) {
  const int64_t shape[] = {1, 1, kImageSide, kImageSide};
  tenon_cast_attrs as_numbers = TENON_CAST_ATTRS_DEFAULT;
  tenon_context* context = NULL;
  tenon_program* program = NULL;
  tenon_function* scores = NULL;
  tenon_tensor *bytes = NULL, *image = NULL;
  must(tenon_context_create(NULL, &context));
  tenon_context_run_functions_eagerly(context, !traced);
  tenon_scope* scope = tenon_context_default_scope(context);
  must(tenon_program_open(scope, tenon_str(path), NULL, &program));
  must(tenon_program_get_function(program, tenon_str("classify"), &scores));
  must(tenon_tensor_from_data(scope, TENON_UINT8, shape, 4, pixels, kImagePixels, &bytes));
  as_numbers.to = TENON_FLOAT32;
  must(tenon_cast(scope, bytes, &as_numbers, &image));
  tenon_tensor_release(bytes);

  write_picture(scope, image, "before.png");
  printf("%s: class %d, loss %.2f", traced ? "traced" : "eager",
         (int)class_of(scope, scores, image), evaluate(scope, scores, image, NULL));
  for (int i = 0; i < 10; ++i) image = search(scope, scores, image);
  printf("; nudged: class %d, loss %.2f\n", (int)class_of(scope, scores, image),
         evaluate(scope, scores, image, NULL));
  write_picture(scope, image, "after.png");
  tenon_tensor_release(image);
  tenon_function_release(scores);
  tenon_program_release(program);
  tenon_context_release(context);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: nudge PROGRAM DATA\n");
    return 2;
  }
  image_set images = image_set_read(argv[2], "t10k");
  size_t boot = 0;
  while (images.labels[boot] != kBoot) ++boot;
  nudge(argv[1], images.pixels + boot * kImagePixels, false);
  nudge(argv[1], images.pixels + boot * kImagePixels, true);
  image_set_free(&images);
  return 0;
}
