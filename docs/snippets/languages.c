/* docs/languages.md: twenty tasks in C. languages.cc,
 * bindings/rust/tenon-runtime/tests/languages.rs and LanguagesTest.java have the same tasks in C++,
 * Rust and Java. The code of a task is between the comments [its name] and [end]. */

#include "docs/snippets/snippet.h"

/* [function] */
static tenon_error* scaled(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                           size_t n_inputs, const tenon_static* statics, size_t n_statics,
                           tenon_tensor** out_outputs, size_t max_outputs) {
  (void)payload, (void)n_inputs, (void)statics, (void)n_statics, (void)max_outputs;
  return tenon_mul(scope, inputs[0], inputs[1], &out_outputs[0]);
}
/* [end] */

/* [cond] */
static tenon_error* negative(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                             size_t n_inputs, tenon_tensor** out_outputs, size_t max_outputs) {
  (void)inputs, (void)n_inputs, (void)max_outputs;
  return tenon_neg(scope, payload, &out_outputs[0]);
}

static tenon_error* same(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                         size_t n_inputs, tenon_tensor** out_outputs, size_t max_outputs) {
  (void)inputs, (void)n_inputs, (void)max_outputs;
  return tenon_identity(scope, payload, &out_outputs[0]);
}
/* [end] */

/* [while_loop] */
static tenon_error* below_100(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                              size_t n_inputs, tenon_tensor** out_outputs, size_t max_outputs) {
  (void)payload, (void)n_inputs, (void)max_outputs;
  tenon_tensor* bound = tenon_scalar_f64(100);
  tenon_error* error = tenon_less(scope, inputs[0], bound, &out_outputs[0]);
  tenon_tensor_release(bound);
  return error;
}

static tenon_error* doubled(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                            size_t n_inputs, tenon_tensor** out_outputs, size_t max_outputs) {
  (void)payload, (void)n_inputs, (void)max_outputs;
  return tenon_add(scope, inputs[0], inputs[0], &out_outputs[0]);
}
/* [end] */

/* [host_call] */
static tenon_error* print_it(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                             size_t n_inputs, tenon_tensor** out_outputs, size_t n_outputs) {
  double value = 0;
  (void)payload, (void)n_inputs, (void)n_outputs;
  tenon_error* error = tenon_tensor_item_f64(scope, inputs[0], &value);
  if (error) return error;
  printf("host: %g\n", value);
  return tenon_identity(scope, inputs[0], &out_outputs[0]);
}
/* [end] */

static tenon_scope* start(tenon_context** out_context) {
  /* [context] */
  tenon_context* context = NULL;
  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  /* [end] */
  *out_context = context;
  return scope;
}

static tenon_tensor* values_and_ops(tenon_scope* scope) {
  /* [make] */
  const float elements[] = {1, 2, 3, 4};
  const int64_t sizes[] = {2, 2};
  tenon_tensor* x = NULL;
  must(tenon_tensor_from_data(scope, TENON_FLOAT32, sizes, 2, elements, sizeof elements, &x));
  /* [end] */

  /* [arithmetic] */
  tenon_tensor *two = tenon_scalar_f64(2), *twice = NULL, *y = NULL;
  must(tenon_mul(scope, two, x, &twice));
  must(tenon_add(scope, twice, x, &y));
  tenon_tensor_release(twice);
  tenon_tensor_release(two);
  /* [end] */
  show(scope, "arithmetic", y);
  tenon_tensor_release(y);

  /* [attributes] */
  const int64_t axis = 1;
  tenon_sum_attrs attrs = TENON_SUM_ATTRS_DEFAULT;
  attrs.axes = &axis;
  attrs.n_axes = 1;
  attrs.keepdims = true;
  tenon_tensor* rows = NULL;
  must(tenon_sum(scope, x, &attrs, &rows));
  /* [end] */
  show(scope, "attributes", rows);
  tenon_tensor_release(rows);

  /* [outputs] */
  tenon_top_k_attrs largest = TENON_TOP_K_ATTRS_DEFAULT;
  largest.k = 1;
  tenon_tensor *values = NULL, *indices = NULL;
  must(tenon_top_k(scope, x, &largest, &values, &indices));
  /* [end] */
  show(scope, "outputs", indices);
  tenon_tensor_release(values);
  tenon_tensor_release(indices);

  /* [index] */
  const int64_t from = 1, to = 2, first_axis = 0;
  tenon_slice_attrs part = TENON_SLICE_ATTRS_DEFAULT;
  part.starts = &from;
  part.ends = &to;
  part.axes = &first_axis;
  part.n_starts = part.n_ends = part.n_axes = 1;
  tenon_tensor* last_row = NULL;
  must(tenon_slice(scope, x, &part, &last_row));
  /* [end] */
  show(scope, "index", last_row);
  tenon_tensor_release(last_row);
  return x;
}

