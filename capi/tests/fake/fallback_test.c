/* Ops that a device cannot run fall back to the CPU. The device belongs to the plugin `fake`, which
 * refuses one op on request. A second plugin is `fake` under another name and without kernels for
 * the last ops. */

#define _POSIX_C_SOURCE 200112L
#include <dlfcn.h>
#include <pthread.h>
#include <tenon/introspect.h>
#include <unistd.h>

#include "capi/tests/check.h"

static tenon_context* own;

static tenon_scope* there(void) { return tenon_context_default_scope(own); }

/* Counts and keeps the log lines of the context under test. */
static struct {
  int lines;
  int32_t level;
  char last[256];
} said;

static void on_log(void* payload, int32_t level, tenon_string message) {
  (void)payload;
  ++said.lines;
  said.level = level;
  snprintf(said.last, sizeof said.last, "%.*s", (int)message.size, message.data);
}

/* Returns context options with which the fake device refuses `op`. */
static tenon_context_options refusing(uint32_t op, const char* more) {
  char text[80];
  tenon_context_options options;
  snprintf(text, sizeof text, "refuse_op=%lu%s", (unsigned long)op, more);
  setenv("TENON_TEST_OPTIONS", text, 1);
  options = test_options();
  unsetenv("TENON_TEST_OPTIONS");
  options.log.function = on_log;
  said.lines = 0;
  said.last[0] = '\0';
  return options;
}

static void open_with(const tenon_context_options* options) {
  CHECK_OK(tenon_context_create(options, &own));
  CHECK_OK(tenon_scope_set_device(there(), tenon_str("fake")));
}

static void open_refusing(uint32_t op) {
  const tenon_context_options options = refusing(op, "");
  open_with(&options);
}

static void close_all(tenon_tensor** tensors, size_t n) {
  size_t i;
  for (i = 0; i < n; ++i) tenon_tensor_release(tensors[i]);
  tenon_context_release(own);
  own = NULL;
}

static tenon_tensor* vector(float a, float b) {
  const int64_t shape[1] = {2};
  float values[2];
  tenon_tensor* x = NULL;
  values[0] = a;
  values[1] = b;
  CHECK_OK(tenon_tensor_from_data(there(), TENON_FLOAT32, shape, 1, values, sizeof values, &x));
  return x;
}

static tenon_tensor* matrix(float a, float b, float c, float d) {
  const int64_t shape[2] = {2, 2};
  float values[4];
  tenon_tensor* x = NULL;
  values[0] = a;
  values[1] = b;
  values[2] = c;
  values[3] = d;
  CHECK_OK(tenon_tensor_from_data(there(), TENON_FLOAT32, shape, 2, values, sizeof values, &x));
  return x;
}

/* Checks that the tensor is on the fake device. Returns whether it has the expected elements. */
static int holds(tenon_tensor* x, const float* expected, size_t n) {
  float values[4] = {0, 0, 0, 0};
  CHECK_OK(tenon_tensor_read(there(), x, values, n * sizeof *values));
  CHECK_TEXT(tenon_tensor_device_name(x), "fake:0");
  return memcmp(values, expected, n * sizeof *values) == 0;
}

static int holds_2(tenon_tensor* x, float a, float b) {
  float expected[2];
  expected[0] = a;
  expected[1] = b;
  return holds(x, expected, 2);
}

static tenon_memory_info memory_of(const char* name) {
  tenon_device* device = NULL;
  tenon_memory_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  CHECK_OK(tenon_context_find_device(own, tenon_str(name), &device));
  CHECK_OK(tenon_device_describe_memory(device, &info));
  tenon_device_release(device);
  return info;
}

/* ---- the device of the fallback ----------------------------------------- */

