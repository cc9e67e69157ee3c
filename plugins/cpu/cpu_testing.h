// Shared helpers of the CPU plugin's tests: the plugins cpu and ref, random tensors, comparisons.

#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "plugins/sdk/testing.h"

namespace tenon_simd {

using tenon_sdk::List;
using tenon_sdk::testing::Plugin;
using tenon_sdk::testing::Tensor;

inline const Plugin& cpu() {
  static const Plugin plugin(TENON_PLUGIN_FILE);
  return plugin;
}
inline const Plugin& ref() {
  static const Plugin plugin(TENON_REF_PLUGIN_FILE);
  return plugin;
}

template <class T>
Tensor tensor_of(const std::vector<T>& elements, List sizes) {
  Tensor made = tenon_sdk::testing::tensor<T>(std::move(sizes), std::initializer_list<double>{});
  if (!elements.empty()) std::memcpy(made.bytes.data(), elements.data(), made.bytes.size());
  return made;
}

inline Tensor zeros_of(tenon_dtype dtype, const List& sizes) {
  return tenon_sdk::dispatch<tenon_sdk::Any>(dtype, [&]<class T>(tenon_sdk::Type<T>) {
    return tenon_sdk::testing::tensor<T>(sizes, std::initializer_list<double>{});
  });
}

template <class T>
std::vector<T> random_elements(size_t n, double low, double high, uint64_t seed = 1) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<T> elements(n);
  for (T& element : elements) element = static_cast<T>(uniform(generator));
  return elements;
}

template <class T>
T random_bits(uint64_t i) {
  std::mt19937_64 generator(i);
  const uint64_t bits = generator();
  T element;
  std::memcpy(static_cast<void*>(&element), &bits, sizeof element);
  return element;
}

inline Tensor random_tensor(tenon_dtype dtype, const List& sizes, double low, double high,
                            uint64_t seed = 1) {
  return tenon_sdk::dispatch<tenon_sdk::Any>(dtype, [&]<class T>(tenon_sdk::Type<T>) {
    const auto n = static_cast<size_t>(tenon_sdk::count(sizes.size(), sizes.data()));
    if constexpr (std::is_integral_v<T>) {
      std::mt19937_64 generator(seed);
      std::vector<T> elements(n);
      for (T& element : elements) element = static_cast<T>(generator());
      return tensor_of(elements, sizes);
    } else if constexpr (std::is_same_v<T, tenon_sdk::Bool>) {
      std::vector<T> elements(n);
      for (size_t i = 0; i < n; ++i) elements[i] = T(i * 7 % 3 == 0);
      return tensor_of(elements, sizes);
    } else {
      return tensor_of(random_elements<T>(n, low, high, seed), sizes);
    }
  });
}

// Replaces the first elements by signed zeros, infinities, NaN and extreme values. The order
// depends on `step`.
template <class T>
std::vector<T> with_specials(std::vector<T> elements, size_t step = 1) {
  const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 2, 0.5, -2.5, 3e38, 1e-40};
  const size_t n = std::size(specials);
  for (size_t i = 0; i < 16 * n && i < elements.size(); ++i) {
    elements[i] = static_cast<T>(specials[i * step % n]);
    if (step > 1) elements[i] = static_cast<T>(specials[i / n % n]);
  }
  return elements;
}

inline Tensor specials_first(tenon_dtype dtype, int64_t n, uint64_t seed) {
  return tenon_sdk::dispatch<tenon_sdk::Any>(dtype, [&]<class T>(tenon_sdk::Type<T>) {
    const Tensor random = random_tensor(dtype, {n}, -100, 100, seed);
    std::vector<T> elements = random.elements<T>();
    if constexpr (tenon_sdk::kIsFloat<T>) {
      elements = with_specials(elements, seed);
    } else if constexpr (std::is_integral_v<T>) {
      const T specials[] = {
          0, 1, static_cast<T>(-1), 2, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
          7, 31};
      for (size_t i = 0; i < 64; ++i) elements[i] = specials[(seed == 1 ? i : i / 8) % 8];
    }
    return tensor_of(elements, {n});
  });
}

