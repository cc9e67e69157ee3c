/* fashion_network.h - the demo's network: two convolutions with pooling, two dense layers, adam. */

#ifndef EXAMPLES_FASHION_NETWORK_H_
#define EXAMPLES_FASHION_NETWORK_H_

#include <tenon/tenon.h>

enum { kParameters = 8 };

typedef struct network {
  tenon_scope* scope;
  tenon_function* step; /* One step of training: u8[n,1,28,28], i32[n], number and rate to loss. */
  tenon_variable* parameters[kParameters];
  tenon_variable* first_moments[kParameters];
  tenon_variable* second_moments[kParameters];
  int64_t steps; /* How often it was trained. */
} network;

/* The same seed gives the same weights. */
network* network_create(tenon_scope* scope, uint64_t seed);
void network_free(network* net);

/* One row of ten logits for each image: u8[n,1,28,28] gives f32[n,10]. */
tenon_tensor* network_logits(network* net, tenon_tensor* images);

/* Learns from images and their labels, i32[n]; gives their loss from before. The step is a function
 * that is traced at its first call, or runs as it is written: as the context's functions do. */
double network_train(network* net, tenon_tensor* images, tenon_tensor* labels, double rate);

/* Multiplies each weight with a random number around 1. */
void network_disturb(network* net, uint64_t seed, double deviation);

/* The weights alone; loading replaces them by those of a file. */
void network_save(network* net, const char* path);
void network_load(network* net, const char* path);
/* The weights with what is done with them: a folder of the function "classify", which gives logits
 * for any number of images, be they u8 or f32. */
void network_save_program(network* net, const char* path);

#endif /* EXAMPLES_FASHION_NETWORK_H_ */
