#include "capi/tests/check.h"

static tenon_tape* tape_of(tenon_scope* where, bool persistent) {
  tenon_tape_options options = TENON_TAPE_OPTIONS_DEFAULT;
  tenon_tape* tape = NULL;
  options.persistent = persistent;
  CHECK_OK(tenon_tape_create(where, &options, &tape));
  return tape;
}

static tenon_tensor* gradient(tenon_tape* tape, tenon_tensor* target, tenon_tensor* source) {
  tenon_value* value = tenon_tensor_as_value(source);
  tenon_tensor* dx = NULL;
  CHECK_OK(tenon_tape_gradient(scope(), tape, &target, 1, NULL, &value, 1, NULL, &dx));
  return dx;
}

static tenon_tensor* cube(tenon_tensor* x) {
  tenon_tensor* square = NULL;
  tenon_tensor* y = NULL;
  CHECK_OK(tenon_mul(scope(), x, x, &square));
  CHECK_OK(tenon_mul(scope(), square, x, &y));
  tenon_tensor_release(square);
  return y;
}

static void a_failed_gradient_call_leaves_outputs_null(void) {
  tenon_tape* tape = NULL;
  tenon_tensor* x = make_i32(2, 3);
  tenon_tensor* grad = GARBAGE(tenon_tensor);
  tenon_value* source = tenon_tensor_as_value(x);

  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
  CHECK_ERROR(tenon_tape_gradient(scope(), tape, &x, 1, NULL, &source, 1, NULL, &grad),
              TENON_INVALID_ARGUMENT, "target 0 must be floating point, but is i32[2,3]");

  CHECK(grad == NULL);
  tenon_tensor_release(x);
  tenon_tape_release(tape);
}

static void a_tape_differentiates_watched_values(void) {
  tenon_tensor* x = F32(2, 3);
  tenon_tape* tape = tape_of(scope(), false);
  tenon_tensor *y, *dx;
  CHECK_OK(tenon_tape_watch(tape, tenon_tensor_as_value(x)));

  y = cube(x);
  dx = gradient(tape, y, x);

  CHECK_VALUES(dx, 12, 27);
  CHECK(!tenon_tape_is_recording(tape));
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(dx);
  tenon_tape_release(tape);
}

static void a_consumed_tape_reports_an_error(void) {
  tenon_tensor* x = F32(2);
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tape* tape = tape_of(scope(), false);
  tenon_tensor* dx = GARBAGE(tenon_tensor);
  tenon_tensor* y;
  CHECK_OK(tenon_tape_watch(tape, source));
  y = cube(x);
  tenon_tensor_release(gradient(tape, y, x));

  CHECK_ERROR(tenon_tape_gradient(scope(), tape, &y, 1, NULL, &source, 1, NULL, &dx),
              TENON_FAILED_PRECONDITION, "consumed by an earlier gradient");
  CHECK(dx == NULL);
  CHECK_ERROR(tenon_tape_watch(tape, source), TENON_FAILED_PRECONDITION, "consumed");
  CHECK_ERROR(tenon_tape_resume(tape), TENON_FAILED_PRECONDITION, "consumed");

  CHECK_OK(tenon_tape_reset(tape)); /* A reset makes a consumed tape usable again. */
  CHECK_OK(tenon_tape_watch(tape, source));
  tenon_tensor_release(y);
  y = cube(x);
  dx = gradient(tape, y, x);
  CHECK_VALUES(dx, 12);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(dx);
  tenon_tape_release(tape);
}

static void a_persistent_tape_computes_gradients_twice(void) {
  tenon_tensor* x = F32(2);
  tenon_tape* tape = tape_of(scope(), true);
  tenon_tensor *y, *first, *second;
  CHECK_OK(tenon_tape_watch(tape, tenon_tensor_as_value(x)));
  y = cube(x);

  first = gradient(tape, y, x);
  second = gradient(tape, y, x);

  CHECK_VALUES(first, 12);
  CHECK_VALUES(second, 12);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(first);
  tenon_tensor_release(second);
  tenon_tape_release(tape);
}

