// Compares linear algebra with the plugin ref. Checks that memory layouts and the number of threads
// do not change the bits of results. Runs with OpenBLAS, if it is installed, and without it.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "plugins/cpu/cpu_testing.h"

namespace tenon_simd {
namespace {

using namespace tenon_sdk::testing;

const tenon_dtype kDtypes[] = {TENON_FLOAT32, TENON_FLOAT64};
// OpenBLAS computes eigenvalues and singular values of matrices with sides of at least 64.
const int64_t kSides[] = {0, 1, 2, 3, 7, 16, 33, 65, 130};

// The parameter is the value of the option `openblas`.
class CpuLinalg : public testing::TestWithParam<const char*> {
 protected:
  static Plugin with_threads(uint32_t threads) {
    return Plugin(TENON_PLUGIN_FILE, threads, {{"openblas", GetParam()}});
  }

  void expect_like_ref(uint32_t op, const void* attrs, const std::vector<Tensor>& inputs,
                       const std::vector<Tensor>& outputs, double bound) const {
    const Launched want = ref().run(op, attrs, inputs, outputs);
    const Launched got = cpu_.run(op, attrs, inputs, outputs);
    ASSERT_EQ(got.refusal, "");
    EXPECT_FALSE(got.overran);
    for (size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_TRUE(close(got[i], want[i], bound)) << "output " << i;
    }
  }

