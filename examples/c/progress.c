#define _POSIX_C_SOURCE 200809L

#include "examples/c/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kBarWidth = 30, kPlainLines = 4 };

double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

progress progress_start(size_t epochs, size_t steps, size_t images_per_step) {
  progress p;
  memset(&p, 0, sizeof p);
  p.terminal = isatty(STDOUT_FILENO);
  p.steps = steps;
  p.epochs = epochs;
  p.images_per_step = images_per_step;
  p.start = seconds();
  return p;
}

/* Draws the whole progress bar over the previous one. */
static void draw(const progress* p, size_t epoch, size_t step, double loss, double rate,
                 double left) {
  char bar[kBarWidth + 1];
  const size_t full = kBarWidth * step / p->steps;
  memset(bar, '-', kBarWidth);
  memset(bar, '#', full);
  bar[kBarWidth] = '\0';
  printf("\repoch %zu/%zu [%s] %zu/%zu  loss %.4f  %.0f images/s  %d:%02d left \033[K", epoch,
         p->epochs, bar, step, p->steps, loss, rate, (int)left / 60, (int)left % 60);
}

void progress_step(progress* p, size_t epoch, size_t step, double loss) {
  const size_t done = (epoch - 1) * p->steps + step;
  const double now = seconds();
  const double rate = (double)(done * p->images_per_step) / (now - p->start);
  const double left = (double)((p->epochs * p->steps - done) * p->images_per_step) / rate;
  if (p->terminal) {
    if (now - p->printed < 0.1 && step != p->steps) return;
    draw(p, epoch, step, loss, rate, left);
    p->printed = now;
  } else {
    if (step * kPlainLines / p->steps == p->lines) return;
    p->lines = step * kPlainLines / p->steps;
    printf("epoch %zu/%zu  step %zu/%zu  loss %.4f  %.0f images/s  %d:%02d left\n", epoch,
           p->epochs, step, p->steps, loss, rate, (int)left / 60, (int)left % 60);
  }
  fflush(stdout);
}

void progress_epoch(progress* p, size_t epoch, double loss, double accuracy) {
  p->lines = 0;
  printf("%sepoch %zu/%zu  training loss %.4f  test accuracy %.4f\n", p->terminal ? "\r\033[K" : "",
         epoch, p->epochs, loss, accuracy);
  fflush(stdout);
}
