#include "capi/tests/check.h"

struct log {
  int lines;
  int destroyed;
};

static void on_log(void* payload, int32_t level, tenon_string message) {
  (void)level;
  (void)message;
  ++((struct log*)payload)->lines;
}

static void on_destroy(void* payload) { ++((struct log*)payload)->destroyed; }

static void the_library_version_matches_the_headers(void) {
  char expected[32];
  snprintf(expected, sizeof expected, "%d.%d.%d", TENON_VERSION_MAJOR, TENON_VERSION_MINOR,
           TENON_VERSION_PATCH);
  CHECK_TEXT(tenon_version(), expected);
  CHECK(tenon_version_number() == TENON_VERSION_NUMBER);
}

static void context_options_are_applied(void) {
  struct log log = {0, 0};
  tenon_context_options options = TENON_CONTEXT_OPTIONS_DEFAULT;
  tenon_context* own = NULL;
  options.log.function = on_log;
  options.log.payload = &log;
  options.log.destroy = on_destroy;
  options.threads = 1;
  options.deterministic = true;

  CHECK_OK(tenon_context_create(&options, &own));
  CHECK(log.destroyed == 0);
  tenon_context_retain(own);
  tenon_context_release(own);
  CHECK(log.destroyed == 0);
  tenon_context_release(own);
  CHECK(log.destroyed == 1);
  CHECK(log.lines == 0); /* The context has logged nothing. */
}

static void unknown_context_options_are_refused(void) {
  struct log log = {0, 0};
  struct {
    tenon_context_options known;
    uint64_t newer;
  } larger;
  tenon_context_options options = TENON_CONTEXT_OPTIONS_DEFAULT;
  tenon_context* own = GARBAGE(tenon_context);
  options.log.function = on_log;
  options.log.payload = &log;
  options.log.destroy = on_destroy;

  options.numeric_policy = 7;
  CHECK_ERROR(tenon_context_create(&options, &own), TENON_INVALID_ARGUMENT,
              "options.numeric_policy 7 is not a known value");
  CHECK(own == NULL && log.destroyed == 1);
  options.numeric_policy = TENON_NUMERIC_FAST;
  options.fallback_policy = -1;
  CHECK_ERROR(tenon_context_create(&options, &own), TENON_INVALID_ARGUMENT,
              "options.fallback_policy -1");
  options.fallback_policy = TENON_FALLBACK_STRICT;
  options.n_plugin_paths = 1;
  CHECK_ERROR(tenon_context_create(&options, &own), TENON_INVALID_ARGUMENT,
              "options.plugin_paths is NULL");
  options.n_plugin_paths = 0;
  CHECK_ERROR(tenon_context_create(&options, NULL), TENON_INVALID_ARGUMENT, "out_context is NULL");
  CHECK(log.destroyed == 4);

  memset(&larger, 0, sizeof larger);
  larger.known.struct_size = sizeof larger;
  larger.known.log = options.log;
  CHECK_OK(tenon_context_create(&larger.known, &own));
  tenon_context_release(own);
  larger.newer = 1;
  CHECK_ERROR(tenon_context_create(&larger.known, &own), TENON_INVALID_ARGUMENT,
              "has fields that only a newer version of Tenon supports");
  CHECK(log.destroyed == 6);
  larger.known.struct_size = 0;
  CHECK_ERROR(tenon_context_create(&larger.known, &own), TENON_INVALID_ARGUMENT,
              "options has no struct_size");
}

static void missing_fields_of_an_older_struct_have_their_defaults(void) {
  tenon_context_options options = TENON_CONTEXT_OPTIONS_DEFAULT;
  tenon_context* own = NULL;
  options.struct_size = offsetof(tenon_context_options, numeric_policy);
  options.numeric_policy = 99; /* Ignored, because it is beyond struct_size. */

  CHECK_OK(tenon_context_create(&options, &own));
  tenon_context_release(own);
}

