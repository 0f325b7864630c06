#include <gtest/gtest.h>

#include <algorithm>

#include "base/size.h"
#include "planted_allocator.h"
#include "report/session.h"

namespace zerotax::report {
namespace {

/// A session that searches for one finding at 64 KiB.
ReportSession session_of(const Allocator& subject, std::vector<Allocator> controls = {},
                         const std::string& finding = "redundant-reuse") {
  ReportRequest request;
  request.subject = subject;
  request.controls = std::move(controls);
  request.finding = subject.name + "-" + finding + "-64KiB";
  request.command = {"zerotax", "report"};
  return {std::move(request), find_c_compiler()};
}

std::vector<std::string> names_of(const AllocatorFindings& found) {
  std::vector<std::string> names;
  for (const Finding& finding : found.findings) names.push_back(finding.name);
  std::sort(names.begin(), names.end());
  return names;
}

Finding reuse_at(std::uint64_t size) {
  Finding finding;
  finding.rule = finding.name = "redundant-reuse";
  finding.title = "made by hand";
  finding.from_bytes = finding.to_bytes = finding.named_bytes = size;
  finding.evidence.push_back({"calloc_loop", size, 0, "main", {}});
  return finding;
}

ReportData data_of(const Finding& finding) {
  ReportData data;
  data.finding = finding;
  data.size_bytes = finding.named_bytes;
  return data;
}

TEST(ReportSession, SurveysWhatWasPlanted) {
  ReportSession session = session_of(planted_allocator("memset"));
  // This allocator zeroes fresh and kept blocks.
  EXPECT_EQ(names_of(session.survey()), (std::vector<std::string>{"redundant-fresh-first", "redundant-reuse"}));
}

TEST(ReportSession, FindsNothingInAnAllocatorThatNeverZeroes) {
  ReportSession session = session_of(planted_allocator("never"));
  const auto names = names_of(session.survey());
  EXPECT_EQ(std::count(names.begin(), names.end(), "redundant-reuse"), 0);
  EXPECT_EQ(std::count(names.begin(), names.end(), "redundant-fresh-first"), 0);
  // A finding that does not show in a second measurement leads to no report.
  EXPECT_FALSE(session.measure(reuse_at(64 * kKiB)));
}

TEST(ReportSession, FindsThatAnAllocatorCrashes) {
  ReportSession session = session_of(planted_allocator("crash"));
  EXPECT_EQ(names_of(session.survey()), std::vector<std::string>{"crash"});
}

TEST(ReportSession, AReproducerShowsUnderTheSubjectAndNotUnderTheControl) {
  const ReportSession session = session_of(planted_allocator("memset"), {planted_allocator("never")});
  ReportData data = data_of(reuse_at(64 * kKiB));
  EXPECT_EQ(session.reproduce(data), "");
  EXPECT_TRUE(data.shown.shows()) << data.shown.output;
  EXPECT_TRUE(data.control.does_not_show()) << data.control.output;
  EXPECT_EQ(data.control.allocator, "never");
  EXPECT_NE(data.how.find("LD_PRELOAD="), std::string::npos);
  EXPECT_NE(data.source.find("65536"), std::string::npos);
}

TEST(ReportSession, WhatShowsUnderEveryControlProvesNothing) {
  Allocator twin = planted_allocator("memset");
  twin.name = "twin";
  const ReportSession session = session_of(planted_allocator("memset"), {twin});
  ReportData data = data_of(reuse_at(64 * kKiB));
  const std::string refused = session.reproduce(data);
  EXPECT_NE(refused.find("every control (twin)"), std::string::npos) << refused;
}

TEST(ReportSession, WithoutAControlNothingIsReproduced) {
  const ReportSession session = session_of(planted_allocator("memset"));
  ReportData data = data_of(reuse_at(64 * kKiB));
  EXPECT_NE(session.reproduce(data).find("no other allocator"), std::string::npos);
}

TEST(ReportSession, WhatDoesNotShowUnderTheSubjectIsRefusedWithWhatTheReproducerSaw) {
  const ReportSession session = session_of(planted_allocator("never"), {planted_allocator("memset")});
  ReportData data = data_of(reuse_at(64 * kKiB));
  const std::string refused = session.reproduce(data);
  EXPECT_NE(refused.find("under never the reproducer ended with exit status 0"), std::string::npos) << refused;
}

TEST(ReportSession, SaysThatThereIsNoReproducer) {
  const ReportSession session = session_of(planted_allocator("memset"), {planted_allocator("never")});
  Finding finding = reuse_at(64 * kKiB);
  finding.name = "crash";
  ReportData data = data_of(finding);
  EXPECT_EQ(session.reproduce(data), "zerotax has no reproducer for crash");
}

}  // namespace
}  // namespace zerotax::report
