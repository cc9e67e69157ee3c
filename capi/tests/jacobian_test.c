/* Jacobians: their values, their shapes, and when their computation consumes the tape. */

#include "capi/tests/function_code.h"

static tenon_tape* watching(bool persistent, tenon_tensor* const* tensors, size_t n) {
  tenon_tape_options options = TENON_TAPE_OPTIONS_DEFAULT;
  tenon_tape* tape = NULL;
  size_t i;
  options.persistent = persistent;
  CHECK_OK(tenon_tape_create(scope(), &options, &tape));
  for (i = 0; i < n; ++i) CHECK_OK(tenon_tape_watch(tape, tenon_tensor_as_value(tensors[i])));
  return tape;
}

static tenon_tensor* square(tenon_tensor* x) {
  tenon_tensor* y = NULL;
  CHECK_OK(tenon_mul(scope(), x, x, &y));
  return y;
}

static tenon_error* jacobian(tenon_tape* tape, tenon_tensor* target, tenon_tensor* source,
                             tenon_tensor** out_jacobian) {
  tenon_value* value = tenon_tensor_as_value(source);
  return tenon_tape_jacobian(scope(), tape, target, &value, 1, NULL, out_jacobian);
}

static tenon_error* gradient(tenon_tape* tape, tenon_tensor* target, tenon_tensor* source,
                             tenon_tensor** out_grad) {
  tenon_value* value = tenon_tensor_as_value(source);
  return tenon_tape_gradient(scope(), tape, &target, 1, NULL, &value, 1, NULL, out_grad);
}

static int has_shape(tenon_tensor* x, size_t rank, int64_t a, int64_t b, int64_t c) {
  int64_t expected[3];
  expected[0] = a;
  expected[1] = b;
  expected[2] = c;
  return tenon_tensor_rank(x) == rank &&
         memcmp(tenon_tensor_shape(x), expected, rank * sizeof *expected) == 0;
}

/* ---- values and shapes -------------------------------------------------- */

static void jacobian_has_the_sizes_of_target_and_source(void) {
  const float values[4] = {1, 2, 3, 4};
  tenon_tensor* inputs[2];
  tenon_value* sources[2];
  tenon_tensor *jacobians[2] = {NULL, NULL}, *y = NULL;
  tenon_tape* tape;
  inputs[0] = make_f32_matrix(2, 2, values);
  inputs[1] = F32(5, 6);
  tape = watching(false, inputs, 2);
  sources[0] = tenon_tensor_as_value(inputs[0]);
  sources[1] = tenon_tensor_as_value(inputs[1]);
  CHECK_OK(tenon_matmul(scope(), inputs[0], inputs[1], NULL, &y));

  CHECK_OK(tenon_tape_jacobian(scope(), tape, y, sources, 2, NULL, jacobians));

  CHECK(has_shape(jacobians[0], 3, 2, 2, 2));
  CHECK_VALUES(jacobians[0], 5, 6, 0, 0, 0, 0, 5, 6);
  CHECK(has_shape(jacobians[1], 2, 2, 2, 0));
  CHECK_VALUES(jacobians[1], 1, 2, 3, 4);
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(inputs[1]);
  tenon_tensor_release(jacobians[0]);
  tenon_tensor_release(jacobians[1]);
  tenon_tensor_release(y);
  tenon_tape_release(tape);
}

static void jacobian_of_a_scalar_is_the_gradient(void) {
  tenon_tensor* x = F32(1, 2);
  tenon_tape* tape = watching(false, &x, 1);
  tenon_tensor *y = square(x), *total = NULL, *result = NULL;
  CHECK_OK(tenon_sum(scope(), y, NULL, &total));

  CHECK_OK(jacobian(tape, total, x, &result));

  CHECK(has_shape(result, 1, 2, 0, 0));
  CHECK_VALUES(result, 2, 4);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(total);
  tenon_tensor_release(result);
  tenon_tape_release(tape);
}

