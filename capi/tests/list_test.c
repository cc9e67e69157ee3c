/* Lists of tensors: in eager code, in functions, as carried values of loops, and with gradients. */

#include "capi/tests/function_code.h"

static tenon_tensor* number(int64_t n) { return tenon_scalar_i64(n); }

/* Stores x in a list. Releases `list` and `x`. */
static tenon_tensor* set(tenon_tensor* list, int64_t index, tenon_tensor* x) {
  tenon_tensor *at = number(index), *out = NULL;
  CHECK_OK(tenon_list_set(scope(), list, at, x, &out));
  tenon_tensor_release(at);
  tenon_tensor_release(list);
  tenon_tensor_release(x);
  return out;
}

static tenon_tensor* get(tenon_tensor* list, int64_t index) {
  tenon_tensor *at = number(index), *out = NULL;
  CHECK_OK(tenon_list_get(scope(), list, at, &out));
  tenon_tensor_release(at);
  return out;
}

static tenon_tensor* pairs(int64_t capacity) {
  const int64_t two = 2;
  tenon_tensor* list = NULL;
  CHECK_OK(tenon_list_create(scope(), TENON_FLOAT32, &two, 1, capacity, &list));
  return list;
}

#define CHECK_RESULT(result, ...)       \
  do {                                  \
    tenon_tensor* result_ = (result);   \
    CHECK_VALUES(result_, __VA_ARGS__); \
    tenon_tensor_release(result_);      \
  } while (0)

/* ---- values of lists ---------------------------------------------------- */

static void list_entries_are_set_and_read(void) {
  tenon_tensor *list = pairs(0), *other, *length = NULL;

  list = set(list, 0, F32(1, 2));
  tenon_tensor_retain(list);
  other = set(list, 3, F32(7, 8));

  CHECK_RESULT(get(other, 3), 7, 8);
  CHECK_RESULT(get(other, 0), 1, 2);
  CHECK_RESULT(get(other, 1), 0, 0);
  CHECK_RESULT(get(list, 3), 0, 0);
  CHECK_RESULT(get(list, (int64_t)1 << 62), 0, 0);
  CHECK_OK(tenon_list_length(scope(), other, &length));
  CHECK_RESULT(length, 4);
  CHECK_OK(tenon_list_length(scope(), list, &length));
  CHECK_RESULT(length, 1);
  tenon_tensor_release(list);
  tenon_tensor_release(other);
}

static void list_entries_are_appended(void) {
  tenon_tensor* list = pairs(2);
  int i;
  for (i = 0; i < 20; ++i) {
    tenon_tensor *x = F32((float)i, 1), *longer = NULL;
    CHECK_OK(tenon_list_push(scope(), list, x, &longer));
    tenon_tensor_release(list);
    tenon_tensor_release(x);
    list = longer;
  }
  CHECK_RESULT(get(list, 19), 19, 1);
  CHECK_RESULT(get(list, 20), 0, 0);
  tenon_tensor_release(list);
}

static void list_entries_are_stacked(void) {
  int64_t capacity;
  for (capacity = 0; capacity < 4; capacity += 2) {
    tenon_tensor *list = pairs(capacity), *n = number(2), *all = NULL;
    CHECK_OK(tenon_list_stack(scope(), list, NULL, &all));
    CHECK(tenon_tensor_rank(all) == 2 && count_of(all) == 0);
    tenon_tensor_release(all);

    list = set(set(list, 0, F32(1, 2)), 2, F32(5, 6));
    CHECK_OK(tenon_list_stack(scope(), list, NULL, &all));
    CHECK(size_of(all, 0) == 3 && size_of(all, 1) == 2);
    CHECK_RESULT(all, 1, 2, 0, 0, 5, 6);
    CHECK_OK(tenon_list_stack(scope(), list, n, &all));
    CHECK_RESULT(all, 1, 2, 0, 0);
    CHECK_OK(tenon_list_concat(scope(), list, n, &all));
    CHECK(tenon_tensor_rank(all) == 1);
    CHECK_RESULT(all, 1, 2, 0, 0);
    tenon_tensor_release(n);
    n = number(4);
    CHECK_OK(tenon_list_stack(scope(), list, n, &all));
    CHECK_RESULT(all, 1, 2, 0, 0, 5, 6, 0, 0);
    tenon_tensor_release(n);
    tenon_tensor_release(list);
  }
}

