#include "core/device/signature.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/error.h"

namespace tenon {
namespace {

bool matches(const char* text, std::vector<DType> inputs, std::vector<DType> outputs) {
  return Signature::parse(text).matches(inputs, outputs);
}

TEST(Signature, OperandsWithTheSameLetterHaveTheSameDtype) {
  const char* text = "T,T->T  T:f32,f64";
  EXPECT_TRUE(matches(text, {DType::kF32, DType::kF32}, {DType::kF32}));
  EXPECT_FALSE(matches(text, {DType::kF32, DType::kF64}, {DType::kF32}));
  EXPECT_FALSE(matches(text, {DType::kI32, DType::kI32}, {DType::kI32}));
}

TEST(Signature, ADtypeClassMatchesEachOfItsDtypes) {
  EXPECT_TRUE(matches("A,I->A A:any I:i32,i64", {DType::kBool, DType::kI64}, {DType::kBool}));
  EXPECT_FALSE(matches("A->A A:int", {DType::kF16}, {DType::kF16}));
  EXPECT_TRUE(matches("A->A A:uint", {DType::kU8}, {DType::kU8}));
}

TEST(Signature, OperandsMayBeOptionalOrVariadic) {
  EXPECT_TRUE(
      matches("T,T,T?->T T:float", {DType::kF32, DType::kF32, DType::kNone}, {DType::kF32}));
  EXPECT_TRUE(matches("T,T,T?->T T:float", {DType::kF32, DType::kF32}, {DType::kF32}));
  EXPECT_FALSE(matches("T,T->T T:float", {DType::kF32, DType::kNone}, {DType::kF32}));
  EXPECT_TRUE(matches("T*->T T:any", {DType::kI8, DType::kI8, DType::kI8}, {DType::kI8}));
}

TEST(Signature, AnOpMayHaveNoInputs) { EXPECT_TRUE(matches("->T T:any", {}, {DType::kI64})); }

TEST(Signature, ParsesTheMarksShapedAndLoop) {
  EXPECT_TRUE(Signature::parse("f32,f32->f32 SHAPED").is_shaped());
  EXPECT_FALSE(Signature::parse("f32,f32->f32 LOOP").is_shaped());
  EXPECT_TRUE(Signature::parse("f32,f32->f32 LOOP").is_loop());
  EXPECT_FALSE(Signature::parse("f32,f32->f32").is_loop());
}

TEST(Signature, ReportsWhatWasExpectedAndThePosition) {
  for (const char* text :
       {"", "f32", "f32->", "f99->f32", "T->T", "f32->f32 SHAPEDX", "f32->f32 T:", "f32,->f32",
        "T->T T:f32,what", "f32->f32 SHAPED LOOP", "->f32 LOOP", "f32->f32,f32 LOOP",
        "f32,f32?->f32 LOOP", "f32*->f32 LOOP"}) {
    if (std::string_view(text) == "f32->") continue;  // A valid signature: an op without outputs.
    EXPECT_THROW(Signature::parse(text), Error) << text;
  }
}

std::string message_of(const char* text) {
  try {
    Signature::parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Signature, ReportsThePositionOfAnUnknownWord) {
  EXPECT_EQ(message_of("f32,f23->f32"),
            "signature \"f32,f23->f32\": expected a dtype or a letter at position 4");
  EXPECT_EQ(
      message_of("T->T T:f32,flaot"),
      "signature \"T->T T:f32,flaot\": expected a dtype, float, int, uint or any at position 11");
  EXPECT_EQ(message_of("T,T->T"),
            "signature \"T,T->T\": expected a class for T, such as T:float, at position 6");
}

}  // namespace
}  // namespace tenon
