// Tests the oracle against literals that can be verified by hand. The conformance kit takes its
// expected values from the oracle, so it cannot test the oracle itself.

#include <gtest/gtest.h>

#include <limits>

#include "plugins/ref/ref_testing.h"

namespace {

using namespace tenon_ref_testing;

// ---- unary

TEST(RefUnary, NegAndAbsOfTheMostNegativeIntegerWrap) {
  const Tensor x = i8({-128, -5, 0, 7});
  EXPECT_NUMBERS(call(TENON_OP_neg, {x}, i8({4}, {})), -128, 5, 0, -7);
  EXPECT_NUMBERS(call(TENON_OP_abs, {x}, i8({4}, {})), -128, 5, 0, 7);
  EXPECT_NUMBERS(call(TENON_OP_sign, {x}, i8({4}, {})), -1, -1, 0, 1);
  EXPECT_NUMBERS(call(TENON_OP_neg, {u8({1, 0})}, u8({2}, {})), 255, 0);
  const Tensor least = i64({std::numeric_limits<int64_t>::min()});
  EXPECT_EQ(call(TENON_OP_abs, {least}, i64({1}, {})).elements<int64_t>(),
            least.elements<int64_t>());
}

TEST(RefUnary, BitwiseNotFlipsBitsOfIntegersAndNegatesBool) {
  EXPECT_NUMBERS(call(TENON_OP_bitwise_not, {i8({0, -1, 5})}, i8({3}, {})), -1, 0, -6);
  EXPECT_NUMBERS(call(TENON_OP_bitwise_not, {u8({0, 255})}, u8({2}, {})), 255, 0);
  EXPECT_NUMBERS(call(TENON_OP_bitwise_not, {boolean({true, false})}, boolean({2}, {})), 0, 1);
}

TEST(RefUnary, EveryNonzeroByteOfABoolIsTrue) {
  Tensor x = u8({0, 1, 2, 255});
  x.dtype = TENON_BOOL;
  EXPECT_NUMBERS(call(TENON_OP_logical_not, {x}, boolean({4}, {})), 1, 0, 0, 0);
}

TEST(RefUnary, RoundTiesToEven) {
  const Tensor x = f32({-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 2.75f});
  EXPECT_NUMBERS(call(TENON_OP_round, {x}, f32({7}, {})), -2, -2, -0.0, 0, 2, 2, 3);
}

TEST(RefUnary, SignOfNanIsNanAndOfZeroIsZero) {
  EXPECT_NUMBERS(call(TENON_OP_sign, {f32({kNaN, 0, -0.25f})}, f32({3}, {})), kNaN, 0, -1);
}

TEST(RefUnary, SigmoidSaturatesWithoutOverflow) {
  const Tensor x = f64({-1e4, 0, 1e4});
  EXPECT_NUMBERS(call(TENON_OP_sigmoid, {x}, f64({3}, {})), 0, 0.5, 1);
}

TEST(RefUnary, DigammaAndTrigammaHaveTheirPolesAndSatisfyTheRecurrence) {
  const Tensor x = f64({0, -0.0, -3, kInf, 1, -0.5}), out = f64({6}, {});
  EXPECT_NUMBERS(call(TENON_OP_digamma, {x}, out), -kInf, kInf, kNaN, kInf, -0.57721566490153287,
                 0.036489973978576520);
  EXPECT_NUMBERS(call(TENON_OP_trigamma, {x}, out), kInf, kInf, kInf, 0, 1.6449340668482264,
                 8.9348022005446790);
}

TEST(RefUnary, PredicatesDistinguishNanFromInfinity) {
  const Tensor x = f16({1, kNaN, static_cast<float>(-kInf)});
  EXPECT_NUMBERS(call(TENON_OP_isnan, {x}, boolean({3}, {})), 0, 1, 0);
  EXPECT_NUMBERS(call(TENON_OP_isinf, {x}, boolean({3}, {})), 0, 0, 1);
}

TEST(RefUnary, HalfTypesRoundOnce) {
  EXPECT_NUMBERS(call(TENON_OP_sqrt, {f16({2})}, f16({1}, {})), 1.4140625);
  EXPECT_NUMBERS(call(TENON_OP_exp, {bf16({1})}, bf16({1}, {})), 2.71875);
}

TEST(RefUnary, SupportsScalarsPassedByValueAndEmptyTensors) {
  EXPECT_NUMBERS(call(TENON_OP_neg, {f32({}, {3})}, f32({}, {})), -3);
  EXPECT_NUMBERS(call(TENON_OP_neg, {by_value(f32({}, {3}))}, f32({}, {})), -3);
  EXPECT_TRUE(call(TENON_OP_neg, {f32({2, 0}, {})}, f32({2, 0}, {})).bytes.empty());
}

// ---- binary

TEST(RefBinary, IntegerDivisionTruncatesAndModFloors) {
  const Tensor a = i32({7, -7, 7, -7, 5}), b = i32({2, 2, -2, -2, 0}), out = i32({5}, {});
  EXPECT_NUMBERS(call(TENON_OP_div, {a, b}, out), 3, -3, -3, 3, 0);
  EXPECT_NUMBERS(call(TENON_OP_floor_div, {a, b}, out), 3, -4, -4, 3, 0);
  EXPECT_NUMBERS(call(TENON_OP_mod, {a, b}, out), 1, 1, -1, -1, 0);
  EXPECT_NUMBERS(call(TENON_OP_fmod, {a, b}, out), 1, -1, 1, -1, 0);
}

TEST(RefBinary, TheMostNegativeIntegerDividedByMinusOneWraps) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  const Tensor a = i64({least}), b = i64({-1}), out = i64({1}, {});
  EXPECT_EQ(call(TENON_OP_div, {a, b}, out).elements<int64_t>(), std::vector<int64_t>{least});
  EXPECT_NUMBERS(call(TENON_OP_mod, {a, b}, out), 0);
  EXPECT_NUMBERS(call(TENON_OP_div, {i8({-128}), i8({-1})}, i8({1}, {})), -128);
}