static void refused_ops_fall_back_to_the_cpu(void) {
  tenon_context_options options = refusing(TENON_OP_neg, ",fail_launch=1");
  tenon_tensor* t[3] = {0};
  float read[2];
  tenon_memory_info cpu;
  CHECK(options.fallback_policy == TENON_FALLBACK_WARN);
  open_with(&options);
  t[0] = vector(1, -2);

  CHECK_OK(tenon_neg(there(), t[0], &t[1]));

  CHECK(holds_2(t[1], -1, 2));
  CHECK(holds_2(t[0], 1, -2));
  cpu = memory_of("cpu");
  CHECK(cpu.peak_bytes >= 2 * sizeof read); /* The CPU held the input and the output. */
  CHECK(cpu.live_bytes == 0);
  CHECK_OK(tenon_abs(there(), t[0], &t[2])); /* abs runs on the fake device, not the CPU. */
  CHECK_ERROR(tenon_tensor_read(there(), t[2], read, sizeof read), TENON_INTERNAL,
              "launch 1 failed");
  close_all(t, 3);
}

static void ops_fall_back_on_every_kind_of_device(void) {
  const char* kinds[] = {",asynchronous=0", ",visible=1", ",blocking=0,delay_us=20",
                         ",asynchronous=0,visible=1", ",out_of_order=1,delay_us=5"};
  size_t kind;
  for (kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind) {
    const tenon_context_options options = refusing(TENON_OP_neg, kinds[kind]);
    tenon_tensor* t[4] = {0};
    open_with(&options);
    t[0] = vector(1, -2);
    CHECK_OK(tenon_add(there(), t[0], t[0], &t[1])); /* May still run when neg falls back. */
    CHECK_OK(tenon_neg(there(), t[1], &t[2]));
    CHECK_OK(tenon_add(there(), t[2], t[0], &t[3]));
    CHECK(holds_2(t[3], -1, 2));
    close_all(t, 4);
  }
}

static void a_repeated_fallback_returns_new_values(void) {
  float i;
  open_refusing(TENON_OP_neg);
  for (i = 1; i < 5; ++i) {
    tenon_tensor* t[2] = {0};
    t[0] = vector(i, 2 * i);
    CHECK_OK(tenon_neg(there(), t[0], &t[1]));
    CHECK(holds_2(t[1], -i, -2 * i));
    tenon_tensor_release(t[0]);
    tenon_tensor_release(t[1]);
  }
  close_all(NULL, 0);
}

/* ---- operands: views, scalars, optional inputs -------------------------- */

static void a_fallback_accepts_views_and_scalars(void) {
  tenon_tensor* t[4] = {0};
  const float expected[4] = {11, 13, 12, 14};
  open_refusing(TENON_OP_add);
  t[0] = matrix(1, 2, 3, 4);
  t[1] = tenon_scalar_f64(10);
  CHECK_OK(tenon_transpose(there(), t[0], NULL, &t[2]));

  CHECK_OK(tenon_add(there(), t[2], t[1], &t[3]));

  CHECK(holds(t[3], expected, 4));
  close_all(t, 4);
}

static void a_fallback_broadcasts_its_inputs(void) {
  tenon_tensor* t[3] = {0};
  const float expected[4] = {11, 22, 13, 24};
  open_refusing(TENON_OP_add);
  t[0] = matrix(1, 2, 3, 4);
  t[1] = vector(10, 20);

  CHECK_OK(tenon_add(there(), t[0], t[1], &t[2]));

  CHECK(holds(t[2], expected, 4));
  close_all(t, 3);
}

static void a_fallback_accepts_absent_operands(void) {
  const int64_t shape[3] = {1, 1, 2}, window[3] = {1, 1, 1};
  const float values[2] = {3, 4}, two = 2;
  tenon_tensor* t[3] = {0};
  open_refusing(TENON_OP_conv);
  CHECK_OK(tenon_tensor_from_data(there(), TENON_FLOAT32, shape, 3, values, 8, &t[0]));
  CHECK_OK(tenon_tensor_from_data(there(), TENON_FLOAT32, window, 3, &two, 4, &t[1]));

  CHECK_OK(tenon_conv(there(), t[0], t[1], NULL, NULL, &t[2]));

  CHECK(holds_2(t[2], 6, 8));
  close_all(t, 3);
}

