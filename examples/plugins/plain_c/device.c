/* The device: its memory, and its streams, which are trivial since every call is synchronous.
 * Each function is a slot; tenon/plugin_slots.def specifies it. */

#include <stdlib.h>

#include "plain.h"

enum { kAlignment = 64 }; /* Of buffers, in bytes. The host requires at least 64. */

/* ---- the instance and its one device -----------------------------------------------------------
 */

void plain_destroy(tenon_instance_p* self) { free(self); }

tenon_error* plain_count_devices(tenon_instance_p* self, size_t* out_count) {
  (void)self;
  *out_count = 1;
  return NULL;
}

tenon_error* plain_open_device(tenon_instance_p* self, size_t index, tenon_device_p** out_device) {
  if (index > 0)
    return plain_error(self->host, TENON_NOT_FOUND,
                       "index must be 0: the plugin has only one device");
  tenon_device_p* device = calloc(1, sizeof *device);
  if (!device) return plain_error(self->host, TENON_OUT_OF_MEMORY, "no memory for a device");
  device->host = self->host;
  *out_device = device;
  return NULL;
}

void plain_close_device(tenon_device_p* device) { free(device); }

tenon_error* plain_describe_device(tenon_device_p* device, tenon_device_properties* out) {
  tenon_device_properties properties = {
      .kind = TENON_DEVICE_CPU,
      .description = TENON_STR("one thread of plain C"),
      .vendor = TENON_STR("Tenon"),
      .driver = TENON_STR(""),
      .features = TENON_FEATURE_HOST_VISIBLE | TENON_FEATURE_SYNCHRONOUS | TENON_FEATURE_IEEE_DIV,
      .compute_units = 1,
  };
  (void)device;
  plain_fill_struct(out, &properties, sizeof properties);
  return NULL;
}

/* ---- memory ------------------------------------------------------------------------------------
 */

/* Allocates a buffer and its bytes as one block. C99 has no aligned allocation, so the block has
 * additional space to round its address up. */
tenon_error* plain_allocate(tenon_device_p* device, uint64_t size, tenon_buffer_p** out_buffer) {
  const uint64_t extra = sizeof(tenon_buffer_p) + kAlignment;
  tenon_buffer_p* buffer = NULL;
  if (size <= PTRDIFF_MAX - extra) buffer = malloc((size_t)(size + extra));
  if (!buffer) return plain_error(device->host, TENON_OUT_OF_MEMORY, "malloc has no more memory");
  const uintptr_t behind = (uintptr_t)(buffer + 1);
  buffer->device = device;
  buffer->data = (unsigned char*)((behind + kAlignment - 1) / kAlignment * kAlignment);
  buffer->size = size;
  *out_buffer = buffer;

  const uint64_t now = __atomic_add_fetch(&device->allocated_bytes, size, __ATOMIC_RELAXED);
  uint64_t peak = __atomic_load_n(&device->peak_bytes, __ATOMIC_RELAXED);
  while (peak < now && !__atomic_compare_exchange_n(&device->peak_bytes, &peak, now, true,
                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  __atomic_add_fetch(&device->allocations, 1, __ATOMIC_RELAXED);
  return NULL;
}

void plain_release(tenon_buffer_p* buffer) {
  __atomic_sub_fetch(&buffer->device->allocated_bytes, buffer->size, __ATOMIC_RELAXED);
  free(buffer);
}

void* plain_map(tenon_buffer_p* buffer) { return buffer->data; }

/* Returns the address of `size` bytes in a buffer, or NULL if they are not all inside it. */
static unsigned char* address(const tenon_buffer_p* buffer, uint64_t offset, uint64_t size) {
  if (offset > buffer->size || size > buffer->size - offset) return NULL;
  return buffer->data + offset;
}

static unsigned char* place(const tenon_place* at, uint64_t size) {
  if (!at->buffer) return (unsigned char*)at->host + at->offset;
  return address(at->buffer, at->offset, size);
}

tenon_error* plain_copy(tenon_stream_p* stream, const tenon_copy_region* copy) {
  if (copy->size == 0) return NULL;
  const unsigned char* from = place(&copy->from, copy->size);
  unsigned char* to = place(&copy->to, copy->size);
  if (!from || !to) {
    return plain_error(stream->device->host, TENON_INVALID_ARGUMENT,
                       "copy: the byte range is not inside the buffer");
  }
  memmove(to, from, (size_t)copy->size);
  return NULL;
}

tenon_error* plain_fill(tenon_stream_p* stream, const tenon_fill_region* fill) {
  const tenon_host* host = stream->device->host;
  const uint32_t n = fill->pattern_size;
  if (!(n == 1 || n == 2 || n == 4 || n == 8) || fill->size % n != 0) {
    return plain_error(host, TENON_INVALID_ARGUMENT,
                       "fill: pattern_size must be 1, 2, 4 or 8, and size a multiple of it");
  }
  unsigned char* to = address(fill->buffer, fill->offset, fill->size);
  if (!to)
    return plain_error(host, TENON_INVALID_ARGUMENT,
                       "fill: the byte range is not inside the buffer");
  /* The low bytes of the pattern come first on any machine. */
  for (uint64_t i = 0; i < fill->size; ++i) to[i] = (unsigned char)(fill->pattern >> (8 * (i % n)));
  return NULL;
}

tenon_error* plain_memory_statistics(tenon_device_p* device, tenon_memory_statistics* out) {
  tenon_memory_statistics statistics = {
      .allocated_bytes = __atomic_load_n(&device->allocated_bytes, __ATOMIC_RELAXED),
      .peak_bytes = __atomic_load_n(&device->peak_bytes, __ATOMIC_RELAXED),
      .allocations = __atomic_load_n(&device->allocations, __ATOMIC_RELAXED),
  };
  plain_fill_struct(out, &statistics, sizeof statistics);
  return NULL;
}

/* ---- order -------------------------------------------------------------------------------------
 */

tenon_error* plain_open_stream(tenon_device_p* device, tenon_stream_p** out_stream) {
  tenon_stream_p* stream = malloc(sizeof *stream);
  if (!stream) return plain_error(device->host, TENON_OUT_OF_MEMORY, "no memory for a stream");
  stream->device = device;
  *out_stream = stream;
  return NULL;
}

void plain_close_stream(tenon_stream_p* stream) { free(stream); }

/* Records an event. All earlier work has finished, so all events share one object. */
tenon_error* plain_record_event(tenon_stream_p* stream, tenon_event_p** out_event) {
  static char event;
  (void)stream;
  *out_event = (tenon_event_p*)&event;
  return NULL;
}

tenon_error* plain_wait_event(tenon_stream_p* stream, tenon_event_p* event) {
  (void)stream;
  (void)event;
  return NULL;
}

void plain_release_event(tenon_event_p* event) { (void)event; }

tenon_error* plain_notify(tenon_stream_p* stream, tenon_done_callback done) {
  (void)stream;
  done.function(done.payload, NULL);
  if (done.destroy) done.destroy(done.payload);
  return NULL;
}

/* ---- work --------------------------------------------------------------------------------------
 */

uint64_t plain_workspace(tenon_kernel_p* kernel, const tenon_launch* launch) {
  return kernel->workspace ? kernel->workspace(launch) : 0;
}

tenon_error* plain_launch(tenon_kernel_p* kernel, tenon_stream_p* stream,
                          const tenon_launch* launch) {
  (void)stream;
  kernel->run(kernel, launch);
  return NULL;
}

void plain_release_kernel(tenon_kernel_p* kernel) { free(kernel); }
