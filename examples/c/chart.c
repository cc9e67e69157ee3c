#include "examples/c/chart.h"

#include <math.h>

enum { kWidth = 520, kHeight = 260, kLeft = 56, kRight = 14, kTop = 14, kBottom = 40 };

typedef struct axis {
  double low, high, step;
} axis;

/* Returns an axis step of 1, 2 or 5 times a power of ten, so that the range has about five
 * steps. */
static double nice_step(double range) {
  const double power = pow(10, floor(log10(range / 5)));
  const double factor = range / 5 / power;
  return power * (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10);
}

static axis y_axis(const chart* c) {
  double low = c->from_zero ? 0 : c->values[0], high = c->values[0];
  for (size_t i = 0; i < c->count; ++i) {
    low = fmin(low, c->values[i]);
    high = fmax(high, c->values[i]);
  }
  /* A flat curve is centred vertically. */
  if (high - low < 1e-6) {
    low -= 0.01;
    high += 0.01;
  }
  const double step = nice_step(high - low);
  const axis result = {floor(low / step) * step, ceil(high / step) * step, step};
  return result;
}

static double place_x(const chart* c, double epoch) {
  return kLeft + (kWidth - kLeft - kRight) * epoch / c->x_max;
}

static double place_y(const axis* y, double value) {
  return kHeight - kBottom - (kHeight - kTop - kBottom) * (value - y->low) / (y->high - y->low);
}

static double epoch_of(const chart* c, size_t i) {
  if (c->count == 1) return c->x_max;
  return c->x_first + (c->x_max - c->x_first) * (double)i / (double)(c->count - 1);
}

static void write_grid(FILE* out, const chart* c, const axis* y) {
  const int lines = (int)lround((y->high - y->low) / y->step);
  const int decimals = y->step >= 1 ? 0 : (int)ceil(-log10(y->step) - 1e-9);
  for (int i = 0; i <= lines; ++i) {
    const double value = y->low + i * y->step;
    fprintf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", kLeft,
            kWidth - kRight, place_y(y, value), place_y(y, value));
    fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.*f</text>\n", kLeft - 8,
            place_y(y, value) + 4, decimals, value);
  }
  const double step = c->x_max <= 10 ? 1 : fmax(1, nice_step(c->x_max));
  for (double epoch = 0; epoch <= c->x_max + 1e-9; epoch += step) {
    fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n",
            place_x(c, epoch), kHeight - kBottom + 18, epoch);
  }
  fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">epoch</text>\n",
          place_x(c, c->x_max / 2), kHeight - 6);
}

void chart_write(FILE* out, const chart* c) {
  const axis y = y_axis(c);
  fprintf(out, "<figure><figcaption>%s</figcaption>\n", c->title);
  fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", kWidth, kHeight,
          c->title);
  write_grid(out, c, &y);
  fputs("<polyline class=\"curve\" points=\"", out);
  for (size_t i = 0; i < c->count; ++i) {
    fprintf(out, "%.1f,%.1f ", place_x(c, epoch_of(c, i)), place_y(&y, c->values[i]));
  }
  fputs("\"/>\n", out);
  for (size_t i = 0; c->dots && i < c->count; ++i) {
    fprintf(out,
            "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>epoch %.0f: "
            "%.4f</title></circle>\n",
            place_x(c, epoch_of(c, i)), place_y(&y, c->values[i]), epoch_of(c, i), c->values[i]);
  }
  fputs("</svg></figure>\n", out);
}
