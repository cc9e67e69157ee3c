#include "conformance/report/curve_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "conformance/report/report_text.h"

namespace tenon_kit {
namespace {

// Coordinates of the plot area, in drawing units. A gap separates negative from positive inputs.
// Input 0 is drawn in the middle of the gap.
constexpr double kLeft = 34, kRight = 316, kTop = 8, kBottom = 104, kGap = 5;
constexpr double kMiddle = (kLeft + kRight) / 2;

// Maps inputs and errors to coordinates.
class Axes {
 public:
  explicit Axes(const std::vector<CurvePoint>& curve) {
    std::vector<double> bounds;
    for (const CurvePoint& point : curve) {
      most_ = std::max(most_, point.ulp);
      bounds.push_back(point.allowed);
      if (point.x == 0) continue;
      const double exponent = std::log2(std::fabs(point.x));
      low_ = std::min(low_, std::floor(exponent));
      high_ = std::max(high_, std::ceil(exponent));
    }
    std::nth_element(bounds.begin(), bounds.begin() + static_cast<int64_t>(bounds.size() / 2),
                     bounds.end());
    most_ = 1.3 * std::max(most_, std::min(bounds[bounds.size() / 2], 8 * most_ + 1));
    if (!(low_ < high_)) low_ = -1, high_ = 1;
  }

  double x(double value) const {
    if (value == 0) return kMiddle;
    const double part = (std::log2(std::fabs(value)) - low_) / (high_ - low_);
    const double off = kGap + std::clamp(part, 0.0, 1.0) * (kRight - kMiddle - kGap);
    return value < 0 ? kMiddle - off : kMiddle + off;
  }
  // Maps an error to a vertical position. The scale is logarithmic, so that both small and large
  // errors are visible.
  double y(double ulp) const {
    const double part = std::log2(1 + std::min(ulp, most_)) / std::log2(1 + most_);
    return kBottom - part * (kBottom - kTop);
  }
  // Returns the width of a bar, about half the distance between two neighbouring powers of two.
  double width() const { return (kRight - kMiddle - kGap) / (2 * (high_ - low_)) + 0.15; }
  double low() const { return low_; }
  double high() const { return high_; }
  double most() const { return most_; }

 private:
  double low_ = 1e9, high_ = -1e9;
  double most_ = 0;
};

// Returns SVG text of the base, with the exponent above the line in smaller type.
std::string superscript(const char* base, double exponent) {
  return fmt::format("{}<tspan dy=-3 font-size=7>{}</tspan>", base, exponent);
}

// Returns the label of the input 2^exponent or, if `negative`, of -2^exponent.
std::string power_of_two_label(double exponent, bool negative) {
  if (exponent == 0) return negative ? "−1" : "1";
  return superscript(negative ? "−2" : "2", exponent);
}

// Returns an SVG text element. `anchor` is the attribute text-anchor.
std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x={:.0f} y={:.0f} text-anchor={}>{}</text>", x, y, anchor, text);
}

// Draws the horizontal grid lines and the labels of both axes. `negative`: the curve has negative
// inputs.
std::string draw_grid_and_labels(const Axes& axes, bool negative) {
  std::string svg;
  double above = kBottom + 99;
  for (const double ulp :
       {0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0, 1024.0, 1e4, 1e5, 1e6}) {
    const double y = axes.y(ulp);
    if (ulp > axes.most() || above - y < 11) continue;
    above = y;
    svg += fmt::format("<path class=grid d=\"M{} {:.1f}H{}\"/>", kLeft, y, kRight);
    svg += text_at(kLeft - 4, y + 3, "end",
                   ulp < 1e4 ? fmt::format("{:g}", ulp) : superscript("10", std::log10(ulp)));
  }
  const double low = axes.low(), high = axes.high();
  // Labels the input 1, or the middle of the axis if 1 is too near one of its ends.
  const double share = -low / (high - low);
  const double unit = share > 0.3 && share < 0.7 ? 0 : std::round((low + high) / 2);
  svg += text_at(kMiddle, kBottom + 13, "middle", "0");
  svg += text_at(kRight, kBottom + 13, "end", power_of_two_label(high, false));
  svg += text_at(axes.x(std::exp2(unit)), kBottom + 13, "middle", power_of_two_label(unit, false));
  if (negative) {
    svg += text_at(kLeft, kBottom + 13, "start", power_of_two_label(high, true));
    svg +=
        text_at(axes.x(-std::exp2(unit)), kBottom + 13, "middle", power_of_two_label(unit, true));
  }
  return svg;
}

}  // namespace

std::string curve_figure(const Row& row) {
  if (row.curve.empty()) return "";
  const Axes axes(row.curve);
  std::string within, beyond, bound;
  double worst = 0, at = 0, least = row.curve[0].allowed, greatest = least;
  size_t n_beyond = 0;
  for (const CurvePoint& point : row.curve) {
    const double x = axes.x(point.x);
    const bool fits = point.ulp <= point.allowed;
    n_beyond += !fits;
    if (axes.y(point.ulp) < kBottom - 0.05) {
      (fits ? within : beyond) += fmt::format("M{:.1f} {}V{:.1f}", x, kBottom, axes.y(point.ulp));
    }
    if (point.allowed <= axes.most()) {
      bound += fmt::format("M{:.1f} {:.1f}h1.3", x - 0.65, axes.y(point.allowed));
    }
    least = std::min(least, point.allowed);
    greatest = std::max(greatest, point.allowed);
    if (point.ulp > worst) worst = point.ulp, at = point.x;
  }
  const std::string name = escape_xml(row.op + " " + row.dtypes);
  const std::string allowed = least == greatest ? fmt::format("bound {:g}", least)
                                                : fmt::format("bound from {:.3g}", least);
  std::string caption = worst > 0
                            ? fmt::format("at most {:.3g} ulp, near {:.3g}; {}", worst, at, allowed)
                            : fmt::format("no error; {}", allowed);
  if (n_beyond) caption += fmt::format("; <b class=bad>beyond it at {} places</b>", n_beyond);
  return fmt::format(
      "<figure><figcaption><b>{0}</b> <span class=soft>{1}</span></figcaption>"
      "<svg viewBox=\"0 0 320 122\" role=img aria-label=\"{0}: error in ulp over the inputs\">{2}"
      "<path class=bar stroke-width={6:.2f} d=\"{3}\"/><path class=over d=\"{4}\"/><path "
      "class=bound d=\"{5}\"/></svg>"
      "</figure>",
      name, caption, draw_grid_and_labels(axes, row.curve.front().x < 0), within, beyond, bound,
      axes.width());
}

}  // namespace tenon_kit
