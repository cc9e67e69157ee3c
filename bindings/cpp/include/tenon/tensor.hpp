// Tensors: made from host memory and numbers, looked at, read back, printed.

#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <span>
#include <tenon/dtype.hpp>
#include <tenon/scope.hpp>
#include <type_traits>

namespace tenon {

using Shape = std::vector<int64_t>;

namespace detail {

inline void require_elements(DType are, DType wanted, const char* who) {
  if (are == wanted) return;
  throw Error(Code::kInvalidArgument, std::string(who) + ": the elements are " + are.str() +
                                          ", not " + wanted.str() + "; use cast");
}

// A copy of a text that the caller owns, which is released also if there is no memory for the copy.
inline std::string take_text(tenon_string text) {
  struct Owned {
    tenon_string text;
    ~Owned() { tenon_string_release(text); }
  };
  const Owned owned = {text};
  return std::string(view(owned.text));
}

}  // namespace detail

// A tensor's value never changes; copies of the handle share it.
class Tensor {
 public:
  Tensor() = default;  // None: what an optional input that is not given is.

  // A number, which takes the dtype of the tensor that it meets: 2 * x.
  template <class T>
  requires std::is_arithmetic_v<T> Tensor(T value) : handle_(Shared::adopt(scalar(value))) {}

  // A copy of elements that lie row-major.
  template <class T>
  Tensor(std::span<const T> data, std::span<const int64_t> shape)
      : handle_(detail::make<Shared>([&](tenon_tensor** out) {
          return tenon_tensor_from_data(current_scope(), dtype_of<T>(), shape.data(), shape.size(),
                                        data.data(), data.size_bytes(), out);
        })) {}

  // Elements that the caller lends, without a copy where the device can use them in place. They
  // must not be written until `done` runs, once: with the last owner, after the copy, or when this
  // fails. `done` must not throw. Strides count elements, one for each axis; empty for row-major
  // without gaps.
  template <class T>
  static Tensor from_host(std::span<T> data, std::span<const int64_t> shape,
                          std::function<void()> done, std::span<const int64_t> strides = {}) {
    if (!strides.empty() && strides.size() != shape.size()) {
      if (done) done();
      throw Error(Code::kInvalidArgument,
                  "from_host: strides must be one for each axis, but there are " +
                      std::to_string(strides.size()) + " for " + std::to_string(shape.size()));
    }
    tenon_deleter deleter = {};
    deleter.payload = new std::function<void()>(std::move(done));
    deleter.function = [](void* payload) {
      const std::unique_ptr<std::function<void()>> run(
          static_cast<std::function<void()>*>(payload));
      if (*run) (*run)();
    };
    tenon_tensor* tensor = nullptr;
    check(tenon_tensor_from_host(current_scope(), dtype_of<std::remove_const_t<T>>(), shape.data(),
                                 shape.size(), strides.empty() ? nullptr : strides.data(),
                                 const_cast<std::remove_const_t<T>*>(data.data()),
                                 data.size_bytes(), deleter, &tensor));
    return adopt(tensor);
  }

  static Tensor adopt(tenon_tensor* tensor) { return Tensor(Shared::adopt(tensor)); }
  static Tensor share(tenon_tensor* tensor) { return Tensor(Shared::share(tensor)); }

  bool is_none() const { return !handle_; }
  DType dtype() const { return tenon_tensor_dtype(get()); }
  size_t rank() const { return tenon_tensor_rank(get()); }
  // Inside of a function, a size that differs from call to call becomes a constant of the trace
  // when it is read. If the signature declares it unknown, the read fails; shape(x) gives it as a
  // tensor. shape(), strides(), count() and bytes() read every size.
  std::span<const int64_t> shape() const {  // Alive as long as the tensor.
    const int64_t* sizes = nullptr;
    size_t n = 0;
    check(tenon_tensor_shape(get(), &sizes, &n));
    return {sizes, n};
  }
  std::span<const int64_t> strides() const {  // Alive as long as the tensor.
    const int64_t* strides = nullptr;
    size_t n = 0;
    check(tenon_tensor_strides(get(), &strides, &n));
    return {strides, n};
  }
  // The size of an axis; negative ones count from the end.
  int64_t size(int64_t axis) const {
    int64_t size = 0;
    check(tenon_tensor_size(get(), axis, &size));
    return size;
  }
  int64_t count() const {
    int64_t n = 0;
    check(tenon_tensor_count(get(), &n));
    return n;
  }
  size_t bytes() const {
    size_t n = 0;
    check(tenon_tensor_bytes(get(), &n));
    return n;
  }
  // Empty for a number.
  std::string_view device() const { return detail::view(tenon_tensor_device_name(get())); }