static void many_list_entries_are_stacked(void) {
  enum { kMany = 100 };
  float values[2 * kMany];
  tenon_tensor *x, *list = NULL, *all = NULL;
  int i;
  for (i = 0; i < 2 * kMany; ++i) values[i] = (float)i;
  x = make_f32_matrix(kMany, 2, values);

  CHECK_OK(tenon_list_unstack(scope(), x, &list));
  CHECK_OK(tenon_list_stack(scope(), list, NULL, &all));

  memset(values, 0, sizeof values);
  CHECK_OK(tenon_tensor_read(scope(), all, values, sizeof values));
  for (i = 0; i < 2 * kMany; ++i) CHECK(values[i] == (float)i);
  tenon_tensor_release(all);
  tenon_tensor_release(list);
  tenon_tensor_release(x);
}

static void tensors_are_unstacked_to_lists(void) {
  const float values[6] = {1, 2, 3, 4, 5, 6};
  tenon_tensor *x = make_f32_matrix(3, 2, values), *list = NULL;
  CHECK_OK(tenon_list_unstack(scope(), x, &list));
  CHECK_RESULT(get(list, 1), 3, 4);
  tenon_tensor_release(x);
  CHECK_RESULT(get(list, 2), 5, 6);
  tenon_tensor_release(list);
}

static void lists_hold_lists(void) {
  tenon_tensor *inner = set(pairs(0), 1, F32(3, 4)), *outer = NULL;
  CHECK_OK(tenon_list_create_like(scope(), inner, 0, &outer));
  outer = set(outer, 0, inner);
  inner = get(outer, 0);
  CHECK_RESULT(get(inner, 1), 3, 4);
  tenon_tensor_release(inner);
  inner = get(outer, 5);
  CHECK(tenon_tensor_is_list(inner));
  CHECK_RESULT(get(inner, 1), 0, 0);
  tenon_tensor_release(inner);
  tenon_tensor_release(outer);
}

static void scalars_take_the_dtype_of_the_list(void) {
  tenon_tensor *one = number(1), *list = NULL;
  CHECK_OK(tenon_list_create(scope(), TENON_FLOAT64, NULL, 0, 0, &list));
  list = set(list, 0, one);
  one = get(list, 0);
  CHECK(tenon_tensor_dtype(one) == TENON_FLOAT64);
  CHECK_RESULT(one, 1);
  tenon_tensor_release(list);
}

static void lists_return_the_properties_of_their_entries(void) {
  tenon_tensor *list = pairs(3), *x = F32(1, 2), *sum = NULL;
  tenon_string text = {NULL, 0};
  float read[2];
  CHECK(tenon_tensor_is_list(list) && !tenon_tensor_is_list(x) && !tenon_tensor_is_list(NULL));
  CHECK(tenon_tensor_dtype(list) == TENON_FLOAT32 && tenon_tensor_rank(list) == 1);
  CHECK(size_of(list, 0) == 2 && count_of(list) == 2);
  CHECK(tenon_tensor_device(list) == tenon_tensor_device(x));
  CHECK(tenon_tensor_data(list) == NULL);
  CHECK_ERROR(tenon_tensor_read(scope(), list, read, sizeof read), TENON_INVALID_ARGUMENT,
              "list of f32[2] is a list of tensors, not a tensor");
  CHECK_ERROR(tenon_tensor_format(scope(), list, NULL, &text), TENON_INVALID_ARGUMENT,
              "is a list of tensors, not a tensor");
  CHECK_ERROR(tenon_add(scope(), list, x, &sum), TENON_INVALID_ARGUMENT,
              "is a list of tensors, not a tensor");
  tenon_tensor_release(list);
  tenon_tensor_release(x);
}

