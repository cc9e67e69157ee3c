/* Helpers for plugins in C whose work outlives the call that enqueues it. They need the C library
 * and POSIX threads only; copy this file into a plugin.
 *
 *   async_copy_launch    a deep copy of a launch, whose operands are valid during the call only
 *   async_ring           a queue of jobs that one thread runs in order
 *   async_report_index   an index out of range, in an error record in device memory
 *   async_loop_dtype     the dtype of a value of a loop
 *   async_fill_struct    fills a struct of the host, which may be shorter than the plugin's */

#ifndef ASYNC_HELPERS_H_
#define ASYNC_HELPERS_H_

#include <pthread.h>
#include <stdlib.h>
#include <tenon/plugin.h>

/* ---- structs that may grow ----------------------------------------------------------------------
 */

/* Whether a struct from the host contains a field. */
#define ASYNC_HAS(pointer, field) \
  ((pointer)->struct_size >=      \
   (const char*)&(pointer)->field - (const char*)(pointer) + sizeof(pointer)->field)

/* Copies `filled` to a struct of the host that may be shorter: writes at most its struct_size,
 * and sets struct_size to the number written. Both begin with struct_size. */
static inline void async_fill_struct(void* out, void* filled, uint32_t size) {
  uint32_t room;
  memcpy(&room, out, sizeof room);
  if (room < size) size = room;
  memcpy(filled, &size, sizeof size);
  memcpy(out, filled, size);
}

/* ---- deep copy of a launch ----------------------------------------------------------------------
 */

/* Copies a view: its sizes and strides to *dims, which advances, and an element that is passed by
 * value to *value. */
static inline tenon_view async_copy_view(const tenon_view* given, int64_t** dims,
                                         tenon_element* value) {
  tenon_view view = *given;
  const size_t bytes = view.rank * sizeof(int64_t);
  if (bytes > 0) {
    memcpy(*dims, given->sizes, bytes);
    memcpy(*dims + view.rank, given->strides, bytes);
  }
  view.sizes = *dims;
  view.strides = *dims + view.rank;
  *dims += 2 * view.rank;
  if (!given->buffer && given->data) {
    memcpy(value, given->data, TENON_DTYPE_BITS(given->dtype) / 8);
    view.data = value;
  }
  return view;
}

/* Copies a launch and everything that it refers to except buffers, into one block that `free`
 * releases. Returns NULL if there is no memory. The copy's views are writable through *out_views:
 * inputs, then outputs. */
static inline tenon_launch* async_copy_launch(const tenon_launch* given, tenon_view** out_views) {
  const size_t n = (size_t)given->n_inputs + given->n_outputs;
  size_t rank = 0;
  for (size_t i = 0; i < given->n_inputs; ++i) rank += given->inputs[i].rank;
  for (size_t i = 0; i < given->n_outputs; ++i) rank += given->outputs[i].rank;
  const size_t size = sizeof(tenon_launch) + n * (sizeof(tenon_view) + sizeof(tenon_element)) +
                      2 * rank * sizeof(int64_t);
  tenon_launch* copy = calloc(1, size);
  if (!copy) return NULL;
  memcpy(copy, given, given->struct_size < sizeof *copy ? given->struct_size : sizeof *copy);
  tenon_view* views = (tenon_view*)(copy + 1);
  tenon_element* values = (tenon_element*)(views + n);
  int64_t* dims = (int64_t*)(values + n);
  for (size_t i = 0; i < n; ++i) {
    const tenon_view* view =
        i < given->n_inputs ? &given->inputs[i] : &given->outputs[i - given->n_inputs];
    views[i] = async_copy_view(view, &dims, &values[i]);
  }
  copy->inputs = views;
  copy->outputs = views + given->n_inputs;
  *out_views = views;
  return copy;
}

/* ---- a ring of jobs -----------------------------------------------------------------------------
 */

/* A job. The function owns `payload`, and frees it if necessary. */
typedef struct async_job {
  void (*run)(void* payload);
  void* payload;
} async_job;

typedef struct async_ring {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  pthread_t thread;
  async_job* jobs; /* A circular buffer of `n` jobs, beginning at index `first`. */
  size_t capacity;
  size_t first;
  size_t n;
  uint64_t pushed;
  uint64_t finished;
  bool ending;
} async_ring;

