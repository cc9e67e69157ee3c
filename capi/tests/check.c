#define _POSIX_C_SOURCE 200112L
#include "capi/tests/check.h"

#include <sched.h>

static int failures;
static int failures_before;
static int tests;
static tenon_context* the_context;

tenon_context* context(void) { return the_context; }

tenon_scope* scope(void) { return tenon_context_default_scope(the_context); }

tenon_context_options test_options(void) {
  static char text[256];
  static tenon_string path;
  static tenon_plugin_option list[16];
  tenon_context_options options = TENON_CONTEXT_OPTIONS_DEFAULT;
  const char* given = getenv("TENON_TEST_OPTIONS");
  char* key;
  path = tenon_str(getenv("TENON_TEST_PLUGIN"));
  if (path.size == 0) return options;
  options.plugin_paths = &path;
  options.n_plugin_paths = 1;
  snprintf(text, sizeof text, "%s", given ? given : "");
  for (key = strtok(text, ","); key && options.n_plugin_options < 16; key = strtok(NULL, ",")) {
    tenon_plugin_option* option = &list[options.n_plugin_options++];
    char* equals = strchr(key, '=');
    *equals = '\0';
    option->plugin = tenon_str(getenv("TENON_TEST_DEVICE"));
    option->key = tenon_str(key);
    option->value = tenon_str(equals + 1);
  }
  options.plugin_options = list;
  return options;
}

tenon_context* create_context(void) {
  const tenon_context_options options = test_options();
  tenon_context* own = NULL;
  CHECK_OK(tenon_context_create(&options, &own));
  CHECK_OK(tenon_scope_set_device(tenon_context_default_scope(own), tenon_str(device_name())));
  return own;
}

const char* device_name(void) {
  static char name[64];
  const char* device = getenv("TENON_TEST_DEVICE");
  snprintf(name, sizeof name, "%s:0", device ? device : "ref");
  return name;
}

const char* plugin_folder(void) {
  const char* folder = getenv("TENON_PLUGIN_PATH");
  return folder ? folder : ".";
}

int device_has(tenon_features features) {
  tenon_device* device = NULL;
  tenon_device_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  CHECK_OK(tenon_context_find_device(the_context, tenon_str(device_name()), &device));
  CHECK_OK(tenon_device_describe(device, &info));
  tenon_device_release(device);
  return (info.features & features) == features;
}

static void set_flag(void* flag, const tenon_error* error) {
  (void)error;
  __atomic_store_n((int*)flag, 1, __ATOMIC_RELEASE);
}

void settle(void) {
  int called_back = 0;
  tenon_done_callback done;
  done.function = set_flag;
  done.payload = &called_back;
  done.destroy = NULL;
  CHECK_OK(tenon_scope_wait_async(scope(), done));
  while (!__atomic_load_n(&called_back, __ATOMIC_ACQUIRE)) sched_yield();
}

uint64_t live_bytes(void) {
  tenon_device* device = NULL;
  tenon_memory_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  CHECK_OK(tenon_context_find_device(the_context, tenon_str(device_name()), &device));
  CHECK_OK(tenon_device_describe_memory(device, &info));
  tenon_device_release(device);
  return info.live_bytes;
}

void run_test(const char* name, void (*test)(void)) {
  ++tests;
  failures_before = failures;
  the_context = create_context();
  test();
  settle();
  if (live_bytes() != 0) {
    fprintf(stderr, "  %lu bytes are still held\n", (unsigned long)live_bytes());
    ++failures;
  }
  tenon_context_release(the_context);
  the_context = NULL;
  printf("%s %s\n", failures == failures_before ? "ok    " : "FAILED", name);
}

int report(void) {
  printf("%d tests, %d failures\n", tests, failures);
  return failures == 0 ? 0 : 1;
}

static void fail_at(const char* file, int line) {
  ++failures;
  fprintf(stderr, "%s:%d: ", file, line);
}

void check_that(int ok, const char* what, const char* file, int line) {
  if (ok) return;
  fail_at(file, line);
  fprintf(stderr, "%s does not hold\n", what);
}

void check_ok(tenon_error* error, const char* what, const char* file, int line) {
  if (!error) return;
  fail_at(file, line);
  fprintf(stderr, "%s\n  failed: %s\n", what, tenon_error_message(error).data);
  tenon_error_release(error);
}

void check_error(tenon_error* error, tenon_code code, const char* message, const char* what,
                 const char* file, int line) {
  if (!error) {
    fail_at(file, line);
    fprintf(stderr, "%s\n  succeeded\n", what);
    return;
  }
  if (tenon_error_code(error) != code) {
    fail_at(file, line);
    fprintf(stderr, "%s\n  failed with %s: %s\n", what,
            tenon_code_name(tenon_error_code(error)).data, tenon_error_message(error).data);
  }
  check_text(tenon_error_message(error), message, 0, file, line);
  tenon_error_release(error);
}

