// Attributes of ops. An op declares a plain struct and lists its fields. This file adds equality, a
// hash and the layout of the corresponding C struct. The C struct begins with `struct_size`,
// followed by the same fields. A list is a pointer and a count; text is a tenon_string.
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
#include <vector>

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

// Lists the fields in the order of the C struct. New fields must be added at the end.
#define TENON_ATTRS(...)                                                          \
  template <class Self, class Visit>                                              \
  static void each([[maybe_unused]] Self& self, [[maybe_unused]] Visit&& visit) { \
    TENON_PP_EACH(TENON_ATTRS_VISIT, __VA_ARGS__)                                 \
  }

namespace tenon {

// Describes an enumeration that is the type of an attribute. Declare this function beside the
// enumeration:
//   EnumInfo enum_info(Reduction);
struct EnumInfo {
  const char* name;                     // In lower case, such as "reduction".
  std::span<const char* const> values;  // values[i] is the name of value i.
};

class Region;
// Graphs that an op runs (core/trace/graph/region.h). They cannot be passed through the C ABI.
using Regions = SmallVector<std::shared_ptr<const Region>, 2>;
// A host object that an op uses, such as a callback or a variable. It cannot be written in the text
// form of a graph.
using HostObject = std::shared_ptr<const void>;

// Visits every field of an attribute struct, for documentation and generators.
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
  // By default, on_size() and on_sizes() convert sizes to numbers. Visitors that must support the
  // symbolic sizes of a trace override them.
  virtual void on_size(std::string_view name, Size value) { on_int(name, value); }
  virtual void on_sizes(std::string_view name, std::span<const Size> value) {
    Ints numbers;
    for (const Size size : value) numbers.push_back(size);
    on_ints(name, numbers);
  }
  virtual void on_regions(std::string_view, const Regions&) {}
};

enum class AttrKind : uint8_t {
  kInt,
  kFloat,
  kBool,
  kDType,
  kEnum,
  kInts,
  kText,
  kSize,
  kSizes,
  kRegions,
  kHeld
};

// One field, with its offsets in the op's struct and in the C struct.
struct AttrField {
  const char* name = nullptr;
  AttrKind kind = AttrKind::kInt;
  uint32_t offset = 0;
  uint32_t c_offset = 0;
  EnumInfo (*info)() = nullptr;  // Only for enumerations.

  // Accesses the field as the type of its kind. For an enumeration, use get_enum and set_enum.
  template <class T>
  T& get(void* attrs) const {
    return *reinterpret_cast<T*>(static_cast<std::byte*>(attrs) + offset);
  }
  template <class T>
  const T& get(const void* attrs) const {
    return *reinterpret_cast<const T*>(static_cast<const std::byte*>(attrs) + offset);
  }
  int32_t get_enum(const void* attrs) const {
    int32_t value;
    std::memcpy(&value, static_cast<const std::byte*>(attrs) + offset, sizeof value);
    return value;
  }
  void set_enum(void* attrs, int32_t value) const {
    std::memcpy(static_cast<std::byte*>(attrs) + offset, &value, sizeof value);
  }
};

struct AttrsType;

// Type-erased operations on an attribute struct. Most ops use kByField, which handles one field at
// a time. Custom ops define their own.
struct AttrsMethods {
  void (*copy)(const AttrsType& type, void* attrs, const void* from);
  void (*destroy)(const AttrsType& type, void* attrs);
  bool (*equal)(const AttrsType& type, const void* a, const void* b);
  uint64_t (*hash)(const AttrsType& type, const void* attrs);
  void (*from_c)(const AttrsType& type, void* attrs, const void* c);
  void (*to_c)(const AttrsType& type, const void* attrs, void* c);
};

// The description of an attribute struct.
struct AttrsType {
  static constexpr size_t kMaxFields = 16;

  void copy(void* attrs, const void* from) const { methods->copy(*this, attrs, from); }
  void destroy(void* attrs) const { methods->destroy(*this, attrs); }
  bool equal(const void* a, const void* b) const { return methods->equal(*this, a, b); }
  uint64_t hash(const void* attrs) const { return methods->hash(*this, attrs); }
  // Copies the fields of the C struct `c` to `attrs`. `c` may come from an older version and be
  // shorter; the remaining fields keep their defaults.
  void from_c(void* attrs, const void* c) const { methods->from_c(*this, attrs, c); }
  // Fills the C struct `c`. Its lists and text point into `attrs`.
  void to_c(const void* attrs, void* c) const { methods->to_c(*this, attrs, c); }
  void visit(const void* attrs, AttrVisitor& visitor) const;

  // Returns the fields.
  std::span<const AttrField> all() const { return {fields, n_fields}; }
  // Returns the field with this name, or nullptr.
  const AttrField* find(std::string_view name) const;
  // Appends a field.
  void add(const char* name, AttrKind kind, size_t offset, EnumInfo (*info)());

