// Formats tensors like NumPy. The visible elements determine a common number format. Then they are
// printed in nested brackets. Read to_text() at the end first.

#include "core/tensor/tensor_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/base/storage_dtype.h"
#include "core/tensor/number_text.h"
#include "core/tensor/tensor.h"

namespace tenon {
namespace {

// Returns element i of an array.
template <class T>
T load(const void* data, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + i * static_cast<int64_t>(sizeof value),
              sizeof value);
  return value;
}

// Returns element i of an array of floating-point numbers.
double load_float(DType dtype, const void* data, int64_t i) {
  switch (dtype) {
    case DType::kF16:
      return half_to_float(load<uint16_t>(data, i));
    case DType::kBF16:
      return bfloat16_to_float(load<uint16_t>(data, i));
    case DType::kF32:
      return load<float>(data, i);
    case DType::kF128:
      return quad_to_double(load<ElementBits>(data, i));
    case DType::kF64:
      return load<double>(data, i);
    default:
      return decode_storage(load<uint8_t>(data, i), dtype);
  }
}

bool has_fractions(DType dtype) { return is_floating(dtype) || is_storage_float(dtype); }

// Returns the dtype whose precision determines the number of digits. Storage dtypes are printed
// like float32, which represents their values exactly.
DType digits_dtype(DType dtype) { return is_storage(dtype) ? DType::kF32 : dtype; }

// Formats element i of an array of integers or booleans.
std::string int_text(DType dtype, const void* data, int64_t i) {
  if (is_storage(dtype)) {
    return std::to_string(static_cast<int>(decode_storage(load<uint8_t>(data, i), dtype)));
  }
  switch (dtype) {
    case DType::kI8:
      return std::to_string(load<int8_t>(data, i));
    case DType::kI16:
      return std::to_string(load<int16_t>(data, i));
    case DType::kI32:
      return std::to_string(load<int32_t>(data, i));
    case DType::kI64:
      return std::to_string(load<int64_t>(data, i));
    case DType::kU8:
      return std::to_string(load<uint8_t>(data, i));
    case DType::kU16:
      return std::to_string(load<uint16_t>(data, i));
    case DType::kU32:
      return std::to_string(load<uint32_t>(data, i));
    default:
      return std::to_string(load<uint64_t>(data, i));
  }
}

std::string pad_left(std::string text, size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

// Divides in the precision of the dtype. The caller compares the quotient with a threshold, so
// rounding matters.
double divide(DType dtype, double a, double b) {
  if (size_of(dtype) >= 8) return a / b;
  const float quotient = static_cast<float>(a) / static_cast<float>(b);
  if (dtype == DType::kF16) return half_to_float(float_to_half(quotient));
  if (dtype == DType::kBF16) return bfloat16_to_float(float_to_bfloat16(quotient));
  return quotient;
}

// The common format of a set of floats.
class FloatFormat {
 public:
  FloatFormat(DType dtype, const std::vector<double>& values, int precision)
      : dtype_(dtype), precision_(precision) {
    std::vector<double> finite;
    for (const double x : values) {
      if (std::isfinite(x)) finite.push_back(x);
    }
    scientific_ = wants_exponent(finite);
    measure(finite);
    if (finite.size() == values.size()) return;
    const bool has_negative_infinity =
        std::any_of(values.begin(), values.end(), [](double x) { return std::isinf(x) && x < 0; });
    const size_t widest = has_negative_infinity ? 4 : 3;  // "-inf", "inf", "nan".
    if (widest > fraction_ + 1) whole_ = std::max(whole_, widest - fraction_ - 1);
  }

  std::string operator()(double x) const {
    if (!std::isfinite(x)) return pad_left(scalar_text({dtype_, x}), whole_ + fraction_ + 1);
    if (scientific_) {
      const NumberText text = format_scientific_exactly({dtype_, x}, precision_);
      std::string exponent = text.exponent.substr(1);
      if (exponent.size() < exponent_) exponent.insert(0, exponent_ - exponent.size(), '0');
      return pad_left(text.whole, whole_) + "." + text.fraction + "e" + text.exponent[0] + exponent;
    }
    NumberText text = format_positional({dtype_, x}, precision_);
    text.fraction.resize(std::max(fraction_, text.fraction.size()), ' ');
    return pad_left(text.whole, whole_) + "." + text.fraction;
  }

 private:
  bool wants_exponent(const std::vector<double>& finite) const {
    double largest = 0;
    double smallest = INFINITY;
    for (const double x : finite) {
      if (x == 0) continue;
      largest = std::max(largest, std::fabs(x));
      smallest = std::min(smallest, std::fabs(x));
    }
    if (largest == 0) return false;
    return largest >= 1e8 || smallest < 1e-4 || divide(dtype_, largest, smallest) > 1000;
  }

  void measure(const std::vector<double>& finite) {
    size_t longest = 0;
    for (const double x : finite) {
      const Element element{dtype_, x};
      const NumberText text = scientific_ ? format_scientific(element, precision_)
                                          : format_positional(element, precision_);
      whole_ = std::max(whole_, text.whole.size());
      longest = std::max(longest, text.fraction.size());
      if (scientific_) exponent_ = std::max(exponent_, text.exponent.size() - 1);
    }
    fraction_ = longest;
    if (!scientific_) return;
    precision_ = static_cast<int>(longest);
    fraction_ = exponent_ + 2 + longest;
  }

  DType dtype_;
  int precision_;
  bool scientific_ = false;
  size_t whole_ = 0;     // Number of characters before the point.
  size_t fraction_ = 0;  // Number of characters after the point.
  size_t exponent_ = 0;  // Number of digits of the exponent.
};

class Printer {
 public:
  Printer(const TensorType& type, const void* data, const TextOptions& options)
      : type_(type), data_(data), options_(options) {
    summarise_ = count(type.shape) > options.threshold;
    indices_.reserve(static_cast<size_t>(std::min<int64_t>(count(type.shape), options.threshold)));
    collect(0, 0);
    format_words();
  }

  std::string print() { return block(0, " ", options_.line_width); }

 private:
  bool is_cut(size_t axis) const {
    return summarise_ && type_.shape[axis] > 2 * options_.edge_items;
  }

  // Visits the visible indices along an axis.
  template <class Visit>
  void each_visible(size_t axis, Visit&& visit) const {
    const int64_t size = type_.shape[axis];
    const int64_t head = is_cut(axis) ? options_.edge_items : size;
    for (int64_t i = 0; i < head; ++i) visit(i);
    if (!is_cut(axis)) return;
    for (int64_t i = size - options_.edge_items; i < size; ++i) visit(i);
  }

  // Collects the flat indices of the visible elements, in the order of printing.
  void collect(size_t axis, int64_t base) {
    if (axis == type_.rank()) {
      indices_.push_back(base);
      return;
    }
    each_visible(axis, [&](int64_t i) { collect(axis + 1, base * type_.shape[axis] + i); });
  }

  void format_words() {
    words_.reserve(indices_.size());
    if (has_fractions(type_.dtype)) {
      std::vector<double> values;
      for (const int64_t i : indices_) values.push_back(load_float(type_.dtype, data_, i));
      const FloatFormat format(digits_dtype(type_.dtype), values, options_.precision);
      for (const double x : values) words_.push_back(format(x));
      return;
    }
    size_t width = 0;
    for (const int64_t i : indices_) {
      words_.push_back(type_.dtype == DType::kBool
                           ? std::string(load<uint8_t>(data_, i) ? "True" : "False")
                           : int_text(type_.dtype, data_, i));
      width = std::max(width, words_.back().size());
    }
    if (type_.dtype == DType::kBool) width = 5;  // The width of "False", even if all are true.
    for (std::string& word : words_) word = pad_left(std::move(word), width);
  }

  // Formats one axis with its brackets.
  std::string block(size_t axis, const std::string& indent, int width) {
    return axis + 1 == type_.rank() ? row(indent, width) : rows(axis, indent, width);
  }

  std::string rows(size_t axis, const std::string& indent, int width) {
    const std::string newline(type_.rank() - axis - 1, '\n');
    std::string text = "[";
    each_part(axis, [&](bool is_first, bool is_gap) {
      if (!is_first) text += newline + indent;
      text += is_gap ? "..." : block(axis + 1, indent + " ", width - 1);
    });
    return text + "]";
  }

  // Formats the last axis and breaks it into lines, each with space for the closing bracket.
  std::string row(const std::string& indent, int width) {
    std::string text;
    std::string line = indent;
    each_part(type_.rank() - 1, [&](bool is_first, bool is_gap) {
      const std::string word = is_gap ? "..." : words_[next_++];
      if (!is_first) line += " ";
      const bool too_long = static_cast<int>(line.size() + word.size()) > width - 1;
      if (too_long && line.size() > indent.size()) {
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
        line = indent;
      }
      line += word;
    });
    text += line;
    return "[" + text.substr(indent.size()) + "]";
  }

  // Calls `visit(is_first, is_gap)` for each visible element along an axis, and for the gap "..."
  // of a summary.
  template <class Visit>
  void each_part(size_t axis, Visit&& visit) const {
    int64_t seen = 0;
    each_visible(axis, [&](int64_t) {
      if (is_cut(axis) && seen == options_.edge_items) visit(false, true);
      visit(seen == 0, false);
      ++seen;
    });
  }

  const TensorType& type_;
  const void* data_;
  const TextOptions& options_;
  bool summarise_ = false;
  std::vector<int64_t> indices_;
  std::vector<std::string> words_;
  size_t next_ = 0;  // Index of the next word to print.
};

}  // namespace

std::string to_text(const TensorType& type, const void* data, const TextOptions& options) {
  if (count(type.shape) == 0) return "[]";
  if (type.rank() > 0) return Printer(type, data, options).print();

  if (has_fractions(type.dtype)) {
    return scalar_text({digits_dtype(type.dtype), load_float(type.dtype, data, 0)});
  }
  if (type.dtype == DType::kBool) return load<uint8_t>(data, 0) ? "True" : "False";
  return int_text(type.dtype, data, 0);
}

}  // namespace tenon
