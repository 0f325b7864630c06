#include "base/answer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "base/shell.h"

namespace zerotax {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Table rows(int count) {
  Table table({{.name = "cause"}, {.name = "bytes", .unit = Unit::kBytes}});
  for (int i = 0; i < count; ++i) table.add({"cause " + std::to_string(i), 4096});
  return table;
}

TEST(Answer, IsHeadlineTablePlaceStepsWarningsLegendAndMore) {
  const Answer answer{.headline = "python3 spent 43 % of its CPU time on zeroing memory.",
                      .table = rows(1),
                      .where = "free() in numpy returned 798 MiB.",
                      .steps = {{"zerotax advise -- python3"}, {"zerotax cow -- python3", "or count copies:"}},
                      .warnings = {"2 processes were not recorded."},
                      .legend = "~ estimated from 1.53 µs a page.",
                      .more = "All causes and sites"};
  EXPECT_EQ(answer_text(answer),
            "python3 spent 43 % of its CPU time on zeroing memory.\n"
            "\n"
            "cause   bytes\n"
            "cause 0 4 KiB\n"
            "\n"
            "Where: free() in numpy returned 798 MiB.\n"
            "Try:   zerotax advise -- python3\n"
            "       or count copies: zerotax cow -- python3\n"
            "! 2 processes were not recorded.\n"
            "~ estimated from 1.53 µs a page.\n"
            "All causes and sites: --full\n");
}

TEST(Answer, HasAStepWithoutACommand) {
  EXPECT_EQ(
      answer_text({.headline = "Much.", .steps = {{"", "reuse buffers."}, {"zerotax advise -- a", "or prove it:"}}}),
      "Much.\n\nTry:   reuse buffers.\n       or prove it: zerotax advise -- a\n");
}

TEST(Answer, NeedsOnlyAHeadline) { EXPECT_EQ(answer_text({.headline = "Nothing zeroed."}), "Nothing zeroed.\n"); }

TEST(Answer, FitsOneScreenAndSaysHowManyRowsAndWarningsAreMissing) {
  Answer answer{.headline = "Much.", .table = rows(100), .where = "Everywhere.", .more = "All causes"};
  EXPECT_EQ(lines_of(answer_text(answer)).size(), kAnswerLines);
  EXPECT_NE(answer_text(answer).find("and 83 more rows\n"), std::string::npos) << answer_text(answer);
  for (int i = 0; i < 60; ++i) answer.warnings.push_back("Process " + std::to_string(i) + " was not recorded.");
  const std::string text = answer_text(answer);
  EXPECT_EQ(lines_of(text).size(), kAnswerLines);
  EXPECT_NE(text.find("and 97 more rows\n"), std::string::npos) << text;
  EXPECT_NE(text.find("! 47 more warnings: --full\n"), std::string::npos) << text;
}

TEST(Answer, KeepsTheFirstSentenceOfTheFirstWarning) {
  Answer answer{.headline = "Much.", .table = rows(5), .legend = "~ is an estimate.", .more = "All causes"};
  answer.warnings = {
      "The program keeps 17 MiB until its end, also while it is idle. Each process starts 0.2 ms later than before. "
      "Another allocator serves every allocation.",
      "The other warning."};
  const std::string text = answer_text(answer, 12);
  EXPECT_EQ(lines_of(text).size(), 12U) << text;
  EXPECT_NE(text.find("! The program keeps 17 MiB until its end, also while it is idle. …\n"
                      "! 1 more warning: --full\n~ is an estimate.\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("and 2 more rows\n"), std::string::npos) << text;
}

TEST(Answer, LeavesOutAlternativesLast) {
  Answer answer{.headline = "Much.", .where = "free() returned it.", .legend = "~ is an estimate."};
  for (const char* const name : {"one", "two", "three"}) add_alternative(answer.steps, {name, "run this command:"});
  const std::string text = answer_text(answer, 4);
  EXPECT_EQ(text, "Much.\n\nWhere: free() returned it.\nTry:   run this command: one\n");
}

/// Returns the words into which a shell splits a command.
std::string words_of(const std::string& command) {
  const std::string printed = "printf '<%s>' " + command;
  ::setenv("ZEROTAX_TEST_COMMAND", printed.c_str(), 1);
  std::FILE* const shell = ::popen(R"(bash -c 'eval "$ZEROTAX_TEST_COMMAND"')", "r");
  std::array<char, 4096> words{};
  const std::size_t size = std::fread(words.data(), 1, words.size(), shell);
  ::pclose(shell);
  return {words.data(), size};
}

TEST(Answer, BreaksALongCommandWhereAShellReadsItAsOne) {
  const std::vector<std::string> words{"MALLOC_MMAP_THRESHOLD_=1073741824",
                                       "MALLOC_TRIM_THRESHOLD_=1073741824",
                                       "python3",
                                       "-c",
                                       R"(import numpy; numpy.zeros(10 ** 8) \ 'and' "more" of the same words)",
                                       "it's a \n line break and 'quotes' in a long long word",
                                       "a b"};
  const std::string text = answer_text({.headline = "Much.", .steps = {{shell_text(words)}}});
  const std::size_t begin = text.find("Try:   ") + 7;
  EXPECT_GT(lines_of(text).size(), 4U) << text;
  EXPECT_EQ(words_of(text.substr(begin)), words_of(shell_text(words))) << text;
  for (const std::string& line : lines_of(text)) {
    if (line.find("import") == std::string::npos && line.find("break") == std::string::npos) {
      EXPECT_LE(shown_width(line), 80U) << line;
    }
  }
}

}  // namespace
}  // namespace zerotax