void check_text(tenon_string text, const char* part, int whole, const char* file, int line) {
  const int ok = text.data && (whole ? strcmp(text.data, part) == 0 && strlen(part) == text.size
                                     : strstr(text.data, part) != NULL);
  if (ok) return;
  fail_at(file, line);
  fprintf(stderr, "expected%s: %s\n  but it is: %s\n", whole ? "" : " a part", part,
          text.data ? text.data : "(null)");
}

tenon_error* with_scalar(tenon_scope* inner, uint32_t op, tenon_tensor* x, tenon_tensor* scalar,
                         tenon_tensor** out) {
  tenon_tensor* pair[2];
  tenon_error* error;
  pair[0] = x;
  pair[1] = scalar;
  error = tenon_call(inner, op, NULL, pair, 2, out, 1);
  tenon_tensor_release(scalar);
  return error;
}

int64_t count_of(const tenon_tensor* tensor) {
  CHECK(tensor != NULL);
  return tenon_tensor_count(tensor);
}

int64_t size_of(const tenon_tensor* tensor, int64_t axis) {
  int64_t n = -1;
  CHECK_OK(tenon_tensor_size(tensor, axis, &n));
  return n;
}

void check_values(tenon_tensor* tensor, const double* values, size_t n, double tolerance,
                  const char* file, int line) {
  tenon_cast_attrs attrs = TENON_CAST_ATTRS_DEFAULT;
  tenon_tensor* wide = NULL;
  double* got = calloc(n ? n : 1, sizeof *got);
  size_t i;
  if (!tensor || count_of(tensor) != (int64_t)n) {
    fail_at(file, line);
    fprintf(stderr, "expected %lu elements, but there are %ld\n", (unsigned long)n,
            tensor ? (long)count_of(tensor) : -1L);
    free(got);
    return;
  }
  attrs.to = TENON_FLOAT64;
  CHECK_OK(tenon_cast(scope(), tensor, &attrs, &wide));
  CHECK_OK(tenon_tensor_read(scope(), wide, got, n * sizeof *got));
  for (i = 0; i < n; ++i) {
    const double difference = fabs(got[i] - values[i]);
    if (got[i] == values[i] || difference <= tolerance * fabs(values[i])) continue;
    fail_at(file, line);
    fprintf(stderr, "element %lu is %.9g and not %.9g\n", (unsigned long)i, got[i], values[i]);
  }
  tenon_tensor_release(wide);
  free(got);
}

tenon_tensor* make_f32(const float* values, size_t n) {
  const int64_t shape[1] = {(int64_t)n};
  tenon_tensor* tensor = NULL;
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_FLOAT32, shape, 1, values, n * sizeof *values,
                                  &tensor));
  return tensor;
}

tenon_tensor* make_f32_matrix(int64_t rows, int64_t columns, const float* values) {
  const int64_t shape[2] = {rows, columns};
  tenon_tensor* tensor = NULL;
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_FLOAT32, shape, 2, values,
                                  (size_t)(rows * columns) * sizeof *values, &tensor));
  return tensor;
}

tenon_tensor* make_i32(int64_t rows, int64_t columns) {
  const int64_t shape[2] = {rows, columns};
  const size_t size = (size_t)(rows * columns) * sizeof(int32_t);
  int32_t* zeros = calloc(1, size ? size : 1);
  tenon_tensor* tensor = NULL;
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_INT32, shape, 2, zeros, size, &tensor));
  free(zeros);
  return tensor;
}

tenon_error* infer_same(void* payload, const void* attrs, const tenon_type* inputs, size_t n_inputs,
                        tenon_type* out_types, size_t n_outputs) {
  const tenon_dtype dtype = inputs[0].dtype;
  (void)payload;
  (void)attrs;
  (void)n_inputs;
  (void)n_outputs;
  if (dtype != TENON_FLOAT32 && dtype != TENON_FLOAT64) {
    return tenon_error_create(TENON_INVALID_ARGUMENT, tenon_str("C1: x must be f32 or f64"));
  }
  out_types[0] = inputs[0];
  return NULL;
}

tenon_error* backward_scale(void* payload, tenon_scope* inner, const void* attrs,
                            const tenon_backward_args* args, tenon_tensor** out_grads,
                            size_t n_grads) {
  const struct scale_attrs* scale = attrs;
  tenon_tensor* factor = tenon_scalar_f64(scale->factor);
  tenon_error* error = tenon_mul(inner, args->cotangents[0], factor, &out_grads[0]);
  (void)payload;
  (void)n_grads;
  tenon_tensor_release(factor);
  return error;
}