  const Plugin cpu_{TENON_PLUGIN_FILE, 0, {{"openblas", GetParam()}}};
};
INSTANTIATE_TEST_SUITE_P(OpenBlas, CpuLinalg, testing::Values("auto", "off"),
                         [](const auto& test) { return std::string(test.param); });

// Tolerance for a few operations on numbers of magnitude 1.
double bound_of(tenon_dtype dtype, int64_t n) {
  return (dtype == TENON_FLOAT32 ? 0x1p-23 : 0x1p-52) * 8 * static_cast<double>(n + 1);
}

// Returns three random matrices. `shift` is added to their diagonals, which makes them well
// conditioned.
Tensor matrices(tenon_dtype dtype, int64_t m, int64_t n, double shift = 0, bool symmetric = false) {
  return tenon_sdk::dispatch<tenon_sdk::Types<float, double>>(
      dtype, [&]<class T>(tenon_sdk::Type<T>) {
        std::vector<T> elements = random_elements<T>(static_cast<size_t>(3 * m * n), -1, 1);
        const auto at = [&](int64_t b, int64_t i, int64_t j) -> T& {
          return elements[static_cast<size_t>((b * m + i) * n + j)];
        };
        for (int64_t b = 0; b < 3; ++b) {
          for (int64_t i = 0; i < std::min(m, n); ++i) {
            at(b, i, i) += static_cast<T>(shift);
            for (int64_t j = 0; symmetric && j < i; ++j) at(b, j, i) = at(b, i, j);
          }
        }
        return tensor_of(elements, {3, m, n});
      });
}

TEST_P(CpuLinalg, TriangularSystemsAgreeWithRef) {
  for (const tenon_dtype dtype : kDtypes) {
    for (const int64_t n : kSides) {
      const Tensor a = matrices(dtype, n, n, static_cast<double>(n + 2));
      for (int flags = 0; flags < 16; ++flags) {
        const bool left = (flags & 8) != 0;
        const Tensor b = matrices(dtype, left ? n : 4, left ? 4 : n);
        tenon_triangular_solve_attrs attrs = TENON_TRIANGULAR_SOLVE_ATTRS_DEFAULT;
        attrs.lower = (flags & 1) != 0;
        attrs.transpose = (flags & 2) != 0;
        // For larger n, solutions with a unit diagonal would become very large.
        attrs.unit_diagonal = (flags & 4) != 0 && n <= 7;
        attrs.left = left;
        expect_like_ref(TENON_OP_triangular_solve, &attrs, {a, b}, {zeros_of(dtype, b.sizes)},
                        bound_of(dtype, n));
      }
    }
  }
}

TEST_P(CpuLinalg, CholeskyAndEliminationAgreeWithRef) {
  for (const tenon_dtype dtype : kDtypes) {
    for (const int64_t n : kSides) {
      const Tensor x = matrices(dtype, n, n, static_cast<double>(n), true);
      const Tensor y = zeros_of(dtype, x.sizes), b = matrices(dtype, n, 5);
      const Tensor each = zeros_of(dtype, {3});
      const double bound = bound_of(dtype, n);
      for (const bool upper : {false, true}) {
        const tenon_cholesky_attrs attrs = {sizeof(tenon_cholesky_attrs), upper};
        expect_like_ref(TENON_OP_cholesky, &attrs, {x}, {y}, bound);
      }
      expect_like_ref(TENON_OP_solve, nullptr, {x, b}, {zeros_of(dtype, b.sizes)}, bound);
      expect_like_ref(TENON_OP_slogdet, nullptr, {x}, {each, each}, bound);
      if (n <= 16) expect_like_ref(TENON_OP_det, nullptr, {x}, {each}, bound);
    }
  }
}

// OpenBLAS computes Cholesky factors of matrices with sides of at least 256.
TEST_P(CpuLinalg, LargeCholeskyFactorsAndSystemsAgreeWithRef) {
  for (const tenon_dtype dtype : kDtypes) {
    for (const int64_t n : {256, 301}) {
      const Tensor x = matrices(dtype, n, n, static_cast<double>(n), true);
      const tenon_cholesky_attrs attrs = {sizeof(tenon_cholesky_attrs), false};
      expect_like_ref(TENON_OP_cholesky, &attrs, {x}, {zeros_of(dtype, x.sizes)},
                      bound_of(dtype, n));
      const Tensor b = matrices(dtype, n, 5);
      expect_like_ref(TENON_OP_solve, nullptr, {x, b}, {zeros_of(dtype, b.sizes)},
                      bound_of(dtype, n));
    }
  }
}

TEST_P(CpuLinalg, DecompositionsAgreeWithRef) {
  for (const tenon_dtype dtype : kDtypes) {
    for (const int64_t n : kSides) {
      // The diagonal separates the eigenvalues, so that eigenvectors have a unique order.
      Tensor x = matrices(dtype, n, n, 0, true);
      tenon_sdk::dispatch<tenon_sdk::Types<float, double>>(dtype, [&]<class T>(tenon_sdk::Type<T>) {
        std::vector<T> elements = x.elements<T>();
        for (size_t i = 0; i < elements.size(); ++i) {
          const auto row = static_cast<int64_t>(i) / n % n, column = static_cast<int64_t>(i) % n;
          elements[i] =
              row == column ? static_cast<T>(3 * row + 2) : elements[i] / static_cast<T>(n);
        }
        x = tensor_of(elements, {3, n, n});
        return 0;
      });
      const Tensor square = zeros_of(dtype, {3, n, n}), values = zeros_of(dtype, {3, n});
      // The error bound of eigenvectors grows with the norm of the matrix divided by the distance
      // between eigenvalues. This quotient is about n.
      const double bound = bound_of(dtype, n) * static_cast<double>(n + 1);
      expect_like_ref(TENON_OP_eigh, nullptr, {x}, {values, square}, bound);
      expect_like_ref(TENON_OP_svd, nullptr, {x}, {square, values, square}, bound);
      expect_like_ref(TENON_OP_qr, nullptr, {x}, {square, square}, bound);
    }
    for (const List& shape : {List{9, 4}, List{4, 9}, List{70, 3}, List{3, 70}}) {
      const int64_t m = shape[0], n = shape[1], k = std::min(m, n);
      const Tensor x = matrices(dtype, m, n, 2);
      const Tensor left = zeros_of(dtype, {3, m, k}), right = zeros_of(dtype, {3, k, n});
      expect_like_ref(TENON_OP_qr, nullptr, {x}, {left, right}, bound_of(dtype, 70));
      expect_like_ref(TENON_OP_svd, nullptr, {x}, {left, zeros_of(dtype, {3, k}), right},
                      bound_of(dtype, 70));
    }
  }
}

TEST_P(CpuLinalg, ElementsOfExtremeMagnitudeNeitherOverflowNorUnderflow) {
  const Tensor values = zeros_of(TENON_FLOAT32, {1}), one = zeros_of(TENON_FLOAT32, {1, 1});
  for (const float size : {1e-44f, 1e-30f, 1e30f, 3e38f}) {
    const Tensor x = f32({1, 1}, {size});
    EXPECT_EQ(cpu_.run(TENON_OP_svd, nullptr, {x}, {one, values, one})[1].numbers(), x.numbers());
    EXPECT_EQ(cpu_.run(TENON_OP_eigh, nullptr, {x}, {values, one})[0].numbers(), x.numbers());
    EXPECT_EQ(cpu_.run(TENON_OP_qr, nullptr, {x}, {one, one})[1].numbers(), x.numbers());
  }
}

// Returns the bits of all outputs, concatenated.
std::vector<std::byte> bits_of(const Plugin& plugin, uint32_t op, const std::vector<Tensor>& inputs,
                               const std::vector<Tensor>& outputs) {
  std::vector<std::byte> bits;
  for (const Tensor& y : plugin.run(op, nullptr, inputs, outputs).outputs) {
    bits.insert(bits.end(), y.bytes.begin(), y.bytes.end());
  }
  return bits;
}

// OpenBLAS takes work buffers from one global table, which concurrent calls must not corrupt.
TEST_P(CpuLinalg, ConcurrentCallsOnSmallMatricesAreCorrect) {
  const Plugin one = with_threads(1), four = with_threads(4);
  constexpr int64_t kMany = 20000, kSide = 10;
  const Tensor a = random_tensor(TENON_FLOAT32, {kMany, kSide, kSide}, 1, 2);
  const Tensor b = random_tensor(TENON_FLOAT32, {kMany, kSide, kSide}, -1, 1);
  for (const uint32_t op : {TENON_OP_triangular_solve, TENON_OP_solve}) {
    const std::vector<Tensor> inputs = {a, b}, outputs = {zeros_of(TENON_FLOAT32, b.sizes)};
    const auto bits = bits_of(one, op, inputs, outputs);
    for (int round = 0; round < 5; ++round) {
      EXPECT_TRUE(bits_of(four, op, inputs, outputs) == bits) << "op " << op;
    }
  }
}

TEST_P(CpuLinalg, BitsDependNeitherOnLayoutNorOnThreads) {
  const Plugin one = with_threads(1), four = with_threads(4);
  constexpr int64_t kSide = 70;
  const Tensor x = random_tensor(TENON_FLOAT32, {20, kSide, kSide}, -1, 1);
  const Tensor swapped = x.as({20, kSide, kSide}, {kSide * kSide, 1, kSide});
  const std::vector<float> from = x.elements<float>();
  std::vector<float> to(from.size());
  for (int64_t i = 0; i < 20 * kSide * kSide; ++i) {
    const int64_t batch = i / (kSide * kSide), row = i / kSide % kSide, column = i % kSide;
    to[static_cast<size_t>(i)] = from[static_cast<size_t>((batch * kSide + column) * kSide + row)];
  }
  const Tensor packed = tensor_of(to, x.sizes);  // A dense tensor with the elements of `swapped`.
  const Tensor square = zeros_of(TENON_FLOAT32, x.sizes),
               values = zeros_of(TENON_FLOAT32, {20, kSide});
  const auto expect_same = [&](uint32_t op, bool two, const std::vector<Tensor>& outputs) {
    const auto inputs = [&](const Tensor& first) {
      return two ? std::vector<Tensor>{first, x} : std::vector<Tensor>{first};
    };
    const auto bits = bits_of(one, op, inputs(packed), outputs);
    EXPECT_TRUE(bits_of(four, op, inputs(packed), outputs) == bits) << "threads, op " << op;
    EXPECT_TRUE(bits_of(four, op, inputs(swapped), outputs) == bits) << "layout, op " << op;
  };
  expect_same(TENON_OP_svd, false, {square, values, square});
  expect_same(TENON_OP_eigh, false, {values, square});
  expect_same(TENON_OP_qr, false, {square, square});
  expect_same(TENON_OP_solve, true, {square});
  expect_same(TENON_OP_triangular_solve, true, {square});
}

// Returns a matrix whose singular values are repeated, zero or of very different magnitudes, or a
// random matrix, depending on `kind`.
std::vector<double> degenerate(int kind, int64_t m, int64_t n) {
  if (kind == 6) return random_elements<double>(static_cast<size_t>(m * n), -1, 1);
  std::vector<double> x;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const auto row = static_cast<double>(i), column = static_cast<double>(j);
      const double elements[] = {
          0,
          1,
          i == j ? 1.0 : 0.0,
          std::sin(row + 1) * std::cos(column + 1),
          std::ldexp(std::sin(7 * row + 3 * column), -static_cast<int>(i + j)),
          j == i + 1 ? 1.0 : 0.0};
      x.push_back(elements[kind]);
    }
  }
  return x;
}

