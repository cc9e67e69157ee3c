// Constants of the transcendental functions for each dtype. An array holds one number as a sum of
// several parts, the largest first, which has more digits than one float.

#pragma once

#include <cstdint>
#include <limits>

#include "plugins/simd/vectors/coefficients.h"

namespace tenon_simd {

template <class T>
struct Constants;

template <>
struct Constants<float> {
  using Int = int32_t;
  static constexpr int kFractionBits = 23;
  static constexpr Int kBias = 127;
  // Adding this number to x leaves the integer nearest to x in the low bits of the sum.
  static constexpr float kMagic = 0x1.8p23f;
  static constexpr Int kMagicBits = 0x4b400000;
  static constexpr Int kSqrtHalfBits = 0x3f3504f3;
#if defined(__wasm__)
  // Without fused multiply-add, products of the first part with exponents must be exact.
  static constexpr float kLn2[] = {0x1.62e4p-1f, 0x1.7f7d1cp-20f};
  static constexpr float kLog10Of2[] = {0x1.344p-2f, 0x1.3509f8p-18f};
#else
  static constexpr float kLn2[] = {0x1.62e430p-1f, -0x1.05c610p-29f};
  static constexpr float kLog10Of2[] = {0x1.344136p-2f, -0x1.ec10c0p-27f};
#endif
  static constexpr float kLog2E = 0x1.715476p+0f;
  static constexpr float kLog10E[] = {0x1.bcb7b2p-2f, -0x1.5b235ep-27f};
  static constexpr float kHalfPi[] = {0x1.921fb6p+0f, -0x1.777a5cp-25f, -0x1.ee59dap-50f};
  static constexpr float kTwoOverPi = 0x1.45f306p-1f;
  static constexpr float kRsqrt2 = 0x1.6a09e6p-1f;
  // exp(x) is 0 below kExpLow and infinite above kExpHigh.
  static constexpr float kExpLow = -104.0f, kExpHigh = 89.0f;
  static constexpr float kExp2Low = -151.0f, kExp2High = 128.5f;
  static constexpr float kExpm1Low = -18.0f;  // Below this x, expm1(x) is -1.
  static constexpr float kTanhOne = 10.0f;    // Above this x, tanh(x) is 1.
  static constexpr float kErfOne = 4.0f;      // Above this x, erf(x) is 1.
  static constexpr float kErfcZero = 10.5f;   // Above this x, erfc(x) is 0.
  static constexpr float kDigammaRoot[] = {0x1.762d86p+0f, 0x1.ab5f1cp-27f};
  static constexpr float kSinhHigh = 89.5f;       // Above this x, sinh(x) is infinite.
  static constexpr float kTrigLarge = 0x1p16f;    // Below this x, reduction by pi/2 is accurate.
  static constexpr float kSquareLarge = 0x1p12f;  // Above this x, x^2 + 1 rounds to x^2.
  static constexpr float kUpscale = 0x1p25f;      // Makes every subnormal number normal.
  static constexpr float kUpscaleLog2 = 25.0f;    // log2 of kUpscale.
};

template <>
struct Constants<double> {
  using Int = int64_t;
  static constexpr int kFractionBits = 52;
  static constexpr Int kBias = 1023;
  static constexpr double kMagic = 0x1.8p52;
  static constexpr Int kMagicBits = 0x4338000000000000;
  static constexpr Int kSqrtHalfBits = 0x3fe6a09e667f3bcd;
#if defined(__wasm__)
  static constexpr double kLn2[] = {0x1.62e42fefa4p-1, -0x1.8432a1b0e2634p-43};
  static constexpr double kLog10Of2[] = {0x1.34413509f8p-2, -0x1.80433b83b532ap-44};
#else
  static constexpr double kLn2[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  static constexpr double kLog10Of2[] = {0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59};
#endif
  static constexpr double kLog2E = 0x1.71547652b82fep+0;
  static constexpr double kLog10E[] = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
  static constexpr double kHalfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                       -0x1.f1976b7ed8fbcp-110};
  static constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  static constexpr double kRsqrt2 = 0x1.6a09e667f3bcdp-1;
  static constexpr double kExpLow = -746.0, kExpHigh = 710.0;
  static constexpr double kExp2Low = -1076.0, kExp2High = 1024.5;
  static constexpr double kExpm1Low = -38.0;
  static constexpr double kTanhOne = 22.0;
  static constexpr double kErfOne = 6.0;
  static constexpr double kErfcZero = 28.0;
  static constexpr double kDigammaRoot[] = {0x1.762d86356be3fp+0, 0x1.b86a722197829p-54};
  static constexpr double kSinhHigh = 710.6;
  static constexpr double kTrigLarge = 0x1p28;
  static constexpr double kSquareLarge = 0x1p27;
  static constexpr double kUpscale = 0x1p54;
  static constexpr double kUpscaleLog2 = 54.0;
};

}  // namespace tenon_simd
