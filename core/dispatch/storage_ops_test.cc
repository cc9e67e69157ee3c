// Tests storage dtypes: their conversions, the ops that move them, and the errors of other ops. The
// Python tests compare the conversions with those of the package ml_dtypes.

#include "core/dispatch/storage_ops.h"

#include <cmath>
#include <limits>

#include "core/base/storage_dtype.h"
#include "core/testing/test.h"
#include "core/trace/function.h"

namespace tenon {
namespace {

using testing::f32;
using testing::i32;
using testing::i64;
using testing::make;
using testing::values_of;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class StorageOps : public testing::CoreTest, public ::testing::WithParamInterface<DType> {
 protected:
  // Returns a tensor with every code of the dtype.
  static Tensor all_codes(DType dtype) {
    const unsigned n = 1u << TENON_DTYPE_BITS(to_c(dtype));
    std::vector<uint8_t> codes;
    for (unsigned code = 0; code < n; ++code) codes.push_back(static_cast<uint8_t>(code));
    return from_host(current_scope(), current_scope().device(),
                     TensorType(dtype, Dims{static_cast<int64_t>(n)}), codes.data());
  }
};

TEST_P(StorageOps, EveryCodeDecodesToItsValueAndBack) {
  const DType dtype = GetParam();
  const Tensor codes = all_codes(dtype);
  const std::vector<double> values = values_of(cast(codes, DType::kF32));
  for (size_t code = 0; code < values.size(); ++code) {
    const double want = decode_storage(static_cast<uint8_t>(code), dtype);
    EXPECT_TRUE(values[code] == want || (std::isnan(values[code]) && std::isnan(want)))
        << "code " << code << ": got " << values[code] << ", want " << want;
  }
  EXPECT_TENSOR(cast(cast(codes, DType::kF32), dtype, false), codes);
  for (const DType through : {DType::kF16, DType::kF64}) {
    if (dtype == DType::kF8E8M0FNU && through == DType::kF16) continue;
    EXPECT_TENSOR(cast(cast(codes, through), dtype, false), codes);
  }
}

TEST_P(StorageOps, CastsRoundLikeTheHost) {
  const DType dtype = GetParam();
  std::vector<double> values = {0,    -0.0, kInf, -kInf, kNaN, 1e9, -1e9,
                                1e-9, 448,  464,  465,   240,  248};
  for (int code = 0; code < 256; ++code) {
    const double x = decode_storage(static_cast<uint8_t>(code), dtype);
    const double next = decode_storage(static_cast<uint8_t>(code + 1), dtype);
    if (!std::isfinite(x) || !std::isfinite(next)) continue;
    const double middle = (x + next) / 2;
    for (const double y : {x, middle, std::nextafter(middle, x), std::nextafter(middle, next)}) {
      values.push_back(y);
    }
  }
  for (const DType from : {DType::kF32, DType::kF64}) {
    if (from == DType::kF32) {
      for (double& x : values) x = static_cast<float>(x);
    }
    const Tensor x = make(from, {static_cast<int64_t>(values.size())}, values);
    const std::vector<double> got = values_of(cast(x, dtype));
    for (size_t i = 0; i < values.size(); ++i) {
      const double want = decode_storage(encode_storage(values[i], dtype), dtype);
      EXPECT_TRUE(got[i] == want || (std::isnan(got[i]) && std::isnan(want)))
          << name_of(from) << " " << values[i] << ": got " << got[i] << ", want " << want;
    }
  }
}

TEST_P(StorageOps, MovesElements) {
  const DType dtype = GetParam();
  const Tensor x = make(dtype, {2, 2}, {1, 2, 4, 1});
  EXPECT_TENSOR(copy(transpose(x)), make(dtype, {2, 2}, {1, 4, 2, 1}));
  EXPECT_TENSOR(gather(x, i64({1}), 0), make(dtype, {1, 2}, {4, 1}));
  const Tensor parts[] = {x, x};
  EXPECT_TENSOR(concat(parts, 1), make(dtype, {2, 4}, {1, 2, 1, 2, 4, 1, 4, 1}));
}

TEST_P(StorageOps, OtherOpsRefuse) {
  const Tensor x = make(GetParam(), {1}, {1});
  EXPECT_ERROR(x + x, Code::kInvalidArgument, "ops do not compute with storage dtypes");
  EXPECT_ERROR(equal(x, x), Code::kInvalidArgument, "convert it with cast");
  EXPECT_ERROR(sum(x), Code::kInvalidArgument, "convert it with cast");
  EXPECT_ERROR(fill(number(1), {2}, GetParam()), Code::kInvalidArgument,
               "convert a result with cast");
  EXPECT_ERROR(iota({2}, GetParam(), 0), Code::kInvalidArgument, "");
}

TEST_P(StorageOps, FunctionsConvert) {
  const DType dtype = GetParam();
  const Function::Body body = [&](Scope&, TensorSpan in, const Statics&) -> Tensors {
    return {cast(cast(in[0], dtype), DType::kF32) * 2};
  };
  const auto function = Ref<Function>::adopt(new Function(context(), "f", body, {}));
  const Tensor x = f32({1, 2});
  for (int call = 0; call < 4; ++call) {
    EXPECT_TENSOR(function->call(scope(), {&x, 1}, {})[0],
                  cast(make(dtype, {2}, {1, 2}), DType::kF32) * 2);
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, StorageOps,
                         ::testing::Values(DType::kI4, DType::kU4, DType::kI2, DType::kU2,
                                           DType::kF8E4M3FN, DType::kF8E4M3FNUZ, DType::kF8E5M2,
                                           DType::kF8E5M2FNUZ, DType::kF8E8M0FNU, DType::kF4E2M1FN),
                         [](const auto& info) { return std::string(name_of(info.param)); });

using StorageCasts = testing::CoreTest;

TEST_F(StorageCasts, WithoutSaturationOverflowIsInfinityOrNaN) {
  const Tensor x = f32({1e6, -kInf, 448});
  EXPECT_TENSOR(cast(cast(x, DType::kF8E5M2, false), DType::kF32), f32({kInf, -kInf, 448}));
  EXPECT_TENSOR(cast(cast(x, DType::kF8E4M3FN, false), DType::kF32), f32({kNaN, kNaN, 448}));
  EXPECT_TENSOR(cast(cast(x, DType::kF8E4M3FNUZ, false), DType::kF32), f32({kNaN, kNaN, kNaN}));
  EXPECT_TENSOR(cast(cast(f32({0, kInf, 2}), DType::kF8E8M0FNU, false), DType::kF32),
                f32({kNaN, kNaN, 2}));
}

TEST_F(StorageCasts, IntegersWrap) {
  EXPECT_TENSOR(cast(cast(i32({7, 8, -9, 255}), DType::kI4), DType::kI32), i32({7, -8, 7, -1}));
  EXPECT_TENSOR(cast(cast(i32({15, 16, -1}), DType::kU4), DType::kI64), i64({15, 0, 15}));
  EXPECT_TENSOR(cast(cast(i32({1, 2, 3}), DType::kI2), DType::kF32), f32({1, -2, -1}));
}

TEST_F(StorageCasts, OnlyTheLowBitsOfAByteAreRead) {
  const uint8_t bytes[] = {0xf7, 0x58};
  const Tensor x = from_host(scope(), device(), TensorType(DType::kI4, Dims{2}), bytes);
  EXPECT_TENSOR(cast(x, DType::kI32), i32({7, -8}));
}

TEST(StorageDTypes, PackAndUnpack) {
  const auto bytes = [](std::initializer_list<int> values) {
    std::vector<std::byte> all;
    for (const int value : values) all.push_back(static_cast<std::byte>(value));
    return all;
  };
  EXPECT_EQ(pack_elements(bytes({1, 0xe, 3}), DType::kI4), bytes({0xe1, 3}));
  EXPECT_EQ(unpack_elements(bytes({0xe1, 3}), 3, DType::kI4), bytes({1, 0xe, 3}));
  EXPECT_EQ(pack_elements(bytes({1, 2, 3, 0, 2}), DType::kU2), bytes({0x39, 2}));
  EXPECT_EQ(unpack_elements(bytes({0x39, 2}), 5, DType::kU2), bytes({1, 2, 3, 0, 2}));
  EXPECT_EQ(packed_size(5, DType::kU2), 2u);
  EXPECT_EQ(packed_size(5, DType::kF8E5M2), 5u);
}

}  // namespace
}  // namespace tenon