TEST_P(CpuLinalg, SingularValuesOfDegenerateMatricesAreAccurate) {
  for (const List& shape : {List{3, 3}, List{40, 40}, List{90, 90}, List{90, 64}, List{40, 70}}) {
    const int64_t m = shape[0], n = shape[1], rank = std::min(m, n);
    for (int kind = 0; kind < 7; ++kind) {
      const std::vector<double> x = degenerate(kind, m, n);
      double size = 0;
      for (const double element : x) size = std::max(size, std::abs(element));
      const Launched made =
          cpu_.run(TENON_OP_svd, nullptr, {tensor_of(x, shape)},
                   {zeros_of(TENON_FLOAT64, {m, rank}), zeros_of(TENON_FLOAT64, {rank}),
                    zeros_of(TENON_FLOAT64, {rank, n})});
      const std::vector<double> u = made[0].elements<double>(), s = made[1].elements<double>(),
                                vh = made[2].elements<double>();
      const auto left = [&](int64_t i, int64_t k) { return u[static_cast<size_t>(i * rank + k)]; };
      const auto right = [&](int64_t k, int64_t j) { return vh[static_cast<size_t>(k * n + j)]; };
      double residual = 0, skew = 0;
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          double rest = x[static_cast<size_t>(i * n + j)];
          for (int64_t k = 0; k < rank; ++k)
            rest -= left(i, k) * s[static_cast<size_t>(k)] * right(k, j);
          residual = std::max(residual, std::abs(rest));
        }
      }
      for (int64_t i = 0; i < rank; ++i) {
        for (int64_t j = 0; j < rank; ++j) {
          double columns = i == j ? -1 : 0, rows = columns;
          for (int64_t k = 0; k < m; ++k) columns += left(k, i) * left(k, j);
          for (int64_t k = 0; k < n; ++k) rows += right(i, k) * right(j, k);
          skew = std::max({skew, std::abs(columns), std::abs(rows)});
        }
      }
      EXPECT_LE(residual, bound_of(TENON_FLOAT64, m) * size) << "kind " << kind << ", m " << m;
      EXPECT_LE(skew, bound_of(TENON_FLOAT64, m)) << "kind " << kind << ", m " << m;
    }
  }
}

