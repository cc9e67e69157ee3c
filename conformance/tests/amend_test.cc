#include "conformance/onnx/amend.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tenon::conformance {
namespace {

using namespace std::string_literals;

TEST(Amend, AddsAnAttributeToEachNode) {
  const std::string node = "\x22\x01X"s;                        // op_type: "X".
  const std::string graph = "\x0a\x03"s + node + "\x12\x01g"s;  // node; name: "g".
  const std::string model = "\x08\x07"s + "\x3a\x08"s + graph;  // ir_version: 7; graph.
  const std::string attribute = "\x2a\x0b"s +
                                "\x0a\x01"
                                "e"s +
                                "\x15\x00\x00\x80\x3f"s + "\xa0\x01\x01"s;

  const std::string amended = with_attribute(model, "e", 1.0f);

  EXPECT_EQ(amended, "\x08\x07"s + "\x3a\x15"s + "\x0a\x10"s + node + attribute + "\x12\x01g"s);
}

TEST(Amend, RefusesInvalidModels) {
  EXPECT_THROW(with_attribute("\x3a\x7f", "e", 1), std::runtime_error);
  EXPECT_THROW(with_attribute("\x3a", "e", 1), std::runtime_error);
  EXPECT_THROW(with_attribute("\x3f", "e", 1), std::runtime_error);
}

}  // namespace
}  // namespace tenon::conformance