static void devices_are_found_by_name(void) {
  tenon_device* device = NULL;
  tenon_device* same = NULL;

  CHECK_OK(tenon_context_find_device(context(), tenon_str("ref"), &device));
  CHECK_OK(tenon_context_find_device(context(), tenon_str("ref:0"), &same));

  CHECK(device == same);
  CHECK_TEXT(tenon_device_name(device), "ref:0");
  tenon_device_release(device);
  tenon_device_release(same);
}

static void an_unknown_name_lists_the_available_devices(void) {
  tenon_device* device = GARBAGE(tenon_device);
  const char* names[] = {"unicorn", "ref:7", "ref:", "ref:x", ":0", "", "ref:0:0", "../ref"};
  size_t i;

  for (i = 0; i < sizeof names / sizeof *names; ++i) {
    CHECK_ERROR(tenon_context_find_device(context(), tenon_str(names[i]), &device), TENON_NOT_FOUND,
                "ref:0");
    CHECK(device == NULL);
  }
}

static void devices_are_counted(void) {
  size_t n = 0;
  size_t i;
  int found = 0;

  CHECK_OK(tenon_context_count_devices(context(), &n));
  for (i = 0; i < n; ++i) {
    tenon_device* device = NULL;
    CHECK_OK(tenon_context_get_device(context(), i, &device));
    found += strcmp(tenon_device_name(device).data, "ref:0") == 0;
    tenon_device_release(device);
  }
  CHECK(found == 1);
  {
    tenon_device* device = GARBAGE(tenon_device);
    CHECK_ERROR(tenon_context_get_device(context(), n, &device), TENON_OUT_OF_RANGE,
                "was requested, but there are");
    CHECK(device == NULL);
  }
}

static void two_contexts_do_not_share_tensors(void) {
  tenon_context* other = create_context();
  tenon_scope* there = tenon_context_default_scope(other);
  const int64_t shape[1] = {1};
  const float one = 1;
  float read = 0;
  tenon_tensor* foreign = NULL;
  tenon_tensor* sum = GARBAGE(tenon_tensor);
  CHECK_OK(tenon_tensor_from_data(there, TENON_FLOAT32, shape, 1, &one, 4, &foreign));

  CHECK_ERROR(tenon_add(scope(), foreign, foreign, &sum), TENON_INVALID_ARGUMENT,
              "belongs to another context");
  CHECK_ERROR(tenon_tensor_read(scope(), foreign, &read, 4), TENON_INVALID_ARGUMENT,
              "tensor belongs to another context than the scope");

  CHECK(sum == NULL);
  tenon_tensor_release(foreign);
  tenon_context_release(other);
}

static void a_tensor_keeps_its_context_alive(void) {
  tenon_context* own = create_context();
  const int64_t shape[1] = {1};
  const float one = 1;
  tenon_tensor* x = NULL;
  CHECK_OK(tenon_tensor_from_data(tenon_context_default_scope(own), TENON_FLOAT32, shape, 1, &one,
                                  4, &x));

  tenon_context_release(own);

  CHECK_TEXT(tenon_tensor_device_name(x), device_name());
  tenon_tensor_release(x);
}

static void calls_after_a_cancellation_succeed(void) {
  tenon_tensor* x = F32(1);
  tenon_tensor* y = NULL;

  tenon_context_cancel(context());
  tenon_scope_cancel(scope());
  CHECK_OK(tenon_neg(scope(), x, &y));

  tenon_tensor_release(x);
  tenon_tensor_release(y);
}

int main(void) {
  RUN(the_library_version_matches_the_headers);
  RUN(context_options_are_applied);
  RUN(unknown_context_options_are_refused);
  RUN(missing_fields_of_an_older_struct_have_their_defaults);
  RUN(devices_are_found_by_name);
  RUN(an_unknown_name_lists_the_available_devices);
  RUN(devices_are_counted);
  RUN(two_contexts_do_not_share_tensors);
  RUN(a_tensor_keeps_its_context_alive);
  RUN(calls_after_a_cancellation_succeed);
  return report();
}
