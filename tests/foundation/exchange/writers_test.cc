#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <pugixml.hpp>

#include "exchange/outcome.h"
#include "exchange/outcome_texts.h"

namespace zerotax::exchange {
namespace {

Outcome outcome(std::string name, OutcomeKind kind, bool fails) {
  Outcome made{"mine", std::move(name), {}, {}, kind, fails, word(kind), "why it is so"};
  if (kind != OutcomeKind::kSame) made.details = "line 1\nline 2";
  return made;
}

/// Returns one outcome of each kind.
OutcomeList one_of_each() {
  OutcomeList list;
  list.command = "zerotax test";
  list.subject = "OLD and NEW";
  list.kind = OutcomeKind::kWorse;
  list.sentence = "worse: 3 of 6";
  list.outcomes = {outcome("a", OutcomeKind::kSame, false),  outcome("b", OutcomeKind::kBetter, false),
                   outcome("c", OutcomeKind::kWorse, true),  outcome("d", OutcomeKind::kChanged, true),
                   outcome("e", OutcomeKind::kFailed, true), outcome("f", OutcomeKind::kSkipped, false)};
  return list;
}

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

TEST(JUnit, FailsWhatFailsTheCommand) {
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(junit_xml(one_of_each(), 1.5, "2026-11-20T05:10:00Z").c_str()));
  const pugi::xml_node suite = document.child("testsuites").child("testsuite");
  EXPECT_STREQ(suite.attribute("tests").value(), "6");
  EXPECT_STREQ(suite.attribute("failures").value(), "2");
  EXPECT_STREQ(suite.attribute("errors").value(), "1");
  EXPECT_STREQ(suite.attribute("skipped").value(), "1");
  EXPECT_STREQ(suite.attribute("timestamp").value(), "2026-11-20T05:10:00");
  EXPECT_STREQ(document.child("testsuites").attribute("time").value(), "1.500");
  const pugi::xml_node failed = suite.find_child_by_attribute("name", "c").child("failure");
  EXPECT_STREQ(failed.attribute("message").value(), "worse: why it is so");
  EXPECT_STREQ(failed.text().get(), "line 1\nline 2");
}

TEST(JUnit, HasOneCaseForEachTestAndSaysTheVerdictOnce) {
  OutcomeList list = one_of_each();
  list.outcomes = {outcome("b", OutcomeKind::kSkipped, false), outcome("c", OutcomeKind::kWorse, true),
                   outcome("d", OutcomeKind::kSame, false)};
  for (Outcome& each : list.outcomes) each.headline = each.verdict + ": " + each.name;
  for (int i = 0; i < 2; ++i) list.outcomes[static_cast<std::size_t>(i)].test = "faults";
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(junit_xml(list, 0, "").c_str()));
  const pugi::xml_node suite = document.child("testsuites").child("testsuite");
  EXPECT_STREQ(suite.attribute("tests").value(), "2");
  const pugi::xml_node failed = suite.find_child_by_attribute("name", "faults").child("failure");
  EXPECT_STREQ(failed.attribute("message").value(), "worse: c (and 1 more)");
  EXPECT_EQ(std::string(failed.text().get()).find("skipped: b\nline 1"), 0U);
  const pugi::xml_node passed = suite.find_child_by_attribute("name", "d").child("system-out");
  EXPECT_STREQ(passed.text().get(), "same: d");
  EXPECT_NE(markdown_text(list).find("| worse | c |"), std::string::npos);
  EXPECT_NE(github_commands(list).find("worse::c\n"), std::string::npos);
}

TEST(JUnit, AnImprovementFailsWhereItFailsTheCommand) {
  OutcomeList list = one_of_each();
  list.outcomes = {outcome("b", OutcomeKind::kBetter, true)};
  EXPECT_EQ(occurrences(junit_xml(list, 0, ""), "<failure message=\"better: why it is so\" type=\"better\">"), 1U);
}

