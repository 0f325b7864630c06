#include "findings_testing.h"
#include "point/point_document.h"
#include "report/report.h"

namespace zerotax::report {

namespace {

/// A point whose first operation has the metrics that the tables need.
Json whole_point(const Made& made) {
  Json point = point_of(made);
  Json& first = point["first_ops"][0];
  first["free_ns"] = 1000;
  first["touch_ns"] = made.touch > 0 ? Json(2000) : not_available("nothing is touched");
  first["touch_faults"] = made.touch > 0 ? Json(5) : not_available("nothing is touched");
  first["free_faults"] = 0;
  return point;
}

Measured<KnobEffect> effect(std::uint64_t redundant, std::uint64_t faults, double ns, std::optional<bool> avoids) {
  return KnobEffect{redundant, NotAvailable{"not measured"}, faults, ns, avoids};
}

/// A report about the only finding of a point.
ReportData report_on(const std::string& allocator, const std::string& version, const Made& made) {
  ReportData data;
  Json own = whole_point(made);
  own["allocator"] = allocator;
  own["version"] = version;
  data.points =
      typed_points({own, whole_point({.allocator = "other", .size = made.size, .touch = made.touch, .ns = 10})});
  data.subject = find_findings(data.points).front();
  EXPECT_EQ(data.subject.findings.size(), 1U);
  data.finding = data.subject.findings.front();
  data.size_bytes = made.size;
  data.environment.kernel = std::string("6.1");
  data.environment.memory_bytes = kGiB;
  data.environment.swap_bytes = std::uint64_t{0};
  data.without = effect(7, 1, 5, {});
  data.source = "int main(void) { return 1; }\n";
  data.how = "cc reproducer.c";
  data.shown = {allocator, version, {}, {}, 1, "exit status 1", "it shows\n", ""};
  data.control = {"other", std::string("1.0"), {}, {}, 0, "exit status 0", "it does not\n", ""};
  data.profile_text = "memset\n";
  return data;
}

const Made kFresh{.size = 100 * kMiB,
                  .redundant = 100 * kMiB,
                  .populated = 100 * kMiB,
                  .calloc_faults = 25607,
                  .first_redundant = 100 * kMiB,
                  .ns = 4e7};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ReportText, WhatIsFixedInALaterVersionIsANoteToTheDistribution) {
  const ReportText old = write_report(report_on("mimalloc", "2.0.9", kFresh));
  EXPECT_EQ(old.file_name, "report.txt");
  EXPECT_TRUE(has(old.text, "fixed in 2.2.7: upgrade")) << old.text;
  EXPECT_TRUE(has(old.text, "issues/1104"));
}

TEST(ReportText, AVersionThatHasTheFixAndShowsItIsReported) {
  const ReportText fixed = write_report(report_on("mimalloc", "2.2.7", kFresh));
  EXPECT_EQ(fixed.file_name, "report.md");
  EXPECT_FALSE(has(fixed.text, "upgrade"));
  EXPECT_TRUE(has(fixed.text, "mimalloc#1104 (fixed in 1.9.7, 2.2.7, 3.2.7")) << fixed.text;
}

TEST(ReportText, EachProjectGetsItsForm) {
  EXPECT_TRUE(has(write_report(report_on("tbbmalloc", "2021.8", kFresh)).text, "## Observed Behavior"));
  const ReportText glibc = write_report(report_on("glibc", "2.36", kFresh));
  EXPECT_EQ(glibc.file_name, "report.txt");
  EXPECT_TRUE(
      glibc.text.starts_with("Product: glibc\nComponent: malloc\nVersion: 2.36\nSummary: glibc 2.36: every calloc"));
  EXPECT_FALSE(has(glibc.text, "```"));
  EXPECT_TRUE(has(write_report(report_on("scudo", "14.0.6", kFresh)).text, "```c\nint main"));
}

TEST(ReportText, OfAnUnknownAllocatorTheCauseIsAHypothesis) {
  const ReportText text = write_report(report_on("nobody", "1", kFresh));
  EXPECT_TRUE(has(text.text, "Hypothesis, not confirmed: "));
  EXPECT_TRUE(has(text.text, "None that we know of."));
  EXPECT_TRUE(has(text.text, "We know of no setting"));
  EXPECT_TRUE(report_json(report_on("nobody", "1", kFresh)).at("project").contains("na"));
}

TEST(ReportText, WhatIsKnownAndOpenBelongsThere) {
  EXPECT_TRUE(has(write_report(report_on("tbbmalloc", "2021.8", kFresh)).text, "rather than into a new report"));
  EXPECT_FALSE(has(write_report(report_on("mimalloc", "2.2.7", kFresh)).text, "rather than into a new report"));
}

TEST(ReportText, TheMarksOfCausesAreCarriedOver) {
  EXPECT_TRUE(has(write_report(report_on("mimalloc", "2.2.7", kFresh)).text, "- Read in the source: _mi_arena"));
}

TEST(ReportTables, SizesHaveWholeOperationsFreshAndReused) {
  const std::string table = size_table(report_on("nobody", "1", kFresh));
  // A fresh operation takes 5000 ns in calloc and 1000 ns in free. A reused operation takes 40 ms in each.
  EXPECT_TRUE(
      has(table,
          "|   104,857,600 | nobody 1           |  6.00 µs |     n/a |        1 |  80.0 ms |      1.31 |   25,607 |"))
      << table;
  // If neither calloc nor the program writes to the block, the time does not depend on the size.
  EXPECT_TRUE(has(table, "| other 1.0          |  6.00 µs |     n/a |        1 |    20 ns |       n/a |        0 |"))
      << table;
}

TEST(ReportTables, SettingsHaveTheirEffectOrTheReasonWhyNot) {
  ReportData data = report_on("nobody", "1", kFresh);
  const auto add = [&](const char* name, const Measured<KnobEffect>& effect) {
    data.knobs.push_back({{}, effect});
    data.knobs.back().knob.env = {{name, "1"}};
  };
  add("GOOD", effect(0, 3, 9, true));
  add("OTHER", effect(100 * kMiB, 3, 9, true));
  add("BAD", effect(8, 3, 9, false));
  add("ODD", NotAvailable{"it crashed"});
  const std::string table = knob_table(data);
  EXPECT_TRUE(has(table, "| (none) | 7 | 1 | 5 ns | shows |\n")) << table;
  EXPECT_TRUE(has(table, "| GOOD=1 | 0 | 3 | 9 ns | gone |\n"));
  EXPECT_TRUE(has(table, "| OTHER=1 | 104,857,600 | 3 | 9 ns | gone, but the block is zeroed needlessly |\n")) << table;
  EXPECT_TRUE(has(table, "| BAD=1 | 8 | 3 | 9 ns | still shows |\n"));
  EXPECT_TRUE(has(table, "| ODD=1 | n/a | n/a | n/a | it crashed |\n"));
  EXPECT_TRUE(has(write_report(data).text, "There is a setting that avoids it."));
  EXPECT_TRUE(has(write_report(data).text, "avoids it. 3 of 4 were tried, one operation"));
  data.knobs.erase(data.knobs.begin(), data.knobs.begin() + 2);
  EXPECT_TRUE(has(write_report(data).text, "No setting that was tried avoids it. 1 of 2 were tried, one"));
  data.knobs.pop_back();
  EXPECT_TRUE(has(write_report(data).text, "No setting that was tried avoids it. Each was tried, one"));
  data.knobs = {{{}, NotAvailable{"it crashed"}}};
  EXPECT_TRUE(has(write_report(data).text, "Whether a setting avoids it is unknown. No setting could be tried, one"));
}

TEST(ReportTables, ThresholdsAreToTheByteOrARange) {
  ReportData data = report_on("nobody", "1", kFresh);
  EXPECT_EQ(threshold_list(data), "No change was found: all probed sizes behave alike.\n");
  data.thresholds = {{.after_bytes = 41, .at_bytes = 42, .exact = true, .changes = {{"one"}, {"two"}}},
                     {.after_bytes = 1000, .at_bytes = 2000}};
  EXPECT_EQ(threshold_list(data), "- 42 bytes: one; two\n- somewhere from 1,001 to 2,000 bytes\n");
}

}  // namespace
}  // namespace zerotax::report