static void jacobian_of_an_empty_target_is_empty(void) {
  tenon_tensor* x = make_f32_matrix(0, 3, NULL);
  tenon_tape* tape = watching(false, &x, 1);
  tenon_tensor *y = square(x), *result = NULL;

  CHECK_OK(jacobian(tape, y, x, &result));

  CHECK(tenon_tensor_rank(result) == 4 && count_of(result) == 0);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(result);
  tenon_tape_release(tape);
}

static void jacobian_is_computed_with_respect_to_variables(void) {
  tenon_tensor* initial = F32(2, 3);
  tenon_tensor *read = NULL, *result = NULL, *y;
  tenon_variable* v = NULL;
  tenon_value* source;
  tenon_tape* tape = NULL;
  CHECK_OK(tenon_variable_create(scope(), initial, NULL, &v));
  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
  source = tenon_variable_as_value(v);
  CHECK_OK(tenon_variable_read(scope(), v, &read));
  y = square(read);

  CHECK_OK(tenon_tape_jacobian(scope(), tape, y, &source, 1, NULL, &result));

  CHECK_VALUES(result, 4, 0, 0, 6);
  tenon_tensor_release(initial);
  tenon_tensor_release(read);
  tenon_tensor_release(y);
  tenon_tensor_release(result);
  tenon_variable_release(v);
  tenon_tape_release(tape);
}

static void jacobian_of_a_gradient_is_the_hessian(void) {
  tenon_tensor* x = F32(2, 3);
  tenon_tape* outer = watching(false, &x, 1);
  tenon_tape* inner = watching(false, &x, 1);
  tenon_tensor *y = square(x), *cube = NULL, *dx = NULL, *hessian = NULL;
  CHECK_OK(tenon_mul(scope(), y, x, &cube));

  CHECK_OK(gradient(inner, cube, x, &dx));
  CHECK_OK(jacobian(outer, dx, x, &hessian));

  CHECK_VALUES(hessian, 12, 0, 0, 18);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(cube);
  tenon_tensor_release(dx);
  tenon_tensor_release(hessian);
  tenon_tape_release(outer);
  tenon_tape_release(inner);
}

static void an_unreached_source_has_a_zero_or_null_gradient(void) {
  tenon_gradient_options options = TENON_GRADIENT_OPTIONS_DEFAULT;
  tenon_tensor* inputs[2];
  tenon_value* sources[2];
  tenon_tensor *jacobians[2] = {NULL, NULL}, *y;
  tenon_tape* tape;
  inputs[0] = F32(1, 2);
  inputs[1] = F32(7, 8, 9);
  sources[0] = tenon_tensor_as_value(inputs[0]);
  sources[1] = tenon_tensor_as_value(inputs[1]); /* The tape does not watch this source. */
  tape = watching(true, inputs, 1);
  y = square(inputs[0]);

  CHECK_OK(tenon_tape_jacobian(scope(), tape, y, sources, 2, NULL, jacobians));
  CHECK_VALUES(jacobians[0], 2, 0, 0, 4);
  CHECK(has_shape(jacobians[1], 2, 2, 3, 0));
  CHECK_VALUES(jacobians[1], 0, 0, 0, 0, 0, 0);
  tenon_tensor_release(jacobians[0]);
  tenon_tensor_release(jacobians[1]);

  options.unreached = TENON_UNREACHED_NULL;
  jacobians[1] = GARBAGE(tenon_tensor);
  CHECK_OK(tenon_tape_jacobian(scope(), tape, y, sources, 2, &options, jacobians));
  CHECK_VALUES(jacobians[0], 2, 0, 0, 4);
  CHECK(jacobians[1] == NULL);

  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(inputs[1]);
  tenon_tensor_release(jacobians[0]);
  tenon_tensor_release(y);
  tenon_tape_release(tape);
}

/* ---- effect on the tape ------------------------------------------------- */

