/* The demo: trains a convolutional network on Fashion-MNIST, using only the C ABI.
 *
 * Read fashion_network.c for the network and its gradients, and fashion_training.c for the data and
 * the order of the images. This file runs the training, tests the network, and checks that saved
 * weights give the same outputs. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "examples/c/fashion_compare.h"
#include "examples/c/fashion_page.h"
#include "examples/c/fashion_training.h"
#include "examples/c/must.h"
#include "examples/c/progress.h"

enum { kTestBatch = 500, kLossPoints = 200 };

/* Predictions of the network for the test images. */
typedef struct verdict {
  double accuracy;
  uint8_t* predicted;
  float* confidence;
} verdict;

/* ---- training and tests -------------------------------------------------- */

/* Computes the logits of test images [from, to) and reads them back to the host. */
static void read_logits(network* net, const device_set* set, size_t from, size_t to, float* out) {
  const int64_t start = (int64_t)from, end = (int64_t)to;
  tenon_slice_attrs attrs = TENON_SLICE_ATTRS_DEFAULT;
  tenon_tensor* images = NULL;
  attrs.starts = &start;
  attrs.n_starts = 1;
  attrs.ends = &end;
  attrs.n_ends = 1;
  must(tenon_slice(net->scope, set->images, &attrs, &images));
  tenon_tensor* logits = network_logits(net, images);
  must(tenon_tensor_read(net->scope, logits, out, (to - from) * kClasses * sizeof *out));
  tenon_tensor_release(logits);
  tenon_tensor_release(images);
}

static void judge(const float* logits, uint8_t* predicted, float* confidence) {
  double sum = 0;
  int best = 0;
  for (int c = 1; c < kClasses; ++c) best = logits[c] > logits[best] ? c : best;
  for (int c = 0; c < kClasses; ++c) sum += exp((double)logits[c] - (double)logits[best]);
  *predicted = (uint8_t)best;
  *confidence = (float)(1 / sum);
}

static void test(network* net, const device_set* set, const image_set* truth, verdict* v) {
  float* logits = allocate(kTestBatch * kClasses * sizeof *logits);
  size_t right = 0;
  for (size_t from = 0; from < set->count; from += kTestBatch) {
    const size_t to = from + kTestBatch < set->count ? from + kTestBatch : set->count;
    read_logits(net, set, from, to, logits);
    for (size_t i = from; i < to; ++i) {
      judge(logits + (i - from) * kClasses, &v->predicted[i], &v->confidence[i]);
      right += v->predicted[i] == truth->labels[i];
    }
  }
  v->accuracy = (double)right / (double)set->count;
  free(logits);
}

/* Returns the peak memory of tensors so far in MiB, including the images. */
static double peak_memory_mib(tenon_scope* scope) {
  tenon_device* device = NULL;
  must(tenon_scope_get_device(scope, &device));
  const double bytes = (double)memory_of(device).peak_bytes;
  tenon_device_release(device);
  return bytes / (1 << 20);
}

/* The curves of a training. Each loss is the mean over a group of consecutive steps. */
typedef struct history {
  double* losses;
  size_t n_losses;
  double* accuracies;
  double peak_memory_mib; /* Peak memory during the first epoch, before the first test. */
} history;

static history train(network* net, const fashion_options* options, const device_set* data,
                     const device_set* test_data, const image_set* truth, verdict* v) {
  const size_t epochs = (size_t)options->epochs;
  course c = course_start(options, data->count);
  const size_t stretch = (c.all + kLossPoints - 1) / kLossPoints;
  history h = {allocate(kLossPoints * sizeof(double)), 0, allocate(epochs * sizeof(double)), 0};
  double stretch_loss = 0;

  progress bar = progress_start(epochs, c.steps, c.batch);
  for (size_t epoch = 0; epoch < epochs; ++epoch) {
    double epoch_loss = 0;
    for (size_t step = 0; step < c.steps; ++step) {
      const double loss = course_step(&c, net, data);
      epoch_loss += loss;
      stretch_loss += loss;
      if (c.done % stretch == 0) {
        h.losses[h.n_losses++] = stretch_loss / (double)stretch;
        stretch_loss = 0;
      }
      progress_step(&bar, epoch + 1, step + 1, epoch_loss / (double)(step + 1));
    }
    if (epoch == 0) h.peak_memory_mib = peak_memory_mib(net->scope);
    test(net, test_data, truth, v);
    h.accuracies[epoch] = v->accuracy;
    progress_epoch(&bar, epoch + 1, epoch_loss / (double)c.steps, v->accuracy);
  }
  course_free(&c);
  return h;
}

/* ---- after the training -------------------------------------------------- */

/* Saves the weights, loads them into another network, and compares the outputs of both bit by
 * bit. */
