#include <gtest/gtest.h>

#include "exchange/outcome.h"

namespace zerotax::exchange {
namespace {

TEST(CutText, IsCutBetweenCharacters) {
  EXPECT_EQ(cut_text("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_text("abcdefg", 6), "abc…");
  EXPECT_EQ(cut_text("aµµµµ", 6), "aµ…");
  EXPECT_EQ(cut_text("😀😀", 6), "…");
}

}  // namespace
}  // namespace zerotax::exchange