// Returns the text about OpenBLAS in the device's description. Queries the description twice,
// because the first one, which is for the host, does not load OpenBLAS.
std::string driver_of(const Plugin& plugin) {
  tenon_device_properties properties = {};
  properties.struct_size = sizeof properties;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(plugin.calls().describe_device(plugin.device(), &properties), nullptr);
  }
  return {properties.driver.data, properties.driver.size};
}

bool starts_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

TEST(CpuOpenBlas, DeviceDescriptionNamesTheLoadedOpenBlas) {
  const std::string text = driver_of(cpu());
  if (dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL) != nullptr) {
    // OpenBLAS may not support this processor.
    EXPECT_TRUE(starts_with(text, "OpenBLAS ") || starts_with(text, "without OpenBLAS: OpenBLAS "))
        << text;
  } else {
    EXPECT_TRUE(starts_with(text, "without OpenBLAS: libopenblas.so.0")) << text;
  }
  EXPECT_EQ(driver_of(Plugin(TENON_PLUGIN_FILE, 0, {{"openblas", "off"}})), "");
}

TEST(CpuOpenBlas, OptionOpenblasRejectsOtherValuesThanAutoAndOff) {
  tenon_instance_options options = {};
  options.struct_size = sizeof options;
  const tenon_string key = TENON_STR("openblas"), value = TENON_STR("maybe");
  options.option_keys = &key;
  options.option_values = &value;
  options.n_options = 1;
  tenon_instance_p* made = nullptr;
  EXPECT_EQ(code_of(cpu().description().create(Plugin::host(), &options, &made)),
            TENON_INVALID_ARGUMENT);
  EXPECT_EQ(made, nullptr);
}

// Copies the plugin to a folder without tenon_cpu_openblas.so, which has the same effect as a
// missing OpenBLAS.
TEST(CpuOpenBlas, DescriptionNamesTheMissingLibraryAndOwnCodeIsUsed) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::path(testing::TempDir()) / ("tenon_cpu_alone_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const fs::path file = folder / "libtenon_cpu.so";
  fs::copy_file(TENON_PLUGIN_FILE, file, fs::copy_options::overwrite_existing);
  const Plugin alone(file.c_str());
  EXPECT_TRUE(starts_with(driver_of(alone), "without OpenBLAS: ")) << driver_of(alone);
  const Tensor x = matrices(TENON_FLOAT32, 64, 64, 0, true);
  const std::vector<Tensor> outputs = {zeros_of(TENON_FLOAT32, {3, 64}),
                                       zeros_of(TENON_FLOAT32, {3, 64, 64})};
  const Plugin off(TENON_PLUGIN_FILE, 0, {{"openblas", "off"}});
  EXPECT_TRUE(bits_of(alone, TENON_OP_eigh, {x}, outputs) ==
              bits_of(off, TENON_OP_eigh, {x}, outputs));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tenon_simd
