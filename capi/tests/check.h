/* What the C tests share. A test is a function that RUN() calls with a context and a scope of its
 * own, on the device that TENON_TEST_DEVICE names; it fails if a check fails or if it leaves memory
 * behind on that device. */

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

/* Of the test that runs. */
tenon_context* context(void);
tenon_scope* scope(void);
/* Options under which that device is found: of a plugin that only tests have, its file and its
 * options, from TENON_TEST_PLUGIN and TENON_TEST_OPTIONS ("delay_us=20,visible=1"). */
tenon_context_options test_options(void);
/* A context of the test's own, on that device. */
tenon_context* create_context(void);
/* "ref:0". */
const char* device_name(void);
/* Whether that device has all of these features. */
int device_has(tenon_features features);
/* Waits for the scope's work and for the callbacks that follow from it. */
void settle(void);
/* What tensors hold on the device. */
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
/* The call fails with this code and a message that has this part; the error is released. */
#define CHECK_ERROR(call, code, part) check_error(call, code, part, #call, __FILE__, __LINE__)
#define CHECK_TEXT(text, expected) check_text(text, expected, 1, __FILE__, __LINE__)
#define CHECK_CONTAINS(text, part) check_text(text, part, 0, __FILE__, __LINE__)
/* The elements, of any dtype, are these, exactly or up to a part of 1e-5. */
#define CHECK_VALUES(tensor, ...)                     \
  check_values(tensor, (const double[]){__VA_ARGS__}, \
               sizeof((const double[]){__VA_ARGS__}) / sizeof(double), 0, __FILE__, __LINE__)
#define CHECK_NEAR(tensor, ...)                       \
  check_values(tensor, (const double[]){__VA_ARGS__}, \
               sizeof((const double[]){__VA_ARGS__}) / sizeof(double), 1e-5, __FILE__, __LINE__)

/* ---- tensors ------------------------------------------------------------ */

/* f32[n] of the values given. */
#define F32(...) \
  make_f32((const float[]){__VA_ARGS__}, sizeof((const float[]){__VA_ARGS__}) / sizeof(float))

tenon_tensor* make_f32(const float* values, size_t n);
tenon_tensor* make_f32_matrix(int64_t rows, int64_t columns, const float* values);
/* i32[rows,columns] of zeros. */
tenon_tensor* make_i32(int64_t rows, int64_t columns);

/* Calls an op with a tensor and an inline scalar, which it releases. */
tenon_error* with_scalar(tenon_scope* inner, uint32_t op, tenon_tensor* x, tenon_tensor* scalar,
                         tenon_tensor** out);

/* What the host reads of a tensor; the test fails if it cannot. */
int64_t count_of(const tenon_tensor* tensor);
int64_t size_of(const tenon_tensor* tensor, int64_t axis);

/* ---- custom ops --------------------------------------------------------- */

/* Of an op that multiplies its input by a factor. */
struct scale_attrs {
  uint32_t struct_size;
  float factor;
};

/* The infer of an op whose output is of the type of its first input, which must be f32 or f64. */
tenon_error* infer_same(void* payload, const void* attrs, const tenon_type* inputs, size_t n_inputs,
                        tenon_type* out_types, size_t n_outputs);
/* The backward of such an op, whose attributes must be given. */
tenon_error* backward_scale(void* payload, tenon_scope* inner, const void* attrs,
                            const tenon_backward_args* args, tenon_tensor** out_grads,
                            size_t n_grads);

/* A value that is no pointer, to see that a failed call clears it. */
#define GARBAGE(type) ((type*)(uintptr_t)0x1)

#endif /* TENON_CAPI_TESTS_CHECK_H_ */
