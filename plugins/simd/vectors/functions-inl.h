// Macros that define the function classes for span-inl.h. Their arguments are expressions of the
// tag d, the operands (x, or a, b and c) and `params`.

#if defined(TENON_CPU_FUNCTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_FUNCTIONS_INL_H_
#undef TENON_CPU_FUNCTIONS_INL_H_
#else
#define TENON_CPU_FUNCTIONS_INL_H_
#endif

#undef TENON_CPU_FUNCTION1
#undef TENON_CPU_FUNCTION2
#undef TENON_CPU_FUNCTION3

#define TENON_CPU_FUNCTION1(name, expression)                                  \
  struct name {                                                                \
    template <class D, class V>                                                \
    HWY_INLINE V operator()([[maybe_unused]] D d, V x,                         \
                            [[maybe_unused]] const SpanParams& params) const { \
      return expression;                                                       \
    }                                                                          \
  };
#define TENON_CPU_FUNCTION2(name, expression)                                          \
  struct name {                                                                        \
    template <class D, class V>                                                        \
    HWY_INLINE V operator()([[maybe_unused]] D d, V a, V b, const SpanParams&) const { \
      return expression;                                                               \
    }                                                                                  \
  };
#define TENON_CPU_FUNCTION3(name, expression)                                               \
  struct name {                                                                             \
    template <class D, class V>                                                             \
    HWY_INLINE V operator()([[maybe_unused]] D d, V a, V b, V c, const SpanParams&) const { \
      return expression;                                                                    \
    }                                                                                       \
  };

#endif  // TENON_CPU_FUNCTIONS_INL_H_
