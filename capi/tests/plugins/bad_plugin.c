/* A plugin with one fault, selected by the macro BAD_<fault>. The host must refuse it before it is
 * used. */

#include <tenon/plugin.h>

#if defined(BAD_signature) || defined(BAD_prepare) || defined(BAD_nulltext) || defined(BAD_custom)
#define HAS_KERNELS
#endif

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
#if defined(BAD_devices) || defined(HAS_KERNELS)
  *out_count = 1;
#elif defined(BAD_many)
  *out_count = (size_t)1 << 40;
#else
  *out_count = 0;
#endif
  return NULL;
}
static tenon_error* open_device(tenon_instance_p* self, size_t index, tenon_device_p** out_device) {
  (void)self;
  (void)index;
#if defined(HAS_KERNELS)
  static int device;
  *out_device = (tenon_device_p*)&device;
  return NULL;
#else
  (void)out_device;
  return fail("the device caught fire");
#endif
}

static tenon_error* describe_device(tenon_device_p* device, tenon_device_properties* out) {
  (void)device;
  (void)out;
  return NULL;
}
static void close_device(tenon_device_p* device) { (void)device; }

/* Slots that are not called, because the plugin is refused. */
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
  calls.describe_device = describe_device;
  calls.close_device = close_device;
  calls.release_kernel = (void (*)(tenon_kernel_p*))unused_void;
#if defined(BAD_calls)
  calls.launch = NULL;
#elif defined(BAD_table)
  calls.struct_size = 0;
#endif
}

#if defined(HAS_KERNELS)
static tenon_error* prepare(tenon_device_p* device, const tenon_kernel_request* request,
                            tenon_kernel_p** out_kernel, tenon_kernel_traits* out_traits,
                            tenon_string* out_reason) {
  (void)device;
  (void)request;
  (void)out_kernel;
  (void)out_traits;
  (void)out_reason;
  return NULL;
}
static const tenon_kernel kernels[] = {
    {TENON_OP_copy, 0, TENON_STR("T->T T:any"), TENON_STR(""), prepare},
#if defined(BAD_signature)
    {TENON_OP_add, 0, TENON_STR("f32,f23->f32"), TENON_STR(""), prepare},
#elif defined(BAD_nulltext)
    {TENON_OP_add, 0, {NULL, 12}, TENON_STR(""), prepare},
#elif defined(BAD_custom)
    {0x80000001u, 0, TENON_STR("f32,f32->f32"), TENON_STR(""), prepare},
#else
    {TENON_OP_add, 0, TENON_STR("f32,f32->f32"), TENON_STR(""), NULL},
#endif
};
#endif

static tenon_plugin plugin = {
    sizeof(tenon_plugin), 0, TENON_STR("bad"), TENON_STR("0"), 0, 0, create, &calls, NULL, 0,
    sizeof(tenon_kernel)};

#if defined(BAD_load)
void what_no_library_has(void);
#endif

#if defined(BAD_symbol)
TENON_EXPORT tenon_error* query_of_another_host(const tenon_host* the_host,
                                                const tenon_plugin** out_plugin);
TENON_EXPORT tenon_error* query_of_another_host(const tenon_host* the_host,
                                                const tenon_plugin** out_plugin)
#elif defined(BAD_epoch)
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
#if defined(BAD_load)
  what_no_library_has();
#elif defined(BAD_error)
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
#elif defined(BAD_count)
  plugin.kernels = (const tenon_kernel*)(const void*)&plugin;
  plugin.n_kernels = (size_t)1 << 40;
#elif defined(HAS_KERNELS)
  plugin.kernels = kernels;
  plugin.n_kernels = 2;
#endif
  return NULL;
}
