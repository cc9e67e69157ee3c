#include "core/io/safetensors.h"

#include <gtest/gtest.h>

#include <ctime>

#include "core/base/error.h"

namespace tenon {
namespace {

TensorToStore to_store(const std::string& name, DType dtype, const Dims& shape,
                       const std::string& bytes) {
  return {name, TensorType(dtype, shape),
          [bytes](void* to, uint64_t size) { bytes.copy(static_cast<char*>(to), size); }};
}

std::string written(std::vector<TensorToStore> tensors, const Metadata& metadata = {}) {
  std::string file;
  write_safetensors(std::move(tensors), metadata, [&](const void* data, uint64_t size) {
    file.append(static_cast<const char*>(data), size);
  });
  return file;
}

std::string file_with(const std::string& header, const std::string& data) {
  std::string file(8, '\0');
  for (size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> (8 * i));
  return file + header + data;
}

// Opens `file` and returns the error message, or "accepted" if there is no error.
std::string refusal(const std::string& file) {
  try {
    Safetensors::open_memory(file);
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == Code::kDataLoss || error.code() == Code::kUnimplemented);
    return error.what();
  }
  return "accepted";
}

TEST(Safetensors, WritesLargeElementsFirstThenByName) {
  const std::string file =
      written({to_store("b", DType::kU8, {2}, "xy"), to_store("a", DType::kF32, {1}, "1234"),
               to_store("c", DType::kU8, {}, "z")},
              {{"made_by", "a test"}});

  const std::string header = R"({"__metadata__":{"made_by":"a test"},)"
                             R"("a":{"data_offsets":[0,4],"dtype":"F32","shape":[1]},)"
                             R"("b":{"data_offsets":[4,6],"dtype":"U8","shape":[2]},)"
                             R"("c":{"data_offsets":[6,7],"dtype":"U8","shape":[]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(file, file_with(padded, "1234xyz"));
}

TEST(Safetensors, StorageDTypesArePacked) {
  const std::string bytes = written({to_store("packed", DType::kI4, {1, 3}, {"\x01\x0e\x03", 3}),
                                     to_store("native", DType::kF8E5M2, {1}, "a")},
                                    {{"key", "value"}});
  EXPECT_NE(bytes.find(R"("tenon.type.packed":"i4[1,3]")"), std::string::npos) << bytes;
  EXPECT_NE(bytes.find(R"("dtype":"F8_E5M2")"), std::string::npos) << bytes;

  const auto file = Safetensors::open_memory(bytes);
  const StoredTensor& packed = file->find("packed");
  EXPECT_EQ(packed.type, TensorType(DType::kI4, {1, 3}));
  EXPECT_EQ(packed.size, 2u);
  EXPECT_EQ(file->read(packed), (std::vector{std::byte{1}, std::byte{14}, std::byte{3}}));
  EXPECT_EQ(file->find("native").type, TensorType(DType::kF8E5M2, {1}));
  EXPECT_EQ(file->metadata(), (Metadata{{"key", "value"}}));
}

TEST(Safetensors, AStatedTypeMustFit) {
  const std::string good = written({to_store("x", DType::kI4, {3}, {"\x01\x0e\x03", 3})}, {});
  for (const std::string wrong : {"i4[9]", "f4[3]", "i4[,]", "i4[3", "u8[2]", "i4(3)"}) {
    std::string bytes = good;
    bytes.replace(bytes.find("i4[3]"), 5, (wrong + "     ").substr(0, 5));
    EXPECT_ERROR(Safetensors::open_memory(bytes), Code::kDataLoss, "does not fit its 2 bytes");
  }
}

TEST(Safetensors, ReadsWhatItWrote) {
  const auto file = Safetensors::open_memory(written(
      {to_store("x", DType::kI16, {2, 1}, "abcd"), to_store("none", DType::kF64, {0, 3}, "")},
      {{"key", "value"}}));

  ASSERT_EQ(file->tensors().size(), 2u);
  const StoredTensor& x = file->find("x");
  const std::vector<std::byte> bytes = file->read(x);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "abcd");
  EXPECT_EQ(x.type, TensorType(DType::kI16, {2, 1}));
  EXPECT_EQ(file->find("none").type, TensorType(DType::kF64, {0, 3}));
  EXPECT_EQ(file->metadata().at("key"), "value");
}

TEST(Safetensors, ErrorsListTheExistingTensors) {
  const auto file = Safetensors::open_memory(written({to_store("x", DType::kU8, {1}, "a")}));

  EXPECT_THROW(
      try { file->find("y"); } catch (const Error& error) {
        EXPECT_EQ(error.code(), Code::kNotFound);
        EXPECT_STREQ(error.what(), "there is no tensor \"y\"; there are: x");
        throw;
      },
      Error);
}

