/* fashion_network.h - the demo's network: two convolutions with pooling, two dense layers, adam. */

#ifndef EXAMPLES_FASHION_NETWORK_H_
#define EXAMPLES_FASHION_NETWORK_H_

#include <tenon/tenon.h>

enum { kParameters = 8 };

typedef struct network {
  tenon_scope* scope;
  tenon_function* step; /* Maps images, labels, step number, learning rate to the loss. */
  tenon_variable* parameters[kParameters];
  tenon_variable* first_moments[kParameters];
  tenon_variable* second_moments[kParameters];
  int64_t steps; /* Number of training steps so far. */
} network;

/* Creates the network. The same seed gives the same weights. */
network* network_create(tenon_scope* scope, uint64_t seed);
void network_free(network* net);

/* Maps u8[n,1,28,28] to a row of ten logits for each image, f32[n,10]. */
tenon_tensor* network_logits(network* net, tenon_tensor* images);

/* Trains on images and their labels, i32[n], and returns the loss before the step. The step is a
 * function, which is traced at its first call, unless the context runs functions eagerly. */
double network_train(network* net, tenon_tensor* images, tenon_tensor* labels, double rate);

/* Multiplies each weight by a random number near 1 with the given standard deviation. */
void network_perturb_weights(network* net, uint64_t seed, double deviation);

/* Saves or loads only the weights. */
void network_save(network* net, const char* path);
void network_load(network* net, const char* path);
/* Saves the weights and the computation: a folder with the function "classify", which maps any
 * number of images, u8 or f32, to logits. */
void network_save_program(network* net, const char* path);

#endif /* EXAMPLES_FASHION_NETWORK_H_ */
