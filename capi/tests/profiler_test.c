#include "capi/tests/function_code.h"

static tenon_profiler* started(uint64_t max_events) {
  tenon_profiler_options options = TENON_PROFILER_OPTIONS_DEFAULT;
  tenon_profiler* profiler = NULL;
  options.max_events = max_events;
  CHECK_OK(tenon_profiler_start(context(), &options, &profiler));
  return profiler;
}

static tenon_profiler_row row_at(const tenon_profiler* profiler, size_t index) {
  tenon_profiler_row row = {0};
  row.struct_size = sizeof row;
  CHECK_OK(tenon_profiler_describe_row(profiler, index, &row));
  return row;
}

/* Returns the row with this kind and name; a row with the count 0 if there is none. */
static tenon_profiler_row row_of(const tenon_profiler* profiler, int32_t kind, const char* name) {
  tenon_profiler_row none = {0};
  for (size_t i = 0; i < tenon_profiler_count_rows(profiler); ++i) {
    const tenon_profiler_row row = row_at(profiler, i);
    if (row.kind == kind && row.name.size == strlen(name) &&
        memcmp(row.name.data, name, row.name.size) == 0) {
      return row;
    }
  }
  return none;
}

static void add_twice(tenon_tensor* x) {
  for (int i = 0; i < 2; ++i) {
    tenon_tensor* y = NULL;
    CHECK_OK(tenon_add(scope(), x, x, &y));
    tenon_tensor_release(y);
  }
}

static void a_profiler_counts_ops_by_input_types(void) {
  tenon_tensor *x = F32(1, 2), *three = F32(1, 2, 3);
  tenon_profiler* profiler = NULL;
  tenon_profiler_row row;
  add_twice(x); /* This call is not profiled. */
  CHECK_OK(tenon_profiler_start(context(), NULL, &profiler));
  add_twice(x);
  add_twice(x);
  add_twice(three);
  CHECK_OK(tenon_profiler_stop(profiler));
  add_twice(x);

  CHECK(tenon_profiler_count_rows(profiler) == 2);
  for (size_t i = 0; i < 2; ++i) {
    const bool is_of_three = row_at(profiler, i).count == 2;
    row = row_at(profiler, i);
    CHECK(row.struct_size == sizeof row);
    CHECK(row.kind == TENON_SPAN_OP);
    CHECK_TEXT(row.name, "add");
    CHECK_TEXT(row.inputs, is_of_three ? "f32[3], f32[3]" : "f32[2], f32[2]");
    CHECK_TEXT(row.device, device_name());
    CHECK(row.count == (is_of_three ? 2u : 4u));
    CHECK(row.launches == row.count);
    CHECK(row.bytes == row.count * 3 * 4 * (is_of_three ? 3 : 2));
    const int32_t clock = row.device_clock;
    CHECK(device_has(TENON_FEATURE_SYNCHRONOUS)
              ? clock == TENON_DEVICE_CLOCK_LAUNCH
              : clock == TENON_DEVICE_CLOCK_COMPLETION || clock == TENON_DEVICE_CLOCK_DEVICE);
    CHECK(row.device_min > 0 && row.device_min <= row.device_max);
    CHECK(row.device_max <= row.device_total);
    CHECK(row.host_min > 0 && row.host_min <= row.host_max && row.host_max <= row.host_total);
    CHECK(row.own_total <= row.host_total && row.own_min <= row.own_max);
  }
  tenon_profiler_retain(profiler);
  tenon_profiler_release(profiler);
  tenon_profiler_release(profiler);
  tenon_tensor_release(x);
  tenon_tensor_release(three);
}

static void a_profiler_reports_the_throughput_of_matmul(void) {
  tenon_tensor *a = make_f32_matrix(2, 3, (const float[6]){0}), *y = NULL;
  tenon_matmul_attrs attrs = TENON_MATMUL_ATTRS_DEFAULT;
  tenon_profiler* profiler = started(10);
  tenon_string text = {NULL, 0};
  attrs.transpose_b = true;
  CHECK_OK(tenon_matmul(scope(), a, a, &attrs, &y));
  CHECK_OK(tenon_profiler_stop(profiler));

  CHECK(row_of(profiler, TENON_SPAN_OP, "matmul").flops == 2 * 2 * 3 * 2);
  CHECK_OK(tenon_profiler_table(profiler, &text));
  CHECK_CONTAINS(text, "matmul");
  CHECK_CONTAINS(text, "f32[2,3], f32[2,3]");
  CHECK_CONTAINS(text, "GFLOP/s");
  CHECK_CONTAINS(text, "100.0%");
  tenon_string_release(text);
  tenon_profiler_release(profiler);
  tenon_tensor_release(a);
  tenon_tensor_release(y);
}