TEST(RefBinary, IntegersWrap) {
  EXPECT_NUMBERS(call(TENON_OP_add, {i8({127}), i8({1})}, i8({1}, {})), -128);
  EXPECT_NUMBERS(call(TENON_OP_sub, {u8({0}), u8({1})}, u8({1}, {})), 255);
  EXPECT_NUMBERS(call(TENON_OP_mul, {i32({1 << 30}), i32({4})}, i32({1}, {})), 0);
}

TEST(RefBinary, IntegerPowersWrapAndNegativeExponentsGiveZero) {
  const Tensor a = i8({2, -2, 3, 1, -1, 5, 0, 0}), b = i8({7, 7, 0, -3, -3, -1, 0, -1});
  EXPECT_NUMBERS(call(TENON_OP_pow, {a, b}, i8({8}, {})), -128, -128, 1, 1, -1, 0, 1, 0);
}

TEST(RefBinary, ShiftsBeyondTheWidthGiveZeroOrTheSign) {
  const Tensor a = i8({1, 1, -3, -3, 100}), b = i8({7, 8, 1, 100, -1}), out = i8({5}, {});
  EXPECT_NUMBERS(call(TENON_OP_shift_left, {a, b}, out), -128, 0, -6, 0, 0);
  EXPECT_NUMBERS(call(TENON_OP_shift_right, {a, b}, out), 0, 0, -2, -1, 0);
  EXPECT_NUMBERS(call(TENON_OP_shift_right, {u8({255}), u8({9})}, u8({1}, {})), 0);
  EXPECT_NUMBERS(call(TENON_OP_shift_left, {i64({3}), i64({64})}, i64({1}, {})), 0);
}

TEST(RefBinary, FloatFloorDivisionMatchesNumPy) {
  const float inf = kInf;
  const Tensor a = f32({-7, 7, 1, -1, inf, 1, 0}), b = f32({2, -2, inf, inf, 2, 0, -5});
  EXPECT_NUMBERS(call(TENON_OP_floor_div, {a, b}, f32({7}, {})), -4, -4, 0, -1, kNaN, kInf, -0.0);
  EXPECT_NUMBERS(call(TENON_OP_mod, {a, b}, f32({7}, {})), 1, -1, 1, kInf, kNaN, kNaN, -0.0);
  EXPECT_NUMBERS(call(TENON_OP_floor_div, {f32({-0.0f}), f32({5})}, f32({1}, {})), -0.0);
}