/* ---- errors ------------------------------------------------------------- */

static void invalid_list_calls_are_errors(void) {
  const int64_t two = 2;
  tenon_tensor *list = pairs(0), *x = F32(1, 2), *wrong = F32(1, 2, 3), *out = NULL;
  tenon_tensor *zero = number(0), *minus = number(-1), *half = tenon_scalar_f64(0.5);
  tenon_tensor *scalars = NULL, *nested = NULL;
  CHECK_OK(tenon_list_create(scope(), TENON_FLOAT32, NULL, 0, 0, &scalars));
  CHECK_OK(tenon_list_create_like(scope(), list, 0, &nested));

  CHECK_ERROR(tenon_list_create(scope(), 12345, &two, 1, 0, &out), TENON_INVALID_ARGUMENT, "dtype");
  CHECK_ERROR(tenon_list_create(scope(), TENON_FLOAT32, &two, 1, -1, &out), TENON_INVALID_ARGUMENT,
              "capacity is negative");
  CHECK_ERROR(tenon_list_create(scope(), TENON_FLOAT32, NULL, 1, 0, &out), TENON_INVALID_ARGUMENT,
              "shape");
  CHECK_ERROR(tenon_list_create(scope(), TENON_FLOAT32, &two, 1, 0, NULL), TENON_INVALID_ARGUMENT,
              "out_list");
  CHECK_ERROR(tenon_list_create_like(scope(), NULL, 0, &out), TENON_INVALID_ARGUMENT, "entry");
  CHECK_ERROR(tenon_list_create_like(scope(), x, -2, &out), TENON_INVALID_ARGUMENT, "capacity");
  CHECK_ERROR(tenon_list_set(scope(), x, zero, x, &out), TENON_INVALID_ARGUMENT,
              "list must be a list of tensors, but is f32[2]");
  CHECK_ERROR(tenon_list_set(scope(), list, zero, wrong, &out), TENON_INVALID_ARGUMENT,
              "the list holds f32[2], but x is f32[3]");
  CHECK_ERROR(tenon_list_set(scope(), list, minus, x, &out), TENON_INVALID_ARGUMENT,
              "list_set: the index must not be negative, but is -1");
  CHECK_ERROR(tenon_list_set(scope(), list, half, x, &out), TENON_INVALID_ARGUMENT,
              "the index must be i64[]");
  CHECK_ERROR(tenon_list_set(scope(), list, zero, list, &out), TENON_INVALID_ARGUMENT,
              "the list holds f32[2], but x is list of f32[2]");
  CHECK_ERROR(tenon_list_push(scope(), list, NULL, &out), TENON_INVALID_ARGUMENT, "tensor is NULL");
  CHECK_ERROR(tenon_list_push(scope(), list, wrong, &out), TENON_INVALID_ARGUMENT, "f32[3]");
  CHECK_ERROR(tenon_list_get(scope(), list, minus, &out), TENON_INVALID_ARGUMENT,
              "list_get: the index must not be negative, but is -1");
  CHECK_ERROR(tenon_list_get(scope(), x, zero, &out), TENON_INVALID_ARGUMENT,
              "must be a list of tensors");
  CHECK_ERROR(tenon_list_length(scope(), x, &out), TENON_INVALID_ARGUMENT,
              "must be a list of tensors");
  CHECK_ERROR(tenon_list_stack(scope(), list, minus, &out), TENON_INVALID_ARGUMENT,
              "the length must not be negative, but is -1");
  CHECK_ERROR(tenon_list_stack(scope(), list, x, &out), TENON_INVALID_ARGUMENT,
              "the length must be i64[], but is f32[2]");
  CHECK_ERROR(tenon_list_stack(scope(), nested, zero, &out), TENON_INVALID_ARGUMENT,
              "is not a list of tensors");
  CHECK_ERROR(tenon_list_concat(scope(), scalars, zero, &out), TENON_INVALID_ARGUMENT,
              "has entries of type f32[], which have no axis");
  CHECK_ERROR(tenon_list_unstack(scope(), list, &out), TENON_INVALID_ARGUMENT,
              "is a list of tensors, not a tensor");
  CHECK_ERROR(tenon_list_unstack(scope(), zero, &out), TENON_INVALID_ARGUMENT,
              "x must be a tensor with at least one axis, but is ");
  CHECK_ERROR(tenon_list_unstack(NULL, x, &out), TENON_INVALID_ARGUMENT, "scope");
  CHECK(!out);
  tenon_tensor_release(list);
  tenon_tensor_release(x);
  tenon_tensor_release(wrong);
  tenon_tensor_release(zero);
  tenon_tensor_release(minus);
  tenon_tensor_release(half);
  tenon_tensor_release(scalars);
  tenon_tensor_release(nested);
}