static void a_profiler_records_functions_and_copies(void) {
  struct code code = {.run = product};
  tenon_tensor *inputs[2], *y = NULL;
  tenon_function* f = function_of(&code, NULL);
  tenon_profiler* profiler = started(100);
  inputs[0] = F32(1, 2);
  inputs[1] = F32(3, 4);
  for (int call = 0; call < 4; ++call) {
    CHECK_OK(tenon_function_call(scope(), f, inputs, 2, NULL, 0, &y, 1, NULL));
    CHECK_VALUES(y, 3, 8);
    tenon_tensor_release(y);
  }
  CHECK_OK(tenon_profiler_stop(profiler));

  CHECK(row_of(profiler, TENON_SPAN_FUNCTION, "f").count == 4);
  CHECK(row_of(profiler, TENON_SPAN_FUNCTION, "f").launches == 0);
  CHECK(row_of(profiler, TENON_SPAN_TRACING, "f").count == 1);
  CHECK(row_of(profiler, TENON_SPAN_OP, "mul").count == 4);
  CHECK(row_of(profiler, TENON_SPAN_COPY, "from_host").count == 2);
  CHECK(row_of(profiler, TENON_SPAN_COPY, "from_host").bytes == 16);
  CHECK(row_of(profiler, TENON_SPAN_COPY, "to_host").count == 4);
  tenon_profiler_release(profiler);
  tenon_tensor_release(inputs[0]);
  tenon_tensor_release(inputs[1]);
  tenon_function_release(f);
}

static void a_profiler_omits_failed_calls(void) {
  tenon_tensor *x = F32(1, 2), *three = F32(1, 2, 3), *y = NULL;
  tenon_profiler* profiler = started(10);
  CHECK_ERROR(tenon_add(scope(), x, three, &y), TENON_INVALID_ARGUMENT, "add");
  CHECK_OK(tenon_neg(scope(), x, &y));
  CHECK_OK(tenon_profiler_stop(profiler));

  CHECK(tenon_profiler_count_rows(profiler) == 1);
  CHECK_TEXT(row_at(profiler, 0).name, "neg");
  tenon_profiler_release(profiler);
  tenon_tensor_release(x);
  tenon_tensor_release(three);
  tenon_tensor_release(y);
}

static size_t occurrences(const char* text, const char* part) {
  size_t n = 0;
  while ((text = strstr(text, part)) != NULL) ++n, ++text;
  return n;
}

static void a_profiler_writes_at_most_max_events(void) {
  static char text[8192];
  char path[64];
  size_t size;
  FILE* file;
  tenon_string table = {NULL, 0};
  tenon_tensor* x = F32(1, 2);
  tenon_profiler* profiler = started(3);
  snprintf(path, sizeof path, "profiler_test_%p.json", (void*)context());
  CHECK_OK(tenon_scope_set_location(scope(), tenon_str("train.c:12")));
  for (int i = 0; i < 5; ++i) add_twice(x);
  CHECK_OK(tenon_profiler_stop(profiler));

  CHECK(row_at(profiler, 0).count == 10);
  /* An asynchronous device adds a second event for each of the ten launches. */
  CHECK(tenon_profiler_count_dropped_events(profiler) ==
        (device_has(TENON_FEATURE_SYNCHRONOUS) ? 7 : 17));
  CHECK_OK(tenon_profiler_table(profiler, &table));
  CHECK_CONTAINS(table, "events were not kept");
  tenon_string_release(table);
  CHECK_OK(tenon_profiler_write_trace(profiler, tenon_str(path)));
  file = fopen(path, "rb");
  CHECK(file != NULL);
  size = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  text[size] = '\0';
  CHECK(occurrences(text, "\"ph\":\"X\"") == 3);
  CHECK(occurrences(text, "\"name\":\"add\"") == 3);
  CHECK(occurrences(text, "\"location\":\"train.c:12\"") > 0);
  remove(path);
  tenon_profiler_release(profiler);
  tenon_tensor_release(x);
}

