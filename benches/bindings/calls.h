/* The work that `./dev bench bindings` compares, in C. Each function repeats it and returns the
 * elapsed nanoseconds. The benches in C++, Rust and Java call these in their own processes,
 * alternating with their own work, so that other load on the machine affects both. */

#ifndef BENCHES_BINDINGS_CALLS_H_
#define BENCHES_BINDINGS_CALLS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The network of the training step: 64 rows of 784 features, 128 hidden units, 10 classes. */
enum { kBenchRows = 64, kBenchFeatures = 784, kBenchHidden = 128, kBenchClasses = 10 };
/* Calls per measurement; the tape is reset after as many recorded adds. */
enum { kBenchBatch = 100 };
/* Training steps of one measurement. The first finds the other language's weights in the caches. */
enum { kBenchSteps = 10 };

/* Adds two tensors with one element and releases the result. */
int64_t bench_c_eager_add(int64_t repetitions);
/* The same, recorded by a tape. `repetitions` must be a multiple of kBenchBatch. */
int64_t bench_c_recorded_add(int64_t repetitions);
/* Calls a traced function that adds two tensors with one element. */
int64_t bench_c_function_call(int64_t repetitions);
/* One step of stochastic gradient descent on the network, recorded by a tape. */
int64_t bench_c_training_step(int64_t repetitions);

/* The same through tenon.hpp, in the bench itself. */
int64_t bench_cpp_eager_add(int64_t repetitions);
int64_t bench_cpp_recorded_add(int64_t repetitions);
int64_t bench_cpp_function_call(int64_t repetitions);
int64_t bench_cpp_training_step(int64_t repetitions);

#ifdef __cplusplus
}
#endif

#endif /* BENCHES_BINDINGS_CALLS_H_ */
