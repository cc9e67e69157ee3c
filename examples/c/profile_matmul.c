/* Profiles a layer, eager and traced: compares the time of the matrix product with that of
 * adding the bias. The tables go to stderr, since their times differ from run to run; the traces
 * can be opened in https://ui.perfetto.dev. */

#include <string.h>

#include "examples/c/must.h"

enum { kSize = 256, kCalls = 10 };

struct layer {
  tenon_tensor* weights;
  tenon_tensor* bias;
};

static tenon_error* run_layer(const struct layer* layer, tenon_scope* scope, tenon_tensor* x,
                              tenon_tensor** out) {
  tenon_tensor* product = NULL;
  tenon_error* error = tenon_matmul(scope, x, layer->weights, NULL, &product);
  if (!error) error = tenon_add(scope, product, layer->bias, out);
  tenon_tensor_release(product);
  return error;
}

static tenon_error* body(void* payload, tenon_scope* scope, tenon_tensor* const* inputs,
                         size_t n_inputs, const tenon_static* statics, size_t n_statics,
                         tenon_tensor** out_outputs, size_t max_outputs) {
  (void)n_inputs, (void)statics, (void)n_statics, (void)max_outputs;
  return run_layer(payload, scope, inputs[0], &out_outputs[0]);
}

static tenon_tensor* ones(tenon_scope* scope, int64_t rows, int64_t columns) {
  float* values = malloc((size_t)(rows * columns) * sizeof *values);
  for (int64_t i = 0; i < rows * columns; ++i) values[i] = 1;
  tenon_tensor* x = f32_matrix(scope, values, rows, columns);
  free(values);
  return x;
}

/* The total time of an op in nanoseconds. */
static uint64_t time_of(const tenon_profiler* profiler, const char* op, uint64_t* count) {
  uint64_t time = 0;
  *count = 0;
  for (size_t i = 0; i < tenon_profiler_count_rows(profiler); ++i) {
    tenon_profiler_row row = {0};
    row.struct_size = sizeof row;
    must(tenon_profiler_describe_row(profiler, i, &row));
    if (row.kind != TENON_SPAN_OP || strcmp(row.name.data, op) != 0) continue;
    *count += row.count;
    time += row.device_total;
  }
  return time;
}

static void report(tenon_profiler* profiler, const char* mode) {
  const char* folder = getenv("TMPDIR");
  char path[1024];
  tenon_string table = {NULL, 0};
  uint64_t n_products = 0, n_sums = 0;
  must(tenon_profiler_stop(profiler));
  const uint64_t products = time_of(profiler, "matmul", &n_products);
  const uint64_t sums = time_of(profiler, "add", &n_sums);
  printf("%s: %d matmul, %d add; more time went to %s\n", mode, (int)n_products, (int)n_sums,
         products > sums ? "matmul" : "add");

  must(tenon_profiler_table(profiler, &table));
  fprintf(stderr, "%s\n", table.data);
  tenon_string_release(table);
  snprintf(path, sizeof path, "%s/profile_matmul_%s.json", folder ? folder : "/tmp", mode);
  must(tenon_profiler_write_trace(profiler, tenon_str(path)));
  fprintf(stderr, "%s\n\n", path);
  tenon_profiler_release(profiler);
}

int main(void) {
  tenon_context* context = NULL;
  must(tenon_context_create(NULL, &context));
  tenon_scope* scope = tenon_context_default_scope(context);
  struct layer layer = {ones(scope, kSize, kSize), ones(scope, 1, kSize)};
  tenon_tensor* x = ones(scope, kSize, kSize);
  tenon_function_body code = {body, NULL, NULL};
  tenon_function* function = NULL;
  code.payload = &layer;
  must(tenon_function_create(context, tenon_str("layer"), code, NULL, &function));

  tenon_profiler* profiler = NULL;
  must(tenon_profiler_start(context, NULL, &profiler));
  for (int i = 0; i < kCalls; ++i) {
    tenon_tensor* y = NULL;
    must(run_layer(&layer, scope, x, &y));
    tenon_tensor_release(y);
  }
  report(profiler, "eager");

  must(tenon_profiler_start(context, NULL, &profiler));
  for (int i = 0; i < kCalls; ++i) {
    tenon_tensor* y = NULL;
    must(tenon_function_call(scope, function, &x, 1, NULL, 0, &y, 1, NULL));
    tenon_tensor_release(y);
  }
  report(profiler, "traced");

  tenon_function_release(function);
  tenon_tensor_release(x);
  tenon_tensor_release(layer.weights);
  tenon_tensor_release(layer.bias);
  tenon_context_release(context);
  return 0;
}
