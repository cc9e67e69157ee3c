#include "capi/tests/check.h"

static tenon_variable* variable_of(tenon_tensor* initial) {
  tenon_variable* variable = NULL;
  CHECK_OK(tenon_variable_create(scope(), initial, NULL, &variable));
  tenon_tensor_release(initial);
  return variable;
}

static void variable_properties_are_returned(void) {
  tenon_variable_options options = TENON_VARIABLE_OPTIONS_DEFAULT;
  tenon_variable* variable = NULL;
  tenon_tensor* x = make_i32(2, 3);
  options.name = tenon_str("steps");
  options.trainable = false;

  CHECK_OK(tenon_variable_create(scope(), x, &options, &variable));

  CHECK(tenon_variable_dtype(variable) == TENON_INT32);
  CHECK(tenon_variable_rank(variable) == 2);
  CHECK(tenon_variable_shape(variable)[1] == 3);
  CHECK_TEXT(tenon_variable_name(variable), "steps");
  CHECK_TEXT(tenon_variable_device_name(variable), device_name());
  CHECK(!tenon_variable_is_trainable(variable));
  tenon_variable_set_trainable(variable, true);
  CHECK(tenon_variable_is_trainable(variable));
  tenon_tensor_release(x);
  tenon_variable_retain(variable);
  tenon_variable_release(variable);
  tenon_variable_release(variable);
}

static void a_tensor_read_from_a_variable_does_not_change(void) {
  tenon_variable* variable = variable_of(F32(1, 2));
  tenon_tensor* before = NULL;
  tenon_tensor* after = NULL;
  tenon_tensor* next = F32(3, 4);

  CHECK_OK(tenon_variable_read(scope(), variable, &before));
  CHECK_OK(tenon_variable_assign(scope(), variable, next));
  CHECK_OK(tenon_variable_read(scope(), variable, &after));

  CHECK_VALUES(before, 1, 2);
  CHECK_VALUES(after, 3, 4);
  tenon_tensor_release(before);
  tenon_tensor_release(after);
  tenon_tensor_release(next);
  tenon_variable_release(variable);
}

static void reading_a_variable_copies_nothing(void) {
  tenon_variable* variable = variable_of(F32(1, 2));
  tenon_tensor* a = NULL;
  tenon_tensor* b = NULL;

  CHECK_OK(tenon_variable_read(scope(), variable, &a));
  CHECK_OK(tenon_variable_read(scope(), variable, &b));

  CHECK(a != b && tenon_tensor_data(a) == tenon_tensor_data(b));
  CHECK(live_bytes() == 8);
  tenon_tensor_release(a);
  tenon_tensor_release(b);
  tenon_variable_release(variable);
}

static void assigning_a_value_of_another_type_is_an_error(void) {
  tenon_variable* variable = variable_of(F32(1, 2));
  tenon_tensor* longer = F32(1, 2, 3);
  tenon_tensor* integers = make_i32(1, 2);
  tenon_tensor* now = NULL;

  CHECK_ERROR(tenon_variable_assign(scope(), variable, longer), TENON_INVALID_ARGUMENT,
              "holds f32[2], but the value is f32[3]");
  CHECK_ERROR(tenon_variable_assign(scope(), variable, integers), TENON_INVALID_ARGUMENT,
              "holds f32[2], but the value is i32[1,2]");
  CHECK_ERROR(tenon_variable_assign(scope(), variable, NULL), TENON_INVALID_ARGUMENT,
              "value is NULL");
  CHECK_OK(tenon_variable_read(scope(), variable, &now));
  CHECK_VALUES(now, 1, 2);
  tenon_tensor_release(now);
  tenon_tensor_release(longer);
  tenon_tensor_release(integers);
  tenon_variable_release(variable);
}

static void a_scalar_can_be_assigned_to_a_variable_of_rank_0(void) {
  tenon_variable* variable = variable_of(tenon_scalar_f64(1.5));
  tenon_tensor* two = tenon_scalar_i64(2);
  tenon_tensor* now = NULL;

  CHECK(tenon_variable_dtype(variable) == TENON_FLOAT32);
  CHECK_OK(tenon_variable_assign(scope(), variable, two));
  CHECK_OK(tenon_variable_read(scope(), variable, &now));

  CHECK_VALUES(now, 2);
  tenon_tensor_release(now);
  tenon_tensor_release(two);
  tenon_variable_release(variable);
}

