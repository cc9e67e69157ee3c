// Attributes of operations. An op declares a plain struct and lists its fields; this file gives it
// equality, a hash, and its form at the C ABI: `struct_size`, then the same fields, lists as
// pointer and count, text as tenon_string.
//
//   struct Attrs {
//     int64_t axis = -1;  // The axis to normalise.
//     TENON_ATTRS(axis)
//   };

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/base/dtype.h"
#include "core/base/error.h"
#include "core/base/small_vector.h"

#define TENON_PP_PARENS ()
#define TENON_PP_EXPAND(...) TENON_PP_EXPAND3(TENON_PP_EXPAND3(TENON_PP_EXPAND3(__VA_ARGS__)))
#define TENON_PP_EXPAND3(...) TENON_PP_EXPAND2(TENON_PP_EXPAND2(TENON_PP_EXPAND2(__VA_ARGS__)))
#define TENON_PP_EXPAND2(...) TENON_PP_EXPAND1(TENON_PP_EXPAND1(TENON_PP_EXPAND1(__VA_ARGS__)))
#define TENON_PP_EXPAND1(...) __VA_ARGS__
#define TENON_PP_EACH(macro, ...) \
  __VA_OPT__(TENON_PP_EXPAND(TENON_PP_EACH_STEP(macro, __VA_ARGS__)))
#define TENON_PP_EACH_STEP(macro, first, ...) \
  macro(first) __VA_OPT__(TENON_PP_EACH_AGAIN TENON_PP_PARENS(macro, __VA_ARGS__))
#define TENON_PP_EACH_AGAIN() TENON_PP_EACH_STEP

#define TENON_ATTRS_VISIT(field) visit(#field, self.field);

// Lists the fields, in the order that they have at the C ABI. New fields go to the end.
#define TENON_ATTRS(...)                                                          \
  template <class Self, class Visit>                                              \
  static void each([[maybe_unused]] Self& self, [[maybe_unused]] Visit&& visit) { \
    TENON_PP_EACH(TENON_ATTRS_VISIT, __VA_ARGS__)                                 \
  }

namespace tenon {

// The values of an enumeration that is an attribute's type. Declare, beside the enumeration:
//   EnumInfo enum_info(Reduction);
struct EnumInfo {
  const char* name;                     // In lower case: reduction.
  std::span<const char* const> values;  // The name of value i.
};

// Sees every field of an attribute struct, for documents and generators.
class AttrVisitor {
 public:
  virtual ~AttrVisitor() = default;
  virtual void on_int(std::string_view name, int64_t value) = 0;
  virtual void on_float(std::string_view name, double value) = 0;
  virtual void on_bool(std::string_view name, bool value) = 0;
  virtual void on_dtype(std::string_view name, DType value) = 0;
  virtual void on_enum(std::string_view name, int32_t value, const EnumInfo& info) = 0;
  virtual void on_ints(std::string_view name, std::span<const int64_t> value) = 0;
  virtual void on_string(std::string_view name, std::string_view value) = 0;
};

// All that the core does with attributes whose struct it does not know.
struct AttrsType {
  size_t size;
  size_t align;
  size_t c_size;  // sizeof(tenon_<op>_attrs); 0 for an op without attributes.
  void (*init)(void* attrs);
  void (*copy)(void* attrs, const void* from);
  void (*destroy)(void* attrs);
  bool (*equal)(const void* a, const void* b);
  uint64_t (*hash)(const void* attrs);
  void (*from_c)(void* attrs, const void* c);  // `attrs` holds the defaults; `c` may be shorter.
  void (*to_c)(const void* attrs, void* c);    // Lists and text point into `attrs`.
  void (*visit)(const void* attrs, AttrVisitor& visitor);
};

// Attributes of some op, borrowed.
struct AnyAttrs {
  const AttrsType* type = nullptr;
  const void* data = nullptr;

