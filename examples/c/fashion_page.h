/* fashion_page.h - the report of a training: one HTML file that needs no other. */

#ifndef EXAMPLES_FASHION_PAGE_H_
#define EXAMPLES_FASHION_PAGE_H_

#include <stdbool.h>

#include "examples/c/fashion_options.h"
#include "examples/c/idx.h"

/* What was reached. */
typedef struct fashion_report {
  const fashion_options* options;
  const char* device; /* Its name and what a person calls it. */
  double seconds;     /* That training took, tests included. */
  double images_per_second;
  const double* losses; /* Of training, at even distances; at least one. */
  size_t n_losses;
  const double* accuracies; /* Of the test images, one for each epoch. */
  const image_set* test;
  const uint8_t* predicted; /* For each test image, a class, */
  const float* confidence;  /* and how probable the network takes it to be. */
} fashion_report;

/* Gives false, with errno set, if the file cannot be written. */
bool fashion_page_write(const char* path, const fashion_report* report);

#endif /* EXAMPLES_FASHION_PAGE_H_ */
