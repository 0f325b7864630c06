#include <gtest/gtest.h>

#include "base/error.h"
#include "base/lines.h"
#include "base/nearest.h"
#include "base/table.h"

namespace zerotax {
namespace {

TEST(OneLine, LeavesWhatIsOneAlone) {
  EXPECT_EQ(one_line("cannot read /tmp/a b.json: ü"), "cannot read /tmp/a b.json: ü");
  EXPECT_EQ(one_line(""), "");
  EXPECT_EQ(one_line("  a  "), "  a  ");
}

TEST(OneLine, ShowsControlCharacters) { EXPECT_EQ(one_line("a\nb\tc\x1b[31m\x7f"), "a\\nb\\tc\\x1b[31m\\x7f"); }

TEST(FirstCharacters, CutsBetweenCharactersAndSaysSo) {
  EXPECT_EQ(first_characters("", 3), "");
  EXPECT_EQ(first_characters("aüb", 3), "aüb");
  EXPECT_EQ(first_characters("aübc", 3), "aü…");
  EXPECT_EQ(first_characters("üüüüü", 3), "üü…");
}

TEST(OneLine, LeavesOutTheMiddleOfALongWord) {
  const std::string line = one_line("no '" + std::string(5000, 'x') + "end' here");
  EXPECT_LT(line.size(), 190U);
  EXPECT_TRUE(line.starts_with("no 'xxx") && line.ends_with("xend' here")) << line;
  std::string wide;
  for (int i = 0; i < 300; ++i) wide += "ü";
  const std::string cut = one_line("a" + wide);
  EXPECT_EQ(cut.find("...") % 2, 1U) << "no half character";
}

TEST(DidYouMean, NamesWhatDiffersByCaseOrALetterOrTwo) {
  const std::vector<std::string> names{"glibc", "jemalloc", "mimalloc"};
  EXPECT_EQ(did_you_mean("GLIBC", names), "did you mean glibc? ");
  EXPECT_EQ(did_you_mean("jemaloc", names), "did you mean jemalloc? ");
  EXPECT_EQ(did_you_mean("mimaloc", names), "did you mean mimalloc? ");
  EXPECT_EQ(did_you_mean("tbb", names), "");
  EXPECT_EQ(did_you_mean("", names), "");
  EXPECT_EQ(did_you_mean(std::string(5000, 'x'), names), "");
  EXPECT_EQ(did_you_mean("ab", {"cd"}), "");
}

TEST(DidYouMean, CountsTwoLettersExchangedAsOneAndTakesTheBeginningOfOneNameForIt) {
  EXPECT_EQ(did_you_mean("rnu", {"run", "record"}), "did you mean run? ");
  EXPECT_EQ(did_you_mean("thresh", {"thresholds", "trace"}), "did you mean thresholds? ");
  EXPECT_EQ(did_you_mean("red", {"redundant-fresh", "redundant-reuse"}), "") << "two begin so";
  EXPECT_EQ(did_you_mean("t", {"thresholds"}), "") << "too short to mean one";
}

TEST(CheckWord, RefusesWhatIsNoneOfTheChoicesAndListsThem) {
  check_word("--cost", "total", {"calloc", "total"});
  const auto refusal = [](const std::string& word, const std::vector<std::string>& names) -> std::string {
    try {
      check_word("--cost", word, names);
    } catch (const UsageError& failure) {
      return failure.what() + (": " + failure.remedy());
    }
    return "";
  };
  EXPECT_EQ(refusal("totla", {"calloc", "total"}),
            "invalid --cost 'totla': did you mean total? choose calloc or total");
  EXPECT_EQ(refusal("", {"low", "medium", "high"}), "invalid --cost '': choose: low, medium, high");
}

TEST(Palette, ColoursWordsAndNotTheBlanksAroundThem) {
  EXPECT_EQ(Palette()(Tone::kWorse, " high  "), " high  ");
  EXPECT_EQ(Palette(true)(Tone::kWorse, " high  "), " \x1b[1;31mhigh\x1b[0m  ");
  EXPECT_EQ(Palette(true)(Tone::kBetter, "   "), "   ");
  EXPECT_EQ(Palette(true).first_in("a limits b limits", Tone::kDoubtful, "limits"),
            "a \x1b[1;33mlimits\x1b[0m b limits");
  EXPECT_EQ(Palette(true).first_in("none", Tone::kDoubtful, "limits"), "none");
}

}  // namespace
}  // namespace zerotax
