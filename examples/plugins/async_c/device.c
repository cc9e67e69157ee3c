/* The device: its memory, its streams, and launches. Work runs on the stream's own thread, after
 * the call that enqueued it has returned. Each function is a slot; tenon/plugin_slots.def specifies
 * it. */

#include "async.h"

enum { kAlignment = 64 }; /* Of buffers, in bytes. The host requires at least 64. */

/* ---- the instance and its one device -----------------------------------------------------------
 */

void async_destroy(tenon_instance_p* self) { free(self); }

tenon_error* async_count_devices(tenon_instance_p* self, size_t* out_count) {
  (void)self;
  *out_count = 1;
  return NULL;
}

/* Opens the device. A device may be opened several times at once; each opened device has its own
 * state. */
tenon_error* async_open_device(tenon_instance_p* self, size_t index, tenon_device_p** out_device) {
  if (index > 0)
    return async_error(self->host, TENON_NOT_FOUND,
                       "index must be 0: the plugin has only one device");
  tenon_device_p* device = calloc(1, sizeof *device);
  if (!device) return async_error(self->host, TENON_OUT_OF_MEMORY, "no memory for a device");
  device->host = self->host;
  *out_device = device;
  return NULL;
}

void async_close_device(tenon_device_p* device) { free(device); }

/* Describes the device, which is neither HOST_VISIBLE nor SYNCHRONOUS. */
tenon_error* async_describe_device(tenon_device_p* device, tenon_device_properties* out) {
  tenon_device_properties properties = {
      .kind = TENON_DEVICE_ACCELERATOR,
      .description = TENON_STR("a thread for each stream, in plain C"),
      .vendor = TENON_STR("Tenon"),
      .driver = TENON_STR(""),
      .features = TENON_FEATURE_HOST_BLOCKING | TENON_FEATURE_IEEE_DIV,
      .compute_units = 1,
  };
  (void)device;
  async_fill_struct(out, &properties, sizeof properties);
  return NULL;
}

/* ---- memory ------------------------------------------------------------------------------------
 */

/* Allocates a buffer and its bytes as one block. C99 has no aligned allocation, so the block has
 * additional space to round its address up. */
