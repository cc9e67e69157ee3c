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

// Throws an error in the name of function `who` unless the dtype `actual` of the elements equals
// `wanted`.
inline void require_elements(DType actual, DType wanted, const char* who, SourceLocation at) {
  if (actual == wanted) return;
  throw Error(Code::kInvalidArgument,
              std::string(who) + ": the elements are " + actual.str() + ", not " + wanted.str() +
                  "; use cast",
              at);
}

// Copies a string that the C ABI returned, and releases it even if the copy throws.
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

// A handle of an immutable tensor. Copies of the handle share the tensor.
class Tensor {
 public:
  Tensor() = default;  // Empty: an omitted optional input.

  // An inline scalar, which adopts the dtype of the other operand: 2 * x.
  template <class T>
  requires std::is_arithmetic_v<T> Tensor(T value) : handle_(Shared::adopt(scalar(value))) {}

  // Creates a tensor and copies row-major elements into it.
  template <class T>
  Tensor(std::span<const T> data, std::span<const int64_t> shape, SourceLocation at = here())
      : handle_(detail::make<Shared>(at, [&](tenon_tensor** out) {
          return tenon_tensor_from_data(current_scope(at), dtype_of<T>(), shape.data(),
                                        shape.size(), data.data(), data.size_bytes(), out);
        })) {}

