// Minimax polynomials, lowest coefficient first.
//
// The numbers are those that tools/coefficients/generate.py derives.

#pragma once

#include <array>

// clang-format off
namespace tenon_cpu {

// exp(r) = 1 + r + r^2 p(r); also good for expm1
template <class Scalar>
inline constexpr std::array<double, 0> kExp{};
// Off by at most 2^-28.7.
template <>
inline constexpr std::array<double, 6> kExp<float>{
    0x1.0000000000000p-1, 0x1.5555540000000p-3, 0x1.5554b00000000p-5, 0x1.11118a0000000p-7,
    0x1.6d723c0000000p-10, 0x1.a032d20000000p-13};
// Off by at most 2^-60.9.
template <>
inline constexpr std::array<double, 11> kExp<double>{
    0x1.0000000000000p-1, 0x1.5555555555559p-3, 0x1.555555555555ap-5, 0x1.111111110f6e5p-7,
    0x1.6c16c16c14bf1p-10, 0x1.a01a01af7f55ep-13, 0x1.a01a01a6370aep-16, 0x1.71ddf9e5ff0a5p-19,
    0x1.27e4eebbb9729p-22, 0x1.af5b59c01e86ap-26, 0x1.1f3cd3e31514cp-29};

// exp2(r) = 1 + r p(r)
template <class Scalar>
inline constexpr std::array<double, 0> kExp2{};
// Off by at most 2^-31.8.
template <>
inline constexpr std::array<double, 7> kExp2<float>{
    0x1.62e4300000000p-1, 0x1.ebfbe00000000p-3, 0x1.c6b06e0000000p-5, 0x1.3b2a5c0000000p-7,
    0x1.5da47c0000000p-10, 0x1.440e700000000p-13, 0x1.e20c1c0000000p-17};
// Off by at most 2^-57.1.
template <>
inline constexpr std::array<double, 11> kExp2<double>{
    0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5b3p-3, 0x1.c6b08d704a26ep-5, 0x1.3b2ab6fb9dae8p-7,
    0x1.5d87fe784615cp-10, 0x1.430913166acc2p-13, 0x1.ffcbfe60ff6eep-17, 0x1.62bfb4ec343e5p-20,
    0x1.b52094a575810p-24, 0x1.e63ad90588618p-28, 0x1.f0c1bda253e4bp-32};

// log((1 + s) / (1 - s)) = 2 s + s z p(z), z = s^2
template <class Scalar>
inline constexpr std::array<double, 0> kLog{};
// Off by at most 2^-30.2.
template <>
inline constexpr std::array<double, 3> kLog<float>{
    0x1.55557a0000000p-1, 0x1.995ed00000000p-2, 0x1.31e1a20000000p-2};
// Off by at most 2^-59.5.
template <>
inline constexpr std::array<double, 7> kLog<double>{
    0x1.5555555555593p-1, 0x1.999999997f9c6p-2, 0x1.249249422f9bap-2, 0x1.c71c51d18d47ep-3,
    0x1.74664b55c4facp-3, 0x1.39a0622961413p-3, 0x1.2f13d8f688b83p-3};

// sin(r) = r + r z p(z), z = r^2
template <class Scalar>
inline constexpr std::array<double, 0> kSin{};
// Off by at most 2^-27.9.
template <>
inline constexpr std::array<double, 3> kSin<float>{
    -0x1.5555460000000p-3, 0x1.1107780000000p-7, -0x1.99540a0000000p-13};
// Off by at most 2^-57.9.
template <>
inline constexpr std::array<double, 6> kSin<double>{
    -0x1.5555555555548p-3, 0x1.111111110f731p-7, -0x1.a01a019be9564p-13, 0x1.71de355565cd9p-19,
    -0x1.ae5e4bb9211adp-26, 0x1.5d8b66b60a31bp-33};

// cos(r) = 1 - z / 2 + z^2 p(z), z = r^2
template <class Scalar>
inline constexpr std::array<double, 0> kCos{};
// Off by at most 2^-33.0.
template <>
inline constexpr std::array<double, 3> kCos<float>{
    0x1.55554a0000000p-5, -0x1.6c0c280000000p-10, 0x1.99e80c0000000p-16};
// Off by at most 2^-63.9.
template <>
inline constexpr std::array<double, 6> kCos<double>{
    0x1.555555555554bp-5, -0x1.6c16c16c15016p-10, 0x1.a01a019c8f434p-16, -0x1.27e4f7f1a5589p-22,
    0x1.1ee9dbda35c94p-29, -0x1.8fa688ddd25fap-37};

// asin(x) = x + x z p(z), z = x^2, |x| <= 1/2
template <class Scalar>
inline constexpr std::array<double, 0> kAsin{};
// Off by at most 2^-27.6.
template <>
inline constexpr std::array<double, 5> kAsin<float>{
    0x1.5555c80000000p-3, 0x1.3302040000000p-4, 0x1.747bba0000000p-5, 0x1.8c3e300000000p-6,
    0x1.595c800000000p-5};
// Off by at most 2^-59.9.
template <>
inline constexpr std::array<double, 13> kAsin<double>{
    0x1.5555555555577p-3, 0x1.333333332e133p-4, 0x1.6db6db7212451p-5, 0x1.f1c71a95021b3p-6,
    0x1.6e8bdede73e1ep-6, 0x1.1c49f07e68720p-6, 0x1.ca1f8a3a91f3bp-7, 0x1.7585a442213c1p-7,
    0x1.613bf5eb5fa5cp-7, 0x1.e5fe7e7c9b90ep-9, 0x1.6399b1f6c6ce4p-6, -0x1.57f98d7fd5fc5p-6,
    0x1.0b457f5175884p-5};

// atan(x) = x + x z p(z), z = x^2, |x| <= 1
template <class Scalar>
inline constexpr std::array<double, 0> kAtan{};
// Off by at most 2^-27.6.
template <>
inline constexpr std::array<double, 9> kAtan<float>{
    -0x1.55553e0000000p-2, 0x1.9991e40000000p-3, -0x1.2420840000000p-3, 0x1.c08c1a0000000p-4,
    -0x1.5808100000000p-4, 0x1.da24b80000000p-5, -0x1.fd6f980000000p-6, 0x1.6410c40000000p-7,
    -0x1.d32d880000000p-10};
// Off by at most 2^-56.8.
template <>
inline constexpr std::array<double, 20> kAtan<double>{
    -0x1.5555555555526p-2, 0x1.99999999955b1p-3, -0x1.249249237f4b9p-3, 0x1.c71c717fccd9bp-4,
    -0x1.745d11ae4c461p-4, 0x1.3b13669894971p-4, -0x1.110e511bfce16p-4, 0x1.e1bba5fd31a89p-5,
    -0x1.ae5e711f1952cp-5, 0x1.82dad2ee54265p-5, -0x1.59a3f4d0a2058p-5, 0x1.2c2e4b157b4ebp-5,
    -0x1.e9f9dea3524cap-6, 0x1.683c99929a234p-6, -0x1.c78f832a7278fp-7, 0x1.d7b8d2d492e26p-8,
    -0x1.7a3955be0a792p-9, 0x1.b3fa813d19528p-11, -0x1.3f361e87943c5p-13, 0x1.bbed6e34289cep-17};

// sinh(x) = x + x z p(z), z = x^2, |x| <= 1
template <class Scalar>
inline constexpr std::array<double, 0> kSinh{};
// Off by at most 2^-31.6.
template <>
inline constexpr std::array<double, 4> kSinh<float>{
    0x1.5555560000000p-3, 0x1.1110e00000000p-7, 0x1.a022bc0000000p-13, 0x1.756c140000000p-19};
// Off by at most 2^-61.8.
template <>
inline constexpr std::array<double, 7> kSinh<double>{
    0x1.5555555555556p-3, 0x1.111111111101dp-7, 0x1.a01a01a037562p-13, 0x1.71de3a3ad4106p-19,
    0x1.ae647026acea6p-26, 0x1.6116dde81d0a9p-33, 0x1.b5d076773b19dp-41};

// erf(x) = x + x p(z), z = x^2, |x| <= 1
template <class Scalar>
inline constexpr std::array<double, 0> kErf{};
// Off by at most 2^-29.3.
template <>
inline constexpr std::array<double, 7> kErf<float>{
    0x1.06eba80000000p-3, -0x1.81273e0000000p-2, 0x1.ce2ce60000000p-4, -0x1.b7f71a0000000p-6,
    0x1.53f2240000000p-8, -0x1.a351620000000p-11, 0x1.4772080000000p-14};
// Off by at most 2^-56.0.
template <>
inline constexpr std::array<double, 12> kErf<double>{
    0x1.06eba8214db68p-3, -0x1.812746b03799dp-2, 0x1.ce2f21a03f8b4p-4, -0x1.b82ce311a951dp-6,
    0x1.565bcceed155fp-8, -0x1.c02daeb5299eep-11, 0x1.f9a2967b45ac2p-14, -0x1.f4c82acaecaf1p-17,
    0x1.b96b2618f8fafp-20, -0x1.5b8b0fced33dcp-23, 0x1.d3d3016ad0043p-27, -0x1.a21aaa7b99effp-31};

// log(erfc(1 + t)) = p(t), t in [0, 3] (float), [0, 5] (double)
template <class Scalar>
inline constexpr std::array<double, 0> kLogErfc{};
// Off by at most 2^-26.7.
template <>
inline constexpr std::array<double, 7> kLogErfc<float>{
    -0x1.d97fc00000000p+0, -0x1.51c9aa0000000p+1, -0x1.afad1c0000000p-1, -0x1.53ff2a0000000p-5,
    0x1.4441060000000p-7, -0x1.df8da40000000p-10, 0x1.86d5c00000000p-13};
// Off by at most 2^-58.7.
template <>
inline constexpr std::array<double, 19> kLogErfc<double>{
    -0x1.d97fbf27aa2a1p+0, -0x1.51c9b0006c244p+1, -0x1.afabc11a28a79p-1, -0x1.5477f09cf2b60p-5,
    0x1.48c9d41385245p-7, -0x1.033f69c39ce1ep-9, 0x1.f1b49b330f978p-13, 0x1.b8c5fe7417297p-16,
    -0x1.c7751ccce9b3bp-16, 0x1.41d5a01136b58p-17, -0x1.11df1b8b29660p-19, 0x1.10d6e5defefb1p-23,
    0x1.cc952112eb0fcp-24, -0x1.e4c03c0be3f0ap-25, 0x1.191dbf6eb90f5p-26, -0x1.b82d7e4420edcp-29,
    0x1.cee96c6b2b6a4p-32, -0x1.28b7efba49998p-35, 0x1.5eb9f82a9f33cp-40};

}  // namespace tenon_cpu
