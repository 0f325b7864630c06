#include "base/json.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace zerotax {
namespace {

TEST(Json, WhatIsNotAvailableAlwaysSaysWhy) {
  EXPECT_THROW(not_available(""), std::invalid_argument);
  EXPECT_TRUE(is_not_available(not_available("old kernel")));
  EXPECT_FALSE(is_not_available(0));
  EXPECT_FALSE(is_not_available(Json::object()));
  EXPECT_FALSE(is_not_available(nullptr));
}

TEST(Json, ATextThatIsMissingOrNoTextIsReplaced) {
  EXPECT_EQ(text_field(Json{{"a", "b"}}, "a", "c"), "b");
  EXPECT_EQ(text_field(Json{{"a", 7}}, "a", "c"), "c");
  EXPECT_EQ(text_field(Json{{"a", "b"}}, "d", "c"), "c");
  EXPECT_EQ(text_field(Json(7), "a", "c"), "c");
}

TEST(Json, BytesThatAreNoTextAreEscapesInAFile) {
  EXPECT_EQ(json_text({{"name", "odd \xff"}}), "{\n \"name\": \"odd \\\\xff\"\n}\n");
}

}  // namespace
}  // namespace zerotax
