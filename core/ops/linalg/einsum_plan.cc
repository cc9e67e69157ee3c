#include "core/ops/linalg/einsum_plan.h"

#include <algorithm>

namespace tenon {
namespace {

constexpr char kEllipsis = '.';

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The terms and the result of an equation. The character kEllipsis stands for "...".
struct Parsed {
  const std::string& equation;
  std::vector<Labels> terms = {""};
  Labels output;
  bool has_output = false;

  explicit Parsed(const std::string& text) : equation(text) {
    for (size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      const std::string_view rest = std::string_view(text).substr(at);
      Labels& term = has_output ? output : terms.back();
      if (c == ' ') continue;
      if (is_letter(c)) {
        require(!has_output || !contains(output, c),
                "C5: equation \"{}\": the result has a letter twice, at {}: \"{}\"", text, at,
                rest);
        term.push_back(c);
      } else if (c == ',' && !has_output) {
        terms.emplace_back();
      } else if (rest.substr(0, 2) == "->" && !has_output) {
        has_output = true;
        ++at;
      } else {
        require(rest.substr(0, 3) == "...",
                "C2: equation \"{}\": expected a letter, a comma, \"...\" or the first \"->\" at "
                "{}: \"{}\"",
                text, at, rest);
        require(!contains(term, kEllipsis),
                "C2: equation \"{}\": a second \"...\" in one term, at {}: \"{}\"", text, at, rest);
        term.push_back(kEllipsis);
        at += 2;
      }
    }
  }
};

// Returns a label for each axis of an operand. "..." expands to labels for the axes that no letter
// covers.
Labels labels_of(const Parsed& parsed, size_t term, const Dims& shape) {
  const Labels& written = parsed.terms[term];
  const size_t at = written.find(kEllipsis);
  const bool has_ellipsis = at != Labels::npos;
  const size_t n_letters = written.size() - (has_ellipsis ? 1 : 0);
  require(has_ellipsis ? n_letters <= shape.rank() : n_letters == shape.rank(),
          "C3: equation \"{}\": term {} has {} letters, but its operand is {}", parsed.equation,
          term, n_letters, shape);
  if (!has_ellipsis) return written;
  Labels labels = written.substr(0, at);
  for (size_t i = shape.rank() - n_letters; i-- > 0;) labels.push_back(static_cast<char>(i));
  return labels + written.substr(at + 1);
}

// Returns the labels of the output for an equation without "->": those under "...", then all
// letters that occur once, in ASCII order.
Labels implied_output(const std::vector<Labels>& terms, const Labels& under_ellipsis) {
  Labels all, output = under_ellipsis;
  for (const Labels& term : terms) all += term;
  for (char c = 'A'; c <= 'z'; ++c) {
    if (std::count(all.begin(), all.end(), c) == 1) output.push_back(c);
  }
  return output;
}

// Returns the labels of the output that the equation specifies after "->".
Labels written_output(const Parsed& parsed, const std::vector<Labels>& terms,
                      const Labels& under_ellipsis) {
  Labels output;
  for (const char c : parsed.output) {
    if (c == kEllipsis) {
      output += under_ellipsis;
      continue;
    }
    const bool known = std::any_of(terms.begin(), terms.end(),
                                   [&](const Labels& term) { return contains(term, c); });
    require(known, "C5: equation \"{}\": no term has '{}' of the result", parsed.equation,
            std::string_view(&c, 1));
    output.push_back(c);
  }
  require(contains(parsed.output, kEllipsis) || under_ellipsis.empty(),
          "C5: equation \"{}\": {} axes are covered by \"...\", which the result lacks",
          parsed.equation, under_ellipsis.size());
  return output;
}

// Returns the labels of the product of two terms: the labels in `wanted` that occur in at least one
// of the terms.
Labels product_labels(const Labels& left, const Labels& right, const Labels& wanted) {
  Labels shared, only_left, only_right;
  for (const char c : left) {
    if (contains(wanted, c)) (contains(right, c) ? shared : only_left).push_back(c);
  }
  for (const char c : right) {
    if (contains(wanted, c) && !contains(left, c)) only_right.push_back(c);
  }
  return shared + only_left + only_right;
}

// Returns the labels that occur in the output or in a term other than terms `a` and `b`.
Labels used_by_others(const std::vector<Labels>& terms, const Labels& output, size_t a, size_t b) {
  Labels wanted = output;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (i != a && i != b) wanted += terms[i];
  }
  return wanted;
}

// Estimates the size of an axis, to compare orders of products. Symbolic sizes count as 64, so that
// the order does not depend on the call that is traced.
double estimate_size(Size size) {
  constexpr double kUsual = 64;
  return size.known() ? static_cast<double>(size.word()) : kUsual;
}

}  // namespace

