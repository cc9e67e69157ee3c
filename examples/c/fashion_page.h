/* fashion_page.h - writes the report of a training as a self-contained HTML file. */

#ifndef EXAMPLES_FASHION_PAGE_H_
#define EXAMPLES_FASHION_PAGE_H_

#include <stdbool.h>

#include "examples/c/fashion_options.h"
#include "examples/c/idx.h"

/* Results of the training. */
typedef struct fashion_report {
  const fashion_options* options;
  const char* device; /* Name and description of the device. */
  double seconds;     /* Duration of the training in seconds, including tests. */
  double images_per_second;
  const double* losses; /* Training losses at equal intervals; at least one. */
  size_t n_losses;
  const double* accuracies; /* Accuracy on the test images after each epoch. */
  const image_set* test;
  const uint8_t* predicted; /* The predicted class of each test image. */
  const float* confidence;  /* The probability of the predicted class, for each test image. */
} fashion_report;

/* Writes the report. Returns false and sets errno if the file cannot be written. */
bool fashion_page_write(const char* path, const fashion_report* report);

#endif /* EXAMPLES_FASHION_PAGE_H_ */
