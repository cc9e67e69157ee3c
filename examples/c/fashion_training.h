/* fashion_training.h - the demo's images on a device, and the order in which the network is
 * trained on them. */

#ifndef EXAMPLES_FASHION_TRAINING_H_
#define EXAMPLES_FASHION_TRAINING_H_

#include <tenon/tenon.h>

#include "examples/c/fashion_network.h"
#include "examples/c/fashion_options.h"
#include "examples/c/idx.h"

/* A set of images on the scope's device. */
typedef struct device_set {
  size_t count;
  tenon_tensor* images; /* u8[count,1,28,28] */
  tenon_tensor* labels; /* i32[count] */
} device_set;

device_set device_set_upload(tenon_scope* scope, const image_set* set);
void device_set_release(device_set* set);

/* The sequence of training steps, determined by the options and the number of images. */
typedef struct course {
  size_t count, batch;
  size_t steps; /* Number of steps per epoch. */
  size_t all;   /* Number of steps in all epochs. */
  size_t done;
  int64_t* order; /* Order of the images in this epoch. */
  uint64_t random;
} course;

/* Starts a sequence of training steps over `count` images; course_free() releases it. */
course course_start(const fashion_options* options, size_t count);
/* Runs the next step and returns its loss. */
double course_step(course* c, network* net, const device_set* set);
void course_free(course* c);

/* Allocates `size` bytes; exits if memory is exhausted. */
void* allocate(size_t size);

#endif /* EXAMPLES_FASHION_TRAINING_H_ */