// Whether one of the op's kernel lines accepts this dtype for its first operand.
inline bool offers(const Plugin& plugin, uint32_t op, tenon_dtype dtype) {
  const bool is_bool = dtype == TENON_BOOL;
  const uint32_t code = TENON_DTYPE_CODE(dtype);
  const bool is_half = tenon_sdk::size_of(dtype) == 2 && code != TENON_CODE_INT;
  const bool is_float = code == TENON_CODE_FLOAT || code == TENON_CODE_BFLOAT;
  for (size_t i = 0; i < plugin.description().n_kernels; ++i) {
    const tenon_kernel& line = plugin.description().kernels[i];
    if (line.op != op) continue;
    const std::string signature(tenon_sdk::text(line.signature));
    const auto has = [&](const char* word) { return signature.find(word) != std::string::npos; };
    if (has(":any")) return true;
    if (is_bool && (has(":bool") || signature.rfind("bool", 0) == 0)) return true;
    if (is_float && has("float")) return true;
    if (is_float && is_half && has("f16,bf16")) return true;
    if (is_float && !is_half && has("f32,f64")) return true;
    if (!is_float && !is_bool && (has(":int") || has(",int"))) return true;
  }
  return false;
}

// Whether all elements are equal, including the sign of zeros. All NaNs are equal.
inline bool same_values(const Tensor& got, const Tensor& want) {
  return tenon_sdk::dispatch<tenon_sdk::Any>(got.dtype, [&]<class T>(tenon_sdk::Type<T>) {
    const std::vector<T> a = got.elements<T>(), b = want.elements<T>();
    for (size_t i = 0; i < a.size(); ++i) {
      if constexpr (tenon_sdk::kIsFloat<T>) {
        const double x = a[i], y = b[i];
        if (std::isnan(x) && std::isnan(y)) continue;
        if (x == y && std::signbit(x) == std::signbit(y)) continue;
        std::fprintf(stderr, "element %zu: %.17g is not %.17g\n", i, x, y);
        return false;
      } else {
        if (a[i] == b[i]) continue;
        std::fprintf(stderr, "element %zu differs\n", i);
        return false;
      }
    }
    return true;
  });
}

// Whether elements differ by at most `bound` times the largest magnitude in `want`. Integers must
// be equal.
inline bool close(const Tensor& got, const Tensor& want, double bound) {
  return tenon_sdk::dispatch<tenon_sdk::Any>(got.dtype, [&]<class T>(tenon_sdk::Type<T>) {
    if constexpr (!tenon_sdk::kIsFloat<T>) {
      return same_values(got, want);
    } else {
      const std::vector<T> a = got.elements<T>(), b = want.elements<T>();
      double largest = 0;
      for (const T& element : b)
        largest = std::max(largest, std::fabs(static_cast<double>(element)));
      for (size_t i = 0; i < a.size(); ++i) {
        const double x = a[i], y = b[i];
        if (std::fabs(x - y) <= bound * largest) continue;
        std::fprintf(stderr, "element %zu: %.9g is not %.9g\n", i, x, y);
        return false;
      }
      return true;
    }
  });
}

// Returns a tensor with the same elements, whose axes are in reverse order in memory. The elements
// along the first axis are `stride` elements apart.
inline Tensor scattered(const Tensor& dense, int64_t stride = 2) {
  const size_t size = tenon_sdk::size_of(dense.dtype), rank = dense.sizes.size();
  Tensor made = dense;
  for (size_t i = 0; i < rank; ++i) {
    made.strides[i] = stride;
    stride *= made.sizes[i];
  }
  made.bytes.assign(static_cast<size_t>(stride) * size, std::byte{0x7f});
  const tenon_sdk::Walk<2> walk(rank, dense.sizes.data(),
                                {dense.strides.data(), made.strides.data()});
  walk.elements([&](const auto& at) {
    std::memcpy(made.bytes.data() + static_cast<size_t>(at[1]) * size,
                dense.bytes.data() + static_cast<size_t>(at[0]) * size, size);
  });
  return made;
}

}  // namespace tenon_simd
