/* chart.h - curves as SVG inside of a page, in the page's own colours. */

#ifndef EXAMPLES_CHART_H_
#define EXAMPLES_CHART_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A curve over `x_max` epochs. The page's style gives .curve, .dot, .grid and text their colours.
 */
typedef struct chart {
  const char* title;
  const double* values;
  size_t count;
  double x_first; /* The epoch of the first value; the last one stands at x_max. */
  double x_max;
  bool from_zero; /* Whether the axis begins at 0, else near the least value. */
  bool dots;      /* Whether each value is marked and says its number. */
} chart;

void chart_write(FILE* out, const chart* c);

#endif /* EXAMPLES_CHART_H_ */
