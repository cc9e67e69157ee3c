// Used by the mutated copies of sources, which mutate.py writes. Every mutation is compiled in, and
// environment variables choose the active one by its number.
//
//   TENON_MUTANT=17            the active mutation; without it the copies behave like the sources
//   TENON_MUTANT_REACHED=FILE  a file with one byte for each number, set when its point is reached
//
// An operator is mutated in place without parsing its operands: `a < b` becomes `a < Point<17,
// kLessEqual>() < b`. The first `<` captures `a`, and the second one chooses the operation.

#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tenon_mutants {

extern const int active;
extern unsigned char* const reached;

// Marks the mutation as reached. Returns whether it is the active one.
inline bool is_active(int id) {
  reached[id] = 1;
  return active == id;
}

enum Kind {
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kShort,  // The result is a < b - 1.
  kAdd,
  kSubtract,
  kMultiply,
  kFirst,   // The result is a.
  kSecond,  // The result is b, or a if a is a pointer.
  kSwap,    // The result is b - a.
  kNarrow,  // The result is a + b, rounded to 11 bits of significand.
  kOne,
  kPlusOne,
};

// Rounds to 11 bits of significand, as float16 has.
inline float round_to_11_bits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x1000u) & ~0x1fffu;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

template <Kind kind, class R, class A, class B>
R apply_mutation(const A& a, const B& b) {
  if constexpr (kind == kLess) return a < b;
  if constexpr (kind == kLessEqual) return a <= b;
  if constexpr (kind == kGreater) return a > b;
  if constexpr (kind == kGreaterEqual) return a >= b;
  if constexpr (kind == kEqual) return a == b;
  if constexpr (kind == kNotEqual) return a != b;
  if constexpr (kind == kShort) return a < b - 1;
  if constexpr (kind == kAdd) return static_cast<R>(a + b);
  if constexpr (kind == kSubtract) return static_cast<R>(a - b);
  if constexpr (kind == kMultiply) return static_cast<R>(a * b);
  if constexpr (kind == kFirst) return static_cast<R>(a);
  if constexpr (kind == kSecond && std::is_pointer_v<R>) return a;
  if constexpr (kind == kSecond && !std::is_pointer_v<R>) return static_cast<R>(b);
  if constexpr (kind == kSwap) return static_cast<R>(b - a);
  if constexpr (kind == kNarrow && std::is_floating_point_v<R>) {
    return static_cast<R>(round_to_11_bits(static_cast<float>(a + b)));
  }
  if constexpr (kind == kNarrow && !std::is_floating_point_v<R>) return static_cast<R>(a + b);
}

// A mutation point. The mutations of one operator have consecutive numbers, from `id` on.
template <int id, Kind... kinds>
struct Point {};

template <class A, int id, Kind... kinds>
struct Left {
  A a;
};

// If one of the mutations from number `id` on is active, stores the result of the mutated operator.
// Returns whether one is active.
template <class R, int id, Kind kind, Kind... rest, class A, class B>
bool apply_active_mutation(const A& a, const B& b, R& result) {
  if (is_active(id)) {
    result = apply_mutation<kind, R>(a, b);
    return true;
  }
  if constexpr (sizeof...(rest) > 0) return apply_active_mutation<R, id + 1, rest...>(a, b, result);
  return false;
}

#define TM_OPERATOR(op)                                                              \
  template <class A, int id, Kind... kinds>                                          \
  Left<std::decay_t<A>, id, kinds...> operator op(const A& a, Point<id, kinds...>) { \
    return {a};                                                                      \
  }                                                                                  \
  template <class A, int id, Kind... kinds, class B>                                 \
  auto operator op(Left<A, id, kinds...> left, const B& b) {                         \
    using R = std::decay_t<decltype(left.a op b)>;                                   \
    R result;                                                                        \
    return apply_active_mutation<R, id, kinds...>(left.a, b, result)                 \
               ? result                                                              \
               : static_cast<R>(left.a op b);                                        \
  }
TM_OPERATOR(<)
TM_OPERATOR(<=)
TM_OPERATOR(>)
TM_OPERATOR(>=)
TM_OPERATOR(==)
TM_OPERATOR(!=)
TM_OPERATOR(+)
TM_OPERATOR(-)
TM_OPERATOR(*)
TM_OPERATOR(/)
TM_OPERATOR(%)
#undef TM_OPERATOR

// Mutates a compound assignment, written as `a += Point() += b`.
template <class B, int id, Kind... kinds>
struct Right {
  B b;
};
#define TM_ASSIGNMENT(op)                                                              \
  template <int id, Kind... kinds, class B>                                            \
  Right<std::decay_t<B>, id, kinds...> operator op(Point<id, kinds...>, const B& b) {  \
    return {b};                                                                        \
  }                                                                                    \
  template <class A, class B, int id, Kind... kinds>                                   \
  A& operator op(A& a, Right<B, id, kinds...> right) {                                 \
    A result;                                                                          \
    if (apply_active_mutation<A, id, kinds...>(a, right.b, result)) return a = result; \
    return a op right.b;                                                               \
  }
TM_ASSIGNMENT(+=)
TM_ASSIGNMENT(-=)
TM_ASSIGNMENT(*=)
#undef TM_ASSIGNMENT

// Mutates a value, written as `x->*Point()`.
template <class A, int id>
A operator->*(const A& a, Point<id, kOne>) {
  return is_active(id) ? static_cast<A>(1) : a;
}
template <class A, int id>
A operator->*(const A& a, Point<id, kPlusOne>) {
  return is_active(id) ? static_cast<A>(a + 1) : a;
}

}  // namespace tenon_mutants

#define TM_POINT(...) \
  ::tenon_mutants::Point<__VA_ARGS__> {}
#define TM_ON(id) ::tenon_mutants::is_active(id)
#define TM_NOT(id, ...) (static_cast<bool>(__VA_ARGS__) != ::tenon_mutants::is_active(id))
// TM_AND acts as || if the mutation is on, and TM_OR acts as &&.
#define TM_AND(id, a, b) (static_cast<bool>(a) ? (TM_ON(id) || (b)) : (TM_ON(id) && (b)))
#define TM_OR(id, a, b) (static_cast<bool>(a) ? (!TM_ON(id) || (b)) : (!TM_ON(id) && (b)))