static void reading(tenon_scope* scope, tenon_tensor* x) {
  /* [shape] */
  const int64_t* shape = tenon_tensor_shape(x);
  size_t rank = tenon_tensor_rank(x);
  /* [end] */
  printf("shape: %d of %d axes\n", (int)shape[0], (int)rank);

  /* [item] */
  tenon_tensor* total = NULL;
  double number = 0;
  must(tenon_sum(scope, x, NULL, &total));
  must(tenon_tensor_item_f64(scope, total, &number));
  tenon_tensor_release(total);
  /* [end] */
  printf("item: %g\n", number);

  /* [read] */
  float host[4];
  must(tenon_tensor_read(scope, x, host, sizeof host));
  /* [end] */
  printf("read: %g\n", host[3]);

  /* [print] */
  tenon_string text;
  must(tenon_tensor_format(scope, x, NULL, &text));
  printf("%s\n", text.data);
  tenon_string_release(text);
  /* [end] */

  /* [device] */
  tenon_tensor* there = NULL;
  must(tenon_tensor_copy_to(scope, x, tenon_str("cpu"), &there));
  /* [end] */
  tenon_tensor_release(there);

  /* [random] */
  tenon_generator* generator = NULL;
  tenon_tensor* noise = NULL;
  must(tenon_generator_create(scope, 7, &generator));
  must(tenon_generator_normal(scope, generator, TENON_FLOAT32, shape, rank, 0, 1, &noise));
  tenon_generator_release(generator);
  /* [end] */
  tenon_tensor_release(noise);

  /* [error] */
  tenon_softmax_attrs wrong = TENON_SOFTMAX_ATTRS_DEFAULT;
  wrong.axis = 5;
  tenon_tensor* none = NULL;
  tenon_error* error = tenon_softmax(scope, x, &wrong, &none);
  if (error) printf("%s\n", tenon_error_message(error).data);
  tenon_error_release(error);
  /* [end] */
}

static void training(tenon_scope* scope, tenon_tensor* x) {
  /* [variable] */
  tenon_variable* w = NULL;
  tenon_tensor* before = NULL;
  must(tenon_variable_create(scope, x, NULL, &w));
  must(tenon_variable_read(scope, w, &before));
  must(tenon_variable_assign(scope, w, before));
  tenon_tensor_release(before);
  /* [end] */

  /* [gradient] */
  tenon_tape* tape = NULL;
  tenon_tensor *read = NULL, *squares = NULL, *loss = NULL, *gradient = NULL;
  tenon_value* source = tenon_variable_as_value(w);
  must(tenon_tape_create(scope, NULL, &tape));
  must(tenon_variable_read(scope, w, &read));
  must(tenon_square(scope, read, &squares));
  must(tenon_sum(scope, squares, NULL, &loss));
  must(tenon_tape_gradient(scope, tape, &loss, 1, NULL, &source, 1, NULL, &gradient));
  tenon_tensor_release(loss);
  tenon_tensor_release(squares);
  tenon_tensor_release(read);
  tenon_tape_release(tape);
  /* [end] */
  show(scope, "gradient", gradient);
  tenon_tensor_release(gradient);
  tenon_variable_release(w);
}

static void functions(tenon_scope* scope, tenon_tensor* x) {
  /* [function] */
  const tenon_function_body body = {scaled, NULL, NULL};
  tenon_function* function = NULL;
  tenon_tensor *inputs[] = {x, x}, *product = NULL;
  must(tenon_function_create(tenon_scope_context(scope), tenon_str("scaled"), body, NULL,
                             &function));
  must(tenon_function_call(scope, function, inputs, 2, NULL, 0, &product, 1, NULL));
  tenon_function_release(function);
  /* [end] */
  show(scope, "function", product);
  tenon_tensor_release(product);

  tenon_tensor* start = vector(scope, (const float[]){3}, 1);
  tenon_tensor *zero = tenon_scalar_f64(0), *positive = NULL, *all_positive = NULL;
  must(tenon_greater(scope, start, zero, &positive));
  must(tenon_all(scope, positive, NULL, &all_positive));

  /* [cond] */
  const tenon_block then = {negative, start}, otherwise = {same, start};
  tenon_tensor* chosen = NULL;
  must(tenon_cond(scope, all_positive, then, otherwise, &chosen, 1, NULL));
  /* [end] */
  show(scope, "cond", chosen);
  tenon_tensor_release(chosen);
  tenon_tensor_release(all_positive);
  tenon_tensor_release(positive);
  tenon_tensor_release(zero);

  /* [while_loop] */
  const tenon_block condition = {below_100, NULL}, repeated = {doubled, NULL};
  tenon_tensor *initial = tenon_scalar_f64(3), *last = NULL;
  must(tenon_while_loop(scope, condition, repeated, &initial, 1, NULL, &last));
  tenon_tensor_release(initial);
  /* [end] */
  show(scope, "while_loop", last);

  /* [host_call] */
  const tenon_tensor_function on_host = {print_it, NULL, NULL};
  tenon_tensor* printed = NULL;
  must(tenon_host_call(scope, on_host, &last, 1, &last, &printed, 1));
  /* [end] */
  tenon_tensor_release(printed);
  tenon_tensor_release(last);
  tenon_tensor_release(start);
}

static void files(tenon_scope* scope, tenon_tensor* x) {
  /* [safetensors] */
  const tenon_string path = tenon_str("languages.safetensors"), name = tenon_str("x");
  tenon_safetensors* file = NULL;
  tenon_tensor* loaded = NULL;
  must(tenon_safetensors_save(scope, path, &name, &x, 1, NULL, 0));
  must(tenon_safetensors_open(path, &file));
  must(tenon_safetensors_load(scope, file, name, &loaded));
  tenon_safetensors_release(file);
  /* [end] */
  show(scope, "safetensors", loaded);
  tenon_tensor_release(loaded);
}

int main(void) {
  tenon_context* context = NULL;
  tenon_scope* scope = start(&context);
  tenon_tensor* x = values_and_ops(scope);
  reading(scope, x);
  training(scope, x);
  functions(scope, x);
  files(scope, x);

  /* [context] */
  tenon_tensor_release(x);
  tenon_context_release(context);
  /* [end] */
  return 0;
}
