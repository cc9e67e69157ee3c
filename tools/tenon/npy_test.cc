#include "tools/tenon/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "tools/tenon/failure.h"

namespace tenon::command {
namespace {

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Returns a file of version 1.0 with this header and these elements.
std::string npy(const std::string& header, const std::string& elements) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + elements;
}

// Reads the file and returns the reason why it is refused, or an empty string.
std::string problem_with(const std::string& bytes) {
  write_file("wrong.npy", bytes);
  try {
    read_npy("wrong.npy");
    return "";
  } catch (const Failure& failure) {
    return failure.what();
  }
}

TEST(Npy, RoundTripsThroughAFile) {
  const std::string elements = "abcdefghijklmnopqrstuvwx";  // 24 bytes.
  const std::pair<DType, Shape> types[] = {
      {kUint8, {24}},        {kInt8, {2, 3, 4}}, {kBool, {24, 1}}, {kInt16, {12}},
      {kUint16, {3, 4}},     {kFloat16, {12}},   {kInt32, {6}},    {kUint32, {2, 3}},
      {kFloat32, {1, 1, 6}}, {kInt64, {3}},      {kUint64, {3}},   {kFloat64, {3, 1}}};
  for (const auto& [dtype, shape] : types) {
    write_npy("back.npy", dtype, shape, elements);
    const NpyArray back = read_npy("back.npy");
    EXPECT_EQ(back.dtype, dtype) << dtype.str();
    EXPECT_EQ(back.shape, shape);
    EXPECT_EQ(back.bytes, elements);
    EXPECT_FALSE(back.is_fortran_order);
  }
  EXPECT_THROW(write_npy("back.npy", kBfloat16, Shape{12}, elements), Failure);
  EXPECT_THROW(write_npy("no/such/folder.npy", kInt8, Shape{24}, elements), Failure);
}

TEST(Npy, SupportsScalarsAndEmptyArrays) {
  write_npy("number.npy", kFloat32, Shape{}, "four");
  EXPECT_EQ(read_npy("number.npy").shape, Shape{});
  EXPECT_EQ(read_npy("number.npy").bytes, "four");
  write_npy("nothing.npy", kFloat32, Shape{3, 0}, "");
  EXPECT_EQ(read_npy("nothing.npy").shape, (Shape{3, 0}));
}

// Compares with the bytes that numpy.save() writes for numpy.arange(3, dtype='<i2').
TEST(Npy, WritesTheBytesThatNumPyWrites) {
  write_npy("numpy.npy", kInt16, Shape{3}, std::string("\0\0\1\0\2\0", 6));
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected += "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }";
  expected += std::string(127 - expected.size(), ' ') + "\n" + std::string("\0\0\1\0\2\0", 6);
  EXPECT_EQ(read_file("numpy.npy"), expected);
}

TEST(Npy, ReadsAllVariantsThatNumPyWrites) {
  const std::string two = std::string("\x93NUMPY\x02\x00", 8) + std::string("\x33\0\0\0", 4) +
                          "{'descr':'|u1','fortran_order':True,'shape':(2,1)} " + "ab";
  write_file("two.npy", two);
  EXPECT_EQ(read_npy("two.npy").shape, (Shape{2, 1}));
  EXPECT_TRUE(read_npy("two.npy").is_fortran_order);
  // The header may have another order of entries, other quotes and other blanks.
  EXPECT_EQ(
      problem_with(npy("{\"shape\": ( 2 , ),  \"fortran_order\":False, 'descr':'<u1',}\n  ", "ab")),
      "");
  EXPECT_EQ(problem_with(npy("{'descr':'|b1','fortran_order':False,'shape':()}", "a")), "");
}

TEST(Npy, ReportsInvalidFiles) {
  const auto header = [](const std::string& descr, const std::string& shape) {
    return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  };
  const auto good = header("<f4", "(2,)");
  const std::string eight = "12345678";
  std::string deep(17, '1');
  for (size_t i = deep.size(); i-- > 1;) deep.insert(i, ",");
  const struct {
    std::string bytes, says;
  } cases[] = {
      {"", "ends too early"},
      {"no array at all", "is not a .npy file"},
      {"PK\x03\x04 an archive", ".npz"},
      {std::string("\x93NUMPY\x04\x00", 8) + eight, "version 4.0"},
      {std::string("\x93NUMPY\x01\x01", 8) + eight, "version 1.1"},
      {std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12), "4294967295 bytes"},
      {std::string("\x93NUMPY\x01\x00\xff\xff", 10) + eight, "ends too early"},
      {npy(good, "1234567"), "8 bytes, but the file has 7"},
      {npy(good, "123456789"), "8 bytes, but the file has 9"},
      {npy(header("<f4", "(4611686018427387904,4)"), eight), "more than 2^64 bytes"},
      {npy(header("<f8", "(9223372036854775807,)"), eight), "more than 2^64 bytes"},
      {npy(header("<f4", "(9223372036854775808,)"), eight), "a size is no number"},
      {npy(header("<f4", "(-2,)"), eight), "a size is no number"},
      {npy(header("<f4", "(two,)"), eight), "a size is no number"},
      {npy(header("<f4", "(2;"), eight), "there is no ')'"},
      {npy(header("<f4", "2"), eight), "there is no '('"},
      {npy(header("|u1", "(" + deep + ")"), "a"), "more than 16 axes"},
      {npy(header(">f4", "(2,)"), eight), "big-endian, '>f4'; save x.astype('<f4') instead"},
      {npy(header("<c8", "(1,)"), eight), "dtype '<c8' is not supported"},
      {npy(header("<U2", "(1,)"), eight), "dtype '<U2'"},
      {npy(header("|O", "(1,)"), eight), "dtype '|O'"},
      {npy(header("", "(1,)"), eight), "dtype ''"},
      {npy(header("|f4", "(2,)"), eight), "dtype '|f4'"},
      {npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,)}", eight),
       "structured arrays"},
      {npy("{'descr': '<f4', 'fortran_order': No, 'shape': (2,)}", eight), "neither True nor"},
      {npy("{'descr': '<f4', 'fortran_order': False}", eight), "is missing"},
      {npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", eight),
       "'descr' is unknown or occurs twice"},
      {npy("{'descr': '<f4', 'extra': '1', 'fortran_order': False, 'shape': (2,)}", eight),
       "'extra' is unknown"},
      {npy(good + "more", eight), "something follows the dictionary"},
      {npy("{'descr': '<f4", eight), "a text has no end"},
      {npy("", eight), "there is no '{'"},
      {npy(std::string(65535, ' '), eight), "there is no '{'"},
  };
  for (const auto& each : cases) {
    EXPECT_NE(problem_with(each.bytes).find(each.says), std::string::npos)
        << "'" << problem_with(each.bytes) << "' does not say '" << each.says << "'";
  }
  EXPECT_THROW(read_npy("no_such.npy"), Failure);
  EXPECT_THROW(read_npy("."), Failure);
}

TEST(Npy, RefusesTruncatedFiles) {
  write_npy("whole.npy", kInt32, Shape{2}, "12345678");
  const std::string bytes = read_file("whole.npy");
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(problem_with(bytes.substr(0, size)), "") << size;
  }
}

}  // namespace
}  // namespace tenon::command