static void variable_memory_is_freed_with_the_last_handle(void) {
  tenon_variable* variable = variable_of(make_i32(100, 100));
  CHECK(live_bytes() == 40000);

  tenon_variable_release(variable);

  CHECK(live_bytes() == 0);
}

static void a_value_casts_back_to_its_tensor_or_variable(void) {
  tenon_variable* variable = variable_of(F32(1));
  tenon_tensor* tensor = F32(2);
  tenon_value* a = tenon_variable_as_value(variable);
  tenon_value* b = tenon_tensor_as_value(tensor);

  CHECK(tenon_value_as_variable(a) == variable && tenon_value_as_tensor(a) == NULL);
  CHECK(tenon_value_as_tensor(b) == tensor && tenon_value_as_variable(b) == NULL);
  CHECK(tenon_variable_as_value(NULL) == NULL && tenon_tensor_as_value(NULL) == NULL);
  CHECK(tenon_value_as_tensor(NULL) == NULL && tenon_value_as_variable(NULL) == NULL);
  tenon_value_retain(a);
  tenon_value_retain(b);
  tenon_variable_release(variable);
  tenon_tensor_release(tensor);
  CHECK(live_bytes() == 8);
  tenon_value_release(a);
  tenon_value_release(b);
  tenon_value_release(NULL);
}

/* A body that assigns variables before and after a gather with an index out of range. */
static tenon_error* assign_around(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                                  size_t n_inputs, const tenon_static* statics, size_t n_statics,
                                  tenon_tensor** out_outputs, size_t max_outputs) {
  tenon_variable** variables = payload;
  tenon_tensor *old = NULL, *twice = NULL;
  int i;
  (void)n_inputs;
  (void)statics;
  (void)n_statics;
  (void)max_outputs;
  for (i = 0; i < 2; ++i) {
    CHECK_OK(tenon_variable_read(inner, variables[i], &old));
    CHECK_OK(tenon_add(inner, old, old, &twice));
    CHECK_OK(tenon_variable_assign(inner, variables[i], twice));
    if (i == 0) CHECK_OK(tenon_gather(inner, twice, inputs[0], NULL, &out_outputs[0]));
    tenon_tensor_release(old);
    tenon_tensor_release(twice);
  }
  return NULL;
}

static void assignments_before_and_after_a_value_error_take_effect(void) {
  const int64_t five = 5, size = 1;
  tenon_variable* variables[2] = {NULL, NULL};
  tenon_function_body body = {assign_around, NULL, NULL};
  tenon_function* f = NULL;
  tenon_tensor *one = F32(1), *index = NULL, *y = NULL;
  int call, i;
  body.payload = variables;
  for (i = 0; i < 2; ++i) CHECK_OK(tenon_variable_create(scope(), one, NULL, &variables[i]));
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_INT64, &size, 1, &five, 8, &index));
  CHECK_OK(tenon_function_create(context(), tenon_str("f"), body, NULL, &f));
  for (call = 1; call <= 4; ++call) {
    tenon_error* error = tenon_function_call(scope(), f, &index, 1, NULL, 0, &y, 1, NULL);
    tenon_tensor_release(y);
    y = NULL;
    if (!error && device_has(TENON_FEATURE_HOST_BLOCKING)) error = tenon_scope_wait(scope());
    if (device_has(TENON_FEATURE_HOST_BLOCKING)) {
      CHECK_ERROR(error, TENON_OUT_OF_RANGE, "index 5 is outside [0, 1)");
      for (i = 0; i < 2; ++i) {
        CHECK_OK(tenon_variable_read(scope(), variables[i], &y));
        CHECK_VALUES(y, (double)(1 << call));
        tenon_tensor_release(y);
        y = NULL;
      }
    }
  }
  tenon_function_release(f);
  for (i = 0; i < 2; ++i) tenon_variable_release(variables[i]);
  tenon_tensor_release(index);
  tenon_tensor_release(one);
}

int main(void) {
  RUN(assignments_before_and_after_a_value_error_take_effect);
  RUN(variable_properties_are_returned);
  RUN(a_tensor_read_from_a_variable_does_not_change);
  RUN(reading_a_variable_copies_nothing);
  RUN(assigning_a_value_of_another_type_is_an_error);
  RUN(a_scalar_can_be_assigned_to_a_variable_of_rank_0);
  RUN(variable_memory_is_freed_with_the_last_handle);
  RUN(a_value_casts_back_to_its_tensor_or_variable);
  return report();
}