static void jacobian_consumes_a_tape(void) {
  tenon_tensor* x = F32(1, 2);
  tenon_tape* tape = watching(false, &x, 1);
  tenon_tensor *y = square(x), *result = NULL;
  tenon_tensor* none = GARBAGE(tenon_tensor);

  CHECK_OK(jacobian(tape, y, x, &result));

  CHECK(!tenon_tape_is_recording(tape));
  CHECK_ERROR(gradient(tape, y, x, &none), TENON_FAILED_PRECONDITION, "consumed by an earlier");
  CHECK_ERROR(tenon_tape_resume(tape), TENON_FAILED_PRECONDITION, "consumed");
  CHECK(none == NULL);
  tenon_tensor_release(result);
  tenon_tensor_release(y);
  CHECK_OK(tenon_tape_reset(tape)); /* A reset makes a consumed tape usable again. */
  CHECK_OK(tenon_tape_watch(tape, tenon_tensor_as_value(x)));
  y = square(x);
  CHECK_OK(jacobian(tape, y, x, &result));
  CHECK_VALUES(result, 2, 0, 0, 4);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(result);
  tenon_tape_release(tape);
}

static void a_consumed_tape_reports_an_error(void) {
  tenon_tensor* x = F32(1, 2);
  tenon_tape* tape = watching(false, &x, 1);
  tenon_tensor *y = square(x), *dx = NULL;
  tenon_tensor* none = GARBAGE(tenon_tensor);
  CHECK_OK(gradient(tape, y, x, &dx));

  CHECK_ERROR(jacobian(tape, y, x, &none), TENON_FAILED_PRECONDITION,
              "consumed by an earlier gradient");

  CHECK(none == NULL);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(dx);
  tenon_tape_release(tape);
}

static void a_persistent_tape_computes_jacobians_twice(void) {
  tenon_tensor* x = F32(1, 2);
  tenon_tape* tape = watching(true, &x, 1);
  tenon_tensor *y = square(x), *first = NULL, *second = NULL, *dx = NULL;

  CHECK_OK(jacobian(tape, y, x, &first));
  CHECK(tenon_tape_is_recording(tape));
  CHECK_OK(jacobian(tape, y, x, &second));
  CHECK_OK(gradient(tape, y, x, &dx));

  CHECK_VALUES(first, 2, 0, 0, 4);
  CHECK_VALUES(second, 2, 0, 0, 4);
  CHECK_VALUES(dx, 2, 4);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(first);
  tenon_tensor_release(second);
  tenon_tensor_release(dx);
  tenon_tape_release(tape);
}

static void computing_a_jacobian_does_not_resume_a_paused_tape(void) {
  tenon_tensor* x = F32(1, 2);
  tenon_tape* tape = watching(true, &x, 1);
  tenon_tensor *y = square(x), *result = NULL;
  CHECK_OK(tenon_tape_pause(tape));

  CHECK_OK(jacobian(tape, y, x, &result));

  CHECK(!tenon_tape_is_recording(tape));
  CHECK_VALUES(result, 2, 0, 0, 4);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(result);
  tenon_tape_release(tape);
}

static void a_tape_of_another_scope_is_refused(void) {
  tenon_scope* other = NULL;
  tenon_tensor* x = F32(1, 2);
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tape* tape = watching(false, &x, 1);
  tenon_tensor *y = square(x), *result = NULL;
  tenon_tensor* none = GARBAGE(tenon_tensor);
  CHECK_OK(tenon_scope_create(context(), tenon_str(device_name()), &other));

  CHECK_ERROR(tenon_tape_jacobian(other, tape, y, &source, 1, NULL, &none), TENON_INVALID_ARGUMENT,
              "tape belongs to another scope");

  CHECK(none == NULL);
  CHECK_OK(jacobian(tape, y, x, &result)); /* The error did not consume it. */
  CHECK_VALUES(result, 2, 0, 0, 4);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(result);
  tenon_tape_release(tape);
  tenon_scope_release(other);
}

/* ---- errors ------------------------------------------------------------- */