Dims EinsumPlan::shape_of(const Labels& labels) const {
  Dims shape;
  for (const char c : labels) shape.push_back(sizes[static_cast<size_t>(c)]);
  return shape;
}

// Chooses the order of the products greedily: the next product is the one that minimises the size
// of the result minus the sizes of the two operands.
void EinsumPlan::choose_products(const std::string& equation) {
  const auto volume = [&](const Labels& labels) {
    double n = 1;
    for (const char c : labels) n *= estimate_size(sizes[static_cast<size_t>(c)]);
    return n;
  };
  std::vector<Labels> left = kept;
  while (left.size() > 1) {
    Product best;
    double least = 0;
    for (size_t a = 0; a < left.size(); ++a) {
      for (size_t b = a + 1; b < left.size(); ++b) {
        Labels result = product_labels(left[a], left[b], used_by_others(left, output, a, b));
        const double growth = volume(result) - volume(left[a]) - volume(left[b]);
        const bool is_first = best.right == 0;
        if (!is_first && !(growth < least)) continue;
        least = growth;
        best = {a, b, std::move(result)};
      }
    }
    require(best.result.size() <= kMaxRank,
            "C6: equation \"{}\": an intermediate product has {} axes, which is too many", equation,
            best.result.size());
    left.erase(left.begin() + static_cast<ptrdiff_t>(best.right));
    left.erase(left.begin() + static_cast<ptrdiff_t>(best.left));
    left.push_back(best.result);
    products.push_back(std::move(best));
  }
}

EinsumPlan::EinsumPlan(const std::string& equation, const std::vector<Dims>& shapes) {
  const Parsed parsed(equation);
  require(parsed.terms.size() == shapes.size(), "C3: equation \"{}\" has {} terms for {} operands",
          equation, parsed.terms.size(), shapes.size());

  const Size kUnknown = -1;
  std::fill(std::begin(sizes), std::end(sizes), kUnknown);
  for (size_t i = 0; i < shapes.size(); ++i) {
    terms.push_back(labels_of(parsed, i, shapes[i]));
    for (size_t axis = 0; axis < shapes[i].rank(); ++axis) {
      const char label = terms[i][axis];
      Size& size = sizes[static_cast<size_t>(label)];
      if (identical(size, kUnknown) || (!is_letter(label) && identical(size, 1))) {
        size = shapes[i][axis];
      }
      if (!is_letter(label) && identical(shapes[i][axis], 1)) continue;
      require(size == shapes[i][axis],
              "C4: equation \"{}\": axis {} of operand {} has size {}, but its letter has size {} "
              "on an earlier axis",
              equation, axis, i, shapes[i][axis], size);
    }
  }
  Labels under_ellipsis;
  for (char i = kMaxRank; i-- > 0;) {
    if (!identical(sizes[static_cast<size_t>(i)], kUnknown)) under_ellipsis.push_back(i);
  }
  output = parsed.has_output ? written_output(parsed, terms, under_ellipsis)
                             : implied_output(terms, under_ellipsis);

  for (size_t i = 0; i < terms.size(); ++i) {
    const Labels wanted = used_by_others(terms, output, i, i);
    Labels& labels = kept.emplace_back();
    for (size_t axis = 0; axis < terms[i].size(); ++axis) {
      const char c = terms[i][axis];
      // An axis of size 1 under "..." may be broadcast. Letters have the same size in all terms.
      const bool repeats = !is_letter(c) && identical(shapes[i][axis], 1) &&
                           !identical(sizes[static_cast<size_t>(c)], 1);
      if (contains(wanted, c) && !repeats && !contains(labels, c)) labels.push_back(c);
    }
  }
  choose_products(equation);
  require(output.size() <= kMaxRank,
          "C6: equation \"{}\": the result has {} axes, which is too many", equation,
          output.size());
}

}  // namespace tenon
