#include "core/io/onnx/wire.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/testing/onnx_file.h"

namespace tenon::onnx {
namespace {

using testing::WireWriter;

// Returns the message of the error that `read` throws; empty if it throws none.
template <class Read>
std::string refusal_of(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kDataLoss);
    return error.what();
  }
  return "";
}

// Iterates over all fields of `bytes`. Returns the message of the error; empty if there is none.
std::string refusal(std::string_view bytes) {
  return refusal_of([&] {
    for (WireReader fields(bytes); fields.next();) {
    }
  });
}

// Calls `ask` on the first field of `bytes`. Returns the message of the error that `ask` throws;
// empty if there is none.
template <class Ask>
std::string refusal(std::string_view bytes, const Ask& ask) {
  return refusal_of([&] {
    WireReader fields(bytes);
    fields.next();
    ask(fields);
  });
}

TEST(Wire, ReadsEachKindOfField) {
  const WireWriter inner = WireWriter().number(1, 300);
  const std::string bytes =
      WireWriter().number(1, ~uint64_t{0}).real(2, 0.5f).text(3, "abc").message(4, inner).bytes();
  WireReader fields(bytes);

  ASSERT_TRUE(fields.next());
  EXPECT_EQ(fields.number(), 1u);
  EXPECT_EQ(fields.int64(), -1);
  ASSERT_TRUE(fields.next());
  EXPECT_EQ(fields.float32(), 0.5f);
  ASSERT_TRUE(fields.next());
  EXPECT_EQ(fields.text(), "abc");
  ASSERT_TRUE(fields.next());
  WireReader message = fields.message();
  ASSERT_TRUE(message.next());
  EXPECT_EQ(message.uint64(), 300u);
  EXPECT_FALSE(message.next());
  EXPECT_FALSE(fields.next());
}

TEST(Wire, RepeatedNumbersMayBePackedOrNot) {
  const std::string bytes = WireWriter()
                                .number(1, 7)
                                .text(1, "\x08\xac\x02")
                                .real(2, 1)
                                .text(2, std::string(4, '\0'))
                                .bytes();
  std::vector<int64_t> numbers;
  std::vector<float> reals;

  for (WireReader fields(bytes); fields.next();) {
    if (fields.number() == 1) fields.append_to(numbers);
    if (fields.number() == 2) fields.append_to(reals);
  }

  EXPECT_EQ(numbers, (std::vector<int64_t>{7, 8, 300}));
  EXPECT_EQ(reals, (std::vector<float>{1, 0}));
}

TEST(Wire, EveryErrorNamesItsByteOffset) {
  EXPECT_EQ(refusal("\x08"), "byte 1: the data ends inside a number");
  EXPECT_EQ(refusal("\x08\xff"), "byte 1: the data ends inside a number");
  EXPECT_EQ(refusal(std::string("\x08") + std::string(10, '\x80')),
            "byte 1: a variable-length integer has more than 64 bits");
  EXPECT_EQ(refusal("\x15\x01\x02"), "byte 1: the data ends inside a number");
  EXPECT_EQ(refusal("\x1a\x05"
                    "ab"),
            "byte 0: field 3 has 5 bytes, but only 2 bytes remain");
  EXPECT_EQ(refusal("\x08\x01\x0b"), "byte 2: field 1 has an invalid wire type");
  EXPECT_EQ(refusal(std::string_view("\x02\x01", 2)), "byte 0: 0 is not a valid field number");
  EXPECT_EQ(refusal(""), "");
}

TEST(Wire, ByteOffsetsAreRelativeToTheWholeFile) {
  const std::string bytes = "\x08\x01\x12\x02\x1a\x09";
  WireReader fields(bytes);
  ASSERT_TRUE(fields.next() && fields.next());

  EXPECT_EQ(refusal_of([&] {
              WireReader inner = fields.message();
              inner.next();
            }),
            "byte 4: field 3 has 9 bytes, but only 0 bytes remain");
}

TEST(Wire, ReadingAFieldAsADifferentTypeIsRefused) {
  const std::string number = WireWriter().number(1, 5).bytes(),
                    text = WireWriter().text(1, "x").bytes();
  std::vector<float> reals;

  EXPECT_EQ(refusal(number, [](WireReader& f) { f.bytes(); }),
            "byte 0: field 1 has an unexpected wire type");
  EXPECT_EQ(refusal(text, [](WireReader& f) { f.uint64(); }),
            "byte 0: field 1 has an unexpected wire type");
  EXPECT_EQ(refusal(text, [](WireReader& f) { f.float32(); }),
            "byte 0: field 1 has an unexpected wire type");
  EXPECT_EQ(refusal(number, [&](WireReader& f) { f.append_to(reals); }),
            "byte 0: field 1 has an unexpected wire type");
  EXPECT_EQ(refusal(text, [&](WireReader& f) { f.append_to(reals); }),
            "byte 2: the data ends inside a number");
}

TEST(Wire, TextMustBeUtf8) {
  const auto read = [](const std::string& text) {
    return refusal(WireWriter().text(1, text).bytes(), [](WireReader& f) { f.text(); });
  };

  EXPECT_EQ(read("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\x84"), "");
  for (const char* wrong : {"\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                            "\xf4\x90\x80\x80", "\xe2\x28\xa1"}) {
    EXPECT_EQ(read(wrong), "byte 0: field 1 is not UTF-8");
  }
}

}  // namespace
}  // namespace tenon::onnx