/* Invalid arguments are found before the backward pass starts, so the tape is unchanged. */
static void invalid_arguments_do_not_change_the_tape(void) {
  tenon_gradient_options options = TENON_GRADIENT_OPTIONS_DEFAULT;
  tenon_tensor* x = F32(1, 2);
  tenon_tensor* integers = make_i32(2, 3);
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_value* missing = NULL;
  tenon_tape* tape = watching(false, &x, 1);
  tenon_tensor *y = square(x), *result = NULL;
  tenon_tensor* none = GARBAGE(tenon_tensor);
  options.unreached = 9;

  CHECK_ERROR(jacobian(tape, integers, x, &none), TENON_INVALID_ARGUMENT,
              "the target must be floating point, but is i32[2,3]");
  CHECK(none == NULL);
  none = GARBAGE(tenon_tensor);
  CHECK_ERROR(jacobian(tape, y, integers, &none), TENON_INVALID_ARGUMENT,
              "source 0 must be floating point, but is i32[2,3]");
  CHECK(none == NULL);
  CHECK_ERROR(tenon_tape_jacobian(scope(), tape, y, &source, 1, &options, &none),
              TENON_INVALID_ARGUMENT, "options.unreached is not a known value");
  CHECK_ERROR(jacobian(tape, NULL, x, &none), TENON_INVALID_ARGUMENT, "target is NULL");
  CHECK_ERROR(tenon_tape_jacobian(scope(), tape, y, &missing, 1, NULL, &none),
              TENON_INVALID_ARGUMENT, "sources[0] is NULL");
  CHECK_ERROR(tenon_tape_jacobian(scope(), tape, y, NULL, 1, NULL, &none), TENON_INVALID_ARGUMENT,
              "sources is NULL");
  CHECK_ERROR(jacobian(tape, y, x, NULL), TENON_INVALID_ARGUMENT, "out_jacobians is NULL");
  CHECK_ERROR(jacobian(NULL, y, x, &none), TENON_INVALID_ARGUMENT, "tape is NULL");

  CHECK(tenon_tape_is_recording(tape));
  CHECK_OK(jacobian(tape, y, x, &result));
  CHECK_VALUES(result, 2, 0, 0, 4);
  tenon_tensor_release(x);
  tenon_tensor_release(integers);
  tenon_tensor_release(y);
  tenon_tensor_release(result);
  tenon_tape_release(tape);
}

static tenon_error* compute_copy(void* payload, const void* attrs, const tenon_host_array* inputs,
                                 size_t n_inputs, const tenon_host_array* outputs,
                                 size_t n_outputs) {
  (void)payload;
  (void)attrs;
  (void)n_inputs;
  (void)n_outputs;
  memcpy(outputs[0].data, inputs[0].data, inputs[0].size);
  return NULL;
}

/* Applies an op that has no derivative to x. */
static tenon_tensor* without_a_derivative(tenon_tensor* x) {
  tenon_custom_op op;
  uint32_t id = 0;
  tenon_tensor* y = NULL;
  memset(&op, 0, sizeof op);
  op.struct_size = sizeof op;
  op.n_inputs = 1;
  op.n_outputs = 1;
  op.name = tenon_str("test.opaque");
  op.infer = infer_same;
  op.compute = compute_copy;
  CHECK_OK(tenon_op_register(context(), &op, &id));
  CHECK_OK(tenon_call(scope(), id, NULL, &x, 1, &y, 1));
  return y;
}

static void a_failed_backward_pass_consumes_the_tape(void) {
  tenon_tensor* x = F32(1, 2);
  tenon_tape* tape = watching(false, &x, 1);
  tenon_tensor* y = without_a_derivative(x);
  tenon_tensor* none = GARBAGE(tenon_tensor);

  CHECK_ERROR(jacobian(tape, y, x, &none), TENON_UNIMPLEMENTED, "test.opaque: no gradient");

  CHECK(none == NULL);
  CHECK(!tenon_tape_is_recording(tape));
  CHECK_ERROR(jacobian(tape, y, x, &none), TENON_FAILED_PRECONDITION, "consumed");
  CHECK_ERROR(tenon_tape_resume(tape), TENON_FAILED_PRECONDITION, "consumed");
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tape_release(tape);
}

static void a_persistent_tape_survives_a_failed_backward_pass(void) {
  tenon_tensor* x = F32(1, 2);
  tenon_tape* tape = watching(true, &x, 1);
  tenon_tensor* opaque = without_a_derivative(x);
  tenon_tensor *y = square(x), *result = NULL;
  tenon_tensor* none = GARBAGE(tenon_tensor);

  CHECK_ERROR(jacobian(tape, opaque, x, &none), TENON_UNIMPLEMENTED, "test.opaque: no gradient");

  CHECK(none == NULL);
  CHECK(tenon_tape_is_recording(tape));
  CHECK_OK(jacobian(tape, y, x, &result));
  CHECK_VALUES(result, 2, 0, 0, 4);
  tenon_tensor_release(x);
  tenon_tensor_release(opaque);
  tenon_tensor_release(y);
  tenon_tensor_release(result);
  tenon_tape_release(tape);
}