  // The only element.
  template <class T>
  requires std::is_arithmetic_v<T> T item()
  const {
    if constexpr (std::is_floating_point_v<T>) {
      double value = 0;
      check(tenon_tensor_item_f64(current_scope(), get(), &value));
      return static_cast<T>(value);
    } else {
      int64_t value = 0;
      check(tenon_tensor_item_i64(current_scope(), get(), &value));
      return static_cast<T>(value);
    }
  }

  // Whether the only element is not zero: while (not_equal(a, 1)) ...
  explicit operator bool() const { return item<double>() != 0; }

  // All elements, row-major; T is the dtype's own type.
  template <class T>
  requires std::is_arithmetic_v<T> &&(!std::is_same_v<T, bool>)std::vector<T> to_vector() const {
    detail::require_elements(dtype(), dtype_of<T>(), "to_vector");
    std::vector<T> elements(static_cast<size_t>(count()));
    check(tenon_tensor_read(current_scope(), get(), elements.data(), elements.size() * sizeof(T)));
    return elements;
  }

  // The elements in place, to be read, alive as long as the tensor. Empty where the host does not
  // see them, or they do not lie row-major without gaps.
  template <class T>
  requires std::is_arithmetic_v<T> std::span<const T> data()
  const {
    detail::require_elements(dtype(), dtype_of<T>(), "data");
    const auto* first = static_cast<const T*>(tenon_tensor_data(get()));
    return {first, first ? static_cast<size_t>(count()) : 0};
  }

  // The same value on another device.
  Tensor to(std::string_view device) const {
    tenon_tensor* copy = nullptr;
    check(tenon_tensor_copy_to(current_scope(), get(), detail::c_text(device), &copy));
    return adopt(copy);
  }

  // Lets the next call that takes it write its output into its memory; it cannot be used again.
  void donate() const { check(tenon_tensor_donate(get())); }

  // As NumPy prints it.
  std::string str() const { return text(nullptr); }
  // With dtype, shape and device.
  std::string repr() const {
    tenon_format_options options = TENON_FORMAT_OPTIONS_DEFAULT;
    options.long_form = true;
    return text(&options);
  }

  // The part at one place of the first axis; negative ones count from the end.
  Tensor operator[](int64_t index) const;
  // The parts that a tensor of integers chooses of the first axis: gather along axis 0.
  Tensor operator[](const Tensor& index) const;

  tenon_tensor* get() const { return handle_.get(); }

 private:
  using Shared = Handle<tenon_tensor, tenon_tensor_retain, tenon_tensor_release>;
  explicit Tensor(Shared handle) : handle_(std::move(handle)) {}

  template <class T>
  static tenon_tensor* scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      return tenon_scalar_bool(value);
    } else if constexpr (std::is_integral_v<T>) {
      return tenon_scalar_i64(static_cast<int64_t>(value));
    } else {
      return tenon_scalar_f64(static_cast<double>(value));
    }
  }

  std::string text(const tenon_format_options* options) const {
    tenon_string text = {};
    check(tenon_tensor_format(current_scope(), get(), options, &text));
    return detail::take_text(text);
  }

  Shared handle_;
};

inline std::ostream& operator<<(std::ostream& out, const Tensor& x) { return out << x.str(); }

// tensor<float>({1, 2, 3, 4}, {2, 2})
template <class T>
Tensor tensor(std::initializer_list<T> elements, const Shape& shape) {
  return Tensor(std::span<const T>(elements.begin(), elements.size()), shape);
}

// vector({0, 1, 2}) is of int32, vector<float>({0, 1, 2}) of float32.
template <class T>
Tensor vector(std::initializer_list<T> elements) {
  return tensor(elements, {static_cast<int64_t>(elements.size())});
}

// matrix<float>({{1, 2}, {3, 4}})
template <class T>
Tensor matrix(std::initializer_list<std::initializer_list<T>> rows) {
  std::vector<T> elements;
  for (const auto& row : rows) {
    if (row.size() != rows.begin()->size()) {
      throw Error(Code::kInvalidArgument, "matrix: its rows are of different lengths");
    }
    elements.insert(elements.end(), row.begin(), row.end());
  }
  const Shape shape = {static_cast<int64_t>(rows.size()),
                       static_cast<int64_t>(rows.size() ? rows.begin()->size() : 0)};
  return Tensor(std::span<const T>(elements), shape);
}

}  // namespace tenon