TEST(RefBinary, MaximumAndMinimumPropagateNan) {
  const Tensor a = f32({1, kNaN, 1}), b = f32({2, 1, kNaN});
  EXPECT_NUMBERS(call(TENON_OP_maximum, {a, b}, f32({3}, {})), 2, kNaN, kNaN);
  EXPECT_NUMBERS(call(TENON_OP_minimum, {a, b}, f32({3}, {})), 1, kNaN, kNaN);
}

TEST(RefBinary, ComparisonsAreExactForWideIntegersAndFalseForNan) {
  const Tensor a = i64({9007199254740992, -1}), b = i64({9007199254740993, 1});
  EXPECT_NUMBERS(call(TENON_OP_equal, {a, b}, boolean({2}, {})), 0, 0);
  EXPECT_NUMBERS(call(TENON_OP_less, {a, b}, boolean({2}, {})), 1, 1);
  EXPECT_NUMBERS(call(TENON_OP_equal, {f32({kNaN}), f32({kNaN})}, boolean({1}, {})), 0);
  EXPECT_NUMBERS(call(TENON_OP_not_equal, {f32({kNaN}), f32({kNaN})}, boolean({1}, {})), 1);
}

TEST(RefBinary, OperandsMayHaveAnyStrides) {
  const Tensor x = f32({1, 2, 3, 4, 5, 6});
  const Tensor transposed = x.as({3, 2}, {1, 3}), reversed = x.as({3, 2}, {-2, -1}, 5);
  EXPECT_NUMBERS(call(TENON_OP_add, {transposed, reversed}, f32({3, 2}, {})), 7, 9, 6, 8, 5, 7);
  const Tensor row = x.as({3, 2}, {0, 1});
  EXPECT_NUMBERS(call(TENON_OP_sub, {transposed, row}, f32({3, 2}, {})), 0, 2, 1, 3, 2, 4);
}

TEST(RefBinary, DoubleOperationsRoundOnce) {
  // The exact sum is 2^-64 below a tie. An 80-bit sum would be rounded to the tie first, and then
  // up.
  const Tensor a = f64({1 + 0x1p-52}), b = f64({0x1p-53 - 0x1p-64});
  EXPECT_NUMBERS(call(TENON_OP_add, {a, b}, f64({1}, {})), 1 + 0x1p-52);
}

TEST(RefBinary, NextafterStepsInTheOperandsDType) {
  const Tensor a = f16({1, 0, -0.0f, 65504}), b = f16({2, -1, 0, kInf});
  EXPECT_NUMBERS(call(TENON_OP_nextafter, {a, b}, f16({4}, {})), 1 + 0x1p-10, -0x1p-24, 0.0, kInf);
  EXPECT_NUMBERS(call(TENON_OP_nextafter, {f64({1}), f64({0})}, f64({1}, {})), 1 - 0x1p-53);
  EXPECT_NUMBERS(call(TENON_OP_nextafter, {f32({kNaN}), f32({0})}, f32({1}, {})), kNaN);
}

// ---- ternary

TEST(RefTernary, FmaRoundsOnce) {
  // 4097 * 4097 is 16785409, which float32 cannot represent. fma must not round it before adding.
  EXPECT_NUMBERS(call(TENON_OP_fma, {f32({4097}), f32({4097}), f32({-16785408})}, f32({1}, {})), 1);
  // The exact product is a tie, which rounds up to even. The addend makes the sum lie just below
  // the tie, so that it rounds down. In the bfloat16 case, a double cannot represent the
  // difference.
  const Tensor f = f16({1 + 0x1p-10f}), b = bf16({1 + 0x1p-7f});
  EXPECT_NUMBERS(call(TENON_OP_fma, {f16({1.5f}), f, f16({0})}, f16({1}, {})), 1.5 + 0x1p-9);
  EXPECT_NUMBERS(call(TENON_OP_fma, {f16({1.5f}), f, f16({-0x1p-24f})}, f16({1}, {})),
                 1.5 + 0x1p-10);
  EXPECT_NUMBERS(call(TENON_OP_fma, {bf16({1.5f}), b, bf16({-0x1p-60f})}, bf16({1}, {})),
                 1.5 + 0x1p-7);
}

