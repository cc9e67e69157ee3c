#include "core/base/lru_table.h"

#include <gtest/gtest.h>

#include <string>

namespace tenon {
namespace {

using Table = LruTable<std::string>;

bool has(Table& table, uint64_t hash, const std::string& name) {
  return table.find(hash, [&](const std::string& entry) { return entry == name; }) != nullptr;
}

TEST(LruTableTest, EvictsTheLeastRecentlyUsedEntry) {
  Table table(2);
  table.add(1, "a");
  table.add(2, "b");
  ASSERT_TRUE(has(table, 1, "a"));

  table.add(3, "c");

  EXPECT_TRUE(has(table, 1, "a"));
  EXPECT_FALSE(has(table, 2, "b"));
  EXPECT_TRUE(has(table, 3, "c"));
  EXPECT_EQ(table.size(), 2u);
}

TEST(LruTableTest, DistinguishesEntriesWithTheSameHash) {
  Table table(2);
  table.add(7, "a");
  table.add(7, "b");
  EXPECT_TRUE(has(table, 7, "a"));

  table.add(7, "c");

  EXPECT_TRUE(has(table, 7, "a"));
  EXPECT_FALSE(has(table, 7, "b"));
  EXPECT_TRUE(has(table, 7, "c"));
}

TEST(LruTableTest, NeverExceedsItsMaximumSize) {
  Table table(8);
  for (uint64_t i = 0; i < 1000; ++i) {
    table.add(i % 5, std::to_string(i));
    EXPECT_LE(table.size(), 8u);
  }
  EXPECT_TRUE(has(table, 999 % 5, "999"));
  table.clear();
  EXPECT_EQ(table.size(), 0u);
  EXPECT_FALSE(has(table, 999 % 5, "999"));
}

}  // namespace
}  // namespace tenon
