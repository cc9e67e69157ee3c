/* What the scenarios share: what one owns, its result, and calls that may fail once. */

#ifndef TENON_CAPI_TESTS_MEMORY_ARENA_H_
#define TENON_CAPI_TESTS_MEMORY_ARENA_H_

#include <stdint.h>
#include <tenon/tenon.h>

/* ---- calls that may fail once ------------------------------------------- */

/* Whether a call failed, and is to be repeated. Allocations fail no more then. An error other than
 * OUT_OF_MEMORY is a problem. */
int must_repeat(tenon_error* error, const char* call, const char* file, int line);
/* Whether it failed again, which is a problem. */
int failed_again(tenon_error* error, const char* call, const char* file, int line);

/* Makes a call, and repeats it if it fails. Goes to `end` if it fails again. */
#define DO(call)                                         \
  do {                                                   \
    if (must_repeat(call, #call, __FILE__, __LINE__) &&  \
        failed_again(call, #call, __FILE__, __LINE__)) { \
      goto end;                                          \
    }                                                    \
  } while (0)

/* The same in functions that return `error`, whose callers repeat them. */
#define TRY(call)        \
  do {                   \
    error = call;        \
    if (error) goto end; \
  } while (0)

tenon_tensor* scalar(double value);

/* ---- what a scenario owns ----------------------------------------------- */

enum { kMaxOwned = 64 };

struct arena {
  tenon_context* context;
  tenon_scope* scope;
  tenon_tensor* tensors[kMaxOwned];
  int n;
};

/* False if it failed. */
int begin(struct arena* own, const char* device);
/* Releases everything and returns the hash of what was added. */
uint64_t finish(struct arena* own);

/* Where the next tensor goes, which finish() releases; the last one. */
tenon_tensor** next(struct arena* own);
tenon_tensor* last(const struct arena* own);

/* f32[rows,columns] of small numbers; NULL if it failed. */
tenon_tensor* matrix(struct arena* own, int64_t rows, int64_t columns);

/* Add to the scenario's result: bytes, a text, the elements of a tensor. */
void add_bytes(const void* data, size_t size);
void add_text(tenon_string text);
void add(struct arena* own, tenon_tensor* x);

/* ---- a step of training ------------------------------------------------- */

/* sum(tanh(x w)^2) */
tenon_error* loss(tenon_scope* scope, tenon_tensor* x, tenon_tensor* w, tenon_tensor** out_loss);

/* A function, its inputs and the variable that it assigns. */
struct training {
  struct arena own;
  tenon_tensor* inputs[2];
  tenon_variable* state;
  tenon_function* function;
};

int begin_training(struct training* made, const char* device);
uint64_t finish_training(struct training* made);

#endif /* TENON_CAPI_TESTS_MEMORY_ARENA_H_ */