TEST(RefTernary, ClipAppliesTheLowerBoundFirstAndPropagatesNan) {
  const Tensor x = f32({-5, 0.5f, 5, kNaN, 1, 1}), low = f32({0, 0, 0, 0, kNaN, 3});
  EXPECT_NUMBERS(call(TENON_OP_clip, {x, low, f32({1, 1, 1, 1, 1, 2})}, f32({6}, {})), 0, 0.5, 1,
                 kNaN, kNaN, 2);
}

TEST(RefTernary, WhereIgnoresNanInTheOperandThatIsNotSelected) {
  const Tensor condition = boolean({true, false}), x = f64({1, kNaN}), y = f64({kNaN, 2});
  EXPECT_NUMBERS(call(TENON_OP_where, {condition, x, y}, f64({2}, {})), 1, 2);
}

// ---- create, copy, cast

TEST(RefCreate, FillAcceptsAValueInMemoryOrPassedByValue) {
  EXPECT_NUMBERS(call(TENON_OP_fill, {i8({}, {7})}, i8({2, 2}, {})), 7, 7, 7, 7);
  EXPECT_NUMBERS(call(TENON_OP_fill, {by_value(f64({}, {0.1}))}, f64({2}, {})), 0.1, 0.1);
}

TEST(RefCreate, IotaCountsAlongItsAxisAndWraps) {
  auto attrs = make_attrs<tenon_iota_attrs>();
  attrs.axis = 1;
  EXPECT_NUMBERS(call(TENON_OP_iota, {}, i32({2, 3}, {}), &attrs), 0, 1, 2, 0, 1, 2);
  attrs.axis = -2;
  EXPECT_NUMBERS(call(TENON_OP_iota, {}, f16({2, 3}, {}), &attrs), 0, 0, 0, 1, 1, 1);
  EXPECT_EQ(call(TENON_OP_iota, {}, i8({130, 1}, {}), &attrs).numbers().back(), -127);
}

TEST(RefCopy, CopiesAnyStridesToADenseTensor) {
  const Tensor x = u8({1, 2, 3, 4, 5, 6});
  EXPECT_NUMBERS(call(TENON_OP_copy, {x.as({3, 2}, {-1, -3}, 5)}, u8({3, 2}, {})), 6, 3, 5, 2, 4,
                 1);
}

TEST(RefCast, FloatsToIntegersTruncateAndSaturate) {
  const float inf = kInf;
  const Tensor x = f32({-1.9f, 1.9f, 300, -300, kNaN, inf});
  EXPECT_NUMBERS(call(TENON_OP_cast, {x}, i8({6}, {})), -1, 1, 127, -128, 0, 127);
  EXPECT_NUMBERS(call(TENON_OP_cast, {x}, u8({6}, {})), 0, 1, 255, 0, 0, 255);
  EXPECT_NUMBERS(call(TENON_OP_cast, {x}, i32({6}, {})), -1, 1, 300, -300, 0, 2147483647);
  EXPECT_NUMBERS(call(TENON_OP_cast, {x}, boolean({6}, {})), 1, 1, 1, 1, 1, 1);
  const Tensor wide = call(TENON_OP_cast, {f64({1e300, -1e300})}, i64({2}, {}));
  EXPECT_EQ(wide.elements<int64_t>(), (std::vector<int64_t>{std::numeric_limits<int64_t>::max(),
                                                            std::numeric_limits<int64_t>::min()}));
  const Tensor most = call(TENON_OP_cast, {f64({0x1p64, 0x1p63})}, u64({2}, {}));
  EXPECT_EQ(most.elements<uint64_t>(),
            (std::vector<uint64_t>{std::numeric_limits<uint64_t>::max(), uint64_t{1} << 63}));
}

TEST(RefCast, IntegersWrapAndBoolIsOneOrZero) {
  EXPECT_NUMBERS(call(TENON_OP_cast, {i32({-1, 256, 200})}, u8({3}, {})), 255, 0, 200);
  EXPECT_NUMBERS(call(TENON_OP_cast, {i32({-1, 0})}, boolean({2}, {})), 1, 0);
  EXPECT_NUMBERS(call(TENON_OP_cast, {boolean({true, false})}, f32({2}, {})), 1, 0);
}

