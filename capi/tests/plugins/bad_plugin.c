/* A plugin that is wrong in one way, which BAD_<fault> says. It never gets as far as computing. */

#include <tenon/plugin.h>

static const tenon_host* host;

static tenon_error* create(const tenon_host* the_host, const tenon_instance_options* options,
                           tenon_instance_p** out_instance) {
  (void)options;
#if defined(BAD_create)
  (void)out_instance;
  return the_host->make_error(TENON_UNAVAILABLE, tenon_str("the driver is asleep"));
#else
  static int instance;
  host = the_host;
  *out_instance = (tenon_instance_p*)&instance;
  return NULL;
#endif
}

static tenon_error* fail(const char* what) {
  return host->make_error(TENON_INTERNAL, tenon_str(what));
}

static void destroy(tenon_instance_p* self) { (void)self; }
static tenon_error* count_devices(tenon_instance_p* self, size_t* out_count) {
  (void)self;
#if defined(BAD_devices)
  *out_count = 1;
#else
  *out_count = 0;
#endif
  return NULL;
}
static tenon_error* open_device(tenon_instance_p* self, size_t index, tenon_device_p** out_device) {
  (void)self;
  (void)index;
  (void)out_device;
  return fail("the device caught fire");
}

/* Calls that nobody reaches. */
static void unused_void(void) {}
static tenon_error* unused_call(void) { return fail("called"); }

static tenon_plugin_calls calls;

static void fill_calls(void) {
  typedef void (*any)(void);
  any* slot = (any*)(void*)&calls.destroy;
  const size_t n = (sizeof calls - offsetof(tenon_plugin_calls, destroy)) / sizeof *slot;
  size_t i;
  for (i = 0; i < n; ++i) slot[i] = (any)unused_call;
  calls.struct_size = sizeof calls;
  calls.destroy = destroy;
  calls.count_devices = count_devices;
  calls.open_device = open_device;
  calls.release_kernel = (void (*)(tenon_kernel_p*))unused_void;
#if defined(BAD_calls)
  calls.launch = NULL;
#endif
}

static tenon_plugin plugin = {
    sizeof(tenon_plugin), 0, TENON_STR("bad"), TENON_STR("0"), 0, 0, create, &calls, NULL, 0,
    sizeof(tenon_kernel)};

#if defined(BAD_epoch)
TENON_EXPORT tenon_error* tenon_plugin_query_v2(const tenon_host* the_host,
                                                const tenon_plugin** out_plugin);
TENON_EXPORT tenon_error* tenon_plugin_query_v2(const tenon_host* the_host,
                                                const tenon_plugin** out_plugin)
#else
TENON_EXPORT tenon_error* tenon_plugin_query_v1(const tenon_host* the_host,
                                                const tenon_plugin** out_plugin);
TENON_EXPORT tenon_error* tenon_plugin_query_v1(const tenon_host* the_host,
                                                const tenon_plugin** out_plugin)
#endif
{
  host = the_host;
  fill_calls();
  *out_plugin = &plugin;
#if defined(BAD_error)
  *out_plugin = NULL;
  return host->make_error(TENON_UNAVAILABLE, tenon_str("bad: needs a unicorn"));
#elif defined(BAD_nothing)
  *out_plugin = NULL;
#elif defined(BAD_feature)
  plugin.requires_of_host = (tenon_features)1 << 40 | TENON_HOST_FEATURE_BROADCAST_VIEWS;
#elif defined(BAD_name)
  plugin.name = tenon_str("Bad name");
#elif defined(BAD_kernels)
  plugin.n_kernels = 3;
#endif
  return NULL;
}
