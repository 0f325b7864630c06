#include "exchange/plain.h"

#include <gtest/gtest.h>

namespace zerotax::exchange {
namespace {

TEST(PlainText, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(plain_text("lib\xFFx"), "lib\xEF\xBF\xBDx");
  EXPECT_EQ(plain_text("\xED\xA0\x80").find('\xED'), std::string::npos) << "half of a surrogate pair";
  EXPECT_EQ(plain_text("µ → 😀"), "µ → 😀");
}

TEST(PlainText, WhatXmlForbidsIsWrittenOut) {
  EXPECT_EQ(plain_text(std::string_view("a\0b\x1B[1m\x7F", 8)), "a\\x00b\\x1b[1m\\x7f");
  EXPECT_EQ(plain_text("\xEF\xBF\xBF"
                       "a"),
            "\xEF\xBF\xBD"
            "a");
  EXPECT_EQ(plain_text("\xEF\xBF\xBD"), "\xEF\xBF\xBD");
}

TEST(PlainText, LineBreaksAreOfOneKind) {
  EXPECT_EQ(plain_text("a\r\nb\rc\nd\te"), "a\nb\nc\nd\te");
  EXPECT_EQ(plain_line("a\r\nb\tc"), "a b c");
}

TEST(PlainText, IsCutBetweenCharacters) {
  EXPECT_EQ(cut_text("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_text("abcdefg", 6), "abc…");
  EXPECT_EQ(cut_text("aµµµµ", 6), "aµ…");
  EXPECT_EQ(cut_text("😀😀", 6), "…");
}

}  // namespace
}  // namespace zerotax::exchange
