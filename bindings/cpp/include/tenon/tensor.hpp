// Tensors: creation from host memory and numbers, properties, reading and printing.

#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <tenon/dtype.hpp>
#include <tenon/scope.hpp>
#include <type_traits>

namespace tenon {

using Shape = std::vector<int64_t>;

namespace detail {

inline void require_elements(DType are, DType wanted, const char* who, SourceLocation at) {
  if (are == wanted) return;
  throw Error(
      Code::kInvalidArgument,
      std::string(who) + ": the elements are " + are.str() + ", not " + wanted.str() + "; use cast",
      at);
}

// Copies a C string that the caller owns and releases it, even if the copy throws.
inline std::string take_text(tenon_string text) {
  struct Owned {
    tenon_string text;
    ~Owned() { tenon_string_release(text); }
  };
  const Owned owned = {text};
  return std::string(view(owned.text));
}

}  // namespace detail

class Index;

// A tensor's value never changes; copies of the handle share it.
class Tensor {
 public:
  Tensor() = default;  // None: an omitted optional input.

  // A number, which adopts the dtype of the tensor that it is combined with: 2 * x.
  template <class T>
  requires std::is_arithmetic_v<T> Tensor(T value) : handle_(Shared::adopt(scalar(value))) {}

  // Copies row-major elements.
  template <class T>
  Tensor(std::span<const T> data, std::span<const int64_t> shape, SourceLocation at = here())
      : handle_(detail::make<Shared>(at, [&](tenon_tensor** out) {
          return tenon_tensor_from_data(current_scope(at), dtype_of<T>(), shape.data(),
                                        shape.size(), data.data(), data.size_bytes(), out);
        })) {}

  // Imports the caller's elements, without a copy if the device can use them in place. They must
  // not be written until `done` runs. It runs once: when the last reference is released, after the
  // copy, or when this call fails. `done` must not throw. Strides are in elements, one for each
  // axis; empty for row-major without gaps.
  template <class T>
  static Tensor from_host(std::span<T> data, std::span<const int64_t> shape,
                          std::function<void()> done, std::span<const int64_t> strides = {},
                          SourceLocation at = here()) {
    if (!strides.empty() && strides.size() != shape.size()) {
      if (done) done();
      throw Error(Code::kInvalidArgument,
                  "from_host: strides must be one for each axis, but there are " +
                      std::to_string(strides.size()) + " for " + std::to_string(shape.size()),
                  at);
    }
    tenon_deleter deleter = {};
    deleter.payload = new std::function<void()>(std::move(done));
    deleter.function = [](void* payload) {
      const std::unique_ptr<std::function<void()>> run(
          static_cast<std::function<void()>*>(payload));
      if (*run) (*run)();
    };
    tenon_tensor* tensor = nullptr;
    check(
        tenon_tensor_from_host(current_scope(at), dtype_of<std::remove_const_t<T>>(), shape.data(),
                               shape.size(), strides.empty() ? nullptr : strides.data(),
                               const_cast<std::remove_const_t<T>*>(data.data()), data.size_bytes(),
                               deleter, &tensor),
        at);
    return adopt(tensor);
  }

  static Tensor adopt(tenon_tensor* tensor) { return Tensor(Shared::adopt(tensor)); }
  static Tensor share(tenon_tensor* tensor) { return Tensor(Shared::share(tensor)); }

  bool is_none() const { return !handle_; }
  DType dtype() const { return tenon_tensor_dtype(get()); }
  size_t rank() const { return tenon_tensor_rank(get()); }
  // Inside a function, reading a dynamic size specialises the trace to it. If the signature
  // declares the size unknown, the read fails; shape(x) returns it as a tensor. shape(), strides(),
  // count() and bytes() read every size.
  std::span<const int64_t> shape(
      SourceLocation at = here()) const {  // Valid as long as the tensor.
    const int64_t* sizes = nullptr;
    size_t n = 0;
    check(tenon_tensor_read_shape(get(), &sizes, &n), at);
    return {sizes, n};
  }
  // Valid as long as the tensor.
  std::span<const int64_t> strides(SourceLocation at = here()) const {
    return {tenon_tensor_strides(get()), shape(at).size()};
  }
  // The size of an axis; a negative axis counts from the end.
  int64_t size(int64_t axis, SourceLocation at = here()) const {
    int64_t size = 0;
    check(tenon_tensor_size(get(), axis, &size), at);
    return size;
  }
  int64_t count(SourceLocation at = here()) const {
    static_cast<void>(shape(at));
    return tenon_tensor_count(get());
  }
  size_t bytes(SourceLocation at = here()) const {
    static_cast<void>(shape(at));
    return tenon_tensor_bytes(get());
  }
  // Empty for an inline scalar.
  std::string_view device() const { return detail::view(tenon_tensor_device_name(get())); }

  // The only element.
  template <class T>
  requires std::is_arithmetic_v<T> T item(SourceLocation at = here())
  const {
    if constexpr (std::is_floating_point_v<T>) {
      double value = 0;
      check(tenon_tensor_item_f64(current_scope(at), get(), &value), at);
      return static_cast<T>(value);
    } else {
      int64_t value = 0;
      check(tenon_tensor_item_i64(current_scope(at), get(), &value), at);
      return static_cast<T>(value);
    }
  }

  // Whether the only element is not zero: while (not_equal(a, 1)) ... A conversion cannot receive
  // the line of its call; inside a function its errors report the line of the last op.
  explicit operator bool() const { return item<double>() != 0; }