TEST(RefCast, NarrowingRoundsOnceTiesToEven) {
  // 2049 and 2051 are halfway between float16 values and round to even. 65519 rounds to the largest
  // float16 value, 65504; 65520 rounds to infinity.
  EXPECT_NUMBERS(call(TENON_OP_cast, {f64({2049, 2051, 65519, 65520, 0x1p-25})}, f16({5}, {})),
                 2048, 2052, 65504, kInf, 0);
  // 2049 + 2^-20 rounds up to 2050. Rounding it to float32 first would give the tie 2049, which
  // rounds down to 2048.
  EXPECT_NUMBERS(call(TENON_OP_cast, {f64({2049 + 0x1p-20})}, f16({1}, {})), 2050);
  // This integer is just above a tie and rounds up. Rounding it to double first would give the tie,
  // which rounds down.
  const Tensor wide = i64({(int64_t{1} << 62) + (int64_t{1} << 54) + 1});
  EXPECT_NUMBERS(call(TENON_OP_cast, {wide}, bf16({1}, {})), 0x1p62 + 0x1p55);
}

TEST(RefCast, EveryHalfValueIsUnchangedByWideningAndNarrowing) {
  int wrong = 0;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float half = tenon_sdk::half_value(static_cast<uint16_t>(bits));
    const float brain = tenon_sdk::bfloat16_value(static_cast<uint16_t>(bits));
    wrong += half == half && tenon_sdk::half_bits(half) != bits;
    wrong += brain == brain && tenon_sdk::bfloat16_bits(brain) != bits;
  }
  EXPECT_EQ(wrong, 0);
}

// ---- random