static void tapes_nest(void) {
  tenon_tensor* x = F32(2);
  tenon_tape* outer = tape_of(scope(), false);
  tenon_tape* inner = tape_of(scope(), false);
  tenon_tensor *y, *dx, *ddx;
  CHECK_OK(tenon_tape_watch(outer, tenon_tensor_as_value(x)));
  CHECK_OK(tenon_tape_watch(inner, tenon_tensor_as_value(x)));

  y = cube(x);
  dx = gradient(inner, y, x);
  ddx = gradient(outer, dx, x);

  CHECK_VALUES(dx, 12);  /* d x^3 / dx = 3 x^2 for x = 2. */
  CHECK_VALUES(ddx, 12); /* The derivative of 3 x^2 is 6 x. */
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(dx);
  tenon_tensor_release(ddx);
  tenon_tape_release(outer);
  tenon_tape_release(inner);
}

static void nested_tapes_may_be_released_out_of_order(void) {
  tenon_tensor* x = F32(2);
  tenon_tape* outer = tape_of(scope(), false);
  tenon_tape* inner = tape_of(scope(), false);
  tenon_tensor *y, *dx;
  CHECK_OK(tenon_tape_watch(inner, tenon_tensor_as_value(x)));

  tenon_tape_release(outer);
  y = cube(x);
  dx = gradient(inner, y, x);

  CHECK_VALUES(dx, 12);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(dx);
  tenon_tape_release(inner);
}

static void a_paused_tape_records_nothing(void) {
  tenon_tensor* x = F32(2);
  tenon_tape* tape = tape_of(scope(), true);
  tenon_tensor *unseen, *dx;
  CHECK_OK(tenon_tape_watch(tape, tenon_tensor_as_value(x)));

  CHECK(tenon_tape_is_recording(tape));
  CHECK_OK(tenon_tape_pause(tape));
  CHECK(!tenon_tape_is_recording(tape));
  unseen = cube(x);
  CHECK_OK(tenon_tape_resume(tape));
  dx = gradient(tape, unseen, x);

  CHECK_VALUES(dx, 0);
  tenon_tensor_release(x);
  tenon_tensor_release(unseen);
  tenon_tensor_release(dx);
  tenon_tape_release(tape);
}

static void earlier_calls_are_not_recorded(void) {
  tenon_tensor* x = F32(2);
  tenon_tensor* early = cube(x);
  tenon_tape* tape = tape_of(scope(), false);
  tenon_tensor* dx;
  CHECK_OK(tenon_tape_watch(tape, tenon_tensor_as_value(x)));

  dx = gradient(tape, early, x);

  CHECK_VALUES(dx, 0);
  tenon_tensor_release(x);
  tenon_tensor_release(early);
  tenon_tensor_release(dx);
  tenon_tape_release(tape);
}

static void an_unreached_source_has_a_zero_or_null_gradient(void) {
  tenon_gradient_options options = TENON_GRADIENT_OPTIONS_DEFAULT;
  tenon_tensor* x = F32(2);
  tenon_tensor* unused = F32(5, 6);
  tenon_value* sources[2];
  tenon_tensor* grads[2] = {NULL, NULL};
  tenon_tape* tape = tape_of(scope(), true);
  tenon_tensor* y;
  sources[0] = tenon_tensor_as_value(x);
  sources[1] = tenon_tensor_as_value(unused); /* The tape does not watch this source. */
  CHECK_OK(tenon_tape_watch(tape, sources[0]));
  y = cube(x);

  CHECK_OK(tenon_tape_gradient(scope(), tape, &y, 1, NULL, sources, 2, NULL, grads));
  CHECK_VALUES(grads[0], 12);
  CHECK_VALUES(grads[1], 0, 0);
  tenon_tensor_release(grads[0]);
  tenon_tensor_release(grads[1]);

  options.unreached = TENON_UNREACHED_NULL;
  CHECK_OK(tenon_tape_gradient(scope(), tape, &y, 1, NULL, sources, 2, &options, grads));
  CHECK_VALUES(grads[0], 12);
  CHECK(grads[1] == NULL);
  tenon_tensor_release(grads[0]);

  options.unreached = 9;
  CHECK_ERROR(tenon_tape_gradient(scope(), tape, &y, 1, NULL, sources, 2, &options, grads),
              TENON_INVALID_ARGUMENT, "options.unreached is not a known value");
  tenon_tensor_release(x);
  tenon_tensor_release(unused);
  tenon_tensor_release(y);
  tenon_tape_release(tape);
}

