// Injected faults in the entry, the options and the kernel list, that is, before any computation
// (level 0).

#include "conformance/device/broken_device.h"

namespace tenon_kit::device {
namespace {

tenon_error* query_other(const tenon_host*, const tenon_plugin** out_plugin) {
  static tenon_plugin others[2];
  others[0] = others[1] = broken->plugin;
  *out_plugin = &others[++broken->n % 2];
  return nullptr;
}

}  // namespace

std::vector<DeviceFault> faults_of_level_0() {
  return {
      {"symbol", "the library exports more", kRef, nullptr},
      {"query", "each query returns another plugin", kRef, [](FaultyPlugin&) {}, query_other},
      {"description", "the name has a capital letter", kRef,
       [](FaultyPlugin& b) { b.plugin.name = TENON_STR("Ref"); }},
      {"description", "the name differs from the file name", kRef,
       [](FaultyPlugin& b) { b.plugin.name = TENON_STR("other"); }},
      {"description", "a required call is missing", kRef,
       [](FaultyPlugin& b) { b.calls.memory_statistics = nullptr; }},
      {"description", "a feature is provided without its slot", kRef,
       [](FaultyPlugin& b) { b.calls.wait = nullptr; }},
      {"lines", "a line is for an op that does not exist", kRef,
       [](FaultyPlugin& b) { b.kernels[0].op = 99999; }},
      {"features", "the plugin requires unknown host features", kRef,
       [](FaultyPlugin& b) { b.plugin.requires_of_host |= tenon_features{1} << 40; }},
      {"features", "the plugin provides all feature bits", kRef,
       [](FaultyPlugin& b) { b.plugin.provides = ~tenon_features{0}; }},
      {"host_table", "the plugin calls `log` of a host table without it", kRef,
       [](FaultyPlugin& b) {
         b.plugin.create = [](const tenon_host* host, const tenon_instance_options* options,
                              tenon_instance_p** out) {
           host->log(nullptr, TENON_LOG_INFO, tenon_str("hello"));
           return broken->sane->create(host, options, out);
         };
       }},
      {"structs", "the plugin writes beyond struct_size", kRef,
       [](FaultyPlugin& b) {
         b.calls.memory_statistics = [](tenon_device_p*, tenon_memory_statistics* out) {
           *out = {};
           return static_cast<tenon_error*>(nullptr);
         };
       }},
      {"options", "unknown options are accepted", kRef,
       [](FaultyPlugin& b) {
         b.plugin.create = [](const tenon_host* host, const tenon_instance_options* options,
                              tenon_instance_p** out) {
           tenon_instance_options own = *options;
           own.n_options = 0;
           return broken->sane->create(host, &own, out);
         };
       }},
      {"enumeration", "the count changes", kRef,
       [](FaultyPlugin& b) {
         b.calls.count_devices = [](tenon_instance_p*, size_t* out) {
           *out = 1 + static_cast<size_t>(broken->n++ % 2);
           return static_cast<tenon_error*>(nullptr);
         };
       }},
      {"enumeration", "a device past the count can be opened", kRef,
       [](FaultyPlugin& b) {
         b.calls.open_device = [](tenon_instance_p* self, size_t, tenon_device_p** out) {
           return broken->inner.open_device(self, 0, out);
         };
       }},
      {"properties", "the device has no description", kRef,
       [](FaultyPlugin& b) {
         b.calls.describe_device = [](tenon_device_p* device, tenon_device_properties* out) {
           tenon_error* error = broken->inner.describe_device(device, out);
           out->description = TENON_STR("");
           return error;
         };
       }},
      {"properties",
       "a device with more features than its plugin",
       {{"claim_features", "1048576"}},
       nullptr},
      {"reopen", "each instance leaks memory", kRef,
       [](FaultyPlugin& b) {
         b.calls.destroy = [](tenon_instance_p* self) {
           broken->kept.push_back(std::string(100, 'x'));
           broken->inner.destroy(self);
         };
       }},
      {"instances", "all instances share one handle", kRef,
       [](FaultyPlugin& b) {
         b.plugin.create = [](const tenon_host* host, const tenon_instance_options* options,
                              tenon_instance_p** out) {
           static tenon_instance_p* only = nullptr;
           if (!only) broken->sane->create(host, options, &only);
           *out = only;
           return static_cast<tenon_error*>(nullptr);
         };
         b.calls.destroy = [](tenon_instance_p*) {};
       }},
      {"lines", "a signature letter has no class", kRef,
       [](FaultyPlugin& b) { b.kernels[0].signature = TENON_STR("T->T"); }},
      {"lines", "a line has too many inputs", kRef,
       [](FaultyPlugin& b) { b.kernels[0].signature = TENON_STR("f32,f32,f32->f32"); }},
      {"kernel_life", "results change from launch to launch", kRef,
       [](FaultyPlugin& b) {
         b.calls.launch = [](tenon_kernel_p* kernel, tenon_stream_p* stream,
                             const tenon_launch* launch) {
           tenon_error* error = broken->inner.launch(kernel, stream, launch);
           *static_cast<char*>(launch->outputs[0].data) += static_cast<char>(broken->n++);
           return error;
         };
       }},
      {"kernel_life", "a launch writes past its output", kRef,
       [](FaultyPlugin& b) {
         b.calls.launch = [](tenon_kernel_p* kernel, tenon_stream_p* stream,
                             const tenon_launch* launch) {
           const tenon_view& y = launch->outputs[0];
           static_cast<char*>(y.data)[y.sizes[0] * TENON_DTYPE_BITS(y.dtype) / 8] = 0;
           return broken->inner.launch(kernel, stream, launch);
         };
       }},
      {"kernels_unlaunched", "kernels are never released", kRef,
       [](FaultyPlugin& b) { b.calls.release_kernel = [](tenon_kernel_p*) {}; }},
      {"refusals", "refusals are errors", kRef,
       [](FaultyPlugin& b) {
         b.kernels[0].prepare = [](tenon_device_p* device, const tenon_kernel_request* request,
                                   tenon_kernel_p** kernel, tenon_kernel_traits* traits,
                                   tenon_string* reason) {
           if (request->outputs[0].rank > 8) {
             return host_table().make_error(TENON_UNIMPLEMENTED, tenon_str("too many axes"));
           }
           return broken->sane->kernels[0].prepare(device, request, kernel, traits, reason);
         };
       }},
      {"complete_errors", "an error has no message", kRef,
       [](FaultyPlugin& b) {
         b.calls.open_device = [](tenon_instance_p* self, size_t index, tenon_device_p** out) {
           if (index == 0) return broken->inner.open_device(self, index, out);
           return host_table().make_error(TENON_NOT_FOUND, tenon_str(""));
         };
       }},
      {"complete_errors", "an error is never released", kRef,
       [](FaultyPlugin& b) {
         b.calls.close_device = [](tenon_device_p* device) {
           host_table().make_error(TENON_INTERNAL, tenon_str("nobody sees this"));
           broken->inner.close_device(device);
         };
       }},
  };
}

}  // namespace tenon_kit::device
