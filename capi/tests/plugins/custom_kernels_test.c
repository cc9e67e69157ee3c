/* Custom ops on a device whose plugin, custom_plugin.c, has kernels for them. The kernels, except
 * that of test.counts, add 1000 to each element. The callbacks with which this program registers
 * the ops do not. The result of a call therefore shows whether a kernel or a callback ran. */

#include <tenon/introspect.h>

#include "capi/tests/check.h"

/* Number of calls of compute_scale() and decompose_twice() since the last op was registered. */
static int computed;

static tenon_error* compute_scale(void* payload, const void* attrs, const tenon_host_array* inputs,
                                  size_t n_inputs, const tenon_host_array* outputs,
                                  size_t n_outputs) {
  const float factor = attrs ? ((const struct scale_attrs*)attrs)->factor : 1;
  size_t i;
  (void)payload;
  (void)n_inputs;
  (void)n_outputs;
  ++computed;
  if (inputs[0].type.dtype == TENON_FLOAT64) {
    const double* x = inputs[0].data;
    double* y = outputs[0].data;
    for (i = 0; i < inputs[0].size / sizeof *x; ++i) y[i] = (double)factor * x[i];
  } else {
    const float* x = inputs[0].data;
    float* y = outputs[0].data;
    for (i = 0; i < inputs[0].size / sizeof *x; ++i) y[i] = factor * x[i];
  }
  return NULL;
}

static tenon_error* decompose_twice(void* payload, tenon_scope* inner, const void* attrs,
                                    tenon_tensor* const* inputs, size_t n_inputs,
                                    tenon_tensor** out_outputs, size_t n_outputs) {
  (void)payload;
  (void)attrs;
  (void)n_inputs;
  (void)n_outputs;
  ++computed;
  return tenon_add(inner, inputs[0], inputs[0], &out_outputs[0]);
}

static tenon_custom_op op_called(const char* name, size_t attrs_size) {
  tenon_custom_op op;
  memset(&op, 0, sizeof op);
  op.struct_size = sizeof op;
  op.n_inputs = 1;
  op.n_outputs = 1;
  op.attrs_size = (uint32_t)attrs_size;
  op.name = tenon_str(name);
  op.infer = infer_same;
  op.compute = compute_scale;
  return op;
}

static uint32_t registered(const tenon_custom_op* op) {
  uint32_t id = 0;
  CHECK_OK(tenon_op_register(context(), op, &id));
  computed = 0;
  return id;
}

static uint32_t scale(void) {
  tenon_custom_op op = op_called("test.scale", sizeof(struct scale_attrs));
  op.backward = backward_scale;
  return registered(&op);
}

static tenon_tensor* called(uint32_t id, const void* attrs, tenon_tensor* x) {
  tenon_tensor* y = NULL;
  CHECK_OK(tenon_call(scope(), id, attrs, &x, 1, &y, 1));
  return y;
}

/* Checks elements without a cast to float64, which CHECK_VALUES needs and this device does not
 * support. */
static void check_elements(tenon_tensor* x, const double* expected, size_t n) {
  float values[4] = {0};
  double wide[4] = {0};
  size_t i;
  CHECK(n <= 4 && count_of(x) == (int64_t)n);
  if (tenon_tensor_dtype(x) == TENON_FLOAT64) {
    CHECK_OK(tenon_tensor_read(scope(), x, wide, n * sizeof *wide));
  } else {
    CHECK_OK(tenon_tensor_read(scope(), x, values, n * sizeof *values));
    for (i = 0; i < n; ++i) wide[i] = values[i];
  }
  for (i = 0; i < n; ++i) CHECK(wide[i] == expected[i]);
}

