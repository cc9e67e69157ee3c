/* Shared helpers of the C tests. RUN() calls a test function with a new context and scope, on the
 * device named by TENON_TEST_DEVICE. A test fails if a check fails or if it leaks memory on that
 * device. */

#ifndef TENON_CAPI_TESTS_CHECK_H_
#define TENON_CAPI_TESTS_CHECK_H_

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

/* ---- running ------------------------------------------------------------ */

#define RUN(test) run_test(#test, test)

void run_test(const char* name, void (*test)(void));
/* The exit status: 0 if every test passed. */
int report(void);

/* The context and the scope of the running test. */
tenon_context* context(void);
tenon_scope* scope(void);
/* Context options with which that device is found. For a test-only plugin they contain its file and
 * options, from TENON_TEST_PLUGIN and TENON_TEST_OPTIONS ("delay_us=20,visible=1"). */
tenon_context_options test_options(void);
/* Creates another context, on that device. */
tenon_context* create_context(void);
/* The name of that device, for example "ref:0". */
const char* device_name(void);
/* Whether that device has all of these features. */
int device_has(tenon_features features);
/* Waits for the scope's work and for the callbacks that it triggers. */
void settle(void);
/* The number of bytes that tensors hold on the device. */
uint64_t live_bytes(void);
/* The folder of the built plugins. */
const char* plugin_folder(void);

/* ---- checking ----------------------------------------------------------- */

void check_that(int ok, const char* what, const char* file, int line);
void check_ok(tenon_error* error, const char* what, const char* file, int line);
void check_error(tenon_error* error, tenon_code code, const char* message, const char* what,
                 const char* file, int line);
void check_text(tenon_string text, const char* part, int whole, const char* file, int line);
void check_values(tenon_tensor* tensor, const double* values, size_t n, double tolerance,
                  const char* file, int line);

#define CHECK(condition) check_that((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
/* Releases the error, if there is one. */
#define CHECK_OK(call) check_ok(call, #call, __FILE__, __LINE__)
/* Checks that the call fails with this code and a message that contains `part`. Releases the
 * error. */
#define CHECK_ERROR(call, code, part) check_error(call, code, part, #call, __FILE__, __LINE__)
#define CHECK_TEXT(text, expected) check_text(text, expected, 1, __FILE__, __LINE__)
#define CHECK_CONTAINS(text, part) check_text(text, part, 0, __FILE__, __LINE__)
/* Check the elements, of any dtype: exactly, or with a relative tolerance of 1e-5. */
#define CHECK_VALUES(tensor, ...)                     \
  check_values(tensor, (const double[]){__VA_ARGS__}, \
               sizeof((const double[]){__VA_ARGS__}) / sizeof(double), 0, __FILE__, __LINE__)
#define CHECK_NEAR(tensor, ...)                       \
  check_values(tensor, (const double[]){__VA_ARGS__}, \
               sizeof((const double[]){__VA_ARGS__}) / sizeof(double), 1e-5, __FILE__, __LINE__)

/* ---- tensors ------------------------------------------------------------ */

/* An f32[n] tensor of the given values. */
#define F32(...) \
  make_f32((const float[]){__VA_ARGS__}, sizeof((const float[]){__VA_ARGS__}) / sizeof(float))

tenon_tensor* make_f32(const float* values, size_t n);
tenon_tensor* make_f32_matrix(int64_t rows, int64_t columns, const float* values);
/* An i32[rows,columns] tensor of zeros. */
tenon_tensor* make_i32(int64_t rows, int64_t columns);

/* Calls an op with a tensor and an inline scalar, and releases the scalar. */
tenon_error* with_scalar(tenon_scope* inner, uint32_t op, tenon_tensor* x, tenon_tensor* scalar,
                         tenon_tensor** out);

/* Read sizes of a tensor on the host; the test fails if a read fails. */
int64_t count_of(const tenon_tensor* tensor);
int64_t size_of(const tenon_tensor* tensor, int64_t axis);

/* ---- custom ops --------------------------------------------------------- */

/* Attributes of an op that multiplies its input by a factor. */
struct scale_attrs {
  uint32_t struct_size;
  float factor;
};

/* `infer` of an op whose output has the type of its first input, which must be f32 or f64. */
tenon_error* infer_same(void* payload, const void* attrs, const tenon_type* inputs, size_t n_inputs,
                        tenon_type* out_types, size_t n_outputs);
/* `backward` of the scale op; its attributes are required. */
tenon_error* backward_scale(void* payload, tenon_scope* inner, const void* attrs,
                            const tenon_backward_args* args, tenon_tensor** out_grads,
                            size_t n_grads);

/* An invalid pointer, to check that a failed call clears its outputs. */
#define GARBAGE(type) ((type*)(uintptr_t)0x1)

#endif /* TENON_CAPI_TESTS_CHECK_H_ */
