#include <gtest/gtest.h>

#include <algorithm>

#include "report/answer.h"

namespace zerotax::report {
namespace {

AllocatorFindings found_in_mine() {
  AllocatorFindings found;
  found.allocator = "mine";
  found.version = std::string("1.0");
  return found;
}

ReportedFinding written(const std::string& id, Severity severity) {
  return {.id = id,
          .title = "mine 1.0: calloc zeroes needlessly",
          .sentence = "At 1 MiB, `calloc` writes 1,048,576 redundant bytes a call.",
          .severity = severity,
          .folder = "out/" + id,
          .file = "report.md",
          .how = "cc -O2 reproducer.c -o reproducer && ./reproducer",
          .control = "glibc",
          .tracker = "https://tracker"};
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(ReportAnswer, NamesTheWorstFindingItsReportAndTheNextCommand) {
  ReportedFinding failed = written("mine-cliff-1MiB", Severity::kLow);
  failed.folder.clear();
  failed.why_not = "No report was written, because the finding could not be reproduced: exit status 0.";
  const std::string text =
      answer_text(report_answer(found_in_mine(), {failed, written("mine-b-1MiB", Severity::kHigh)}));
  EXPECT_EQ(text,
            "A report was written for 1 of 2 findings of mine 1.0. Worst: mine 1.0: calloc\n"
            "zeroes needlessly.\n\n"
            "finding                                  severity   report\n"
            "mine-b-1MiB                              high       report.md\n"
            "mine-cliff-1MiB                          low        not reproduced\n\n"
            "Where: At 1 MiB, calloc writes 1,048,576 redundant bytes a call.\n"
            "Try:   run the reproducer yourself:\n"
            "         cd out/mine-b-1MiB && cc -O2 reproducer.c -o reproducer && \\\n"
            "           ./reproducer\n"
            "       then paste out/mine-b-1MiB/report.md into https://tracker.\n"
            "! mine-cliff-1MiB: No report was written, because the finding could not be\n"
            "  reproduced: exit status 0.\n"
            "The reproducer shows the finding under mine, and not under glibc.\n"
            "Path, title and fix of each report: --full\n");
}

TEST(ReportAnswer, FitsOneScreenWithManyFindings) {
  std::vector<ReportedFinding> many(40, written("mine-b-1MiB", Severity::kMedium));
  for (ReportedFinding& each : many) each.fix = "fixed in 2.0: upgrade (https://tracker/1)";
  const std::string text = answer_text(report_answer(found_in_mine(), many));
  EXPECT_LE(lines_of(text), kAnswerLines) << text;
  EXPECT_NE(text.find("fixed in 2.0: upgrade"), std::string::npos) << text;
  const std::string full = report_text(found_in_mine(), many);
  EXPECT_EQ(full.find("Reports were written for 40 of 40 findings of mine 1.0.\n\nout/mine-b-1MiB/report.md\n"), 0U)
      << full;
}

TEST(ReportAnswer, OffersAFindingThatWasNotSevereEnough) {
  AllocatorFindings found = found_in_mine();
  for (int i = 0; i < 30; ++i) {
    Finding& finding = found.findings.emplace_back();
    finding.name = "purge-storm";
    finding.named_bytes = 1 << 20;
  }
  const Answer answer = nothing_to_report(found, "", "medium", "mine=./libmine.so");
  EXPECT_EQ(answer.headline, "nothing to report: mine 1.0 has no finding of severity medium or higher.");
  EXPECT_LE(lines_of(answer_text(answer)), kAnswerLines);
  EXPECT_EQ(answer.steps.front().command,
            "zerotax report --allocator mine=./libmine.so --finding mine-purge-storm-1MiB");
  EXPECT_FALSE(nothing_to_report(found, "mine-x-1MiB", "medium", "mine").table);
}

}  // namespace
}  // namespace zerotax::report
