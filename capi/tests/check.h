/* Helpers of the C tests. RUN() calls a test function with a new context and a scope on the device
 * that TENON_TEST_DEVICE names. A test fails if one of its checks fails, or if memory of that
 * device is still allocated afterwards. */

#ifndef TENON_CAPI_TESTS_CHECK_H_
#define TENON_CAPI_TESTS_CHECK_H_

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

/* ---- running tests ------------------------------------------------------ */

#define RUN(test) run_test(#test, test)

void run_test(const char* name, void (*test)(void));
/* Prints a summary and returns the exit status: 0 if every test passed. */
int report(void);

/* Return the context and the scope of the running test. */
tenon_context* context(void);
tenon_scope* scope(void);
/* Returns context options with which the test's device is available. If the device belongs to a
 * plugin for tests, they include the plugin's file (TENON_TEST_PLUGIN) and its options
 * (TENON_TEST_OPTIONS, such as "delay_us=20,visible=1"). */
tenon_context_options test_options(void);
/* Creates another context in which the test's device is available. */
tenon_context* create_context(void);
/* Returns the name of the test's device, such as "ref:0". */
const char* device_name(void);
/* Whether the test's device has all of these features. */
int device_has(tenon_features features);
/* Waits until the scope's work and its callbacks have finished. */
void settle(void);
/* Returns the number of bytes that tensors hold on the test's device. */
uint64_t live_bytes(void);
/* Returns the folder of the plugins that this build contains. */
const char* plugin_folder(void);

/* ---- checks ------------------------------------------------------------- */

void check_that(int ok, const char* what, const char* file, int line);
void check_ok(tenon_error* error, const char* what, const char* file, int line);
void check_error(tenon_error* error, tenon_code code, const char* message, const char* what,
                 const char* file, int line);
void check_text(tenon_string text, const char* part, int whole, const char* file, int line);
void check_values(tenon_tensor* tensor, const double* values, size_t n, double tolerance,
                  const char* file, int line);

#define CHECK(condition) check_that((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
/* Checks that a call succeeds, and releases its error otherwise. */
#define CHECK_OK(call) check_ok(call, #call, __FILE__, __LINE__)
/* Checks that a call fails with this code, and that the message contains `part`. Releases the
 * error. */
#define CHECK_ERROR(call, code, part) check_error(call, code, part, #call, __FILE__, __LINE__)
#define CHECK_TEXT(text, expected) check_text(text, expected, 1, __FILE__, __LINE__)
#define CHECK_CONTAINS(text, part) check_text(text, part, 0, __FILE__, __LINE__)
/* Check the elements of a tensor of any dtype: exactly, or within a relative error of 1e-5. */
#define CHECK_VALUES(tensor, ...)                     \
  check_values(tensor, (const double[]){__VA_ARGS__}, \
               sizeof((const double[]){__VA_ARGS__}) / sizeof(double), 0, __FILE__, __LINE__)
#define CHECK_NEAR(tensor, ...)                       \
  check_values(tensor, (const double[]){__VA_ARGS__}, \
               sizeof((const double[]){__VA_ARGS__}) / sizeof(double), 1e-5, __FILE__, __LINE__)

/* ---- tensors ------------------------------------------------------------ */

/* Creates an f32[n] tensor with the given values. */
#define F32(...) \
  make_f32((const float[]){__VA_ARGS__}, sizeof((const float[]){__VA_ARGS__}) / sizeof(float))

tenon_tensor* make_f32(const float* values, size_t n);
tenon_tensor* make_f32_matrix(int64_t rows, int64_t columns, const float* values);
/* Creates an i32[rows,columns] tensor of zeros. */
tenon_tensor* make_i32(int64_t rows, int64_t columns);

/* Calls an op with a tensor and an inline scalar. Releases the scalar. */
tenon_error* with_scalar(tenon_scope* inner, uint32_t op, tenon_tensor* x, tenon_tensor* scalar,
                         tenon_tensor** out);

/* Return the number of elements or a size of a tensor. The test fails if the size cannot be read.
 */
int64_t count_of(const tenon_tensor* tensor);
int64_t size_of(const tenon_tensor* tensor, int64_t axis);

/* ---- custom ops for tests ----------------------------------------------- */

/* Attributes of the op `scale`, which multiplies its input by a factor. */
struct scale_attrs {
  uint32_t struct_size;
  float factor;
};

/* An `infer` function. The output has the type of the first input, which must be f32 or f64. */
tenon_error* infer_same(void* payload, const void* attrs, const tenon_type* inputs, size_t n_inputs,
                        tenon_type* out_types, size_t n_outputs);
/* The `backward` function of the op `scale`. Requires that the attributes are not NULL. */
tenon_error* backward_scale(void* payload, tenon_scope* inner, const void* attrs,
                            const tenon_backward_args* args, tenon_tensor** out_grads,
                            size_t n_grads);

/* An invalid pointer. Tests store it in an output, to check that a failed call overwrites it. */
#define GARBAGE(type) ((type*)(uintptr_t)0x1)

#endif /* TENON_CAPI_TESTS_CHECK_H_ */