TEST(RefRandom, MatchesPublishedPhiloxVectors) {
  const uint32_t ones = 0xffffffff;
  const Tensor out = u32({4}, {}), state = u32({6}, {});
  const auto draw = [&](const Tensor& from) {
    return run(TENON_OP_rng_bits, {from}, {out, state})[0].elements<uint32_t>();
  };
  EXPECT_EQ(draw(u32({0, 0, 0, 0, 0, 0})),
            (std::vector<uint32_t>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(draw(u32({ones, ones, ones, ones, ones, ones})),
            (std::vector<uint32_t>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(draw(u32({0xa4093822, 0x299f31d0, 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344})),
            (std::vector<uint32_t>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RefRandom, ADrawAdvancesTheCounterByWholeBlocksWithCarry) {
  const Tensor from = u32({1, 2, 0xffffffff, 0xffffffff, 5, 0});
  const Launched five = run(TENON_OP_rng_bits, {from}, {u32({5}, {}), u32({6}, {})});
  EXPECT_NUMBERS(five[1], 1, 2, 1, 0, 6, 0);
  const Launched none = run(TENON_OP_rng_bits, {from}, {u32({0}, {}), u32({6}, {})});
  EXPECT_EQ(none[1].bytes, from.bytes);
  // The fifth word drawn from `from` is the first word of the following block, whose counter is (0,
  // 0, 6, 0).
  const Launched next =
      run(TENON_OP_rng_bits, {u32({1, 2, 0, 0, 6, 0})}, {u32({1}, {}), u32({6}, {})});
  EXPECT_EQ(five[0].elements<uint32_t>()[4], next[0].elements<uint32_t>()[0]);
}

TEST(RefRandom, Uint64DrawsTakeTwoWordsLowWordFirst) {
  const Tensor from = u32({0, 0, 0, 0, 0, 0});
  const Launched wide = run(TENON_OP_rng_bits, {from}, {u64({3}, {}), u32({6}, {})});
  EXPECT_EQ(wide[0].elements<uint64_t>()[0], 0xe169c58d6627e8d5u);
  EXPECT_EQ(wide[0].elements<uint64_t>()[1], 0x9b00dbd8bc57ac4cu);
  EXPECT_NUMBERS(wide[1], 0, 0, 2, 0, 0, 0);
}

// ---- move

TEST(RefMove, ConcatJoinsAlongAnyAxis) {
  auto attrs = make_attrs<tenon_concat_attrs>();
  attrs.axis = -1;
  const Tensor a = i8({2, 1}, {1, 4}), nothing = i8({2, 0}, {}), b = i8({2, 2}, {2, 3, 5, 6});
  EXPECT_NUMBERS(call(TENON_OP_concat, {a, nothing, b}, i8({2, 3}, {}), &attrs), 1, 2, 3, 4, 5, 6);
  attrs.axis = 0;
  EXPECT_NUMBERS(call(TENON_OP_concat, {b, b}, i8({4, 2}, {}), &attrs), 2, 3, 5, 6, 2, 3, 5, 6);
}

TEST(RefMove, PositivePadsAddElementsAndNegativePadsRemoveThem) {
  auto attrs = make_attrs<tenon_pad_attrs>();
  const List pads = {1, -1, 0, 2};
  SET_LIST(attrs, pads, pads);
  const Tensor x = f32({1, 3}, {1, 2, 3}), out = f32({2, 4}, {});
  EXPECT_NUMBERS(call(TENON_OP_pad, {x, f32({}, {9})}, out, &attrs), 9, 9, 9, 9, 2, 3, 9, 9);
  EXPECT_NUMBERS(call(TENON_OP_pad, {x, none()}, out, &attrs), 0, 0, 0, 0, 2, 3, 0, 0);
}

TEST(RefMove, PadThatRemovesAllElementsLeavesOnlyPadding) {
  auto attrs = make_attrs<tenon_pad_attrs>();
  const List pads = {-5, 4};
  SET_LIST(attrs, pads, pads);
  EXPECT_NUMBERS(call(TENON_OP_pad, {f32({1, 2, 3}), f32({}, {9})}, f32({2}, {}), &attrs), 9, 9);
}

TEST(RefMove, DynamicSliceStartsAreClamped) {
  auto attrs = make_attrs<tenon_dynamic_slice_attrs>();
  const List sizes = {1, 2};
  SET_LIST(attrs, sizes, sizes);
  const Tensor x = i8({2, 3}, {1, 2, 3, 4, 5, 6}), out = i8({1, 2}, {});
  EXPECT_NUMBERS(call(TENON_OP_dynamic_slice, {x, i64({0, 1})}, out, &attrs), 2, 3);
  EXPECT_NUMBERS(call(TENON_OP_dynamic_slice, {x, i32({9, 9})}, out, &attrs), 5, 6);
  EXPECT_NUMBERS(call(TENON_OP_dynamic_slice, {x, i64({-1, -9})}, out, &attrs), 4, 5);
  const Tensor turned = x.as({3, 2}, {1, 3});  // [[1, 4], [2, 5], [3, 6]]
  EXPECT_NUMBERS(call(TENON_OP_dynamic_slice, {turned, i64({1, 0})}, out, &attrs), 2, 5);
}

TEST(RefMove, DynamicUpdateStartsAreClamped) {
  const Tensor x = i8({2, 3}, {1, 2, 3, 4, 5, 6}), update = i8({1, 2}, {8, 9});
  EXPECT_NUMBERS(call(TENON_OP_dynamic_update_slice, {x, update, i64({1, 5})}, x), 1, 2, 3, 4, 8,
                 9);
  const Tensor turned = x.as({3, 2}, {1, 3});
  EXPECT_NUMBERS(
      call(TENON_OP_dynamic_update_slice, {turned, update, i64({-9, 0})}, i8({3, 2}, {})), 8, 9, 2,
      5, 3, 6);
}

// ---- reduce

TEST(RefReduce, SumsOverAnyAxes) {
  auto attrs = make_attrs<tenon_sum_attrs>();
  const Tensor x = f32({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  const List axes = {-3, 1};
  SET_LIST(attrs, axes, axes);
  EXPECT_NUMBERS(call(TENON_OP_sum, {x}, f32({3}, {}), &attrs), 5, 7, 9);
  EXPECT_NUMBERS(call(TENON_OP_sum, {x.as({3, 1, 2}, {1, 0, 3})}, f32({2}, {}), &attrs), 6, 15);
  EXPECT_NUMBERS(call(TENON_OP_prod, {x}, f32({}, {})), 720);
}

TEST(RefReduce, IntegersWrapAndHalfTypesAccumulateInFloat64) {
  EXPECT_NUMBERS(call(TENON_OP_sum, {i8({100, 100})}, i8({}, {})), -56);
  EXPECT_NUMBERS(call(TENON_OP_prod, {i8({64, 4})}, i8({}, {})), 0);
  EXPECT_NUMBERS(call(TENON_OP_sum, {f16({2048, 1, 1})}, f16({}, {})), 2050);
}

TEST(RefReduce, EmptyReductionsGiveTheIdentity) {
  EXPECT_NUMBERS(call(TENON_OP_sum, {f32({0}, {})}, f32({}, {})), 0);
  EXPECT_NUMBERS(call(TENON_OP_prod, {i32({0}, {})}, i32({}, {})), 1);
}

TEST(RefReduce, MaxAndMinPropagateNanAndSupportExtremeValues) {
  EXPECT_NUMBERS(call(TENON_OP_max, {f32({1, kNaN, 3})}, f32({}, {})), kNaN);
  EXPECT_NUMBERS(call(TENON_OP_min, {f32({kInf})}, f32({}, {})), kInf);
  EXPECT_NUMBERS(call(TENON_OP_max, {i8({-128, -128})}, i8({}, {})), -128);
  EXPECT_NUMBERS(call(TENON_OP_min, {u8({255, 254})}, u8({}, {})), 254);
}

TEST(RefReduce, ArgmaxAndArgminSelectTheFirstOfTiesAndTheFirstNan) {
  auto attrs = make_attrs<tenon_argmax_attrs>();
  attrs.axis = -1;
  const Tensor x = f32({3, 3}, {1, 3, 3, 2, kNaN, kNaN, 0, 0, -1});
  EXPECT_NUMBERS(call(TENON_OP_argmax, {x}, i64({3}, {}), &attrs), 1, 1, 0);
  EXPECT_NUMBERS(call(TENON_OP_argmin, {x}, i64({3}, {}), &attrs), 0, 1, 2);
}

TEST(RefScan, CumsumSupportsReverseAndExclusive) {
  auto attrs = make_attrs<tenon_cumsum_attrs>();
  attrs.axis = 1;
  const Tensor x = i32({2, 3}, {1, 2, 3, 4, 5, 6}), out = i32({2, 3}, {});
  EXPECT_NUMBERS(call(TENON_OP_cumsum, {x}, out, &attrs), 1, 3, 6, 4, 9, 15);
  attrs.exclusive = true;
  EXPECT_NUMBERS(call(TENON_OP_cumsum, {x}, out, &attrs), 0, 1, 3, 0, 4, 9);
  attrs.reverse = true;
  EXPECT_NUMBERS(call(TENON_OP_cumsum, {x}, out, &attrs), 5, 3, 0, 11, 6, 0);
}

TEST(RefScan, CumprodSupportsReverseAndExclusive) {
  auto attrs = make_attrs<tenon_cumprod_attrs>();
  const Tensor x = f32({2, 3, 4}), out = f32({3}, {});
  EXPECT_NUMBERS(call(TENON_OP_cumprod, {x}, out, &attrs), 2, 6, 24);
  attrs.exclusive = true;
  EXPECT_NUMBERS(call(TENON_OP_cumprod, {x}, out, &attrs), 1, 2, 6);
  attrs.reverse = true;
  EXPECT_NUMBERS(call(TENON_OP_cumprod, {x}, out, &attrs), 12, 4, 1);
}

TEST(RefScan, CummaxAndCumminReturnTheFirstOfTies) {
  auto attrs = make_attrs<tenon_cummax_attrs>();
  const Tensor x = f32({1, 3, 3, 2, kNaN, 5});
  const Launched y = run(TENON_OP_cummax, {x}, {f32({6}, {}), i64({6}, {})}, &attrs);
  EXPECT_NUMBERS(y[0], 1, 3, 3, 3, kNaN, kNaN);
  EXPECT_NUMBERS(y[1], 0, 1, 1, 1, 4, 4);
  attrs.reverse = true;
  const Launched z = run(TENON_OP_cummin, {i8({2, 1, 1, 3})}, {i8({4}, {}), i64({4}, {})}, &attrs);
  EXPECT_NUMBERS(z[0], 1, 1, 1, 3);
  EXPECT_NUMBERS(z[1], 2, 2, 2, 3);
}

}  // namespace