/* ---- inside functions --------------------------------------------------- */

/* A body that computes the Jacobian of x^3 with respect to x by a tape of its own. */
static tenon_error* jacobian_of_cube(struct code* code, tenon_scope* inner,
                                     tenon_tensor* const* inputs, tenon_tensor** out_outputs) {
  tenon_tape* tape = NULL;
  tenon_tensor *x = inputs[0], *square = NULL, *cube = NULL;
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_error* error = tenon_tape_create(inner, NULL, &tape);
  (void)code;
  if (!error) error = tenon_tape_watch(tape, source);
  if (!error) error = tenon_mul(inner, x, x, &square);
  if (!error) error = tenon_mul(inner, square, x, &cube);
  if (!error) {
    error = tenon_tape_jacobian(inner, tape, cube, &source, 1, NULL, &out_outputs[0]);
  }
  tenon_tape_release(tape);
  tenon_tensor_release(square);
  tenon_tensor_release(cube);
  return error;
}

static void jacobian_works_inside_functions(void) {
  struct code code = {.run = jacobian_of_cube};
  tenon_function* f = function_of(&code, NULL);
  tenon_tensor *x = F32(1, 2), *y = NULL, *again;
  tenon_tape* tape = watching(false, &x, 1);

  CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
  CHECK(has_shape(y, 2, 2, 2, 0));
  CHECK_VALUES(y, 3, 0, 0, 12);
  /* The second Jacobian of x^3 has 6 x on its diagonal. */
  CHECK_OK(jacobian(tape, y, x, &again));
  CHECK(has_shape(again, 3, 2, 2, 2));
  CHECK_VALUES(again, 6, 0, 0, 0, 0, 0, 0, 12);

  tenon_tensor_release(again);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
  tenon_tape_release(tape);
  tenon_function_release(f);
}

/* A body that returns x^2. */
static tenon_error* run_square(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                               tenon_tensor** out_outputs) {
  (void)code;
  return tenon_mul(inner, inputs[0], inputs[0], &out_outputs[0]);
}

static void jacobian_differentiates_calls_of_functions(void) {
  struct code code = {.run = run_square};
  tenon_function* f = function_of(&code, NULL);
  tenon_tensor *x = F32(1, 2), *y = NULL, *result = NULL;
  tenon_tape* tape = watching(false, &x, 1);

  CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
  CHECK_OK(jacobian(tape, y, x, &result));

  CHECK_VALUES(result, 2, 0, 0, 4);
  tenon_tensor_release(result);
  tenon_tensor_release(y);
  tenon_tensor_release(x);
  tenon_tape_release(tape);
  tenon_function_release(f);
}

int main(void) {
  RUN(jacobian_has_the_sizes_of_target_and_source);
  RUN(jacobian_of_a_scalar_is_the_gradient);
  RUN(jacobian_of_an_empty_target_is_empty);
  RUN(jacobian_is_computed_with_respect_to_variables);
  RUN(jacobian_of_a_gradient_is_the_hessian);
  RUN(an_unreached_source_has_a_zero_or_null_gradient);
  RUN(jacobian_consumes_a_tape);
  RUN(a_consumed_tape_reports_an_error);
  RUN(a_persistent_tape_computes_jacobians_twice);
  RUN(computing_a_jacobian_does_not_resume_a_paused_tape);
  RUN(a_tape_of_another_scope_is_refused);
  RUN(invalid_arguments_do_not_change_the_tape);
  RUN(a_failed_backward_pass_consumes_the_tape);
  RUN(a_persistent_tape_survives_a_failed_backward_pass);
  RUN(jacobian_works_inside_functions);
  RUN(jacobian_differentiates_calls_of_functions);
  return report();
}