/* Runs jobs in order until the ring is closed and has no more jobs. The ring's thread calls it. */
static inline void* async_ring_run(void* given) {
  async_ring* ring = given;
  pthread_mutex_lock(&ring->mutex);
  for (;;) {
    while (ring->n == 0 && !ring->ending) pthread_cond_wait(&ring->changed, &ring->mutex);
    if (ring->n == 0) break;
    const async_job job = ring->jobs[ring->first];
    ring->first = (ring->first + 1) % ring->capacity;
    --ring->n;
    pthread_mutex_unlock(&ring->mutex);
    job.run(job.payload);
    pthread_mutex_lock(&ring->mutex);
    ++ring->finished;
    pthread_cond_broadcast(&ring->changed);
  }
  pthread_mutex_unlock(&ring->mutex);
  return NULL;
}

/* Starts the thread of a zero-initialised ring. Returns false if there is no memory for it. */
static inline bool async_ring_open(async_ring* ring) {
  ring->capacity = 16;
  ring->jobs = malloc(ring->capacity * sizeof *ring->jobs);
  if (!ring->jobs) return false;
  pthread_mutex_init(&ring->mutex, NULL);
  pthread_cond_init(&ring->changed, NULL);
  if (pthread_create(&ring->thread, NULL, async_ring_run, ring) == 0) return true;
  free(ring->jobs);
  return false;
}

/* Runs the remaining jobs and ends the thread. */
static inline void async_ring_close(async_ring* ring) {
  pthread_mutex_lock(&ring->mutex);
  ring->ending = true;
  pthread_cond_broadcast(&ring->changed);
  pthread_mutex_unlock(&ring->mutex);
  pthread_join(ring->thread, NULL);
  pthread_cond_destroy(&ring->changed);
  pthread_mutex_destroy(&ring->mutex);
  free(ring->jobs);
}

/* Doubles the capacity. A ring that waited for space instead could deadlock: the job that makes
 * space may be the caller's own. */
static inline bool async_ring_grow(async_ring* ring) {
  async_job* jobs = malloc(2 * ring->capacity * sizeof *jobs);
  if (!jobs) return false;
  for (size_t i = 0; i < ring->n; ++i) jobs[i] = ring->jobs[(ring->first + i) % ring->capacity];
  free(ring->jobs);
  ring->jobs = jobs;
  ring->capacity *= 2;
  ring->first = 0;
  return true;
}

/* Adds a job. Returns false if there is no memory; the caller then still owns the payload. */
static inline bool async_ring_push(async_ring* ring, void (*run)(void*), void* payload) {
  pthread_mutex_lock(&ring->mutex);
  const bool has_space = ring->n < ring->capacity || async_ring_grow(ring);
  if (has_space) {
    const async_job job = {run, payload};
    ring->jobs[(ring->first + ring->n++) % ring->capacity] = job;
    ++ring->pushed;
    pthread_cond_broadcast(&ring->changed);
  }
  pthread_mutex_unlock(&ring->mutex);
  return has_space;
}

/* Waits until all jobs that were added so far have finished. */
static inline void async_ring_wait(async_ring* ring) {
  pthread_mutex_lock(&ring->mutex);
  const uint64_t last = ring->pushed;
  while (ring->finished < last) pthread_cond_wait(&ring->changed, &ring->mutex);
  pthread_mutex_unlock(&ring->mutex);
}

/* ---- indices out of range -----------------------------------------------------------------------
 */

/* Writes an error record, unless it already contains an error. An index out of range is not a
 * failure of the launch: the kernel reads zero or writes nothing for it, and continues. */
static inline void async_report_index(tenon_error_record* record, uint32_t site, int64_t index,
                                      int64_t bound) {
  uint32_t untouched = 0;
  if (!record || !__atomic_compare_exchange_n(&record->state, &untouched, 1, false,
                                              __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    return;
  }
  record->site = site;
  record->index = index;
  record->bound = bound;
}

/* ---- loops --------------------------------------------------------------------------------------
 */

/* Returns the dtype of a loop's value. Values are numbered: the loop's inputs, then the output of
 * the anchor, if any, then the results of the instructions. */
static inline tenon_dtype async_loop_dtype(const tenon_loop_request* request, size_t value) {
  const size_t n_inputs = request->n_inputs;
  if (value < n_inputs) return request->inputs[value].dtype;
  value -= n_inputs;
  if (request->anchor) {
    if (value == 0) return request->anchor->outputs[0].dtype;
    --value;
  }
  return request->instructions[value].dtype;
}

#endif /* ASYNC_HELPERS_H_ */