TEST(GitHub, EscapesWhatEndsACommandOrAProperty) {
  OutcomeList list = one_of_each();
  list.sentence = "50 %\r\n::error::no";
  list.outcomes = {outcome("a,b:c", OutcomeKind::kWorse, true)};
  list.outcomes[0].file = "base,line:1.json";
  const std::string text = github_commands(list);
  EXPECT_EQ(text,
            "::error title=zerotax test::50 %25%0A\\x3a:error::no\n"
            "::error file=base%2Cline%3A1.json,title=mine%3A a%2Cb%3Ac%3A worse::why it is so\n");
}

TEST(GitHub, HasAKindForEachOutcome) {
  const std::string text = github_commands(one_of_each());
  EXPECT_EQ(occurrences(text, "::error "), 4U) << "the verdict and three";
  EXPECT_EQ(occurrences(text, "::warning "), 1U) << "what was skipped";
  EXPECT_EQ(occurrences(text, "::notice "), 1U) << "what is better";
}

TEST(GitHub, SaysHowManyItDoesNotShow) {
  OutcomeList list = one_of_each();
  list.outcomes.assign(9, outcome("a", OutcomeKind::kWorse, true));
  EXPECT_EQ(occurrences(github_commands(list), "\n"), 10U);
  EXPECT_EQ(github_commands(list).find(" more"), std::string::npos);
  list.outcomes.assign(30, outcome("a", OutcomeKind::kWorse, true));
  EXPECT_EQ(occurrences(github_commands(list), "\n"), 10U);
  EXPECT_NE(github_commands(list).find("::22 more, which"), std::string::npos);
}

TEST(Bencher, LeavesOutWhatIsNoNumber) {
  OutcomeList list;
  const double none = std::numeric_limits<double>::quiet_NaN();
  list.benchmarks = {{"a", {{"latency", 2, 1, 3}, {"faults", none}}}, {"b", {}}, {"c", {{"x", 0, {}, none}}}};
  EXPECT_EQ(bmf_json(list).dump(),
            R"({"a":{"latency":{"value":2.0,"lower_value":1.0,"upper_value":3.0}},"c":{"x":{"value":0.0}}})");
}

TEST(Markdown, SaysTheVerdictFirstAndFoldsTheDetails) {
  const std::string text = markdown_text(one_of_each());
  EXPECT_TRUE(text.starts_with("### zerotax test: worse\n\n**worse: 3 of 6**\n"));
  EXPECT_EQ(occurrences(text, "\n| "), 6U) << "a header, and all outcomes that did not pass";
  EXPECT_EQ(occurrences(text, "<details>"), 5U);
  EXPECT_NE(text.find("1 passed."), std::string::npos);
}

TEST(Markdown, KeepsWhatFailsAndCountsWhatIsCut) {
  OutcomeList list = one_of_each();
  list.passed_in_table = true;
  list.outcomes.assign(1000, outcome(std::string(90, 'p'), OutcomeKind::kSame, false));
  list.outcomes.push_back(outcome("the one", OutcomeKind::kWorse, true));
  const std::string text = markdown_text(list);
  EXPECT_LT(text.size(), kGitHubComment);
  EXPECT_NE(text.find("| the one |"), std::string::npos);
  const std::size_t shown = occurrences(text, "\n| ppp");
  EXPECT_NE(text.find("\n" + std::to_string(1000 - shown) + " more rows.\n"), std::string::npos);
}

TEST(Markdown, IsNeverTooLong) {
  OutcomeList list = one_of_each();
  list.sentence = std::string(100'000, '*');
  Outcome large = outcome(std::string(5000, '|'), OutcomeKind::kWorse, true);
  large.headline = std::string(50'000, '<');
  large.details = std::string(100'000, '`');
  list.outcomes.assign(500, large);
  list.notes.assign(100, std::string(5000, '_'));
  const std::string text = markdown_text(list);
  EXPECT_LT(text.size(), kGitHubComment);
  EXPECT_NE(text.find(" more rows, of which "), std::string::npos);
}

}  // namespace
}  // namespace zerotax::exchange