static void tape_gradient_accepts_cotangents(void) {
  tenon_tensor* x = F32(1, 2);
  tenon_tensor* weights = F32(10, 100);
  tenon_tensor* wrong = F32(1);
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tape* tape = tape_of(scope(), true);
  tenon_tensor* dx = NULL;
  tenon_tensor* y;
  CHECK_OK(tenon_tape_watch(tape, source));
  y = cube(x);

  CHECK_OK(tenon_tape_gradient(scope(), tape, &y, 1, &weights, &source, 1, NULL, &dx));
  CHECK_VALUES(dx, 30, 1200);
  tenon_tensor_release(dx);
  CHECK_ERROR(tenon_tape_gradient(scope(), tape, &y, 1, &wrong, &source, 1, NULL, &dx),
              TENON_INVALID_ARGUMENT, "f32[1]");
  CHECK(dx == NULL);
  tenon_tensor_release(x);
  tenon_tensor_release(weights);
  tenon_tensor_release(wrong);
  tenon_tensor_release(y);
  tenon_tape_release(tape);
}

static void gradient_sources_may_be_intermediate_values(void) {
  tenon_tensor* x = F32(3);
  tenon_tensor* middle = NULL;
  tenon_tensor* y = NULL;
  tenon_tape* tape = tape_of(scope(), false);
  tenon_tensor* d_middle;
  CHECK_OK(tenon_tape_watch(tape, tenon_tensor_as_value(x)));
  CHECK_OK(tenon_neg(scope(), x, &middle));
  CHECK_OK(tenon_mul(scope(), middle, middle, &y));

  d_middle = gradient(tape, y, middle);

  CHECK_VALUES(d_middle, -6);
  tenon_tensor_release(x);
  tenon_tensor_release(middle);
  tenon_tensor_release(y);
  tenon_tensor_release(d_middle);
  tenon_tape_release(tape);
}

static void the_gradient_of_a_variable_is_the_sum_over_its_reads(void) {
  tenon_tensor* initial = F32(3);
  tenon_variable* v = NULL;
  tenon_value* source;
  tenon_tensor *a = NULL, *b = NULL, *y = NULL, *dv = NULL;
  tenon_tape* tape;
  CHECK_OK(tenon_variable_create(scope(), initial, NULL, &v));
  source = tenon_variable_as_value(v);
  tape = tape_of(scope(), false);

  CHECK_OK(tenon_variable_read(scope(), v, &a));
  CHECK_OK(tenon_variable_read(scope(), v, &b));
  CHECK_OK(tenon_mul(scope(), a, b, &y));
  CHECK(tenon_tape_count_watched(tape) == 1);
  CHECK_OK(tenon_variable_assign(scope(), v, y)); /* Gradients do not flow through assignments. */
  CHECK_OK(tenon_tape_gradient(scope(), tape, &y, 1, NULL, &source, 1, NULL, &dv));

  CHECK_VALUES(dv, 6);
  tenon_tensor_release(initial);
  tenon_tensor_release(a);
  tenon_tensor_release(b);
  tenon_tensor_release(y);
  tenon_tensor_release(dv);
  tenon_variable_release(v);
  tenon_tape_release(tape);
}

static void a_tape_lists_its_watched_values(void) {
  tenon_tape_options options = TENON_TAPE_OPTIONS_DEFAULT;
  tenon_tensor* x = F32(1);
  tenon_tensor* read = NULL;
  tenon_variable* v = NULL;
  tenon_tape* tape = NULL;
  tenon_value* value = NULL;
  CHECK_OK(tenon_variable_create(scope(), x, NULL, &v));
  options.watch_trainable = false;
  CHECK_OK(tenon_tape_create(scope(), &options, &tape));

  CHECK_OK(tenon_variable_read(scope(), v, &read));
  CHECK(tenon_tape_count_watched(tape) == 0); /* Reading v does not make the tape watch it. */
  CHECK_OK(tenon_tape_watch(tape, tenon_variable_as_value(v)));
  CHECK_OK(tenon_tape_watch(tape, tenon_tensor_as_value(x)));
  CHECK(tenon_tape_count_watched(tape) == 2);
  CHECK_OK(tenon_tape_get_watched(tape, 0, &value));
  CHECK(tenon_value_as_tensor(value) == x);
  tenon_value_release(value);
  CHECK_OK(tenon_tape_get_watched(tape, 1, &value));
  CHECK(tenon_value_as_variable(value) == v);
  tenon_value_release(value);
  CHECK_ERROR(tenon_tape_get_watched(tape, 2, &value), TENON_OUT_OF_RANGE,
              "index 2 is out of range: the tape watches 2 values");
  CHECK(value == NULL);
  tenon_tensor_release(x);
  tenon_tensor_release(read);
  tenon_variable_release(v);
  tenon_tape_release(tape);
}

