/* Saves a model with two heads on one trunk, and loads it. Then saves the loaded trunk alone,
 * with only the variables that it uses. */

#include "examples/c/eager_and_traced.h"

typedef struct model {
  tenon_variable *trunk, *price, *age;
} model;

static tenon_variable* weights(tenon_scope* scope, const char* name, const float* values,
                               int64_t columns) {
  tenon_tensor* value = f32_matrix(scope, values, 2, columns);
  tenon_variable_options options = TENON_VARIABLE_OPTIONS_DEFAULT;
  tenon_variable* result = NULL;
  options.name = tenon_str(name);
  must(tenon_variable_create(scope, value, &options, &result));
  tenon_tensor_release(value);
  return result;
}

static tenon_tensor* times(tenon_scope* scope, tenon_tensor* x, tenon_variable* w) {
  tenon_tensor *value = NULL, *y = NULL;
  must(tenon_variable_read(scope, w, &value));
  must(tenon_matmul(scope, x, value, NULL, &y));
  tenon_tensor_release(value);
  return y;
}

CODE(features) {
  tenon_tensor* xw = times(scope, in[0], ((const model*)payload)->trunk);
  (void)n_in, (void)statics, (void)n_statics, (void)max_out;
  must(tenon_relu(scope, xw, &out[0]));
  tenon_tensor_release(xw);
  return NULL;
}

CODE(both) {
  const model* m = payload;
  tenon_tensor* h = NULL;
  must(features(payload, scope, in, n_in, statics, n_statics, &h, max_out));
  out[0] = times(scope, h, m->price);
  out[1] = times(scope, h, m->age);
  tenon_tensor_release(h);
  return NULL;
}

static const int64_t kShape[] = {TENON_SIZE_UNKNOWN, 2};

/* Returns the function's trace for any number of rows. */
static tenon_trace* trace_of(tenon_scope* scope, tenon_function* f) {
  tenon_input_spec x = {0};
  tenon_trace* trace = NULL;
  x.name = tenon_str("x");
  x.dtype = TENON_FLOAT32;
  x.rank = 2;
  x.shape = kShape;
  must(tenon_function_trace(scope, f, &x, 1, NULL, 0, &trace));
  tenon_function_release(f);
  return trace;
}

static tenon_program* saved_and_read(tenon_scope* scope, const char* path, const char* label,
                                     const tenon_string* names, tenon_trace* const* traces,
                                     size_t n) {
  tenon_program* program = NULL;
  must(tenon_program_save(scope, tenon_str(path), names, traces, n));
  must(tenon_program_open(scope, tenon_str(path), NULL, &program));
  printf("%s", label);
  for (size_t i = 0; i < tenon_program_count_variables(program); ++i) {
    printf(" %s", tenon_variable_name(tenon_program_variable(program, i)).data);
  }
  printf("\n");
  for (size_t i = 0; i < n; ++i) tenon_trace_release(traces[i]);
  return program;
}

static tenon_function* function_in(tenon_program* program, const char* name) {
  tenon_function* f = NULL;
  must(tenon_program_get_function(program, tenon_str(name), &f));
  return f;
}

static void show_row(tenon_scope* scope, const char* label, tenon_tensor* column) {
  tenon_tensor* row = NULL;
  must(tenon_transpose(scope, column, NULL, &row));
  show_last(scope, label, row);
  tenon_tensor_release(column);
}

static void example(tenon_scope* scope) {
  const float trunk[] = {1, -1, 2, 0.5f}, price[] = {1, 3}, age[] = {-2, 1}, x[] = {1, 1, 0, 2};
  model m = {weights(scope, "trunk", trunk, 2), weights(scope, "price", price, 1),
             weights(scope, "age", age, 1)};
  const tenon_function_body both_body = {both, &m, NULL}, features_body = {features, &m, NULL};
  const tenon_string names[] = {tenon_str("both"), tenon_str("features")};
  tenon_trace* traces[] = {trace_of(scope, function_of(scope, both_body, NULL)),
                           trace_of(scope, function_of(scope, features_body, NULL))};
  tenon_program* whole = saved_and_read(scope, "two_heads", "saved:", names, traces, 2);
  tenon_trace* alone = trace_of(scope, function_in(whole, "features"));
  tenon_program* published = saved_and_read(scope, "features", "published:", &names[1], &alone, 1);

  tenon_tensor *input = f32_matrix(scope, x, 2, 2), *heads[2];
  tenon_function *f = function_in(whole, "both"), *g = function_in(published, "");
  must(tenon_function_call(scope, f, &input, 1, NULL, 0, heads, 2, NULL));
  show_row(scope, "price: ", heads[0]);
  show_row(scope, "age: ", heads[1]);
  show_last(scope, "features:\n", call(scope, g, &input, 1));

  tenon_tensor_release(input);
  tenon_function_release(f);
  tenon_function_release(g);
  tenon_program_release(whole);
  tenon_program_release(published);
  tenon_variable_release(m.trunk);
  tenon_variable_release(m.price);
  tenon_variable_release(m.age);
}

int main(void) { return run_eager_and_traced(example); }