static void a_fallback_returns_several_outputs(void) {
  tenon_top_k_attrs attrs = TENON_TOP_K_ATTRS_DEFAULT;
  tenon_tensor* t[3] = {0};
  int64_t places[2] = {0, 0};
  attrs.k = 2;
  open_refusing(TENON_OP_top_k);
  t[0] = vector(5, 7);

  CHECK_OK(tenon_top_k(there(), t[0], &attrs, &t[1], &t[2]));

  CHECK(holds_2(t[1], 7, 5));
  CHECK_OK(tenon_tensor_read(there(), t[2], places, sizeof places));
  CHECK(places[0] == 1 && places[1] == 0);
  CHECK_TEXT(tenon_tensor_device_name(t[2]), "fake:0");
  close_all(t, 3);
}

/* The device of a call without input tensors is the scope's device, here the fake one. */
static void a_fallback_runs_ops_without_input_tensors(void) {
  const int64_t shape[1] = {2};
  tenon_iota_attrs attrs = TENON_IOTA_ATTRS_DEFAULT;
  tenon_tensor* t[2] = {0};
  float read = 0;
  attrs.shape = shape;
  attrs.n_shape = 1;
  attrs.dtype = TENON_FLOAT32;
  open_refusing(TENON_OP_iota);
  CHECK_OK(tenon_iota(there(), &attrs, &t[0]));
  CHECK(holds_2(t[0], 0, 1));
  CHECK(said.lines == 1);
  close_all(t, 1);

  open_refusing(TENON_OP_neg);
  t[0] = tenon_scalar_f64(3);
  CHECK_OK(tenon_neg(there(), t[0], &t[1]));
  CHECK_OK(tenon_tensor_read(there(), t[1], &read, sizeof read));
  CHECK(read == -3);
  CHECK_TEXT(tenon_tensor_device_name(t[1]), "fake:0");
  close_all(t, 2);
}

static void a_fallback_is_differentiable(void) {
  tenon_tensor* t[3] = {0};
  tenon_value* source;
  tenon_tape* tape = NULL;
  open_refusing(TENON_OP_neg);
  t[0] = vector(1, -2);
  source = tenon_tensor_as_value(t[0]);
  CHECK_OK(tenon_tape_create(there(), NULL, &tape));
  CHECK_OK(tenon_tape_watch(tape, source));

  CHECK_OK(tenon_neg(there(), t[0], &t[1]));
  CHECK_OK(tenon_tape_gradient(there(), tape, &t[1], 1, NULL, &source, 1, NULL, &t[2]));

  CHECK(holds_2(t[2], -1, -1));
  CHECK(said.lines == 1); /* Only one warning, although the derivative also calls neg. */
  tenon_tape_release(tape);
  close_all(t, 3);
}

/* ---- log messages ------------------------------------------------------- */

static void a_fallback_logs_one_warning(void) {
  tenon_tensor* t[3] = {0};
  open_refusing(TENON_OP_neg);
  t[0] = vector(1, 2);
  CHECK(said.lines == 0);

  CHECK_OK(tenon_neg(there(), t[0], &t[1]));

  CHECK(said.lines == 1 && said.level == TENON_LOG_WARNING);
  CHECK_TEXT(tenon_str(said.last),
             "neg: fake:0 claims this op but has no kernel for it. The op runs on cpu:0 instead, "
             "and its inputs and outputs are copied");
  CHECK_OK(tenon_neg(there(), t[1], &t[2]));
  CHECK(said.lines == 1);
  CHECK(holds_2(t[2], 1, 2));
  close_all(t, 3);
}

static tenon_plugin_query fake_query;

/* The query function of a plugin like `fake`, but with a different name and without the kernel
 * lines of cholesky and of all ops listed after it. */
static tenon_error* with_fewer_lines(const tenon_host* host, const tenon_plugin** out_plugin) {
  static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
  static tenon_plugin plugin; /* Initialised by the first call; shared by all threads. */
  static int is_made;
  const tenon_plugin* found = NULL;
  tenon_error* error = fake_query(host, &found);
  if (error) return error;
  pthread_mutex_lock(&making);
  if (!is_made) {
    size_t n = 0;
    while (n < found->n_kernels && found->kernels[n].op != TENON_OP_cholesky) ++n;
    plugin = *found;
    plugin.name = tenon_str("other");
    plugin.n_kernels = n;
    is_made = 1;
  }
  pthread_mutex_unlock(&making);
  *out_plugin = &plugin;
  return NULL;
}

