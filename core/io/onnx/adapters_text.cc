// TfIdfVectorizer: counts sequences of tokens.

#include <algorithm>
#include <map>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/adapters.h"

namespace tenon::onnx::adapters {
namespace {

struct NGrams {
  std::map<std::vector<int64_t>, size_t>
      columns;  // The n-grams whose length is in the requested range, with their column.
  size_t n_columns = 0;
};

// Parses the attributes of TfIdfVectorizer. pool_int64s lists all n-grams, shortest first.
// ngram_counts[i] is the offset in it at which the n-grams of i + 1 tokens begin.
NGrams n_grams_of(const NodeCall& n, int64_t least, int64_t most) {
  const Ints pool = n.attr_ints("pool_int64s"), starts = n.attr_ints("ngram_counts");
  const Ints columns = n.attr_ints("ngram_indexes");
  const auto total = static_cast<int64_t>(pool.size());
  constexpr int64_t kMaxColumns = int64_t{1} << 26;
  NGrams all;
  for (const int64_t column : columns) {
    require(column >= 0 && column < kMaxColumns,
            "elements of ngram_indexes must be in [0, 2^26), but one is {}", column);
    all.n_columns = std::max(all.n_columns, static_cast<size_t>(column) + 1);
  }
  size_t next = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto size = static_cast<int64_t>(i) + 1;
    const int64_t start = starts[i], end = i + 1 < starts.size() ? starts[i + 1] : total;
    require(start >= 0 && start <= end && end <= total && (end - start) % size == 0,
            "ngram_counts contain the range from {} to {}, which is outside the pool of {} tokens",
            start, end, total);
    for (int64_t at = start; at < end; at += size, ++next) {
      require(next < columns.size(),
              "ngram_indexes must have one element per n-gram, but has only {}", columns.size());
      const int64_t* first = pool.data() + at;
      if (size >= least && size <= most) {
        all.columns.emplace(std::vector<int64_t>(first, first + size),
                            static_cast<size_t>(columns[next]));
      }
    }
  }
  return all;
}

// Counts the n-grams of one row, skipping 0 to `max_skip` tokens between consecutive tokens. Counts
// n-grams of one token only once.
void count_n_grams(const NGrams& of, std::span<const int64_t> row, int64_t least, int64_t most,
                   int64_t max_skip, float* counts) {
  const auto length = static_cast<int64_t>(row.size());
  for (int64_t step = 1; step <= max_skip + 1 && step <= length; ++step) {
    for (int64_t start = 0; start < length; ++start) {
      std::vector<int64_t> tokens;
      for (int64_t at = start; at < length; at += step) {
        tokens.push_back(row[static_cast<size_t>(at)]);
        const auto size = static_cast<int64_t>(tokens.size());
        if (size > most) break;
        if (size < least || (size == 1 && step > 1)) continue;
        const auto found = of.columns.find(tokens);
        if (found != of.columns.end()) ++counts[found->second];
      }
    }
  }
}

}  // namespace

// Counts n-grams in rows of integers. Runs on the host.
Tensors tf_idf_vectorizer(const NodeCall& n) {
  require_code(!n.has_attr("pool_strings"), Code::kUnimplemented, "strings are not supported");
  const std::string mode = n.attr_text("mode", "");
  require(mode == "TF" || mode == "IDF" || mode == "TFIDF",
          "attribute mode must be \"TF\", \"IDF\" or \"TFIDF\", but is \"{}\"", mode);
  const int64_t least = n.attr("min_gram_length", 1), most = n.attr("max_gram_length", 1);
  const int64_t skip = n.attr("max_skip_count", 0);
  require(
      least > 0 && most >= least && most < (1 << 20) && skip >= 0 && skip < (1 << 20),
      "min_gram_length {}, max_gram_length {} and max_skip_count {} are not a valid combination",
      least, most, skip);
  const NGrams of = n_grams_of(n, least, most);
  const std::vector<float> weights = n.attr_floats("weights");
  require(weights.empty() || weights.size() >= of.n_columns,
          "the number of weights, {}, must equal the number of columns, {}", weights.size(),
          of.n_columns);
  const Dims shape = n.shape(0);
  require(shape.rank() == 1 || shape.rank() == 2, "X must have one or two axes, but is {}",
          n.in(0)->type);
  const Ints tokens = n.ints(0);
  const int64_t rows = shape.rank() == 2 ? int64_t{shape[0]} : 1;
  const size_t length = rows > 0 ? tokens.size() / static_cast<size_t>(rows) : 0;
  std::vector<float> counts(static_cast<size_t>(rows) * of.n_columns, 0);
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    float* const to = counts.data() + row * of.n_columns;
    count_n_grams(of, tokens.span().subspan(row * length, length), least, most, skip, to);
    for (size_t i = 0; i < of.n_columns; ++i) {
      if (mode == "IDF") to[i] = to[i] > 0 ? 1 : 0;
      if (mode != "TF" && !weights.empty()) to[i] *= weights[i];
    }
  }
  const auto columns = static_cast<int64_t>(of.n_columns);
  const TensorType type(DType::kF32, shape.rank() == 2 ? Dims{rows, columns} : Dims{columns});
  Scope& scope = current_scope();
  return {from_host(scope, scope.device(), type, counts.data())};
}

}  // namespace tenon::onnx::adapters
