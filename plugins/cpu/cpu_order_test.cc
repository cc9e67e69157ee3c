// Tests that sorting and searching return the same bits as the plugin ref, for every dtype and
// memory layout and with any number of threads. Also tests bincount and histogram.

#include <gtest/gtest.h>

#include <tuple>

#include "plugins/cpu/cpu_testing.h"

namespace tenon_simd {
namespace {

using namespace tenon_sdk::testing;

constexpr tenon_dtype kDTypes[] = {TENON_BOOL,   TENON_INT8,    TENON_INT16,    TENON_INT32,
                                   TENON_INT64,  TENON_UINT8,   TENON_UINT16,   TENON_UINT32,
                                   TENON_UINT64, TENON_FLOAT16, TENON_BFLOAT16, TENON_FLOAT32,
                                   TENON_FLOAT64};

// Returns a tensor that begins with signed zeros, NaN and infinities, followed by small integers,
// many of which are equal.
Tensor with_ties(tenon_dtype dtype, const List& sizes) {
  Tensor made = random_tensor(dtype, sizes, -1000, 1000);
  tenon_sdk::dispatch<tenon_sdk::Floats>(dtype, [&]<class T>(tenon_sdk::Type<T>) {
    std::vector<T> elements = with_specials(made.elements<T>());
    for (size_t i = 200; i < elements.size(); i += 2) {
      elements[i] = static_cast<T>(std::round(static_cast<float>(elements[i]) / 100));
    }
    made = tensor_of(elements, sizes);
    return 0;
  });
  return made;
}

void expect_same(const Launched& got, const Launched& want, const std::string& what) {
  ASSERT_EQ(got.refusal, "") << what;
  ASSERT_FALSE(got.overran) << what;
  for (size_t i = 0; i < want.outputs.size(); ++i) {
    EXPECT_TRUE(same_values(got[i], want[i])) << what << ", output " << i;
  }
}

void expect_like_ref(uint32_t op, const void* attrs, const std::vector<Tensor>& inputs,
                     const std::vector<Tensor>& outputs, const std::string& what) {
  const Launched want = ref().run(op, attrs, inputs, outputs);
  expect_same(cpu().run(op, attrs, inputs, outputs), want, what);
  for (const int64_t stride : {1, 2}) {
    std::vector<Tensor> apart = inputs;
    for (Tensor& input : apart) input = scattered(input, stride);
    expect_same(cpu().run(op, attrs, apart, outputs), want,
                what + ", scattered with stride " + std::to_string(stride));
  }
}

std::string name_of(tenon_dtype dtype) { return "dtype " + std::to_string(dtype); }

TEST(CpuOrder, SortGivesTheBitsOfRefInEveryDtype) {
  for (const tenon_dtype dtype : kDTypes) {
    for (const List& sizes : {List{3, 17, 5}, List{2, 3000, 2}}) {
      const Tensor x = with_ties(dtype, sizes);
      for (const bool descending : {false, true}) {
        const tenon_sort_attrs attrs = {sizeof attrs, 1, descending};
        expect_like_ref(TENON_OP_sort, &attrs, {x}, {x}, name_of(dtype));
        expect_like_ref(TENON_OP_argsort, &attrs, {x}, {zeros_of(TENON_INT64, sizes)},
                        name_of(dtype));
      }
    }
  }
}

// Without NaN and -0, elements are sorted without their indices.
TEST(CpuOrder, SortOfPositiveNumbersGivesTheBitsOfRefInEveryDtype) {
  for (const tenon_dtype dtype : kDTypes) {
    for (const List& sizes : {List{70, 40}, List{70, 700}}) {
      const Tensor x = random_tensor(dtype, sizes, 1, 1000);
      for (const bool descending : {false, true}) {
        const tenon_sort_attrs attrs = {sizeof attrs, -1, descending};
        expect_like_ref(TENON_OP_sort, &attrs, {x}, {x}, name_of(dtype));
        expect_like_ref(TENON_OP_argsort, &attrs, {x}, {zeros_of(TENON_INT64, sizes)},
                        name_of(dtype));
      }
    }
  }
}

TEST(CpuOrder, TopKGivesTheBitsOfRefInEveryDtype) {
  for (const tenon_dtype dtype : kDTypes) {
    const Tensor x = with_ties(dtype, {2, 2000});
    for (const int64_t k : {1, 40, 1999}) {
      for (const bool largest : {false, true}) {
        const tenon_top_k_attrs attrs = {sizeof attrs, k, -1, largest, k != 40};
        expect_like_ref(TENON_OP_top_k, &attrs, {x},
                        {zeros_of(dtype, {2, k}), zeros_of(TENON_INT64, {2, k})}, name_of(dtype));
      }
    }
  }
}

TEST(CpuOrder, SearchsortedGivesTheBitsOfRefInEveryDtype) {
  const tenon_sort_attrs ascending = {sizeof ascending, -1, false};
  for (const tenon_dtype dtype : kDTypes) {
    const Tensor x = with_ties(dtype, {40, 50});
    const Tensor values = with_ties(dtype, {300});
    const Tensor sorted = ref().run(TENON_OP_sort, &ascending, {values}, {values})[0];
    for (const int32_t side : {TENON_SEARCHSORTED_SIDE_LEFT, TENON_SEARCHSORTED_SIDE_RIGHT}) {
      const tenon_searchsorted_attrs attrs = {sizeof attrs, side};
      expect_like_ref(TENON_OP_searchsorted, &attrs, {sorted, x}, {zeros_of(TENON_INT64, x.sizes)},
                      name_of(dtype));
    }
  }
}

TEST(CpuOrder, NonzeroGivesTheBitsOfRefInEveryDtype) {
  for (const tenon_dtype dtype : kDTypes) {
    const Tensor x = with_ties(dtype, {5, 70, 300});
    for (const int64_t size : {0, 100, 105000}) {
      const tenon_nonzero_attrs attrs = {sizeof attrs, size, -7};
      expect_like_ref(TENON_OP_nonzero, &attrs, {x},
                      {zeros_of(TENON_INT64, {3, size}), zeros_of(TENON_INT64, {})},
                      name_of(dtype));
    }
  }
}

TEST(CpuOrder, UniqueGivesTheBitsOfRefInEveryDtype) {
  for (const tenon_dtype dtype : kDTypes) {
    const Tensor x = with_ties(dtype, {7, 500});
    for (const bool sorted : {false, true}) {
      for (const int64_t size : {20, 3500}) {
        const tenon_unique_attrs attrs = {sizeof attrs, sorted, size, 1};
        const Tensor indices = zeros_of(TENON_INT64, {size});
        expect_like_ref(TENON_OP_unique, &attrs, {x},
                        {zeros_of(dtype, {size}), indices, zeros_of(TENON_INT64, {3500}), indices,
                         zeros_of(TENON_INT64, {})},
                        name_of(dtype));
      }
    }
  }
}

// In the second case, several edges of float32 are equal.
TEST(CpuOrder, HistogramCountsTheElementsBetweenTheEdges) {
  for (const auto& [low, high, bins] :
       {std::tuple{-50.f, 60.f, 7}, std::tuple{1e6f, 1e6f + 2, 90}}) {
    const std::vector<float> x = random_elements<float>(5000, low - 1, high + 1, 3);
    const float width = (high - low) / static_cast<float>(bins);
    std::vector<int64_t> want(static_cast<size_t>(bins));
    for (const float element : x) {
      if (element < low || element > high) continue;
      int bin = bins - 1;
      while (element < low + static_cast<float>(bin) * width) --bin;
      ++want[static_cast<size_t>(bin)];
    }
    const tenon_histogram_attrs attrs = {sizeof attrs, bins};
    const Launched got =
        cpu().run(TENON_OP_histogram, &attrs,
                  {tensor_of(x, {5000}), tensor_of<float>({low}, {}), tensor_of<float>({high}, {})},
                  {zeros_of(TENON_INT64, {bins})});
    ASSERT_EQ(got.refusal, "");
    EXPECT_EQ(got[0].elements<int64_t>(), want);
  }
}

TEST(CpuOrder, BincountCountsAllValuesOfUint8) {
  const std::vector<uint8_t> x = {255, 0, 3, 255, 3, 3};
  const tenon_bincount_attrs attrs = {sizeof attrs, 0, 256};
  const Launched got =
      cpu().run(TENON_OP_bincount, &attrs, {tensor_of(x, {6})}, {zeros_of(TENON_INT64, {256})});
  ASSERT_EQ(got.refusal, "");
  const std::vector<int64_t> counts = got[0].elements<int64_t>();
  EXPECT_EQ(counts[0], 1);
  EXPECT_EQ(counts[3], 3);
  EXPECT_EQ(counts[255], 2);
}

TEST(CpuOrder, LongRowsAreSortedTheSameOnAnyNumberOfThreads) {
  const Plugin one(TENON_PLUGIN_FILE, 1), four(TENON_PLUGIN_FILE, 4);
  for (const tenon_dtype dtype : {TENON_FLOAT32, TENON_INT64, TENON_BFLOAT16}) {
    const Tensor x = with_ties(dtype, {2, 300001});
    const tenon_sort_attrs attrs = {sizeof attrs, 1, false};
    const Tensor places = zeros_of(TENON_INT64, x.sizes);
    const Launched want = ref().run(TENON_OP_argsort, &attrs, {x}, {places});
    expect_same(one.run(TENON_OP_argsort, &attrs, {x}, {places}), want, name_of(dtype));
    expect_same(four.run(TENON_OP_argsort, &attrs, {x}, {places}), want, name_of(dtype));
  }
}

}  // namespace
}  // namespace tenon_simd