static void untrainable_variables_are_not_watched(void) {
  tenon_tensor* x = F32(1);
  tenon_tensor* read = NULL;
  tenon_variable* v = NULL;
  tenon_tape* tape = NULL;
  CHECK_OK(tenon_variable_create(scope(), x, NULL, &v));
  tenon_variable_set_trainable(v, false);
  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));

  CHECK_OK(tenon_variable_read(scope(), v, &read));

  CHECK(tenon_tape_count_watched(tape) == 0);
  tenon_tensor_release(x);
  tenon_tensor_release(read);
  tenon_variable_release(v);
  tenon_tape_release(tape);
}

static void a_tape_computes_jacobians(void) {
  tenon_tensor* x = F32(1, 2);
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tensor* jacobian = NULL;
  tenon_tape* tape = tape_of(scope(), false);
  tenon_tensor* y;
  CHECK_OK(tenon_tape_watch(tape, source));
  y = cube(x);

  CHECK_OK(tenon_tape_jacobian(scope(), tape, y, &source, 1, NULL, &jacobian));

  CHECK(tenon_tensor_rank(jacobian) == 2);
  CHECK_VALUES(jacobian, 3, 0, 0, 12);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(jacobian);
  tenon_tape_release(tape);
}

static void tapes_of_different_scopes_are_independent(void) {
  tenon_scope* other = NULL;
  tenon_tensor* x = F32(2);
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tensor *here = NULL, *there = NULL, *dx = NULL;
  tenon_tape *tape, *other_tape;
  CHECK_OK(tenon_scope_create(context(), tenon_str(device_name()), &other));
  tape = tape_of(scope(), true);
  other_tape = tape_of(other, true);
  CHECK_OK(tenon_tape_watch(tape, source));
  CHECK_OK(tenon_tape_watch(other_tape, source));

  CHECK_OK(tenon_square(scope(), x, &here));
  CHECK_OK(tenon_neg(other, x, &there));

  CHECK_OK(tenon_tape_gradient(scope(), tape, &there, 1, NULL, &source, 1, NULL, &dx));
  CHECK_VALUES(dx, 0);
  tenon_tensor_release(dx);
  CHECK_OK(tenon_tape_gradient(other, other_tape, &there, 1, NULL, &source, 1, NULL, &dx));
  CHECK_VALUES(dx, -1);
  tenon_tensor_release(dx);
  CHECK_ERROR(tenon_tape_gradient(scope(), other_tape, &there, 1, NULL, &source, 1, NULL, &dx),
              TENON_INVALID_ARGUMENT, "tape belongs to another scope");
  tenon_tensor_release(x);
  tenon_tensor_release(here);
  tenon_tensor_release(there);
  tenon_tape_release(tape);
  tenon_tape_release(other_tape);
  tenon_scope_release(other);
}

static void a_tape_refuses_to_watch_integers(void) {
  tenon_tensor* x = make_i32(1, 1);
  tenon_tape* tape = tape_of(scope(), false);

  CHECK_ERROR(tenon_tape_watch(tape, tenon_tensor_as_value(x)), TENON_INVALID_ARGUMENT,
              "only floating-point values can be watched, but the source is i32[1,1]");
  CHECK_ERROR(tenon_tape_watch(tape, NULL), TENON_INVALID_ARGUMENT, "value is NULL");

  tenon_tensor_release(x);
  tenon_tape_release(tape);
}

int main(void) {
  RUN(a_failed_gradient_call_leaves_outputs_null);
  RUN(a_tape_differentiates_watched_values);
  RUN(a_consumed_tape_reports_an_error);
  RUN(a_persistent_tape_computes_gradients_twice);
  RUN(tapes_nest);
  RUN(nested_tapes_may_be_released_out_of_order);
  RUN(a_paused_tape_records_nothing);
  RUN(earlier_calls_are_not_recorded);
  RUN(an_unreached_source_has_a_zero_or_null_gradient);
  RUN(tape_gradient_accepts_cotangents);
  RUN(gradient_sources_may_be_intermediate_values);
  RUN(the_gradient_of_a_variable_is_the_sum_over_its_reads);
  RUN(a_tape_lists_its_watched_values);
  RUN(untrainable_variables_are_not_watched);
  RUN(a_tape_computes_jacobians);
  RUN(tapes_of_different_scopes_are_independent);
  RUN(a_tape_refuses_to_watch_integers);
  return report();
}
