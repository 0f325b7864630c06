#include "bisect/expectation.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace zerotax::bisect {
namespace {

/// Returns the error message for a text that is not an expectation.
std::string refusal(const std::string& text) {
  try {
    Expectation::parse(text);
  } catch (const UsageError& problem) {
    return std::string(problem.what()) + ": " + problem.remedy();
  }
  return "";
}

TEST(ExpectationTest, EveryKindOfSubjectIsKnown) {
  for (const char* text :
       {"zeroed_bytes == 0", "zeroed_bytes<=4KiB", "first.zeroed_bytes != 0", "calloc_syscalls.mmap == 1",
        "free_syscalls == 0", "home == arena", "populated_bytes > 1.5", "thresholds == 3", "threshold != 32MiB",
        "redundant-reuse == 0", "  zeroed_bytes  >=  1MB ", "calloc_faults < 10"}) {
    EXPECT_EQ(refusal(text), "") << text;
    EXPECT_EQ(Expectation::parse(text).text(), text);
  }
}

TEST(ExpectationTest, ItSaysWhetherItIsAboutOnePoint) {
  EXPECT_TRUE(Expectation::parse("zeroed_bytes == 0").is_of_a_point());
  EXPECT_TRUE(Expectation::parse("redundant-reuse == 0").is_of_a_point());
  EXPECT_FALSE(Expectation::parse("thresholds == 0").is_of_a_point());
  EXPECT_FALSE(Expectation::parse("threshold == 1MiB").is_of_a_point());
}

TEST(ExpectationTest, WhatIsNoneIsRefusedWithWhatToDo) {
  for (const auto& [text, words] : {std::pair{"", "zeroed_bytes == 0"},
                                    {"zeroed_bytes", "zeroed_bytes == 0"},
                                    {"zeroed_bytes = 0", "=="},
                                    {"zeroed_bytes ! 0", "=="},
                                    {"== 0", "unknown metric ''"},
                                    {"zeroed_byte == 0", "did you mean zeroed_bytes?"},
                                    {"redundant-reus == 0", "did you mean redundant-reuse?"},
                                    {"zeroed_bytes == nan", "no"},
                                    {"zeroed_bytes == inf", "no"},
                                    {"zeroed_bytes == 1 2", "no"},
                                    {"zeroed_bytes == 1KB", "KB"},
                                    {"thresholds == 1KiB", "not a number"},
                                    {"home == attic", "heap"},
                                    {"home > heap", "=="},
                                    {"calloc_ns < 5", "not the same each time"},
                                    {"zeroed_bytes.mmap == 0", "unknown metric"},
                                    {"first.returned_bytes == 0", "first call"}}) {
    EXPECT_NE(refusal(text).find(words), std::string::npos) << text << ": " << refusal(text);
  }
}

}  // namespace
}  // namespace zerotax::bisect
