/* The sliding window of convolutions and pools, over up to three spatial axes. */

#ifndef PLAIN_WINDOW_H_
#define PLAIN_WINDOW_H_

#include "plain.h"

/* A dense view, interpreted as [n, channels, three spatial axes]. */
typedef struct plain_planes {
  int64_t batch;
  int64_t channels;
  int64_t sizes[kSpatial];
  int64_t area; /* Number of elements of one channel. */
} plain_planes;

static inline plain_planes plain_planes_of(const tenon_view* view) {
  plain_planes planes = {view->sizes[0], view->sizes[1], {1, 1, 1}, 1};
  const size_t missing = kSpatial + (size_t)2 - view->rank;
  for (size_t i = missing; i < kSpatial; ++i) planes.sizes[i] = view->sizes[i - missing + 2];
  for (size_t i = 0; i < kSpatial; ++i) planes.area *= planes.sizes[i];
  return planes;
}

static const plain_window kPlainWindow = {{1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}};

/* Reads a list attribute for the axes of a tensor of this rank. An empty list keeps the
 * defaults. */
static inline void plain_window_read_list(int64_t* to, const int64_t* values, size_t n,
                                          size_t rank) {
  const size_t missing = kSpatial + (size_t)2 - rank;
  for (size_t i = 0; i < n; ++i) to[missing + i] = values[i];
}

/* Returns the index along one axis of the input that `tap` reads when the window is at `at`, or -1
 * for padding or a gap. `size` is the size of that axis. */
static inline int64_t plain_window_input_index(const plain_window* window, size_t axis, int64_t at,
                                               int64_t tap, int64_t size) {
  int64_t found = at * window->steps[axis] + tap * window->dilations[axis] - window->pads[axis];
  if (found < 0) return -1;
  if (window->gaps[axis] != 1) {
    if (found % window->gaps[axis] != 0) return -1;
    found /= window->gaps[axis];
  }
  return found < size ? found : -1;
}

#endif /* PLAIN_WINDOW_H_ */
