#include "core/base/attrs.h"

#include <algorithm>
#include <functional>
#include <type_traits>

namespace tenon {

template class SmallVector<int64_t, 6>;

namespace {

// The C representation of a list attribute.
struct CInts {
  const int64_t* data;
  size_t size;
};

// Accesses an enumeration attribute of any type by memcpy. Access through an int32_t pointer would
// violate strict aliasing.
class EnumWord {
 public:
  int32_t get() const {
    int32_t value;
    std::memcpy(&value, bytes_, sizeof value);
    return value;
  }
  void set(int32_t value) { std::memcpy(bytes_, &value, sizeof value); }
  friend bool operator==(const EnumWord& a, const EnumWord& b) { return a.get() == b.get(); }

 private:
  alignas(int32_t) std::byte bytes_[sizeof(int32_t)];
};

[[noreturn]] void fail_attr(std::string_view name, std::string_view what, int64_t value) {
  fail(Code::kInvalidArgument, "attribute {}: value {} {}", {name, value, what});
}

// Calls use(T*, C*) with null pointers. T and C are the C++ type and the C type of fields of this
// kind.
template <class Use>
auto with_types(AttrKind kind, const Use& use) {
  const auto types = [&]<class T, class C>() {
    return use(static_cast<T*>(nullptr), static_cast<C*>(nullptr));
  };
  switch (kind) {
    case AttrKind::kInt:
      return types.template operator()<int64_t, int64_t>();
    case AttrKind::kFloat:
      return types.template operator()<double, double>();
    case AttrKind::kBool:
      return types.template operator()<bool, bool>();
    case AttrKind::kDType:
      return types.template operator()<DType, tenon_dtype>();
    case AttrKind::kEnum:
      return types.template operator()<EnumWord, int32_t>();
    case AttrKind::kInts:
      return types.template operator()<Ints, CInts>();
    case AttrKind::kSize:
      return types.template operator()<Size, int64_t>();
    case AttrKind::kSizes:
      return types.template operator()<Sizes, CInts>();
    case AttrKind::kRegions:
      return types.template operator()<Regions, CInts>();
    case AttrKind::kHeld:
      return types.template operator()<HostObject, CInts>();
    default:
      return types.template operator()<std::string, tenon_string>();
  }
}

// Destroys the first n fields.
void destroy_first(size_t n, const AttrsType& type, void* attrs) {
  for (const AttrField& field : type.all().first(n)) {
    with_types(field.kind, [&]<class T, class C>(T*, C*) { field.get<T>(attrs).~T(); });
  }
}

// Copies the fields of `from` to the uninitialised struct `attrs`.
void copy(const AttrsType& type, void* attrs, const void* from) {
  size_t n = 0;
  try {
    for (; n < type.n_fields; ++n) {
      const AttrField& field = type.fields[n];
      with_types(field.kind, [&]<class T, class C>(T*, C*) {
        ::new (&field.get<T>(attrs)) T(field.get<T>(from));
      });
    }
  } catch (...) {
    destroy_first(n, type, attrs);
    throw;
  }
}

void destroy(const AttrsType& type, void* attrs) { destroy_first(type.n_fields, type, attrs); }

// Compares field by field. Floats are compared bitwise, so that a NaN equals itself and -0 differs
// from 0.
bool equal(const AttrsType& type, const void* a, const void* b) {
  for (const AttrField& field : type.all()) {
    const bool same = with_types(field.kind, [&]<class T, class C>(T*, C*) {
      const T &x = field.get<T>(a), &y = field.get<T>(b);
      if constexpr (std::is_same_v<T, double>) {
        return std::memcmp(&x, &y, sizeof x) == 0;
      } else if constexpr (std::is_same_v<T, Size>) {
        return identical(x, y);
      } else if constexpr (std::is_same_v<T, Sizes>) {
        return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                          [](Size a, Size b) { return identical(a, b); });
      } else if constexpr (std::is_same_v<T, Regions>) {
        return std::equal(x.begin(), x.end(), y.begin(), y.end());
      } else {
        return x == y;
      }
    });
    if (!same) return false;
  }
  return true;
}

uint64_t hash_of(const Ints& value) {
  uint64_t h = value.size();
  for (const int64_t v : value) h = detail::mix(h, static_cast<uint64_t>(v));
  return h;
}
uint64_t hash_of(Size value) { return static_cast<uint64_t>(value.word()); }
uint64_t hash_of(const Sizes& value) {
  uint64_t h = value.size();
  for (const Size v : value) h = detail::mix(h, hash_of(v));
  return h;
}
uint64_t hash_of(const Regions& value) {
  uint64_t h = value.size();
  for (const auto& v : value) h = detail::mix(h, reinterpret_cast<uintptr_t>(v.get()));
  return h;
}
uint64_t hash_of(const HostObject& value) { return reinterpret_cast<uintptr_t>(value.get()); }
uint64_t hash_of(const std::string& value) { return std::hash<std::string>{}(value); }
uint64_t hash_of(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
uint64_t hash_of(const EnumWord& value) { return static_cast<uint64_t>(value.get()); }
template <class T>
uint64_t hash_of(const T& value) {
  return static_cast<uint64_t>(value);
}

uint64_t hash(const AttrsType& type, const void* attrs) {
  uint64_t h = 1;
  for (const AttrField& field : type.all()) {
    h = detail::mix(h, with_types(field.kind, [&]<class T, class C>(T*, C*) {
                      return hash_of(field.get<T>(attrs));
                    }));
  }
  return h;
}

// Sets the value of a field to `c`, its value in the C struct. Fails if `c` is invalid.
void set_from_c(const AttrField& field, EnumWord& value, int32_t c) {
  const auto n = static_cast<int64_t>(field.info().values.size());
  if (c < 0 || c >= n) fail_attr(field.name, "is not a known value", c);
  value.set(c);
}
void set_from_c(const AttrField& field, DType& value, tenon_dtype c) {
  bool known = false;
  value = dtype_from_c(c, &known);
  if (!known) {
    fail_attr(field.name, "is not a known dtype", static_cast<int64_t>(c));
  }
}
// A list or text whose pointer is NULL keeps its default.
void set_from_c(const AttrField&, Ints& value, CInts c) {
  if (c.data != nullptr) value = Ints(std::span<const int64_t>(c.data, c.size));
}
void set_from_c(const AttrField&, Sizes& value, CInts c) {
  if (c.data == nullptr) return;
  value.clear();
  for (size_t i = 0; i < c.size; ++i) value.push_back(Size::number(c.data[i]));
}
void set_from_c(const AttrField&, Size& value, int64_t c) { value = Size::number(c); }
void set_from_c(const AttrField&, Regions&, CInts) {}
void set_from_c(const AttrField&, HostObject&, CInts) {}
void set_from_c(const AttrField&, std::string& value, tenon_string c) {
  if (c.data != nullptr) value.assign(c.data, c.size);
}
template <class T>
void set_from_c(const AttrField&, T& value, T c) {
  value = c;
}

// Copies the fields that the C struct `c` contains. Its first word is its size in bytes.
void from_c(const AttrsType& type, void* attrs, const void* c) {
  uint32_t given;
  std::memcpy(&given, c, sizeof given);
  for (const AttrField& field : type.all()) {
    with_types(field.kind, [&]<class T, class C>(T*, C*) {
      if (field.c_offset + sizeof(C) > given) return;
      C value;
      std::memcpy(&value, static_cast<const std::byte*>(c) + field.c_offset, sizeof value);
      set_from_c(field, field.get<T>(attrs), value);
    });
  }
}

// Converts the value of a field to its C type.
CInts as_c(const Ints& value) { return {value.data(), value.size()}; }
CInts as_c(const Sizes& value) {
  return {reinterpret_cast<const int64_t*>(value.data()), value.size()};
}
CInts as_c(const Regions&) { return {nullptr, 0}; }
CInts as_c(const HostObject&) { return {nullptr, 0}; }
int64_t as_c(Size value) { return value.word(); }
tenon_string as_c(const std::string& value) { return {value.data(), value.size()}; }
int32_t as_c(const EnumWord& value) { return value.get(); }
tenon_dtype as_c(DType value) { return to_c(value); }
template <class T>
T as_c(const T& value) {
  return value;
}

// Writes all fields of `attrs` to the C struct `c`.
void write(const AttrsType& type, const void* attrs, void* c) {
  for (const AttrField& field : type.all()) {
    with_types(field.kind, [&]<class T, class C>(T*, C*) {
      const C value = as_c(field.get<T>(attrs));
      std::memcpy(static_cast<std::byte*>(c) + field.c_offset, &value, sizeof value);
    });
  }
  const auto size = static_cast<uint32_t>(type.c_size);
  std::memcpy(c, &size, sizeof size);
}

// Rounds up to a multiple of `align`.
size_t round_up(size_t offset, size_t align) { return (offset + align - 1) / align * align; }

}  // namespace

const AttrsMethods detail::kByField = {copy, destroy, equal, hash, from_c, write};

void AttrsType::add(const char* name, AttrKind kind, size_t offset, EnumInfo (*info)()) {
  require_code(n_fields < kMaxFields, Code::kInternal,
               "attribute {} exceeds the maximum number of attributes", name);
  with_types(kind, [&]<class T, class C>(T*, C*) {
    // The new field follows the last one or, if there is none, struct_size. It may lie in what was
    // the trailing padding of the struct without it.
    const AttrField* last = n_fields ? &fields[n_fields - 1] : nullptr;
    const size_t end =
        last ? with_types(last->kind,
                          [&]<class U, class D>(U*, D*) { return last->c_offset + sizeof(D); })
             : sizeof(uint32_t);
    fields[n_fields++] = {name, kind, static_cast<uint32_t>(offset),
                          static_cast<uint32_t>(round_up(end, alignof(C))), info};
    c_align = std::max({c_align, alignof(C), alignof(uint32_t)});
    c_size = round_up(fields[n_fields - 1].c_offset + sizeof(C), c_align);
  });
}

const AttrField* AttrsType::find(std::string_view name) const {
  for (const AttrField& field : all()) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

void AttrsType::visit(const void* attrs, AttrVisitor& visitor) const {
  for (const AttrField& field : all()) {
    switch (field.kind) {
      case AttrKind::kInt:
        visitor.on_int(field.name, field.get<int64_t>(attrs));
        break;
      case AttrKind::kFloat:
        visitor.on_float(field.name, field.get<double>(attrs));
        break;
      case AttrKind::kBool:
        visitor.on_bool(field.name, field.get<bool>(attrs));
        break;
      case AttrKind::kDType:
        visitor.on_dtype(field.name, field.get<DType>(attrs));
        break;
      case AttrKind::kEnum:
        visitor.on_enum(field.name, field.get_enum(attrs), field.info());
        break;
      case AttrKind::kInts:
        visitor.on_ints(field.name, field.get<Ints>(attrs));
        break;
      case AttrKind::kSize:
        visitor.on_size(field.name, field.get<Size>(attrs));
        break;
      case AttrKind::kSizes:
        visitor.on_sizes(field.name, field.get<Sizes>(attrs));
        break;
      case AttrKind::kRegions:
        visitor.on_regions(field.name, field.get<Regions>(attrs));
        break;
      case AttrKind::kHeld:
        break;
      case AttrKind::kText:
        visitor.on_string(field.name, field.get<std::string>(attrs));
        break;
    }
  }
}

}  // namespace tenon