static void add_device_with_fewer_lines(void) {
  void* library = dlopen(getenv("TENON_TEST_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
  void* symbol = library ? dlsym(library, TENON_PLUGIN_SYMBOL) : NULL;
  CHECK(symbol != NULL);
  memcpy(&fake_query, &symbol, sizeof fake_query);
  CHECK_OK(tenon_context_add_plugin(own, tenon_str("other"), with_fewer_lines));
}

static void a_fallback_warns_once_for_each_op_and_device(void) {
  tenon_tensor* t[8] = {0};
  tenon_scope* other = NULL;
  int i;
  open_refusing(TENON_OP_cholesky);
  add_device_with_fewer_lines();
  CHECK_OK(tenon_scope_create(own, tenon_str("other"), &other));
  t[0] = matrix(4, 0, 0, 9);
  CHECK_OK(tenon_tensor_copy_to(there(), t[0], tenon_str("other"), &t[1]));

  for (i = 0; i < 2; ++i) {
    CHECK_OK(tenon_cholesky(there(), t[0], NULL, &t[2 + 3 * i]));
    CHECK(said.lines == (i == 0 ? 1 : 3));
    if (i == 0)
      CHECK_CONTAINS(tenon_str(said.last),
                     "cholesky: fake:0 claims this op but has no kernel for it");
    CHECK_OK(tenon_cholesky(other, t[1], NULL, &t[3 + 3 * i]));
    CHECK(said.lines == (i == 0 ? 2 : 3));
    if (i == 0) {
      CHECK_TEXT(
          tenon_str(said.last),
          "cholesky: other:0 has no kernel for this op. The op runs on cpu:0 instead, and its "
          "inputs and outputs are copied");
    }
    CHECK_OK(tenon_det(other, t[1], &t[4 + 3 * i]));
    CHECK(said.lines == 3);
    CHECK_CONTAINS(tenon_str(said.last), "det: other:0 has no kernel for this op");
  }

  tenon_scope_release(other);
  close_all(t, 8);
}

/* Checks that an op falls back without a log message. */
static void falls_back_in_silence(const tenon_context_options* options) {
  tenon_tensor* t[2] = {0};
  open_with(options);
  t[0] = vector(1, 2);

  CHECK_OK(tenon_neg(there(), t[0], &t[1]));

  CHECK(holds_2(t[1], -1, -2));
  CHECK(said.lines == 0);
  close_all(t, 2);
}

static void fallback_policy_auto_logs_nothing(void) {
  tenon_context_options options = refusing(TENON_OP_neg, "");
  options.fallback_policy = TENON_FALLBACK_AUTO;
  options.log_level = TENON_LOG_DEBUG;
  falls_back_in_silence(&options);
}

static void fallback_warnings_can_be_disabled_by_log_level(void) {
  tenon_context_options options = refusing(TENON_OP_neg, "");
  options.log_level = TENON_LOG_ERROR;
  falls_back_in_silence(&options);
}

static void fallback_warnings_go_to_stderr_without_a_log_callback(void) {
  tenon_context_options options = refusing(TENON_OP_neg, "");
  tenon_tensor* t[2] = {0};
  FILE* file = tmpfile();
  const int kept = dup(STDERR_FILENO);
  char line[160] = "";
  options.log.function = NULL;
  open_with(&options);
  t[0] = vector(1, 2);

  fflush(stderr);
  CHECK(dup2(fileno(file), STDERR_FILENO) >= 0);
  tenon_error_release(tenon_neg(there(), t[0], &t[1]));
  fflush(stderr);
  CHECK(dup2(kept, STDERR_FILENO) >= 0);

  close(kept);
  rewind(file);
  CHECK(fgets(line, sizeof line, file) != NULL);
  CHECK_TEXT(tenon_str(line),
             "tenon: neg: fake:0 claims this op but has no kernel for it. The op runs on cpu:0 "
             "instead, and its inputs and outputs are copied\n");
  CHECK(fgets(line, sizeof line, file) == NULL);
  fclose(file);
  CHECK(holds_2(t[1], -1, -2));
  close_all(t, 2);
}

/* ---- ops that must not fall back, and failures during a fallback -------- */

static void a_refused_composite_runs_its_decomposition_on_the_device(void) {
  tenon_tensor* t[2] = {0};
  open_refusing(TENON_OP_exp);
  t[0] = vector(0, 1);

  CHECK_OK(tenon_exp(there(), t[0], &t[1]));

  CHECK(holds_2(t[1], 1, 2.71828175f));
  CHECK(said.lines == 0);
  CHECK(memory_of("cpu").peak_bytes == 0);
  close_all(t, 2);
}

static void explain_mentions_the_fallback_policy(void) {
  tenon_tensor* t[1] = {0};
  tenon_string text = {NULL, 0};
  open_refusing(TENON_OP_neg);
  t[0] = vector(1, 2);

  CHECK_OK(tenon_explain(there(), TENON_OP_neg, NULL, t, 1, &text));

  CHECK_TEXT(text,
             "neg -> f32[2] on fake:0: not on this device, because the device claims this op but "
             "has no kernel for it; the context's fallback policy determines what happens "
             "instead");
  CHECK(said.lines == 0);
  tenon_string_release(text);
  close_all(t, 1);
}

static void errors_of_the_cpu_kernel_are_returned(void) {
  const int64_t shape[1] = {1}, far_out = 5;
  tenon_tensor* t[2] = {0};
  tenon_tensor* none = GARBAGE(tenon_tensor);
  open_refusing(TENON_OP_gather);
  t[0] = vector(1, 2);
  CHECK_OK(tenon_tensor_from_data(there(), TENON_INT64, shape, 1, &far_out, 8, &t[1]));

  CHECK_ERROR(tenon_gather(there(), t[0], t[1], NULL, &none), TENON_OUT_OF_RANGE, "gather: ");

  CHECK(none == NULL);
  CHECK(memory_of("cpu").live_bytes == 0);
  close_all(t, 2);
}

static void a_fallback_without_a_cpu_is_an_error(void) {
  tenon_context_options options = refusing(TENON_OP_neg, "");
  tenon_plugin_option list[2];
  tenon_tensor* t[1] = {0};
  tenon_tensor* none = GARBAGE(tenon_tensor);
  list[0] = options.plugin_options[0];
  list[1].plugin = tenon_str("cpu");
  list[1].key = tenon_str("hands"); /* `cpu` refuses this unknown key. */
  list[1].value = tenon_str("off");
  options.plugin_options = list;
  options.n_plugin_options = 2;
  open_with(&options);
  t[0] = vector(1, 2);

  CHECK_ERROR(tenon_neg(there(), t[0], &none), TENON_UNIMPLEMENTED,
              "neg: fake:0 claims this op but has no kernel for it, and the CPU cannot run it "
              "instead: there is no "
              "device \"cpu\"");

  CHECK(none == NULL);
  CHECK(said.lines == 0);
  close_all(t, 1);
}

int main(void) {
  RUN(refused_ops_fall_back_to_the_cpu);
  RUN(ops_fall_back_on_every_kind_of_device);
  RUN(a_repeated_fallback_returns_new_values);
  RUN(a_fallback_accepts_views_and_scalars);
  RUN(a_fallback_broadcasts_its_inputs);
  RUN(a_fallback_accepts_absent_operands);
  RUN(a_fallback_returns_several_outputs);
  RUN(a_fallback_runs_ops_without_input_tensors);
  RUN(a_fallback_is_differentiable);
  RUN(a_fallback_logs_one_warning);
  RUN(a_fallback_warns_once_for_each_op_and_device);
  RUN(fallback_policy_auto_logs_nothing);
  RUN(fallback_warnings_can_be_disabled_by_log_level);
  RUN(fallback_warnings_go_to_stderr_without_a_log_callback);
  RUN(a_refused_composite_runs_its_decomposition_on_the_device);
  RUN(explain_mentions_the_fallback_policy);
  RUN(errors_of_the_cpu_kernel_are_returned);
  RUN(a_fallback_without_a_cpu_is_an_error);
  return report();
}