tenon_error* async_allocate(tenon_device_p* device, uint64_t size, tenon_buffer_p** out_buffer) {
  const uint64_t extra = sizeof(tenon_buffer_p) + kAlignment;
  tenon_buffer_p* buffer = NULL;
  if (size <= PTRDIFF_MAX - extra) buffer = malloc((size_t)(size + extra));
  if (!buffer) return async_error(device->host, TENON_OUT_OF_MEMORY, "malloc has no more memory");
  const uintptr_t after = (uintptr_t)(buffer + 1);
  buffer->device = device;
  buffer->data = (unsigned char*)((after + kAlignment - 1) / kAlignment * kAlignment);
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

void async_release(tenon_buffer_p* buffer) {
  __atomic_sub_fetch(&buffer->device->allocated_bytes, buffer->size, __ATOMIC_RELAXED);
  free(buffer);
}

tenon_error* async_memory_statistics(tenon_device_p* device, tenon_memory_statistics* out) {
  tenon_memory_statistics statistics = {
      .allocated_bytes = __atomic_load_n(&device->allocated_bytes, __ATOMIC_RELAXED),
      .peak_bytes = __atomic_load_n(&device->peak_bytes, __ATOMIC_RELAXED),
      .allocations = __atomic_load_n(&device->allocations, __ATOMIC_RELAXED),
  };
  async_fill_struct(out, &statistics, sizeof statistics);
  return NULL;
}

/* ---- streams -----------------------------------------------------------------------------------
 */

tenon_error* async_open_stream(tenon_device_p* device, tenon_stream_p** out_stream) {
  tenon_stream_p* stream = calloc(1, sizeof *stream);
  if (!stream || !async_ring_open(&stream->ring)) {
    free(stream);
    return async_error(device->host, TENON_OUT_OF_MEMORY, "no memory for a stream");
  }
  stream->device = device;
  *out_stream = stream;
  return NULL;
}

void async_close_stream(tenon_stream_p* stream) {
  async_ring_close(&stream->ring);
  free(stream);
}

static tenon_error* no_memory(const tenon_stream_p* stream) {
  return async_error(stream->device->host, TENON_OUT_OF_MEMORY, "no memory for a job");
}

/* Enqueues a job. If this fails, frees the job's payload, because a failed call must have no
 * effect. */
static tenon_error* enqueue(tenon_stream_p* stream, void (*run)(void*), void* payload) {
  if (payload && async_ring_push(&stream->ring, run, payload)) return NULL;
  free(payload);
  return no_memory(stream);
}

/* Copies an argument for a job, because arguments from the host are valid only during the call. */
static void* copy_of(const void* given, size_t size) {
  void* copy = malloc(size);
  if (copy) memcpy(copy, given, size);
  return copy;
}

/* ---- copies and fills
 * ----------------------------------------------------------------------------
 */

/* Returns the address of `size` bytes in a buffer, or NULL if they are not all inside it. */
static unsigned char* address(const tenon_buffer_p* buffer, uint64_t offset, uint64_t size) {
  if (offset > buffer->size || size > buffer->size - offset) return NULL;
  return buffer->data + offset;
}

static unsigned char* place(const tenon_place* at, uint64_t size) {
  if (!at->buffer) return (unsigned char*)at->host + at->offset;
  return address(at->buffer, at->offset, size);
}

static void run_copy(void* payload) {
  const tenon_copy_region* copy = payload;
  memmove(place(&copy->to, copy->size), place(&copy->from, copy->size), (size_t)copy->size);
  free(payload);
}

tenon_error* async_copy(tenon_stream_p* stream, const tenon_copy_region* copy) {
  if (copy->size == 0) return NULL;
  if (!place(&copy->from, copy->size) || !place(&copy->to, copy->size)) {
    return async_error(stream->device->host, TENON_INVALID_ARGUMENT,
                       "copy: the byte range is not inside the buffer");
  }
  return enqueue(stream, run_copy, copy_of(copy, sizeof *copy));
}

/* Fills memory with a pattern. The low bytes of the pattern come first on any machine. */
static void run_fill(void* payload) {
  const tenon_fill_region* fill = payload;
  unsigned char* to = address(fill->buffer, fill->offset, fill->size);
  unsigned char word[8];
  uint64_t at = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    word[i] = (unsigned char)(fill->pattern >> (8 * (i % fill->pattern_size)));
  }
  for (; at + 8 <= fill->size; at += 8) memcpy(to + at, word, 8);
  memcpy(to + at, word, (size_t)(fill->size - at));
  free(payload);
}

tenon_error* async_fill(tenon_stream_p* stream, const tenon_fill_region* fill) {
  const uint32_t n = fill->pattern_size;
  if (!(n == 1 || n == 2 || n == 4 || n == 8) || fill->size % n != 0) {
    return async_error(stream->device->host, TENON_INVALID_ARGUMENT,
                       "fill: pattern_size must be 1, 2, 4 or 8, and size a multiple of it");
  }
  if (!address(fill->buffer, fill->offset, fill->size)) {
    return async_error(stream->device->host, TENON_INVALID_ARGUMENT,
                       "fill: the byte range is not inside the buffer");
  }
  return enqueue(stream, run_fill, copy_of(fill, sizeof *fill));
}

/* ---- order -------------------------------------------------------------------------------------
 */

static void leave_event(tenon_event_p* event) {
  pthread_mutex_lock(&event->mutex);
  const int left = --event->users;
  pthread_mutex_unlock(&event->mutex);
  if (left > 0) return;
  pthread_cond_destroy(&event->changed);
  pthread_mutex_destroy(&event->mutex);
  free(event);
}