static void invalid_profiler_calls_are_errors(void) {
  tenon_profiler_options options = TENON_PROFILER_OPTIONS_DEFAULT;
  tenon_profiler *profiler = NULL, *second = NULL;
  tenon_profiler_row row = {0};
  tenon_string text = {NULL, 0};
  tenon_tensor* x = F32(1, 2);

  CHECK_ERROR(tenon_profiler_start(NULL, NULL, &profiler), TENON_INVALID_ARGUMENT, "context");
  CHECK_ERROR(tenon_profiler_start(context(), NULL, NULL), TENON_INVALID_ARGUMENT, "out_profiler");
  options.struct_size = 0;
  CHECK_ERROR(tenon_profiler_start(context(), &options, &profiler), TENON_INVALID_ARGUMENT,
              "options");
  options.struct_size = sizeof options;
  options.reserved = 1;
  CHECK_ERROR(tenon_profiler_start(context(), &options, &profiler), TENON_INVALID_ARGUMENT,
              "newer version");
  CHECK(profiler == NULL);

  CHECK_OK(tenon_profiler_start(context(), NULL, &profiler));
  CHECK_ERROR(tenon_profiler_start(context(), NULL, &second), TENON_FAILED_PRECONDITION,
              "already being profiled");
  CHECK(second == NULL);
  CHECK_ERROR(tenon_profiler_table(profiler, &text), TENON_FAILED_PRECONDITION, "stop it first");
  CHECK_ERROR(tenon_profiler_write_trace(profiler, tenon_str("trace.json")),
              TENON_FAILED_PRECONDITION, "stop it first");
  CHECK_ERROR(tenon_profiler_describe_row(profiler, 0, &row), TENON_FAILED_PRECONDITION,
              "stop it first");
  CHECK(tenon_profiler_count_rows(profiler) == 0);
  CHECK(tenon_profiler_count_dropped_events(profiler) == 0);
  CHECK_OK(tenon_profiler_stop(profiler));
  CHECK_ERROR(tenon_profiler_stop(profiler), TENON_FAILED_PRECONDITION, "already stopped");

  row.struct_size = sizeof row;
  CHECK_ERROR(tenon_profiler_describe_row(profiler, 0, &row), TENON_OUT_OF_RANGE,
              "row 0 was requested, but there are 0");
  CHECK_ERROR(tenon_profiler_table(profiler, NULL), TENON_INVALID_ARGUMENT, "out_text");
  CHECK_ERROR(tenon_profiler_write_trace(profiler, tenon_str("no_such_folder/trace.json")),
              TENON_NOT_FOUND, "no_such_folder/trace.json");

  CHECK_ERROR(tenon_profiler_stop(NULL), TENON_INVALID_ARGUMENT, "profiler");
  CHECK_ERROR(tenon_profiler_stop((tenon_profiler*)x), TENON_INVALID_ARGUMENT, "not a profiler");
  CHECK(tenon_profiler_count_rows(NULL) == 0);
  CHECK(tenon_profiler_count_dropped_events(NULL) == 0);
  tenon_profiler_retain(NULL);
  tenon_profiler_release(NULL);
  tenon_profiler_release(profiler);
  tenon_tensor_release(x);
}

static void releasing_the_last_handle_stops_a_profiler(void) {
  tenon_tensor* x = F32(1, 2);
  tenon_profiler* profiler = started(10);
  add_twice(x);
  tenon_profiler_release(profiler); /* The profiler is still running. */
  add_twice(x);
  profiler = started(10);
  add_twice(x);
  CHECK_OK(tenon_profiler_stop(profiler));
  CHECK(row_at(profiler, 0).count == 2);
  tenon_profiler_release(profiler);
  tenon_tensor_release(x);
}

int main(void) {
  RUN(a_profiler_counts_ops_by_input_types);
  RUN(a_profiler_reports_the_throughput_of_matmul);
  RUN(a_profiler_records_functions_and_copies);
  RUN(a_profiler_omits_failed_calls);
  RUN(a_profiler_writes_at_most_max_events);
  RUN(invalid_profiler_calls_are_errors);
  RUN(releasing_the_last_handle_stops_a_profiler);
  return report();
}