  // All elements, row-major; T must be the C++ type of the dtype.
  template <class T>
  requires std::is_arithmetic_v<T> &&
      (!std::is_same_v<T, bool>)std::vector<T> to_vector(SourceLocation at = here()) const {
    detail::require_elements(dtype(), dtype_of<T>(), "to_vector", at);
    std::vector<T> elements(static_cast<size_t>(count(at)));
    check(tenon_tensor_read(current_scope(at), get(), elements.data(), elements.size() * sizeof(T)),
          at);
    return elements;
  }

  // The elements in place, read-only, valid as long as the tensor. Empty if the host cannot access
  // them in place, or if they are not row-major without gaps.
  template <class T>
  requires std::is_arithmetic_v<T> std::span<const T> data(SourceLocation at = here())
  const {
    detail::require_elements(dtype(), dtype_of<T>(), "data", at);
    const auto* first = static_cast<const T*>(tenon_tensor_data(get()));
    if (!first) require_value(at);
    return {first, first ? static_cast<size_t>(count(at)) : 0};
  }

  // The same value on another device.
  Tensor to(std::string_view device, SourceLocation at = here()) const {
    tenon_tensor* copy = nullptr;
    check(tenon_tensor_copy_to(current_scope(at), get(), detail::c_text(device), &copy), at);
    return adopt(copy);
  }

  // Donates the tensor: the next call that takes it may write its output to its memory. The tensor
  // cannot be used after that call.
  void donate(SourceLocation at = here()) const { check(tenon_tensor_donate(get()), at); }

  // Formats as NumPy does.
  std::string str(SourceLocation at = here()) const { return text(nullptr, at); }
  // As str(), with dtype, shape and device.
  std::string repr(SourceLocation at = here()) const {
    tenon_format_options options = TENON_FORMAT_OPTIONS_DEFAULT;
    options.long_form = true;
    return text(&options, at);
  }

  // Returns the slice at one index of the first axis (a negative index counts from the end), or the
  // slices that an integer tensor selects (gather along axis 0).
  Tensor operator[](const Index& index) const;

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

  // Throws if the tensor is traced. Outside a trace, data() may be NULL for other reasons.
  void require_value(SourceLocation at) const {
    if (!tenon_scope_is_tracing(current_scope(at))) return;
    tenon_error* const error = tenon_tensor_read(current_scope(at), get(), nullptr, 0);
    if (tenon_error_code(error) == TENON_FAILED_PRECONDITION) check(error, at);
    tenon_error_release(error);
  }

  std::string text(const tenon_format_options* options, SourceLocation at) const {
    tenon_string text = {};
    check(tenon_tensor_format(current_scope(at), get(), options, &text), at);
    return detail::take_text(text);
  }

  Shared handle_;
};

inline std::ostream& operator<<(std::ostream& out, const Tensor& x) { return out << x.str(); }

// The first tensor of a call, with the line of the call. Tensors, variables and numbers convert
// implicitly; Input(x, at) specifies another line.
class Input {
 public:
  Input() = default;  // None.
  Input(const Tensor& x, SourceLocation at = here()) : x_(x.get()), at_(at) {}
  template <class T>
  requires(std::is_convertible_v<const T&, Tensor> && !std::is_base_of_v<Tensor, T>)
      Input(const T& x, SourceLocation at = here())
      : own_(x), x_(own_->get()), at_(at) {}
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  tenon_tensor* get() const { return x_; }
  SourceLocation at() const { return at_; }
  Tensor tensor() const { return Tensor::share(x_); }

 private:
  std::optional<Tensor> own_;  // The tensor created from a variable or a number.
  tenon_tensor* x_ = nullptr;
  SourceLocation at_;
};

// The index in x[...]: an integer, or an integer tensor or variable.
class Index {
 public:
  template <class T>
  requires std::is_integral_v<T> Index(T value, SourceLocation at = here())
      : number_(static_cast<int64_t>(value)), at_(at) {}
  Index(Tensor value, SourceLocation at = here()) : tensor_(std::move(value)), at_(at) {}
  template <class T>
  requires(std::is_convertible_v<const T&, Tensor> && !std::is_arithmetic_v<T> &&
           !std::is_base_of_v<Tensor, T>) Index(const T& value, SourceLocation at = here())
      : tensor_(value), at_(at) {}

  // Empty if the index is a number.
  const Tensor& tensor() const { return tensor_; }
  int64_t number() const { return number_; }
  SourceLocation at() const { return at_; }

 private:
  Tensor tensor_;
  int64_t number_ = 0;
  SourceLocation at_;
};

// tensor<float>({1, 2, 3, 4}, {2, 2})
template <class T>
Tensor tensor(std::initializer_list<T> elements, const Shape& shape, SourceLocation at = here()) {
  return Tensor(std::span<const T>(elements.begin(), elements.size()), shape, at);
}

// vector({0, 1, 2}) is int32, vector<float>({0, 1, 2}) is float32.
template <class T>
Tensor vector(std::initializer_list<T> elements, SourceLocation at = here()) {
  return tensor(elements, {static_cast<int64_t>(elements.size())}, at);
}

// matrix<float>({{1, 2}, {3, 4}})
template <class T>
Tensor matrix(std::initializer_list<std::initializer_list<T>> rows, SourceLocation at = here()) {
  std::vector<T> elements;
  for (const auto& row : rows) {
    if (row.size() != rows.begin()->size()) {
      throw Error(Code::kInvalidArgument, "matrix: all rows must have the same length", at);
    }
    elements.insert(elements.end(), row.begin(), row.end());
  }
  const Shape shape = {static_cast<int64_t>(rows.size()),
                       static_cast<int64_t>(rows.size() ? rows.begin()->size() : 0)};
  return Tensor(std::span<const T>(elements), shape, at);
}

}  // namespace tenon
