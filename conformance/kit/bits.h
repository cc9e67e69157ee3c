// std::bit_cast, which libc++ 14 lacks.

#pragma once

namespace tenon_kit {

template <class To, class From>
constexpr To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

}  // namespace tenon_kit
