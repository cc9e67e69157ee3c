/* chart.h - draws curves as SVG inside an HTML page, in the colours of the page. */

#ifndef EXAMPLES_CHART_H_
#define EXAMPLES_CHART_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A curve over `x_max` epochs. The page's style sheet defines the colours of .curve, .dot, .grid
 * and text. */
typedef struct chart {
  const char* title;
  const double* values;
  size_t count;
  double x_first; /* The epoch of the first value; the last value is at epoch x_max. */
  double x_max;
  bool from_zero; /* Whether the vertical axis begins at 0, not near the smallest value. */
  bool dots;      /* Whether each value has a dot and a label. */
} chart;

/* Writes the chart as SVG. */
void chart_write(FILE* out, const chart* c);

#endif /* EXAMPLES_CHART_H_ */