static void stacking_more_entries_than_memory_allows_is_an_error(void) {
  tenon_tensor *list = set(pairs(0), 0, F32(1, 2)), *n = NULL, *out = NULL;
/* Not with sanitizers, which terminate a process that requests 2^50 entries. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  n = number((int64_t)1 << 50);
  CHECK_ERROR(tenon_list_stack(scope(), list, n, &out), TENON_OUT_OF_MEMORY, "");
  CHECK(!out);
  tenon_tensor_release(n);
#endif
  n = number((int64_t)1 << 61);
  CHECK_ERROR(tenon_list_stack(scope(), list, n, &out), TENON_INVALID_ARGUMENT, "bytes");
  tenon_tensor_release(n);
  tenon_tensor_release(list);
}

static void lists_cannot_be_stored_in_variables(void) {
  tenon_tensor* list = pairs(0);
  tenon_variable* v = NULL;
  CHECK_ERROR(tenon_variable_create(scope(), list, NULL, &v), TENON_INVALID_ARGUMENT,
              "initial must be a tensor, but is list of f32[2]");
  CHECK(!v);
  tenon_tensor_release(list);
}

/* ---- loops and functions ------------------------------------------------ */

/* The payload of a loop that carries i, a running sum and the list of sums. It captures the list
 * `xs`. */
struct sums {
  tenon_tensor *xs, *n;
};

static tenon_error* is_inside(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                              size_t n_inputs, tenon_tensor** out_outputs, size_t max_outputs) {
  CHECK(n_inputs == 3 && max_outputs == 1);
  return tenon_less(inner, inputs[0], ((struct sums*)payload)->n, &out_outputs[0]);
}

static tenon_error* add_one(void* payload, tenon_scope* inner, tenon_tensor* const* inputs,
                            size_t n_inputs, tenon_tensor** out_outputs, size_t max_outputs) {
  struct sums* sums = payload;
  tenon_tensor *one = number(1), *x = NULL;
  tenon_error* error = tenon_list_get(inner, sums->xs, inputs[0], &x);
  CHECK(n_inputs == 3 && max_outputs == 3);
  if (!error) error = tenon_add(inner, inputs[0], one, &out_outputs[0]);
  if (!error) error = tenon_add(inner, inputs[1], x, &out_outputs[1]);
  if (!error) error = tenon_list_push(inner, inputs[2], out_outputs[1], &out_outputs[2]);
  tenon_tensor_release(one);
  tenon_tensor_release(x);
  return error;
}

/* A body that returns the running sums of the squares of inputs[0]. */
static tenon_error* sums_of_squares(struct code* code, tenon_scope* inner,
                                    tenon_tensor* const* inputs, tenon_tensor** out_outputs) {
  const tenon_reshape_attrs to_scalar = {sizeof(tenon_reshape_attrs), NULL, 0};
  tenon_tensor *square = NULL, *shape = NULL, *initial[3], *found[3] = {NULL, NULL, NULL};
  struct sums sums = {NULL, NULL};
  tenon_block condition, body;
  size_t i;
  tenon_error* error = tenon_mul(inner, inputs[0], inputs[0], &square);
  (void)code;
  condition.function = is_inside;
  body.function = add_one;
  condition.payload = body.payload = &sums;
  initial[0] = number(0);
  initial[1] = tenon_scalar_f64(0);
  initial[2] = NULL;
  if (!error) error = tenon_list_unstack(inner, square, &sums.xs);
  if (!error) error = tenon_shape(inner, square, &shape);
  if (!error) error = tenon_reshape(inner, shape, &to_scalar, &sums.n);
  if (!error) error = tenon_list_create_like(inner, initial[1], 0, &initial[2]);
  if (!error) error = tenon_while_loop(inner, condition, body, initial, 3, NULL, found);
  if (!error) error = tenon_list_stack(inner, found[2], sums.n, &out_outputs[0]);
  for (i = 0; i < 3; ++i) {
    tenon_tensor_release(initial[i]);
    tenon_tensor_release(found[i]);
  }
  tenon_tensor_release(sums.xs);
  tenon_tensor_release(sums.n);
  tenon_tensor_release(square);
  tenon_tensor_release(shape);
  return error;
}

/* Creates a function whose input has a dynamic length, so that one trace serves all lengths. */
static tenon_function* of_any_length(struct code* code) {
  const int64_t unknown = TENON_SIZE_UNKNOWN;
  tenon_function_options options = TENON_FUNCTION_OPTIONS_DEFAULT;
  tenon_input_spec spec = {0};
  spec.dtype = TENON_FLOAT32;
  spec.rank = 1;
  spec.shape = &unknown;
  options.signature = &spec;
  options.n_signature = 1;
  return function_of(code, &options);
}

static tenon_tensor* gradient(tenon_tape* tape, tenon_tensor* target, tenon_tensor* x) {
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tensor* dx = NULL;
  CHECK_OK(tenon_tape_gradient(scope(), tape, &target, 1, NULL, &source, 1, NULL, &dx));
  return dx;
}

static void lists_are_carried_by_loops_and_differentiated(void) {
  struct code code = {.run = sums_of_squares};
  tenon_function* f = of_any_length(&code);
  int traced;
  for (traced = 0; traced < 2; ++traced) {
    tenon_tensor *x = F32(1, 2, 3), *y = NULL, *dx, *ddx;
    tenon_tape *first = NULL, *second = NULL;
    CHECK_OK(tenon_tape_create(scope(), NULL, &second));
    CHECK_OK(tenon_tape_watch(second, tenon_tensor_as_value(x)));
    CHECK_OK(tenon_tape_create(scope(), NULL, &first));
    CHECK_OK(tenon_tape_watch(first, tenon_tensor_as_value(x)));

    if (traced) {
      CHECK_OK(tenon_function_call(scope(), f, &x, 1, NULL, 0, &y, 1, NULL));
    } else {
      CHECK_OK(sums_of_squares(&code, scope(), &x, &y));
    }
    CHECK_VALUES(y, 1, 5, 14);
    /* The first element contributes to three sums, the last one to a single sum. */
    dx = gradient(first, y, x);
    CHECK_VALUES(dx, 6, 8, 6);
    ddx = gradient(second, dx, x);
    CHECK_VALUES(ddx, 6, 4, 2);

    tenon_tensor_release(x);
    tenon_tensor_release(y);
    tenon_tensor_release(dx);
    tenon_tensor_release(ddx);
    tenon_tape_release(first);
    tenon_tape_release(second);
  }
  tenon_function_release(f);
}

static void one_trace_serves_lists_of_every_length(void) {
  struct code code = {.run = sums_of_squares};
  tenon_function* f = of_any_length(&code);
  tenon_tensor *a = F32(1, 2, 3), *b = F32(4), *y = NULL;
  CHECK_OK(tenon_function_call(scope(), f, &a, 1, NULL, 0, &y, 1, NULL));
  CHECK_RESULT(y, 1, 5, 14);
  CHECK_OK(tenon_function_call(scope(), f, &b, 1, NULL, 0, &y, 1, NULL));
  CHECK_RESULT(y, 16);
  CHECK(tenon_function_count_traces(f) == 1);
  tenon_tensor_release(a);
  tenon_tensor_release(b);
  tenon_function_release(f);
}

/* A body that appends 9 to the list inputs[0]. */
static tenon_error* push_nine(struct code* code, tenon_scope* inner, tenon_tensor* const* inputs,
                              tenon_tensor** out_outputs) {
  tenon_tensor *nine = tenon_scalar_f64(9), *all = NULL, *length = NULL;
  tenon_error* error = tenon_list_push(inner, inputs[0], nine, &out_outputs[0]);
  CHECK(tenon_tensor_is_list(inputs[0]));
  /* The length of the list may differ between calls. */
  CHECK_OK(tenon_list_stack(inner, inputs[0], NULL, &all));
  CHECK(tenon_tensor_rank(all) == 1);
  tenon_tensor_release(all);
  CHECK_OK(tenon_list_length(inner, inputs[0], &length));
  CHECK_OK(tenon_list_stack(inner, inputs[0], length, &all));
  tenon_tensor_release(all);
  tenon_tensor_release(length);
  tenon_tensor_release(nine);
  if (!error && code->escaped) {
    /* A captured list becomes an input of the trace, as a captured tensor does. */
    tenon_tensor *zero = number(0), *x = NULL, *longer = NULL;
    error = tenon_list_get(inner, code->escaped, zero, &x);
    if (!error) error = tenon_list_push(inner, out_outputs[0], x, &longer);
    tenon_tensor_release(out_outputs[0]);
    tenon_tensor_release(zero);
    tenon_tensor_release(x);
    out_outputs[0] = longer;
  }
  return error;
}

static void lists_are_passed_to_and_returned_by_functions(void) {
  struct code code = {.run = push_nine};
  tenon_function* f = function_of(&code, NULL);
  tenon_tensor *list = NULL, *longer = NULL, *all = NULL;
  tenon_string text = {NULL, 0};
  CHECK_OK(tenon_list_create(scope(), TENON_FLOAT32, NULL, 0, 0, &list));
  list = set(list, 0, tenon_scalar_f64(5));
  tenon_tensor_retain(list);
  code.escaped = list;

  CHECK_OK(tenon_function_call(scope(), f, &list, 1, NULL, 0, &longer, 1, NULL));
  tenon_tensor_release(list);
  CHECK(tenon_tensor_is_list(longer));
  CHECK_OK(tenon_function_call(scope(), f, &longer, 1, NULL, 0, &all, 1, NULL));
  tenon_tensor_release(longer);
  CHECK(code.runs == 1);
  CHECK_OK(tenon_list_stack(scope(), all, NULL, &longer));
  CHECK_RESULT(longer, 5, 9, 5, 9, 5);
  CHECK_OK(tenon_function_explain(f, &text));
  CHECK_CONTAINS(text, "list of f32[]");
  tenon_string_release(text);
  tenon_tensor_release(all);
  tenon_tensor_release(list);
  tenon_function_release(f);
}

int main(void) {
  RUN(list_entries_are_set_and_read);
  RUN(list_entries_are_appended);
  RUN(list_entries_are_stacked);
  RUN(many_list_entries_are_stacked);
  RUN(tensors_are_unstacked_to_lists);
  RUN(lists_hold_lists);
  RUN(scalars_take_the_dtype_of_the_list);
  RUN(lists_return_the_properties_of_their_entries);
  RUN(invalid_list_calls_are_errors);
  RUN(stacking_more_entries_than_memory_allows_is_an_error);
  RUN(lists_cannot_be_stored_in_variables);
  RUN(lists_are_carried_by_loops_and_differentiated);
  RUN(one_trace_serves_lists_of_every_length);
  RUN(lists_are_passed_to_and_returned_by_functions);
  return report();
}
