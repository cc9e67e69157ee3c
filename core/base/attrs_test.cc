#include "core/base/attrs.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

struct Attrs {
  int64_t axis = 0;
  std::string equation = "ij";
  bool exact = false;
  TENON_ATTRS(axis, equation, exact)
};

// The C struct that corresponds to Attrs.
struct CAttrs {
  uint32_t struct_size;
  int64_t axis;
  tenon_string equation;
  bool exact;
};

const AttrsType& type() { return attrs_type<Attrs>(); }

Attrs from_c(const CAttrs& c) {
  Attrs attrs;
  type().from_c(&attrs, &c);
  return attrs;
}

TEST(TextAttributes, HaveTheLayoutOfTheCStruct) { EXPECT_EQ(type().c_size, sizeof(CAttrs)); }

TEST(TextAttributes, AreConvertedFromTheCStruct) {
  const Attrs attrs = from_c({sizeof(CAttrs), 3, {"ik-", 2}, true});

  EXPECT_EQ(attrs.axis, 3);
  EXPECT_EQ(attrs.equation, "ik");
  EXPECT_TRUE(attrs.exact);
}

TEST(TextAttributes, KeepTheirDefaultIfThePointerIsNullOrTheStructIsShorter) {
  EXPECT_EQ(from_c({sizeof(CAttrs), 3, {nullptr, 0}, true}).equation, "ij");
  EXPECT_EQ(from_c({offsetof(CAttrs, equation), 3, {"ik", 2}, true}).equation, "ij");
}

TEST(TextAttributes, MayBeEmpty) {
  EXPECT_EQ(from_c({sizeof(CAttrs), 0, {"", 0}, false}).equation, "");
}

TEST(TextAttributes, AreNotCopiedIntoTheCStruct) {
  const Attrs attrs = {.axis = 1, .equation = "long enough for memory of its own", .exact = true};
  CAttrs c = {};

  type().to_c(&attrs, &c);

  EXPECT_EQ(c.struct_size, sizeof(CAttrs));
  EXPECT_EQ(c.equation.data, attrs.equation.data());
  EXPECT_EQ(c.equation.size, attrs.equation.size());
  EXPECT_TRUE(c.exact);
}

TEST(TextAttributes, ArePartOfEqualityAndHash) {
  const Attrs a = {.equation = "ij,jk->ik"}, same = {.equation = "ij,jk->ik"},
              other = {.equation = "ij,jk->ki"};

  EXPECT_TRUE(any_attrs(a) == any_attrs(same));
  EXPECT_EQ(any_attrs(a).hash(), any_attrs(same).hash());
  EXPECT_FALSE(any_attrs(a) == any_attrs(other));
  EXPECT_NE(any_attrs(a).hash(), any_attrs(other).hash());
}

TEST(TextAttributes, AreCopiedByOwnedAttrs) {
  OwnedAttrs kept;
  {
    const Attrs attrs = {.equation = "long enough for memory of its own"};
    const OwnedAttrs first(any_attrs(attrs));
    kept = first;
  }
  const Attrs expected = {.equation = "long enough for memory of its own"};
  EXPECT_TRUE(kept.view() == any_attrs(expected));
}

}  // namespace
}  // namespace tenon