  // Imports elements in the caller's memory; copies them only if the device cannot use that memory.
  // The caller must not write to it until `done` runs. `done` runs once: when the last reference is
  // released, after the copy, or when this call fails. It must not throw. `strides` has one entry
  // for each axis, in elements; empty means row-major without gaps.
  template <class T>
  static Tensor from_host(std::span<T> data, std::span<const int64_t> shape,
                          std::function<void()> done, std::span<const int64_t> strides = {},
                          SourceLocation at = here()) {
    if (!strides.empty() && strides.size() != shape.size()) {
      if (done) done();
      throw Error(Code::kInvalidArgument,
                  "from_host: strides must have one entry for each axis, but has " +
                      std::to_string(strides.size()) + " entries for rank " +
                      std::to_string(shape.size()),
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

  // Takes ownership of the caller's reference.
  static Tensor adopt(tenon_tensor* tensor) { return Tensor(Shared::adopt(tensor)); }
  // Adds a reference to an object that the caller keeps.
  static Tensor share(tenon_tensor* tensor) { return Tensor(Shared::share(tensor)); }

  // Returns whether the handle is empty.
  bool is_none() const { return !handle_; }
  DType dtype() const { return tenon_tensor_dtype(get()); }
  size_t rank() const { return tenon_tensor_rank(get()); }
  // shape(), strides(), count() and bytes() read every size. Inside a function, reading a dynamic
  // size specialises the trace to its current value. If the signature declares the size unknown,
  // the read fails; use the function tenon::shape(x), which returns the sizes as a tensor.
  std::span<const int64_t> shape(
      SourceLocation at = here()) const {  // Valid as long as the tensor.
    const int64_t* sizes = nullptr;
    size_t n = 0;
    check(tenon_tensor_read_shape(get(), &sizes, &n), at);
    return {sizes, n};
  }
  // Returns the strides in elements. Valid as long as the tensor.
  std::span<const int64_t> strides(SourceLocation at = here()) const {
    return {tenon_tensor_strides(get()), shape(at).size()};
  }
  // Returns the size of an axis. A negative axis counts from the last.
  int64_t size(int64_t axis, SourceLocation at = here()) const {
    int64_t size = 0;
    check(tenon_tensor_size(get(), axis, &size), at);
    return size;
  }
  // Returns the number of elements.
  int64_t count(SourceLocation at = here()) const {
    static_cast<void>(shape(at));
    return tenon_tensor_count(get());
  }
  // Returns the size of all elements in bytes.
  size_t bytes(SourceLocation at = here()) const {
    static_cast<void>(shape(at));
    return tenon_tensor_bytes(get());
  }
  // Returns the name of the device; empty for an inline scalar.
  std::string_view device() const { return detail::view(tenon_tensor_device_name(get())); }

  // Returns the only element. Throws unless the tensor has exactly one.
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

  // Returns whether the only element is nonzero, as in `while (not_equal(a, 1))`. A conversion
  // cannot take the line of its call, so inside a function its errors report the line of the last
  // op.
  explicit operator bool() const { return item<double>() != 0; }

  // Copies all elements, row-major. T must be the C++ type of the dtype.
  template <class T>
  requires std::is_arithmetic_v<T> &&
      (!std::is_same_v<T, bool>)std::vector<T> to_vector(SourceLocation at = here()) const {
    detail::require_elements(dtype(), dtype_of<T>(), "to_vector", at);
    std::vector<T> elements(static_cast<size_t>(count(at)));
    check(tenon_tensor_read(current_scope(at), get(), elements.data(), elements.size() * sizeof(T)),
          at);
    return elements;
  }

  // Returns a read-only view of the elements, valid as long as the tensor. Empty if the host cannot
  // access the memory, or if the elements are not row-major without gaps.
  template <class T>
  requires std::is_arithmetic_v<T> std::span<const T> data(SourceLocation at = here())
  const {
    detail::require_elements(dtype(), dtype_of<T>(), "data", at);
    const auto* first = static_cast<const T*>(tenon_tensor_data(get()));
    if (!first) require_value(at);
    return {first, first ? static_cast<size_t>(count(at)) : 0};
  }

  // Copies the tensor to another device.
  Tensor to(std::string_view device, SourceLocation at = here()) const {
    tenon_tensor* copy = nullptr;
    check(tenon_tensor_copy_to(current_scope(at), get(), detail::c_text(device), &copy), at);
    return adopt(copy);
  }

  // Donates the tensor: the next call that takes it may write its output to the same memory, and
  // consumes it. Later uses of the tensor fail.
  void donate(SourceLocation at = here()) const { check(tenon_tensor_donate(get()), at); }

  // Formats the elements as NumPy does.
  std::string str(SourceLocation at = here()) const { return text(nullptr, at); }
  // Formats the elements, and appends dtype, shape and device.
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

  // Creates an inline scalar.
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

  // Throws if the tensor is traced and therefore has no value.
  void require_value(SourceLocation at) const {
    if (!tenon_scope_is_tracing(current_scope(at))) return;
    tenon_error* const error = tenon_tensor_read(current_scope(at), get(), nullptr, 0);
    if (tenon_error_code(error) == TENON_FAILED_PRECONDITION) check(error, at);
    tenon_error_release(error);
  }

  // Formats the tensor; NULL selects the default options.
  std::string text(const tenon_format_options* options, SourceLocation at) const {
    tenon_string text = {};
    check(tenon_tensor_format(current_scope(at), get(), options, &text), at);
    return detail::take_text(text);
  }

  Shared handle_;
};

inline std::ostream& operator<<(std::ostream& out, const Tensor& x) { return out << x.str(); }

// The first tensor argument of a call, and the source line of that call. Tensors, variables and
// numbers convert implicitly. Input(x, at) specifies another line.
class Input {
 public:
  Input() = default;  // An omitted optional input.
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

  // Returns the index tensor; empty if the index is a number.
  const Tensor& tensor() const { return tensor_; }
  int64_t number() const { return number_; }
  SourceLocation at() const { return at_; }

 private:
  Tensor tensor_;
  int64_t number_ = 0;
  SourceLocation at_;
};

// Creates a tensor: tensor<float>({1, 2, 3, 4}, {2, 2}).
template <class T>
Tensor tensor(std::initializer_list<T> elements, const Shape& shape, SourceLocation at = here()) {
  return Tensor(std::span<const T>(elements.begin(), elements.size()), shape, at);
}

// Creates a rank-1 tensor: vector({0, 1, 2}) is int32, vector<float>({0, 1, 2}) is float32.
template <class T>
Tensor vector(std::initializer_list<T> elements, SourceLocation at = here()) {
  return tensor(elements, {static_cast<int64_t>(elements.size())}, at);
}

// Creates a rank-2 tensor from its rows: matrix<float>({{1, 2}, {3, 4}}).
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