  bool empty() const { return type == nullptr || type->size == 0; }
  friend bool operator==(const AnyAttrs& a, const AnyAttrs& b) {
    return a.type == b.type && (a.empty() || a.type->equal(a.data, b.data));
  }
  uint64_t hash() const { return empty() ? 0 : type->hash(data); }
};

// Attributes of some op, kept.
class OwnedAttrs {
 public:
  OwnedAttrs() = default;
  explicit OwnedAttrs(AnyAttrs attrs) : type_(attrs.type) {
    if (attrs.empty()) return;
    data_ = ::operator new(type_->size, std::align_val_t(type_->align));
    type_->copy(data_, attrs.data);
  }
  OwnedAttrs(OwnedAttrs&& other) noexcept
      : type_(other.type_), data_(std::exchange(other.data_, nullptr)) {}
  OwnedAttrs(const OwnedAttrs& other) : OwnedAttrs(other.view()) {}
  OwnedAttrs& operator=(OwnedAttrs other) noexcept {
    std::swap(type_, other.type_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~OwnedAttrs() {
    if (!data_) return;
    type_->destroy(data_);
    ::operator delete(data_, std::align_val_t(type_->align));
  }
  AnyAttrs view() const { return {type_, data_}; }

 private:
  const AttrsType* type_ = nullptr;
  void* data_ = nullptr;
};

struct NoAttrs {
  TENON_ATTRS()
};

namespace detail {

inline uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdull;
}

[[noreturn]] void fail_attr(std::string_view name, std::string_view what, int64_t value);

inline uint64_t hash_field(uint64_t h, const Ints& value) {
  h = mix(h, value.size());
  for (const int64_t v : value) h = mix(h, static_cast<uint64_t>(v));
  return h;
}
inline uint64_t hash_field(uint64_t h, const std::string& value) {
  return mix(h, std::hash<std::string>{}(value));
}
inline uint64_t hash_field(uint64_t h, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return mix(h, bits);
}
template <class T>
inline uint64_t hash_field(uint64_t h, const T& value) {
  return mix(h, static_cast<uint64_t>(value));
}

// Bitwise for floats, so that a NaN equals itself and -0 differs from 0.
template <class T>
inline bool equal_field(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double>) {
    return std::memcmp(&a, &b, sizeof a) == 0;
  } else {
    return a == b;
  }
}

// The types that a field has in C, in the order of their members.
template <class T>
struct CField {
  using Type = T;
};
template <>
struct CField<DType> {
  using Type = tenon_dtype;
};
struct CInts {
  const int64_t* data;
  size_t size;
};
template <>
struct CField<Ints> {
  using Type = CInts;
};
template <>
struct CField<std::string> {
  using Type = tenon_string;
};
template <class T>
requires std::is_enum_v<T>
struct CField<T> {
  using Type = int32_t;
};
template <>
struct CField<bool> {
  using Type = bool;
};

template <class T>
using CType = typename CField<std::remove_const_t<T>>::Type;

// Walks the members of the C struct.
class CLayout {
 public:
  template <class T>
  size_t next() {
    using C = CType<T>;
    offset_ = (offset_ + alignof(C) - 1) / alignof(C) * alignof(C);
    const size_t at = offset_;
    offset_ += sizeof(C);
    align_ = align_ < alignof(C) ? alignof(C) : align_;
    return at;
  }
  size_t size() const { return (offset_ + align_ - 1) / align_ * align_; }

