/* Helpers of the scenarios: owned objects, a hash of the results, and calls that may fail once. */

#ifndef TENON_CAPI_TESTS_MEMORY_ARENA_H_
#define TENON_CAPI_TESTS_MEMORY_ARENA_H_

#include <stdint.h>
#include <tenon/tenon.h>

/* ---- repeating failed calls --------------------------------------------- */

/* Returns whether a call failed and must be repeated. If it did, no further allocations fail.
 * Counts errors other than OUT_OF_MEMORY as problems. */
int must_repeat(tenon_error* error, const char* call, const char* file, int line);
/* Returns whether the repeated call failed, too, and counts that as a problem. */
int failed_again(tenon_error* error, const char* call, const char* file, int line);

/* Makes a call and, if it fails, repeats it once. Jumps to `end` if it fails again. */
#define DO(call)                                         \
  do {                                                   \
    if (must_repeat(call, #call, __FILE__, __LINE__) &&  \
        failed_again(call, #call, __FILE__, __LINE__)) { \
      goto end;                                          \
    }                                                    \
  } while (0)

/* Makes a call in a function that returns `error`. Jumps to `end` if it fails; the caller of the
 * function repeats it. */
#define TRY(call)        \
  do {                   \
    error = call;        \
    if (error) goto end; \
  } while (0)

tenon_tensor* scalar(double value);

/* ---- objects of a scenario ---------------------------------------------- */

enum { kMaxOwned = 64 };

struct arena {
  tenon_context* context;
  tenon_scope* scope;
  tenon_tensor* tensors[kMaxOwned];
  int n;
};

/* Creates the context and the scope. Returns false on failure. */
int begin(struct arena* own, const char* device);
/* Releases all objects. Returns the hash of everything that was added. */
uint64_t finish(struct arena* own);

/* next() returns the slot for a new tensor, which finish() releases. last() returns the tensor in
 * the latest slot. */
tenon_tensor** next(struct arena* own);
tenon_tensor* last(const struct arena* own);

/* Creates an f32[rows,columns] tensor of small numbers; NULL on failure. */
tenon_tensor* matrix(struct arena* own, int64_t rows, int64_t columns);

/* Add bytes, text or the elements of a tensor to the hash of the scenario's results. */
void add_bytes(const void* data, size_t size);
void add_text(tenon_string text);
void add(struct arena* own, tenon_tensor* x);

/* ---- a step of training ------------------------------------------------- */

/* Computes sum(tanh(x w)^2). */
tenon_error* loss(tenon_scope* scope, tenon_tensor* x, tenon_tensor* w, tenon_tensor** out_loss);

/* A training function, its inputs, and the variable that it assigns. */
struct training {
  struct arena own;
  tenon_tensor* inputs[2];
  tenon_variable* state;
  tenon_function* function;
};

int begin_training(struct training* made, const char* device);
uint64_t finish_training(struct training* made);

#endif /* TENON_CAPI_TESTS_MEMORY_ARENA_H_ */