// Compares the times for N and 10 N tensors. Linear code takes ten times as long (plus cache misses
// and a logarithmic factor). Quadratic code would take a hundred times as long.
TEST(Safetensors, OpensAndFindsInTimeLinearInTheNumberOfTensors) {
  const auto seconds = [](size_t n) {
    std::string header = "{";
    for (size_t i = 0; i < n; ++i) {
      header += i ? "," : "";
      header += "\"t" + std::to_string(i) +
                "\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[" + std::to_string(i) + "," +
                std::to_string(i + 1) + "]}";
    }
    const std::string bytes = file_with(header + "}", std::string(n, 'x'));
    const std::clock_t begin = std::clock();
    const auto file = Safetensors::open_memory(bytes);
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(file->find("t" + std::to_string(i)).size, 1u);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  seconds(5000);

  const double small = seconds(5000), large = seconds(50000);

  EXPECT_LT(large, 50 * small);
}

TEST(Safetensors, ErrorsListAtMostFiftyTensors) {
  std::vector<TensorToStore> tensors;
  for (int i = 0; i < 60; ++i) {
    tensors.push_back(to_store("t" + std::to_string(i), DType::kU8, {1}, "a"));
  }
  const auto file = Safetensors::open_memory(written(tensors));

  EXPECT_THROW(
      try { file->find("y"); } catch (const Error& error) {
        EXPECT_TRUE(std::string(error.what()).ends_with(" and 10 more")) << error.what();
        throw;
      },
      Error);
}

TEST(Safetensors, EveryTruncatedFileIsRefused) {
  const std::string file = written({to_store("x", DType::kU8, {3}, "abc")});

  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(refusal(file.substr(0, size)), "accepted") << size;
  }
  EXPECT_EQ(refusal(file), "accepted");
}

TEST(Safetensors, RefusesInconsistentHeaders) {
  const auto with = [](const std::string& header) { return refusal(file_with(header, "abcd")); };
  const std::string x = R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})";

  EXPECT_EQ(with(x), "accepted");
  EXPECT_EQ(with(""), "the header does not begin with a brace");
  EXPECT_EQ(with(" " + x), "the header does not begin with a brace");
  EXPECT_NE(with("{\"x\":").find("the header is not valid JSON"), std::string::npos);
  EXPECT_EQ(with(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"x":3})"),
            "the header has the key \"x\" twice");
  EXPECT_EQ(with(R"({"x":{"dtype":"U8","shape":[5],"data_offsets":[0,5]}})"),
            "tensor \"x\" is at bytes 0 to 5, but the file has only 4 bytes");
  EXPECT_EQ(with(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}})"),
            "tensor \"x\" is at bytes 4 to 0, but the file has only 4 bytes");
  EXPECT_EQ(with(R"({"x":{"dtype":"I16","shape":[4],"data_offsets":[0,4]}})"),
            "tensor \"x\" is i16[4] and needs 8 bytes, but has 4 bytes");
  EXPECT_EQ(with(R"({"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})"),
            "no tensor contains bytes 3 to 4");
  EXPECT_EQ(with(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                 R"("y":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})"),
            "tensor \"y\" overlaps the previous tensor at byte 1");
  EXPECT_EQ(with(R"({"x":{"dtype":"U8","shape":[-4],"data_offsets":[0,4]}})"),
            "the shape of tensor \"x\" contains -4, which is not a valid size");
  EXPECT_EQ(with(R"({"x":{"dtype":"U8","shape":[4.0],"data_offsets":[0,4]}})"),
            "the shape of tensor \"x\" contains 4.0, which is not a valid size");
  EXPECT_NE(with(R"({"x":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})"),
            "accepted");
  EXPECT_EQ(with(R"({"x":{"dtype":"C128","shape":[4],"data_offsets":[0,4]}})"),
            "the dtype C128 of tensor \"x\" is not supported");
  EXPECT_EQ(with(R"({"x":{"shape":[4],"data_offsets":[0,4]}})"), "tensor \"x\" has no dtype");
  EXPECT_EQ(with(R"({"x":[]})"), "tensor \"x\" is not an object");
  EXPECT_EQ(with(R"({"__metadata__":{"a":1}})"),
            "the value of \"a\" in __metadata__ must be a string");
  EXPECT_EQ(with(R"({"x":{"dtype":"U8","shape":[[[[4]]]],"data_offsets":[0,4]}})"),
            "the header is nested too deeply");
}

TEST(Safetensors, RefusesAHeaderLargerThanTheFile) {
  std::string file = file_with("{}", "");
  file[7] = '\x7f';
  EXPECT_NE(refusal(file).find("at most 100000000 are allowed"), std::string::npos);
  file[7] = '\0';
  file[1] = '\x01';
  EXPECT_EQ(refusal(file), "the header ends at byte 266, but the file has only 10 bytes");
}

TEST(Safetensors, RefusesToWriteInvalidNames) {
  const auto x = to_store("x", DType::kU8, {1}, "a");
  EXPECT_THROW(written({x, x}), Error);
  EXPECT_THROW(written({to_store("__metadata__", DType::kU8, {1}, "a")}), Error);
  EXPECT_THROW(written({to_store("\xff", DType::kU8, {1}, "a")}), Error);
}

}  // namespace
}  // namespace tenon
