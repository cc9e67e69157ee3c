// Numeric ops of the domain ai.onnx.ml, and TfIdfVectorizer.

#include <algorithm>
#include <map>

#include "core/dispatch/dispatch.h"
#include "core/io/onnx/foreign.h"

namespace tenon::onnx::adapters {
namespace {

// Uploads the numbers of an attribute as a float32 tensor.
Tensor upload_floats(const std::vector<float>& values, const Dims& shape) {
  Scope& scope = current_scope();
  require(count(shape) == static_cast<int64_t>(values.size()),
          "the attribute has {} numbers, but a tensor of type {} holds a different number",
          values.size(), TensorType(DType::kF32, shape));
  return from_host(scope, scope.device(), TensorType(DType::kF32, shape), values.data());
}

// Uploads the numbers of an attribute as a float32 vector.
Tensor upload_floats(const std::vector<float>& values) {
  return upload_floats(values, {static_cast<int64_t>(values.size())});
}

// Casts x to float32.
Tensor float32(const Tensor& x) { return to_dtype(x, DType::kF32); }

}  // namespace

// Subtracts an offset and multiplies by a scale. Each is one number for all features, or one per
// feature.
Tensors scaler(const NodeCall& n) {
  Tensor y = float32(n.in(0));
  const std::vector<float> offset = n.attr_floats("offset"), scale = n.attr_floats("scale");
  if (!offset.empty()) y = y - upload_floats(offset);
  if (!scale.empty()) y = y * upload_floats(scale);
  require(y->shape() == n.in(0)->shape(),
          "{} offsets and {} scales cannot be broadcast to the input, {}", offset.size(),
          scale.size(), n.in(0)->type);
  return {y};
}

// Divides each row by its norm. Rows with norm 0 are not changed.
Tensors normalizer(const NodeCall& n) {
  const std::string norm = n.attr_text("norm", "MAX");
  const Tensor x = float32(n.in(0));
  const Along row = {.axes = {-1}, .keepdims = true};
  Tensor size;
  if (norm == "MAX") {
    size = max(abs(x), row);
  } else if (norm == "L1") {
    size = sum(abs(x), row);
  } else {
    require(norm == "L2", "attribute norm must be \"MAX\", \"L1\" or \"L2\", but is \"{}\"", norm);
    size = sqrt(sum(x * x, row));
  }
  return {x / where(equal(size, number(0)), number(1), size)};
}

Tensors binarizer(const NodeCall& n) {
  const Tensor& x = n.in(0);
  return {cast(greater(x, number(n.attr_float("threshold", 0))), x->type.dtype)};
}

// Selects features by index. Features are the elements of the last axis.
Tensors array_feature_extractor(const NodeCall& n) {
  const Tensor& x = n.in(0);
  require(x->rank() > 0, "X must have at least one axis");
  const Tensor y = gather(x, reshape(n.in(1), {-1}), -1);
  return {x->rank() == 1 ? reshape(y, {1, count(y->shape())}) : y};
}

Tensors linear_regressor(const NodeCall& n) {
  const std::string transform = n.attr_text("post_transform", "NONE");
  require_code(transform == "NONE", Code::kUnimplemented,
               "attribute post_transform must be \"NONE\", but is \"{}\"", transform);
  const int64_t targets = n.attr("targets", 1);
  const std::vector<float> coefficients = n.attr_floats("coefficients");
  const std::vector<float> intercepts = n.attr_floats("intercepts");
  const auto given = static_cast<int64_t>(coefficients.size());
  require(targets > 0 && given % targets == 0,
          "the number of coefficients, {}, must be a multiple of the number of targets, {}", given,
          targets);
  const Tensor w = upload_floats(coefficients, {targets, given / targets});
  const Tensor y = matmul(float32(n.in(0)), w, {.transpose_b = true});
  return {intercepts.empty() ? y : y + upload_floats(intercepts, {targets})};
}

// ---- sequences of tokens (TfIdfVectorizer)

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
  return {upload_floats(counts, shape.rank() == 2 ? Dims{rows, columns} : Dims{columns})};
}

}  // namespace tenon::onnx::adapters