static void run_signal(void* payload) {
  tenon_event_p* event = payload;
  pthread_mutex_lock(&event->mutex);
  event->done = true;
  pthread_cond_broadcast(&event->changed);
  pthread_mutex_unlock(&event->mutex);
  leave_event(event);
}

static void run_wait(void* payload) {
  tenon_event_p* event = payload;
  pthread_mutex_lock(&event->mutex);
  while (!event->done) pthread_cond_wait(&event->changed, &event->mutex);
  pthread_mutex_unlock(&event->mutex);
  leave_event(event);
}

tenon_error* async_record_event(tenon_stream_p* stream, tenon_event_p** out_event) {
  tenon_event_p* event = calloc(1, sizeof *event);
  if (!event) return no_memory(stream);
  pthread_mutex_init(&event->mutex, NULL);
  pthread_cond_init(&event->changed, NULL);
  event->users = 2; /* The caller, and the job that signals the event. */
  if (async_ring_push(&stream->ring, run_signal, event)) {
    *out_event = event;
    return NULL;
  }
  event->users = 1;
  leave_event(event);
  return no_memory(stream);
}

tenon_error* async_wait_event(tenon_stream_p* stream, tenon_event_p* event) {
  pthread_mutex_lock(&event->mutex);
  ++event->users;
  pthread_mutex_unlock(&event->mutex);
  if (async_ring_push(&stream->ring, run_wait, event)) return NULL;
  leave_event(event);
  return no_memory(stream);
}

void async_release_event(tenon_event_p* event) { leave_event(event); }

/* Calls a completion callback. It reports no failure, because no job of this device can fail. */
static void run_done(void* payload) {
  const tenon_done_callback done = *(const tenon_done_callback*)payload;
  free(payload);
  done.function(done.payload, NULL);
  if (done.destroy) done.destroy(done.payload);
}

/* Enqueues a completion callback. If this fails, destroys the callback. */
tenon_error* async_notify(tenon_stream_p* stream, tenon_done_callback done) {
  tenon_error* error = enqueue(stream, run_done, copy_of(&done, sizeof done));
  if (error && done.destroy) done.destroy(done.payload);
  return error;
}

tenon_error* async_wait(tenon_stream_p* stream) {
  async_ring_wait(&stream->ring);
  return NULL;
}

/* ---- launches ----------------------------------------------------------------------------------
 */

typedef struct launch_job {
  const tenon_kernel_p* kernel;
  tenon_launch* launch;
} launch_job;

static void run_launch(void* payload) {
  launch_job* job = payload;
  job->kernel->run(job->kernel, job->launch);
  free(job->launch);
  free(job);
}

/* Sets the address of an operand that is given by buffer and offset. A plugin for a real device
 * would write the kernel's arguments here. */
static void locate(tenon_view* view) {
  if (view->buffer) view->data = view->buffer->data + view->byte_offset;
}

tenon_error* async_launch(tenon_kernel_p* kernel, tenon_stream_p* stream,
                          const tenon_launch* launch) {
  tenon_view* views = NULL;
  launch_job* job = malloc(sizeof *job);
  tenon_launch* copy = job ? async_copy_launch(launch, &views) : NULL;
  if (!copy) {
    free(job);
    return no_memory(stream);
  }
  for (size_t i = 0; i < (size_t)copy->n_inputs + copy->n_outputs; ++i) locate(&views[i]);
  /* The error record is in a device buffer or, if there is none, at a host address. */
  if (copy->record_buffer) {
    copy->record = (tenon_error_record*)(copy->record_buffer->data + copy->record_offset);
  }
  job->kernel = kernel;
  job->launch = copy;
  tenon_error* error = enqueue(stream, run_launch, job);
  if (error) free(copy);
  return error;
}

/* Returns 0, because no kernel has the trait WORKSPACE. */
uint64_t async_workspace(tenon_kernel_p* kernel, const tenon_launch* launch) {
  (void)kernel;
  (void)launch;
  return 0;
}

void async_release_kernel(tenon_kernel_p* kernel) { free(kernel); }