 private:
  size_t offset_ = sizeof(uint32_t);  // Behind struct_size.
  size_t align_ = alignof(uint32_t);
};

template <class T>
void read_field(const char* name, T& value, const std::byte* at) {
  CType<T> c;
  std::memcpy(&c, at, sizeof c);
  if constexpr (std::is_same_v<T, DType>) {
    bool known = false;
    value = dtype_from_c(c, &known);
    if (!known) fail_attr(name, "is not a dtype that is known here", static_cast<int64_t>(c));
  } else if constexpr (std::is_same_v<T, Ints>) {
    if (c.data == nullptr) return;  // Not given: the default.
    value = Ints(std::span<const int64_t>(c.data, c.size));
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (c.data != nullptr) value.assign(c.data, c.size);  // As for a list.
  } else if constexpr (std::is_enum_v<T>) {
    const auto n = static_cast<int64_t>(enum_info(T{}).values.size());
    if (c < 0 || c >= n) fail_attr(name, "is not a value that is known here", c);
    value = static_cast<T>(c);
  } else {
    value = c;
  }
}

template <class T>
void write_field(const T& value, std::byte* at) {
  CType<T> c{};
  if constexpr (std::is_same_v<T, DType>) {
    c = to_c(value);
  } else if constexpr (std::is_same_v<T, Ints> || std::is_same_v<T, std::string>) {
    c = {value.data(), value.size()};
  } else {
    c = static_cast<CType<T>>(value);
  }
  std::memcpy(at, &c, sizeof c);
}

template <class T>
void show_field(AttrVisitor& v, const char* name, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    v.on_bool(name, value);
  } else if constexpr (std::is_same_v<T, DType>) {
    v.on_dtype(name, value);
  } else if constexpr (std::is_same_v<T, Ints>) {
    v.on_ints(name, value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    v.on_string(name, value);
  } else if constexpr (std::is_enum_v<T>) {
    v.on_enum(name, static_cast<int32_t>(value), enum_info(T{}));
  } else if constexpr (std::is_floating_point_v<T>) {
    v.on_float(name, value);
  } else {
    v.on_int(name, value);
  }
}

template <class A>
size_t c_size() {
  A attrs;
  CLayout layout;
  bool any = false;
  A::each(attrs, [&](const char*, auto& field) {
    layout.next<std::remove_reference_t<decltype(field)>>();
    any = true;
  });
  return any ? layout.size() : 0;
}

}  // namespace detail

// The description of attribute struct A; one object for each.
template <class A>
const AttrsType& attrs_type() {
  using namespace detail;
  static const AttrsType type = {
      .size = std::is_empty_v<A> ? 0 : sizeof(A),
      .align = alignof(A),
      .c_size = c_size<A>(),
      .init = [](void* attrs) { ::new (attrs) A(); },
      .copy = [](void* attrs, const void* from) { ::new (attrs) A(*static_cast<const A*>(from)); },
      .destroy = [](void* attrs) { static_cast<A*>(attrs)->~A(); },
      .equal =
          [](const void* a, const void* b) {
            const A& right = *static_cast<const A*>(b);
            const auto* base_a = static_cast<const std::byte*>(a);
            const auto* base_b = reinterpret_cast<const std::byte*>(&right);
            bool same = true;
            A::each(*static_cast<const A*>(a), [&](const char*, const auto& field) {
              using F = std::remove_cvref_t<decltype(field)>;
              const auto at = reinterpret_cast<const std::byte*>(&field) - base_a;
              same = same && equal_field(field, *reinterpret_cast<const F*>(base_b + at));
            });
            return same;
          },
      .hash =
          [](const void* attrs) {
            uint64_t h = 1;
            A::each(*static_cast<const A*>(attrs),
                    [&](const char*, const auto& field) { h = hash_field(h, field); });
            return h;
          },
      .from_c =
          [](void* attrs, const void* c) {
            uint32_t given;
            std::memcpy(&given, c, sizeof given);
            const auto* base = static_cast<const std::byte*>(c);
            CLayout layout;
            A::each(*static_cast<A*>(attrs), [&](const char* name, auto& field) {
              using F = std::remove_cvref_t<decltype(field)>;
              const size_t at = layout.next<F>();
              if (at + sizeof(CType<F>) <= given) read_field(name, field, base + at);
            });
          },
      .to_c =
          [](const void* attrs, void* c) {
            auto* base = static_cast<std::byte*>(c);
            CLayout layout;
            A::each(*static_cast<const A*>(attrs), [&](const char*, const auto& field) {
              using F = std::remove_cvref_t<decltype(field)>;
              write_field(field, base + layout.next<F>());
            });
            const auto size = static_cast<uint32_t>(layout.size());
            std::memcpy(base, &size, sizeof size);
          },
      .visit =
          [](const void* attrs, AttrVisitor& visitor) {
            A::each(*static_cast<const A*>(attrs),
                    [&](const char* name, const auto& field) { show_field(visitor, name, field); });
          },
  };
  return type;
}

template <class A>
AnyAttrs any_attrs(const A& attrs) {
  return {&attrs_type<A>(), &attrs};
}

}  // namespace tenon
