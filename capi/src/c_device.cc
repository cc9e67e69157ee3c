#include <tenon/device.h>

#include "capi/src/boundary.h"
#include "capi/src/structs.h"

using namespace tenon::capi;

void tenon_device_retain(tenon_device* device) { retain_handle(device); }

void tenon_device_release(tenon_device* device) { release_handle(device); }

tenon_string tenon_device_name(const tenon_device* device) {
  const tenon::Device* self = get_or_null(device);
  return self ? borrow_text(self->name()) : tenon_string TENON_STR("");
}

tenon_error* tenon_device_describe(const tenon_device* device, tenon_device_info* out_info) {
  return boundary([&] {
    const tenon::Device& self = get(device, "device");
    const tenon_device_properties properties = self.describe();
    tenon_device_info info = {
        .struct_size = 0,
        .kind = properties.kind,
        .name = borrow_text(self.name()),
        .description = properties.description,
        .vendor = properties.vendor,
        .driver = properties.driver,
        .plugin = self.plugin().version,
        .features = self.features(),
        .memory_bytes = properties.memory_bytes,
        .max_buffer_bytes = properties.max_buffer_bytes,
        .compute_units = properties.compute_units,
        .vector_bits = properties.vector_bits,
        .uuid = {},
    };
    std::memcpy(info.uuid, properties.uuid, sizeof info.uuid);
    write_struct(info, out_info, "out_info");
  });
}

tenon_error* tenon_device_describe_memory(tenon_device* device, tenon_memory_info* out_info) {
  return boundary([&] {
    tenon::Allocator& allocator = get(device, "device").allocator();
    const tenon::MemoryStatistics statistics = allocator.statistics();
    write_struct({.struct_size = 0,
                  .reserved = 0,
                  .live_bytes = statistics.live_bytes,
                  .peak_bytes = statistics.peak_bytes,
                  .held_bytes = statistics.reserved_bytes,
                  .live_buffers = statistics.live_count,
                  .allocations = statistics.plugin_allocations,
                  .limit_bytes = allocator.limit()},
                 out_info, "out_info");
  });
}

void tenon_device_reset_peak(tenon_device* device) {
  if (tenon::Device* self = get_or_null(device)) self->allocator().reset_peak();
}

tenon_error* tenon_device_trim(tenon_device* device, uint64_t* out_freed_bytes) {
  clear_output(out_freed_bytes);
  return boundary([&] {
    const uint64_t freed = get(device, "device").allocator().trim();
    if (out_freed_bytes) *out_freed_bytes = freed;
  });
}
