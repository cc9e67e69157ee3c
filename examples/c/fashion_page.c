#include "examples/c/fashion_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/c/chart.h"
#include "examples/c/png.h"

enum { kPictures = 36 };

static const char* const kNames[kClasses] = {"T-shirt", "Trouser", "Pullover", "Dress", "Coat",
                                             "Sandal",  "Shirt",   "Sneaker",  "Bag",   "Boot"};

static const char kHead[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Fashion-MNIST</title>\n"
    "<style>\n"
    ":root { color-scheme: light dark; --paper: #fbfaf8; --card: #fff; --ink: #1d2733;\n"
    "  --faint: #66717e; --rule: #e3e1dc; --accent: 33, 102, 172; --wrong: #b2352b; }\n"
    "@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --card: #1c2229;\n"
    "  --ink: #e6e9ed; --faint: #98a3b0; --rule: #323a44; --accent: 96, 165, 226;\n"
    "  --wrong: #f08a7e; } }\n"
    "body { margin: 0 auto; max-width: 70rem; padding: 2rem 1.25rem; background: var(--paper);\n"
    "  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }\n"
    "h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .75rem; }\n"
    "p { color: var(--faint); margin: .25rem 0; }\n"
    ".row { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr));"
    " }\n"
    "dl { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr));\n"
    "  margin: 1.25rem 0; } dl div { background: var(--card); border: 1px solid var(--rule);\n"
    "  border-radius: 8px; padding: .6rem .8rem; } dt { color: var(--faint); font-size: .8rem; }\n"
    "dd { margin: 0; font-size: 1.1rem; font-variant-numeric: tabular-nums; }\n"
    "figure { margin: 0; background: var(--card); border: 1px solid var(--rule);\n"
    "  border-radius: 8px; padding: .8rem; } figcaption { font-weight: 600; }\n"
    "svg { width: 100%; height: auto; } svg text { fill: var(--faint); font-size: 12px; }\n"
    ".grid { stroke: var(--rule); } .dot { fill: rgb(var(--accent)); }\n"
    ".curve { fill: none; stroke: rgb(var(--accent)); stroke-width: 2; }\n"
    ".wide { overflow-x: auto; } table { border-collapse: separate; border-spacing: 2px;\n"
    "  font-variant-numeric: tabular-nums; } th { font-weight: 400; color: var(--faint);\n"
    "  font-size: .8rem; padding: 0 .4rem; } th[scope=row] { text-align: right; }\n"
    "td { width: 3.6rem; height: 2.1rem; text-align: center; border-radius: 4px; }\n"
    ".strong { color: var(--paper); }\n"
    ".pictures { display: grid; gap: .75rem;\n"
    "  grid-template-columns: repeat(auto-fill, minmax(6rem, 1fr)); }\n"
    ".pictures div { font-size: .75rem; line-height: 1.3; color: var(--faint); }\n"
    ".pictures img { width: 100%; border-radius: 6px; image-rendering: pixelated;\n"
    "  display: block; margin-bottom: .25rem; } .wrong { color: var(--wrong); }\n"
    "</style></head><body>\n";

static void write_text(FILE* out, const char* text) {
  for (; *text; ++text) {
    switch (*text) {
      case '&':
        fputs("&amp;", out);
        break;
      case '<':
        fputs("&lt;", out);
        break;
      default:
        putc(*text, out);
    }
  }
}

static void write_summary(FILE* out, const fashion_report* r) {
  const fashion_options* o = r->options;
  fputs("<h1>Fashion-MNIST</h1>\n<p>A convolutional network, trained through Tenon's C ABI on ",
        out);
  write_text(out, r->device);
  fputs(".</p>\n<dl>\n", out);
  fprintf(out, "<div><dt>test accuracy</dt><dd>%.4f</dd></div>\n", r->accuracies[o->epochs - 1]);
  fprintf(out, "<div><dt>time</dt><dd>%d:%02d</dd></div>\n", (int)r->seconds / 60,
          (int)r->seconds % 60);
  fprintf(out, "<div><dt>images per second</dt><dd>%.0f</dd></div>\n", r->images_per_second);
  fprintf(out, "<div><dt>epochs</dt><dd>%lld</dd></div>\n", (long long)o->epochs);
  fprintf(out, "<div><dt>batch</dt><dd>%lld</dd></div>\n", (long long)o->batch);
  fprintf(out, "<div><dt>seed</dt><dd>%llu</dd></div>\n</dl>\n", (unsigned long long)o->seed);
  fputs("<p>The network is saved as a program: <code>tenon inspect ", out);
  write_text(out, o->program);
  fputs("</code> describes it, and <code>tenon run ", out);
  write_text(out, o->program);
  fputs(" --input images=FILE.npy</code> runs it on images.</p>\n", out);
}

static void write_curves(FILE* out, const fashion_report* r) {
  const double epochs = (double)r->options->epochs;
  const chart loss = {"Training loss", r->losses, r->n_losses, epochs / (double)r->n_losses,
                      epochs,          true,      false};
  const chart accuracy = {"Test accuracy", r->accuracies, (size_t)epochs, 1, epochs, false, true};
  fputs("<div class=\"row\">\n", out);
  chart_write(out, &loss);
  chart_write(out, &accuracy);
  fputs("</div>\n", out);
}

static void write_confusion(FILE* out, const fashion_report* r) {
  size_t counts[kClasses][kClasses] = {{0}}, totals[kClasses] = {0};
  for (size_t i = 0; i < r->test->count; ++i) {
    ++counts[r->test->labels[i]][r->predicted[i]];
    ++totals[r->test->labels[i]];
  }
  fputs(
      "<h2>Confusion matrix</h2>\n<p>Rows are true classes, columns are predictions.</p>\n"
      "<div class=\"wide\"><table><tr><th></th>",
      out);
  for (int answer = 0; answer < kClasses; ++answer) {
    fprintf(out, "<th scope=\"col\">%s</th>", kNames[answer]);
  }
  fputs("</tr>\n", out);
  for (int truth = 0; truth < kClasses; ++truth) {
    fprintf(out, "<tr><th scope=\"row\">%s</th>", kNames[truth]);
    for (int answer = 0; answer < kClasses; ++answer) {
      const size_t count = counts[truth][answer];
      const double share = totals[truth] ? (double)count / (double)totals[truth] : 0;
      fprintf(out, "<td%s style=\"background: rgba(var(--accent), %.3f)\">",
              share > 0.5 ? " class=\"strong\"" : "", 0.04 + 0.96 * share);
      if (count) fprintf(out, "%zu", count);
      fputs("</td>", out);
    }
    fputs("</tr>\n", out);
  }
  fputs("</table></div>\n", out);
}

static void write_picture(FILE* out, const fashion_report* r, size_t i) {
  const int truth = r->test->labels[i], answer = r->predicted[i];
  fprintf(out, "<div><img alt=\"%s\" src=\"", kNames[truth]);
  png_write_uri(out, r->test->pixels + i * kImagePixels, kImageSide, kImageSide);
  fprintf(out, "\">%s %.0f %%", kNames[answer], 100.0 * (double)r->confidence[i]);
  if (answer != truth) fprintf(out, "<br><span class=\"wrong\">is %s</span>", kNames[truth]);
  fputs("</div>\n", out);
}

/* Returns the index of the most confident wrong answer whose confidence is below a bound. */
static size_t most_confident_error(const fashion_report* r, float bound, size_t after) {
  size_t best = r->test->count;
  for (size_t i = 0; i < r->test->count; ++i) {
    if (r->predicted[i] == r->test->labels[i]) continue;
    const bool later = r->confidence[i] < bound || (r->confidence[i] == bound && i > after);
    if (later && (best == r->test->count || r->confidence[i] > r->confidence[best])) best = i;
  }
  return best;
}

static void write_pictures(FILE* out, const fashion_report* r) {
  fputs("<h2>First test images</h2>\n<div class=\"pictures\">\n", out);
  for (size_t i = 0; i < kPictures && i < r->test->count; ++i) write_picture(out, r, i);
  fputs("</div>\n<h2>Most confident errors</h2>\n<div class=\"pictures\">\n", out);
  size_t at = 0;
  float bound = 2;
  for (int n = 0; n < kPictures; ++n) {
    at = most_confident_error(r, bound, at);
    if (at == r->test->count) break;
    bound = r->confidence[at];
    write_picture(out, r, at);
  }
  fputs("</div>\n", out);
}

bool fashion_page_write(const char* path, const fashion_report* report) {
  FILE* out = fopen(path, "wb");
  if (!out) return false;
  fputs(kHead, out);
  write_summary(out, report);
  write_curves(out, report);
  write_confusion(out, report);
  write_pictures(out, report);
  fputs("</body></html>\n", out);
  const bool failed = ferror(out) != 0;
  return fclose(out) == 0 && !failed;
}