static void save_and_check(network* net, const fashion_options* options, const device_set* set) {
  const size_t count = set->count < kTestBatch ? set->count : kTestBatch;
  const size_t bytes = count * kClasses * sizeof(float);
  float* before = allocate(bytes);
  float* after = allocate(bytes);
  network* loaded = network_create(net->scope, options->seed + 1);
  network_save(net, options->save);
  network_load(loaded, options->save);
  read_logits(net, set, 0, count, before);
  read_logits(loaded, set, 0, count, after);
  if (memcmp(before, after, bytes)) {
    fprintf(stderr, "fashion: the weights in %s give other outputs than those in memory\n",
            options->save);
    exit(1);
  }
  printf("saved %s; loaded again, it gives the same outputs\n", options->save);
  network_free(loaded);
  free(after);
  free(before);
}

/* Writes images as numpy.save() does: u8[count,1,28,28]. */
static void write_images(const char* path, const image_set* set) {
  char header[128];
  const size_t size = set->count * kImagePixels;
  FILE* file = fopen(path, "wb");
  memset(header, ' ', sizeof header);
  memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
  const int length =
      snprintf(header + 10, sizeof header - 10,
               "{'descr': '|u1', 'fortran_order': False, 'shape': (%zu, 1, %d, %d), }", set->count,
               kImageSide, kImageSide);
  header[10 + length] = ' '; /* Replaces the terminating zero that snprintf wrote. */
  header[sizeof header - 1] = '\n';
  if (!file || fwrite(header, 1, sizeof header, file) != sizeof header ||
      fwrite(set->pixels, 1, size, file) != size || fclose(file) != 0) {
    fprintf(stderr, "fashion: %s: %s\n", path, strerror(errno));
    exit(1);
  }
  printf("wrote %s\n", path);
}

/* Exits if the file cannot be written, so that this is found before the training and not after
 * it. */
static void must_be_writable(const char* path) {
  FILE* file = fopen(path, "ab");
  if (!file) {
    fprintf(stderr, "fashion: %s: %s\n", path, strerror(errno));
    exit(1);
  }
  fclose(file);
}

static void describe_device(tenon_scope* scope, char* text, size_t size) {
  tenon_device* device = NULL;
  tenon_device_info info = {0};
  info.struct_size = sizeof info;
  must(tenon_scope_get_device(scope, &device));
  must(tenon_device_describe(device, &info));
  snprintf(text, size, "%s (%s)", info.name.data, info.description.data);
  tenon_device_release(device);
}

int main(int argc, char** argv) {
  const fashion_options options = fashion_options_parse(argc, argv);
  tenon_context_options context_options = TENON_CONTEXT_OPTIONS_DEFAULT;
  tenon_context* context = NULL;
  char device[256];
  context_options.threads = options.threads;
  context_options.fallback_policy = options.fallback;
  must(tenon_context_create(&context_options, &context));
  tenon_context_run_functions_eagerly(context, options.eager);
  tenon_scope* scope = tenon_context_default_scope(context);
  must(tenon_scope_set_device(scope, tenon_str(options.device)));
  must_be_writable(options.save);
  must_be_writable(options.page);
  if (*options.images) must_be_writable(options.images);
  describe_device(scope, device, sizeof device);

  image_set train_images = image_set_read(options.data, "train");
  image_set test_images = image_set_read(options.data, "t10k");
  device_set train_set = device_set_upload(scope, &train_images);
  device_set test_set = device_set_upload(scope, &test_images);
  printf("training on %s: %zu images, testing on %zu\n", device, train_set.count, test_set.count);
  fflush(stdout);
  if (*options.compare && !fashion_compare(scope, &options, &train_images)) {
    fprintf(stderr, "fashion: %s and %s differ by more than rounding explains\n", options.device,
            options.compare);
    return 1;
  }
  image_set_free(&train_images);

  network* net = network_create(scope, options.seed);
  verdict v = {0, allocate(test_set.count), allocate(test_set.count * sizeof(float))};
  const double start = seconds();
  history h = train(net, &options, &train_set, &test_set, &test_images, &v);
  const double taken = seconds() - start;
  const double images_per_s = (double)options.epochs * (double)train_set.count / taken;
  printf("trained in %.1f s, %.0f images/s; tensors took at most %.1f MiB while it did\n", taken,
         images_per_s, h.peak_memory_mib);
  save_and_check(net, &options, &test_set);
  network_save_program(net, options.program);
  printf("saved the program %s: `tenon inspect %s` describes it\n", options.program,
         options.program);
  if (*options.images) write_images(options.images, &test_images);

  const fashion_report report = {&options,    device,      taken,        images_per_s,
                                 h.losses,    h.n_losses,  h.accuracies, &test_images,
                                 v.predicted, v.confidence};
  if (!fashion_page_write(options.page, &report)) {
    fprintf(stderr, "fashion: %s: %s\n", options.page, strerror(errno));
    return 1;
  }
  printf("wrote %s\n", options.page);
  printf("test accuracy: %.4f\n", v.accuracy);

  free(h.losses);
  free(h.accuracies);
  free(v.predicted);
  free(v.confidence);
  network_free(net);
  device_set_release(&train_set);
  device_set_release(&test_set);
  image_set_free(&test_images);
  tenon_context_release(context);
  return 0;
}