#define CHECK_ELEMENTS(tensor, ...)                     \
  check_elements(tensor, (const double[]){__VA_ARGS__}, \
                 sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void check_explanation(uint32_t id, const void* attrs, tenon_tensor* x, const char* part) {
  tenon_string text = {NULL, 0};
  CHECK_OK(tenon_explain(scope(), id, attrs, &x, 1, &text));
  CHECK_CONTAINS(text, part);
  tenon_string_release(text);
}

static void a_kernel_is_found_by_the_name_of_its_op(void) {
  const struct scale_attrs attrs = {sizeof attrs, 2};
  const uint32_t id = scale();
  tenon_tensor* x = F32(1, 2, 3);

  tenon_tensor* y = called(id, &attrs, x);

  CHECK_ELEMENTS(y, 1002, 1004, 1006);
  CHECK(computed == 0);
  check_explanation(id, &attrs, x, "on custom:0: a kernel of the device");
  tenon_tensor_release(x);
  tenon_tensor_release(y);
}

static void each_set_of_attributes_has_its_own_kernel(void) {
  const uint32_t id = scale();
  tenon_tensor* x = F32(1);
  int round;
  for (round = 0; round < 2; ++round) {
    const struct scale_attrs two = {sizeof two, 2}, three = {sizeof three, 3};
    tenon_tensor* y = called(id, &two, x);
    tenon_tensor* z = called(id, &three, x);
    CHECK_ELEMENTS(y, 1002);
    CHECK_ELEMENTS(z, 1003);
    tenon_tensor_release(y);
    tenon_tensor_release(z);
  }
  CHECK(computed == 0);
  tenon_tensor_release(x);
}

static void calls_that_a_kernel_refuses_use_the_programs_compute_function(void) {
  const struct scale_attrs zero = {sizeof zero, 0};
  const uint32_t id = scale();
  tenon_tensor* x = F32(1, 2);

  tenon_tensor* y = called(id, &zero, x);

  CHECK_ELEMENTS(y, 0, 0);
  CHECK(computed == 1);
  check_explanation(id, &zero, x, "decomposed, because the device does not multiply by zero");
  tenon_tensor_release(x);
  tenon_tensor_release(y);
}

static void ops_without_a_kernel_use_the_programs_compute_function(void) {
  const struct scale_attrs attrs = {sizeof attrs, 2};
  const int64_t shape[1] = {1};
  const double three = 3;
  const uint32_t id = scale();
  const tenon_custom_op unknown = op_called("test.scales", 0);
  const uint32_t other = registered(&unknown);
  tenon_tensor *x = NULL, *y, *z;
  CHECK_OK(tenon_tensor_from_data(scope(), TENON_FLOAT64, shape, 1, &three, 8, &x));

  y = called(id, &attrs, x);
  z = called(other, NULL, x);

  CHECK_ELEMENTS(y, 6);
  CHECK_ELEMENTS(z, 3);
  CHECK(computed == 2);
  check_explanation(id, &attrs, x, "decomposed, because the device has no kernel for these dtypes");
  check_explanation(other, NULL, x, "decomposed, because the device has no kernel for this op");
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(z);
}

static void a_kernel_is_preferred_to_a_decomposition(void) {
  tenon_custom_op op = op_called("test.sizes", 0);
  tenon_tensor* x = F32(-1, 2);
  tenon_tensor* y;
  uint32_t id;
  op.compute = NULL;
  op.decompose = decompose_twice;
  id = registered(&op);

  y = called(id, NULL, x);

  CHECK_ELEMENTS(y, 1001, 1002);
  CHECK(computed == 0);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
}

static void devices_without_the_kernel_run_the_decomposition(void) {
  const struct scale_attrs attrs = {sizeof attrs, 2};
  const uint32_t id = scale();
  tenon_scope* ref = NULL;
  tenon_tensor *x = NULL, *y = NULL;
  const int64_t shape[1] = {1};
  const float three = 3;
  float read = 0;
  CHECK_OK(tenon_scope_create(context(), tenon_str("ref"), &ref));
  CHECK_OK(tenon_tensor_from_data(ref, TENON_FLOAT32, shape, 1, &three, 4, &x));

  CHECK_OK(tenon_call(ref, id, &attrs, &x, 1, &y, 1));

  CHECK_OK(tenon_tensor_read(ref, y, &read, 4));
  CHECK(read == 6 && computed == 1);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_scope_release(ref);
}

static void custom_ops_use_the_derivative_that_the_program_registered(void) {
  const struct scale_attrs attrs = {sizeof attrs, 2.5f};
  const uint32_t id = scale();
  tenon_tensor* x = F32(1, 2);
  tenon_value* source = tenon_tensor_as_value(x);
  tenon_tape* tape = NULL;
  tenon_tensor *y, *dx = NULL;
  CHECK_OK(tenon_tape_create(scope(), NULL, &tape));
  CHECK_OK(tenon_tape_watch(tape, source));

  y = called(id, &attrs, x);
  CHECK_OK(tenon_tape_gradient(scope(), tape, &y, 1, NULL, &source, 1, NULL, &dx));

  CHECK_ELEMENTS(y, 1002.5, 1005);
  CHECK_ELEMENTS(dx, 2.5, 2.5);
  CHECK(computed == 0);
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  tenon_tensor_release(dx);
  tenon_tape_release(tape);
}

/* ---- kernels that are prepared for certain sizes (SHAPED) --------------- */

static void check_sizes(uint32_t op) {
  tenon_tensor* two = F32(-1, 2);
  tenon_tensor* three = F32(-1, 2, -3);
  const float values[4] = {-1, 2, -3, 4};
  tenon_tensor* square = make_f32_matrix(2, 2, values);
  int round;
  for (round = 0; round < 2; ++round) {
    tenon_tensor* x = called(op, NULL, two);
    tenon_tensor* y = called(op, NULL, three);
    tenon_tensor* z = called(op, NULL, square);
    CHECK_ELEMENTS(x, 1001, 1002);
    CHECK_ELEMENTS(y, 1001, 1002, 1003);
    CHECK_ELEMENTS(z, 1001, 1002, 1003, 1004);
    tenon_tensor_release(x);
    tenon_tensor_release(y);
    tenon_tensor_release(z);
  }
  tenon_tensor_release(two);
  tenon_tensor_release(three);
  tenon_tensor_release(square);
}

static void each_set_of_sizes_has_its_own_shaped_kernel(void) { check_sizes(TENON_OP_abs); }

static void shaped_kernels_of_custom_ops_are_cached_by_size(void) {
  const tenon_custom_op op = op_called("test.sizes", 0);
  check_sizes(registered(&op));
  CHECK(computed == 0);
}

struct counts {
  int prepared; /* Number of kernels prepared so far. */
  int live;
};

/* Returns the plugin's counters of SHAPED kernels. The op test.counts copies them to its output. */
static struct counts counted(uint32_t counts_op, tenon_tensor* pair) {
  struct counts counts;
  float values[2] = {-1, -1};
  tenon_tensor* y = called(counts_op, NULL, pair);
  CHECK_OK(tenon_tensor_read(scope(), y, values, sizeof values));
  tenon_tensor_release(y);
  counts.prepared = (int)values[0];
  counts.live = (int)values[1];
  return counts;
}

/* Calls the op in the scope `where` on n zeros. Returns whether a kernel that was prepared for n
 * elements has run: it adds 1000 to the first and the last element. */
static int is_right_for(tenon_scope* where, uint32_t op, int64_t n, float* values) {
  const size_t bytes = (size_t)n * sizeof *values;
  tenon_tensor *x = NULL, *y = NULL;
  memset(values, 0, bytes);
  CHECK_OK(tenon_tensor_from_data(where, TENON_FLOAT32, &n, 1, values, bytes, &x));
  CHECK_OK(tenon_call(where, op, NULL, &x, 1, &y, 1));
  CHECK_OK(tenon_tensor_read(where, y, values, bytes));
  tenon_tensor_release(x);
  tenon_tensor_release(y);
  return values[0] == 1000 && values[n - 1] == 1000;
}

/* The host caches a limited number of kernels. When the sizes of the first round occur again, their
 * kernels have been evicted and must be prepared again. */
static void shaped_kernels_are_evicted_beyond_the_limit(void) {
  /* A device caches 1024 kernels. A scope also holds some that it used most recently. */
  enum { kSizes = 1100, kKept = 1024, kHeldByScope = 512 };
  const tenon_custom_op op = op_called("test.sizes", 0), counts = op_called("test.counts", 0);
  const uint32_t ids[2] = {TENON_OP_abs, registered(&op)}, counts_op = registered(&counts);
  float* values = calloc(kSizes, sizeof *values);
  tenon_tensor* pair = F32(0, 0);
  int wrong = 0, most_live = 0, round, which;
  int64_t n;
  for (round = 0; round < 2; ++round) {
    const int before = counted(counts_op, pair).prepared;
    /* A new scope holds no kernels, so it only finds those that the device caches. */
    tenon_scope* fresh = NULL;
    CHECK_OK(tenon_scope_create(context(), tenon_str(device_name()), &fresh));
    for (n = 1; n <= kSizes; ++n) {
      for (which = 0; which < 2; ++which) {
        int live;
        wrong += !is_right_for(fresh, ids[which], n, values);
        live = counted(counts_op, pair).live;
        if (live > most_live) most_live = live;
      }
    }
    CHECK(counted(counts_op, pair).prepared - before == 2 * kSizes);
    tenon_scope_release(fresh);
    CHECK(counted(counts_op, pair).live <= kKept);
  }
  CHECK(wrong == 0);
  CHECK(most_live >= kKept && most_live <= kKept + kHeldByScope);
  CHECK(computed == 0);
  tenon_tensor_release(pair);
  free(values);
}

/* ---- the log ------------------------------------------------------------ */

struct lines {
  int lines;
  int32_t level;
  char last[80];
};

static void on_log(void* payload, int32_t level, tenon_string message) {
  struct lines* lines = payload;
  ++lines->lines;
  lines->level = level;
  snprintf(lines->last, sizeof lines->last, "%.*s", (int)message.size, message.data);
}

static void open_device(int32_t log_level, struct lines* lines) {
  tenon_context_options options = test_options();
  tenon_context* own = NULL;
  tenon_device* device = NULL;
  memset(lines, 0, sizeof *lines);
  options.log_level = log_level;
  options.log.function = on_log;
  options.log.payload = lines;
  CHECK_OK(tenon_context_create(&options, &own));
  CHECK(lines->lines == 0);
  CHECK_OK(tenon_context_find_device(own, tenon_str(device_name()), &device));
  tenon_device_release(device);
  tenon_context_release(own);
}

static void a_plugin_writes_to_the_log_of_its_context(void) {
  struct lines lines;

  open_device(TENON_LOG_INFO, &lines);
  CHECK(lines.lines == 1 && lines.level == TENON_LOG_INFO);
  CHECK_TEXT(tenon_str(lines.last), "custom: opens its eyes");

  open_device(TENON_LOG_DEBUG, &lines);
  CHECK(lines.lines == 2 && lines.level == TENON_LOG_DEBUG);
  CHECK_TEXT(tenon_str(lines.last), "custom: looks around");

  open_device(TENON_LOG_WARNING, &lines);
  CHECK(lines.lines == 0);
}

int main(void) {
  RUN(a_kernel_is_found_by_the_name_of_its_op);
  RUN(each_set_of_attributes_has_its_own_kernel);
  RUN(calls_that_a_kernel_refuses_use_the_programs_compute_function);
  RUN(ops_without_a_kernel_use_the_programs_compute_function);
  RUN(a_kernel_is_preferred_to_a_decomposition);
  RUN(devices_without_the_kernel_run_the_decomposition);
  RUN(custom_ops_use_the_derivative_that_the_program_registered);
  RUN(each_set_of_sizes_has_its_own_shaped_kernel);
  RUN(shaped_kernels_of_custom_ops_are_cached_by_size);
  RUN(shaped_kernels_are_evicted_beyond_the_limit);
  RUN(a_plugin_writes_to_the_log_of_its_context);
  return report();
}
