/* The work in C that `./dev bench bindings` compares with other languages. Each function repeats
 * its work and returns the elapsed nanoseconds. The benches in C++, Rust and Java call these
 * functions in their own process, in alternation with their own work, so that other load affects
 * both equally. */

#ifndef BENCHES_BINDINGS_CALLS_H_
#define BENCHES_BINDINGS_CALLS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The network of the training step: 64 rows of 784 features, 128 hidden units, 10 classes. */
enum { kBenchRows = 64, kBenchFeatures = 784, kBenchHidden = 128, kBenchClasses = 10 };
/* Number of calls in a measurement, and of recorded adds after which the tape is reset. */
enum { kBenchBatch = 100 };
/* Number of training steps in a measurement. The first step of a measurement is slower, because the
 * processor's caches then hold the weights of the other language's network. */
enum { kBenchSteps = 10 };

/* Adds two tensors of one element and releases the result, in eager mode. */
int64_t bench_c_eager_add(int64_t repetitions);
/* Like bench_c_eager_add(), but a tape records the adds. `repetitions` must be a multiple of
 * kBenchBatch. */
int64_t bench_c_recorded_add(int64_t repetitions);
/* Calls a traced function that adds two tensors of one element. */
int64_t bench_c_function_call(int64_t repetitions);
/* Runs steps of stochastic gradient descent on the network, with gradients from a tape. */
int64_t bench_c_training_step(int64_t repetitions);

/* Do the same work as the bench_c_ functions, but through the C++ binding, tenon.hpp. The program
 * bench_bindings defines these functions. */
int64_t bench_cpp_eager_add(int64_t repetitions);
int64_t bench_cpp_recorded_add(int64_t repetitions);
int64_t bench_cpp_function_call(int64_t repetitions);
int64_t bench_cpp_training_step(int64_t repetitions);

#ifdef __cplusplus
}
#endif

#endif /* BENCHES_BINDINGS_CALLS_H_ */
