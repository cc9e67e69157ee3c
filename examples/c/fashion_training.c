#include "examples/c/fashion_training.h"

#include <math.h>

#include "examples/c/must.h"

void* allocate(size_t size) {
  void* memory = malloc(size ? size : 1);
  if (!memory) {
    fputs("fashion: the host is out of memory\n", stderr);
    exit(1);
  }
  return memory;
}

device_set device_set_upload(tenon_scope* scope, const image_set* set) {
  const int64_t shape[] = {(int64_t)set->count, 1, kImageSide, kImageSide};
  tenon_cast_attrs to_int = TENON_CAST_ATTRS_DEFAULT;
  device_set result = {set->count, NULL, NULL};
  tenon_tensor* bytes = NULL;
  must(tenon_tensor_from_data(scope, TENON_UINT8, shape, 4, set->pixels, set->count * kImagePixels,
                              &result.images));
  must(tenon_tensor_from_data(scope, TENON_UINT8, shape, 1, set->labels, set->count, &bytes));
  to_int.to = TENON_INT32;
  must(tenon_cast(scope, bytes, &to_int, &result.labels));
  tenon_tensor_release(bytes);
  return result;
}

void device_set_release(device_set* set) {
  tenon_tensor_release(set->images);
  tenon_tensor_release(set->labels);
}

/* ---- the order of images ------------------------------------------------ */

/* Returns the next number of the SplitMix64 sequence and updates its state. */
static uint64_t next_random(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static void shuffle(int64_t* order, size_t count, uint64_t* state) {
  for (size_t i = count; i > 1; --i) {
    const size_t j = (size_t)(next_random(state) % i);
    const int64_t swapped = order[i - 1];
    order[i - 1] = order[j];
    order[j] = swapped;
  }
}

/* Trains one step on the images at `indices` and returns the loss. */
static double train_on(network* net, const device_set* set, const int64_t* indices, int64_t count,
                       double rate) {
  tenon_tensor *at = NULL, *images = NULL, *labels = NULL;
  must(tenon_tensor_from_data(net->scope, TENON_INT64, &count, 1, indices,
                              (size_t)count * sizeof *indices, &at));
  must(tenon_gather(net->scope, set->images, at, NULL, &images));
  must(tenon_gather(net->scope, set->labels, at, NULL, &labels));
  const double loss = network_train(net, images, labels, rate);
  tenon_tensor_release(labels);
  tenon_tensor_release(images);
  tenon_tensor_release(at);
  return loss;
}

/* Returns the learning rate of a step. It decays from its peak to 0 along half a cosine, so that
 * the last steps converge. */
static double rate_at(size_t step, size_t steps) {
  const double pi = 3.14159265358979323846;
  return 0.002 * 0.5 * (1 + cos(pi * (double)step / (double)steps));
}

course course_start(const fashion_options* options, size_t count) {
  course c = {count,        (size_t)options->batch, 0, 0, 0, allocate(count * sizeof(int64_t)),
              options->seed};
  c.steps = (count + c.batch - 1) / c.batch;
  c.all = c.steps * (size_t)options->epochs;
  for (size_t i = 0; i < count; ++i) c.order[i] = (int64_t)i;
  return c;
}

double course_step(course* c, network* net, const device_set* set) {
  const size_t from = c->done % c->steps * c->batch;
  const size_t count = from + c->batch < c->count ? c->batch : c->count - from;
  if (from == 0) shuffle(c->order, c->count, &c->random);
  const double rate = rate_at(c->done++, c->all);
  return train_on(net, set, c->order + from, (int64_t)count, rate);
}

void course_free(course* c) { free(c->order); }
