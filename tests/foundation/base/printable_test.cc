#include "base/printable.h"

#include <gtest/gtest.h>

#include <string>

#include "base/json.h"
#include "base/lines.h"
#include "base/shell.h"
#include "base/table.h"

namespace zerotax {
namespace {

TEST(Printable, LeavesVisibleTextAlone) {
  for (const char* text : {"", "main", "a b", "lib/ü µs → 😀 日本", "back\\slash", "std::vector", "a#[1]", "##x["}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable_lines(text), text);
  }
}

TEST(Printable, WritesControlCharactersAsEscapes) {
  EXPECT_EQ(printable("a\nb\tc\rd\x1b[31m\x7f"), "a\\nb\\tc\\rd\\x1b[31m\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\u009b2J")
      << "CSI of C1";
}

TEST(Printable, WritesCharactersWithoutAShapeAsEscapes) {
  // NOLINTNEXTLINE(misc-misleading-bidirectional): such characters are tested
  EXPECT_EQ(printable("\u202e\u2066\u200f\u061c"), "\\u202e\\u2066\\u200f\\u061c");
  EXPECT_EQ(printable("a\u2028b\u2029\u200b\ufeff\u00ad\u3000"), "a\\u2028b\\u2029\\u200b\\ufeff\\u00ad\\u3000");
  EXPECT_EQ(printable("\U000e0041"), "\\U000e0041") << "a tag";
  EXPECT_EQ(printable("\xef\xbf\xbe\xef\xbf\xbf\xef\xb7\x90\xf4\x8f\xbf\xbf"), "\\ufffe\\uffff\\ufdd0\\U0010ffff");
}

TEST(Printable, WritesWhatIsNotUtf8AsBytes) {
  EXPECT_EQ(printable("d\xff"), "d\\xff");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xe0\x80\x80"), "\\xe0\\x80\\x80") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a surrogate pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82") << "cut off";
  EXPECT_EQ(printable("\xe2\x82\xc3\xa4"), "\\xe2\\x82ä");
}

TEST(Printable, TakesTheMeaningFromCommandsOfGitHubsRunner) {
  EXPECT_EQ(printable("::stop-commands::t"), "\\x3a:stop-commands::t");
  EXPECT_EQ(printable("  ::error::x"), "  \\x3a:error::x");
  EXPECT_EQ(printable("\u3000::error::x"), "\\u3000::error::x") << "the escape stands before it";
  EXPECT_EQ(printable("a ##[error]x"), "a #\\x23[error]x");
  EXPECT_EQ(printable_lines("x\n \t::error::y\n::z"), "x\n \t\\x3a:error::y\n\\x3a:z");
}

TEST(Printable, MadeTwiceIsTheSame) {
  // NOLINTNEXTLINE(misc-misleading-bidirectional): such characters are tested
  for (const char* text : {"a\n\x1b[m", "d\xff", "::x", "##[x", "\u202e", "\xc2\x9b"}) {
    EXPECT_EQ(printable(printable(text)), printable(text));
  }
}

TEST(PrintableLines, KeepsLineBreaksOfOneKindAndTabs) {
  EXPECT_EQ(printable_lines("a\r\nb\rc\nd\te\x1b"), "a\nb\nc\nd\te\\x1b");
}

TEST(ValidUtf8, KeepsEveryCharacter) {
  EXPECT_EQ(valid_utf8("a\n\x1b\u202e"), "a\n\x1b\u202e");  // NOLINT(misc-misleading-bidirectional)
  EXPECT_EQ(valid_utf8("d\xff"), "d\\xff");
}

TEST(JsonText, HoldsAnyNameAndIsReadAgain) {
  // NOLINTNEXTLINE(misc-misleading-bidirectional)
  const Json json{{"a", "d\xff"}, {"b", "e\x1b\n\u202e\U000e0041##[x]"}, {"k\xfe", Json::array({"\xc0"})}};
  const std::string text = json_line(json);
  for (const char each : text) EXPECT_TRUE(each >= 0x20 && each < 0x7f) << text;
  EXPECT_EQ(text.find("##["), std::string::npos);
  const Json read = parse_strict_json(text);
  EXPECT_EQ(read.at("a"), "d\\xff");
  EXPECT_EQ(read.at("b"), json.at("b"));
  EXPECT_EQ(read.at("k\\xfe").at(0), "\\xc0");
}

TEST(Cells, ArePrintableAndPaddedByWhatIsShown) {
  Table table({{"name"}, {"n", Unit::kCount}});
  table.add({"a\nb", 1});
  table.add({"::x", 2});
  EXPECT_EQ(table.text(), "name   n\na\\nb   1\n\\x3a:x 2\n");
  EXPECT_EQ(table.csv(), "name,n\na\\nb,1\n\\x3a:x,2\n");
}

TEST(Cells, OfMarkdownShowTextAndCodeAsTheyAre) {
  Table table({{"a"}, {"b"}});
  table.add({"<b>|@you", Cell::code("x`|\n<y>")});
  EXPECT_EQ(table.markdown(), "| a | b |\n|---|---|\n| &#60;b&#62;&#124;@<!-- -->you | `` x`\\|\\n<y> `` |\n");
}

TEST(Markdown, MakesNoMarkupOfText) {
  EXPECT_EQ(markdown_escaped("calloc_loop 1 MiB"), "calloc_loop 1 MiB");
  EXPECT_EQ(markdown_escaped("_a_ |`*"), "&#95;a&#95; &#124;&#96;&#42;");
  EXPECT_EQ(markdown_escaped("@you #1"), "@<!-- -->you #<!-- -->1");
  EXPECT_EQ(markdown_escaped("https://x www.y"), "https:<!-- -->//x www<!-- -->.y");
  EXPECT_EQ(markdown_escaped("- a-b"), "&#45; a-b");
  EXPECT_EQ(markdown_escaped("12. a"), "12&#46; a");
  EXPECT_EQ(markdown_escaped("1.5 -"), "1.5 -");
  EXPECT_EQ(markdown_escaped("---"), "&#45;--");
  EXPECT_EQ(markdown_escaped("a\nb"), "a&#92;nb");
}

TEST(MarkdownBlock, IsFencedByMoreThanIsInIt) {
  EXPECT_EQ(markdown_block("a\n```\nb"), "````text\na\n```\nb\n````\n");
  EXPECT_EQ(markdown_block("a\x1b", ""), "```\na\\x1b\n```\n");
}

TEST(Wrap, KeepsASentenceOneSentence) { EXPECT_EQ(wrap("a\nb c"), "a\\nb c\n"); }

TEST(ShellWord, IsPrintableAndTheSameBytes) {
  EXPECT_EQ(shell_word("d\xff'\n\\"), "$'d\\xff\\'\\n\\\\'");
  EXPECT_EQ(shell_word("it's ü"), "'it'\\''s ü'");
}

TEST(CsvField, IsOneField) { EXPECT_EQ(csv_field("a\n\"b\",c"), "\"a\\n\"\"b\"\",c\""); }

}  // namespace
}  // namespace zerotax
