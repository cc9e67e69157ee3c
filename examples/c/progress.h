/* progress.h - shows the progress of the training: a bar on a terminal, plain lines elsewhere. */

#ifndef EXAMPLES_PROGRESS_H_
#define EXAMPLES_PROGRESS_H_

#include <stdbool.h>
#include <stddef.h>

typedef struct progress {
  bool terminal;
  size_t steps; /* Number of steps per epoch. */
  size_t epochs;
  size_t images_per_step;
  double start;   /* Time at the start of the training, in seconds. */
  double printed; /* Time of the last printed line, in seconds. */
  size_t lines;   /* Number of plain lines printed in this epoch. */
} progress;

/* Returns the time of a monotonic clock in seconds. */
double seconds(void);

/* Starts to show the progress of a training of `epochs` epochs with `steps` steps each. */
progress progress_start(size_t epochs, size_t steps, size_t images_per_step);
/* Reports progress after step number `step` of an epoch; steps and epochs are counted from 1. */
void progress_step(progress* p, size_t epoch, size_t step, double loss);
/* Reports the end of an epoch and the result of its test. */
void progress_epoch(progress* p, size_t epoch, double loss, double accuracy);

#endif /* EXAMPLES_PROGRESS_H_ */