  size_t size = 0;
  size_t align = 1;
  size_t c_size = 0;  // sizeof(tenon_<op>_attrs); 0 for an op without attributes.
  size_t c_align = 1;
  void (*init)(void* attrs) = nullptr;
  const AttrsMethods* methods = nullptr;
  size_t n_fields = 0;
  AttrField fields[kMaxFields];
};

// A non-owning view of an op's attributes.
struct AnyAttrs {
  const AttrsType* type = nullptr;
  const void* data = nullptr;

  bool empty() const { return type == nullptr || type->size == 0; }
  friend bool operator==(const AnyAttrs& a, const AnyAttrs& b) {
    return a.type == b.type && (a.empty() || a.type->equal(a.data, b.data));
  }
  uint64_t hash() const { return empty() ? 0 : type->hash(data); }
};

// Converts attributes to their C struct. Its pointers refer to the attributes, which must outlive
// it.
class CAttrs {
 public:
  explicit CAttrs(AnyAttrs own) {
    if (own.empty()) return;
    words_.resize(own.type->c_size / sizeof(std::max_align_t) + 1);
    own.type->to_c(own.data, words_.data());
  }
  // Returns NULL if there are no attributes.
  const void* get() const { return words_.empty() ? nullptr : words_.data(); }

 private:
  std::vector<std::max_align_t> words_;
};

// Owns a copy of an op's attributes.
class OwnedAttrs {
 public:
  OwnedAttrs() = default;
  explicit OwnedAttrs(AnyAttrs attrs) : type_(attrs.type) {
    if (!attrs.empty()) data_ = allocate([&](void* to) { type_->copy(to, attrs.data); });
  }
  // Initialises the attributes to their defaults.
  explicit OwnedAttrs(const AttrsType& type) : type_(&type) {
    if (type.size != 0) data_ = allocate([&](void* to) { type.init(to); });
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
  void* data() { return data_; }

 private:
  // Allocates a struct. `fill` constructs it; if that throws, frees the memory.
  template <class Fill>
  void* allocate(const Fill& fill) {
    const auto align = static_cast<std::align_val_t>(type_->align);
    void* const memory = ::operator new(type_->size, align);
    try {
      fill(memory);
    } catch (...) {
      ::operator delete(memory, align);
      throw;
    }
    return memory;
  }

  const AttrsType* type_ = nullptr;
  void* data_ = nullptr;
};

struct NoAttrs {
  TENON_ATTRS()
};

namespace detail {

// Combines a hash with another value.
inline uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdull;
}

extern const AttrsMethods kByField;

// Returns the kind of an attribute whose field has type T.
template <class T>
constexpr AttrKind kind_of() {
  if constexpr (std::is_same_v<T, int64_t>) {
    return AttrKind::kInt;
  } else if constexpr (std::is_same_v<T, double>) {
    return AttrKind::kFloat;
  } else if constexpr (std::is_same_v<T, bool>) {
    return AttrKind::kBool;
  } else if constexpr (std::is_same_v<T, DType>) {
    return AttrKind::kDType;
  } else if constexpr (std::is_same_v<T, Ints>) {
    return AttrKind::kInts;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return AttrKind::kText;
  } else if constexpr (std::is_same_v<T, Size>) {
    return AttrKind::kSize;
  } else if constexpr (std::is_same_v<T, Sizes>) {
    return AttrKind::kSizes;
  } else if constexpr (std::is_same_v<T, Regions>) {
    return AttrKind::kRegions;
  } else if constexpr (std::is_same_v<T, HostObject>) {
    return AttrKind::kHeld;
  } else {
    static_assert(std::is_same_v<std::underlying_type_t<T>, int32_t>);
    return AttrKind::kEnum;
  }
}

// Returns the function that describes enumeration T; NULL for other types.
template <class T>
constexpr auto info_of() -> EnumInfo (*)() {
  if constexpr (kind_of<T>() == AttrKind::kEnum) return [] { return enum_info(T{}); };
  return nullptr;
}

}  // namespace detail

// Returns the description of attribute struct A. All calls return the same object.
template <class A>
const AttrsType& attrs_type() {
  static const AttrsType type = [] {
    AttrsType made;
    made.size = std::is_empty_v<A> ? 0 : sizeof(A);
    made.align = alignof(A);
    made.init = [](void* attrs) { ::new (attrs) A(); };
    made.methods = &detail::kByField;
    A defaults;
    A::each(defaults, [&]<class T>(const char* name, T& field) {
      const auto* base = reinterpret_cast<const std::byte*>(&defaults);
      made.add(name, detail::kind_of<T>(),
               static_cast<size_t>(reinterpret_cast<const std::byte*>(&field) - base),
               detail::info_of<T>());
    });
    return made;
  }();
  return type;
}

// Returns a view of an attribute struct.
template <class A>
AnyAttrs any_attrs(const A& attrs) {
  return {&attrs_type<A>(), &attrs};
}

}  // namespace tenon
