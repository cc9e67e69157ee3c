// Runs the expansions op by op over tensors on `ref`, as a device without kernels for
// transcendental ops does. Tests the special values and as many samples as expansions_test.cc (a
// million in float32, fewer in float64).

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/ops/definition/expansion_value.h"
#include "core/ops/expansions/expansion_sampling.h"
#include "core/testing/test.h"

namespace tenon {
namespace {

using expansions::testing::all_expansions;
using expansions::testing::Expansion;
using expansions::testing::Inputs;
using expansions::testing::sample_count;
using expansions::testing::special_inputs;
using expansions::testing::Worst;
using ops::ExpansionValue;

// Elements per block; small enough for intermediates to stay in cache.
constexpr size_t kBlock = 1 << 16;

// Runs the op's decomposition. softplus, silu and gelu decompose into other ops, so their
// expansions are called directly.
template <class T>
Tensor expanded(const std::string& name, const Tensors& in) {
  if (name == "softplus") return expansions::softplus(ExpansionValue<T>(in[0])).tensor();
  if (name == "silu") return expansions::silu(ExpansionValue<T>(in[0])).tensor();
  if (name == "gelu") return expansions::gelu(ExpansionValue<T>(in[0])).tensor();
  const OpDef* op = find_op(name);
  const NoAttrs attrs;
  return op->decompose(*op, &attrs, in)[0];
}

// The inputs of one test: first the special values (all pairs for two inputs), then random samples.
template <class T>
struct Drawn {
  std::vector<T> x, y;

  explicit Drawn(const Expansion<T>& e) {
    for (const T a : special_inputs<T>()) {
      if (!e.is_binary) add(a, 0);
      for (const T b : special_inputs<T>()) {
        if (e.is_binary) add(a, b);
      }
    }
    Inputs<T> inputs(e.ranges);
    for (int i = sample_count<T>(); i > 0; --i) {
      const T a = inputs.next();
      add(a, e.is_binary ? inputs.next() : T(0));
    }
  }

 private:
  void add(T a, T b) {
    x.push_back(a);
    y.push_back(b);
  }
};

class ExpansionsOnRef : public testing::CoreTest, public ::testing::WithParamInterface<size_t> {
 protected:
  template <class T>
  void check(const Expansion<T>& e) {
    // An op may have a second entry in the list, with a different error bound for negative inputs.
    const std::string name = e.name.substr(0, e.name.find("_below_zero"));
    const bool takes_magnitudes = e.name == "lgamma" || e.name == "digamma";
    const Drawn<T> drawn(e);
    Worst worst;
    size_t differing = 0;
    for (size_t from = 0; from < drawn.x.size(); from += kBlock) {
      const size_t n = std::min(kBlock, drawn.x.size() - from);
      std::vector<T> x(&drawn.x[from], &drawn.x[from] + n);
      if (takes_magnitudes) {
        for (T& element : x) element = std::fabs(element);
      }
      Tensors in = {tensor_of(x.data(), n)};
      if (e.is_binary) in.push_back(tensor_of(&drawn.y[from], n));
      std::vector<T> got(n);
      to_host(scope(), expanded<T>(name, in), got.data(), n * sizeof(T));
      for (size_t i = 0; i < n; ++i) {
        const T y = drawn.y[from + i];
        const T number = e.plain(x[i], y).value();
        const bool both_nan = got[i] != got[i] && number != number;
        differing += !both_nan && std::memcmp(&got[i], &number, sizeof(T)) != 0;
        worst.record(error_of(e, got[i], e.oracle(x[i], y)), x[i], y, got[i]);
      }
    }
    EXPECT_EQ(differing, 0u) << "results differ from those of the same expansion over numbers";
    EXPECT_LE(worst.error, e.bound) << worst.text();
  }

 private:
  template <class T>
  Tensor tensor_of(const T* values, size_t n) {
    const DType dtype = sizeof(T) == 4 ? DType::kF32 : DType::kF64;
    return from_host(scope(), device(), TensorType(dtype, Dims{static_cast<int64_t>(n)}), values);
  }
};

TEST_P(ExpansionsOnRef, ErrorsStayWithinTheirBoundsInFloat32) {
  check(all_expansions<float>()[GetParam()]);
}

TEST_P(ExpansionsOnRef, ErrorsStayWithinTheirBoundsInFloat64) {
  check(all_expansions<double>()[GetParam()]);
}

INSTANTIATE_TEST_SUITE_P(All, ExpansionsOnRef,
                         ::testing::Range<size_t>(0, all_expansions<float>().size()),
                         [](const auto& info) { return all_expansions<float>()[info.param].name; });

}  // namespace
}  // namespace tenon
