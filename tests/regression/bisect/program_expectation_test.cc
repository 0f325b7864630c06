#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "baseline/baseline.h"
#include "bisect/expectation.h"
#include "cli/man_page.h"
#include "point/metrics.h"

namespace zerotax::bisect {
namespace {

using baseline::Program;
using record::runs::Metric;
using record::runs::SiteNumber;

/// Returns a program with 1,148 to 1,150 faults, a process cc1 of 1 MiB, and two call stacks that end in reset.
Program program() {
  Program made;
  made.metrics.all.fill(Range{5, 5});
  made.metrics[Metric::kMinorFaults] = Range{1148, 1150};
  made.metrics[Metric::kRedundant] = NotAvailable{"no calloc was examined"};
  made.processes["cc1"] = made.metrics;
  made.processes["cc1"][Metric::kPeak] = Range{1 << 20, 1 << 20};
  for (const char* caller : {"one (d.cc)", "other (d.cc)"}) {
    baseline::SiteRange& site = made.sites[{record::SiteKind::kFree, {"reset (d.cc)", caller}}];
    site.place.function = "Decoder::reset";
    site.numbers[SiteNumber::kReturned] = {4096, 8192};
  }
  return made;
}

Observed observed(const std::string& text) { return ProgramExpectation::parse(text).observe(program()); }

TEST(ProgramExpectation, HoldsIfItHoldsOfEveryRun) {
  EXPECT_TRUE(observed("minor_faults <= 1150").holds);
  EXPECT_FALSE(observed("minor_faults <= 1149").holds);
  EXPECT_TRUE(observed("page_faults>=1148").holds);
  EXPECT_FALSE(observed("page_faults == 1149").holds);
  EXPECT_FALSE(observed("page_faults != 1149").holds);
  EXPECT_TRUE(observed("page_faults != 1151").holds);
  EXPECT_EQ(observed("page_faults < 2000").value, "page faults is 1,148 to 1,150");
}

TEST(ProgramExpectation, TakesAMetricByItsKeyOrItsName) {
  for (const record::runs::MetricRow& row : record::runs::metric_rows()) {
    for (const std::string name : {row.key, row.name}) {
      EXPECT_TRUE(ProgramExpectation::parse(name + " <= 5000").observe(program()).value.starts_with(row.name)) << name;
      EXPECT_TRUE(ProgramExpectation::parse(name + " of cc1 <= 5000")
                      .observe(program())
                      .value.starts_with(std::string(row.name) + " of cc1"))
          << name;
    }
  }
  EXPECT_EQ(observed("page faults < 2000").value, "page faults is 1,148 to 1,150");
  EXPECT_TRUE(observed("returned bytes in Decoder::reset <= 16KiB").holds);
}

TEST(ProgramExpectation, NamesTheListOfMetrics) {
  std::string listed;
  for (const Topic& topic : topics()) listed += topic.name == "metrics" ? topic.text : "";
  for (const record::runs::MetricRow& row : record::runs::metric_rows()) {
    EXPECT_NE(listed.find(fmt::format("  {:<31}{}\n", row.key, row.name)), std::string::npos) << row.key;
  }
  for (std::size_t i = 0; i < record::runs::kSiteNumbers; ++i) {
    EXPECT_NE(listed.find(fmt::format("  {}\n", key_of(static_cast<record::runs::SiteNumber>(i)))), std::string::npos)
        << i;
  }
  for (const zerotax::Metric metric : baseline::kSteadyMetrics) {
    const zerotax::MetricRow& row = row_of(metric);
    EXPECT_NE(listed.find(fmt::format("  {:<31}{}\n", row.key, row.name)), std::string::npos) << row.key;
    EXPECT_EQ(metric_named(row.name), metric) << row.name;
  }
}

TEST(ProgramExpectation, IsOfAProcessOrAFunction) {
  EXPECT_TRUE(observed("peak_bytes of cc1 == 1MiB").holds);
  EXPECT_TRUE(observed("peak_bytes of ld == 0").holds);
  EXPECT_EQ(observed("peak_bytes of cc1 == 1MiB").value, "peak resident memory of cc1 is 1 MiB");
  EXPECT_TRUE(observed("returned_bytes in Decoder::reset <= 16KiB").holds);
  EXPECT_FALSE(observed("returned_bytes in Decoder::reset < 16KiB").holds);
  EXPECT_TRUE(observed("returned_bytes in nobody == 0").holds);
}

TEST(ProgramExpectation, IsNotKnownOfWhatWasNotCounted) {
  EXPECT_FALSE(observed("redundant_zeroed_bytes == 0").known);
  EXPECT_EQ(observed("redundant_zeroed_bytes == 0").value, "redundant zeroing is n/a: no calloc was examined");
}

TEST(ProgramExpectation, OfAnythingElseIsRefused) {
  for (const char* text : {"", "minor_faults", "minor_fault < 3", "minor_faults < many", "minor_faults < 1MiB",
                           "minor_faults in reset < 3", "calls of cc1 < 3", "minor_faults =< 3"}) {
    EXPECT_THROW(ProgramExpectation::parse(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace zerotax::bisect
