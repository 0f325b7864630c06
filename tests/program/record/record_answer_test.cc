#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/lines.h"
#include "record/answer.h"
#include "record/tax.h"

namespace zerotax::record {
namespace {

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;

NamedFrame frame(const std::string& module, const std::string& function, const std::string& file = "", int line = 0) {
  NamedFrame made;
  made.module = module;
  made.address = 0x1234;
  made.function = NotAvailable{"stripped"};
  made.file = NotAvailable{"stripped"};
  made.line = NotAvailable{"stripped"};
  if (!function.empty()) made.function = function;
  if (!file.empty()) made.file = file;
  if (line != 0) made.line = line;
  return made;
}

RecordedSite site(SiteKind kind, std::uint64_t returned, std::uint64_t refilled, std::vector<NamedFrame> frames) {
  RecordedSite made;
  made.kind = kind;
  made.calls = 200;
  made.returned_bytes = made.returned_by.by[static_cast<std::size_t>(Mechanism::kBrk)] = returned;
  made.kernel_zeroed_bytes = made.refilled_bytes = refilled;
  made.frames = std::move(frames);
  return made;
}

/// The record of a program that returned 4 MiB 200 times. Zeroing this memory again took 191 of 529 ms of CPU time.
Record refilling_record() {
  Record record;
  record.command = {"python3", "np.py"};
  record.run.exit_status = 0;
  record.processes.resize(1);
  record.processes[0].pid = 4711;
  record.totals.kernel.returned_bytes = 800 * kMib;
  Tax& tax = record.tax;
  tax.cpu_ns = 529'000'000;
  tax.share_of_cpu = 0.36;
  tax.zeroing_cpu_ns = tax.zeroing_at_least_cpu_ns = 191'000'000;
  tax.fault_cost = {0.375, NotAvailable{"none"}, 10, "the recorded processes"};
  TaxRow& row = tax.rows.emplace_back();
  row.cause = Cause::kRefilled;
  row.bytes = 800 * kMib;
  row.cpu_ns = row.at_least_cpu_ns = 191'000'000;
  row.share_of_cpu = 0.36;
  row.estimated = true;
  TaxRow& little = tax.rows.emplace_back(row);
  little.cause = Cause::kByHand;
  little.cpu_ns = little.at_least_cpu_ns = 5'000'000;
  little.share_of_cpu = 0.009;
  const std::vector<NamedFrame> frames{frame("/lib/libc.so.6", "__libc_free"),
                                       frame("/lib/_multiarray_umath.cpython-311-x86_64-linux-gnu.so", ""),
                                       frame("/usr/bin/python3.11", "PyDict_DelItem")};
  record.sites = {site(SiteKind::kFree, 798 * kMib, 0, frames), site(SiteKind::kOther, 0, 800 * kMib, frames)};
  return record;
}

TEST(RecordAnswer, NamesThePlaceByItsFileWhereItsFunctionHasNoName) {
  EXPECT_EQ(answer(refilling_record()).where,
            "free() in _multiarray_umath returned 798 MiB by brk in 200 calls, and malloc() there had 800 MiB zeroed "
            "again in 200 calls.");
  Record record = refilling_record();
  for (RecordedSite& each : record.sites) each.frames.back().module = each.frames[1].module;
  EXPECT_NE(answer(record).where.find("free() in _multiarray_umath (called by PyDict_DelItem) returned"),
            std::string::npos);
}

TEST(RecordAnswer, NamesAFunctionWithoutItsArgumentsAndAScriptBesideIt) {
  Record record = refilling_record();
  record.sites[0].frames = {frame("/a", "(anonymous namespace)::give(std::vector<int> (*)(int))", "/src/a.cc", 3)};
  record.sites[1].frames = {frame("/a", "Pool::operator()(unsigned long)", "/src/a.cc", 7)};
  NamedFrame script = frame("", "work", "/src/work.py");
  script.module = NotAvailable{"a script"};
  record.sites[1].frames.push_back(script);
  EXPECT_EQ(answer(record).where,
            "free() in give (a.cc:3) returned 798 MiB by brk in 200 calls, and malloc() in Pool::operator() (a.cc:7), "
            "for work (work.py) had 800 MiB zeroed again in 200 calls.");
  record.sites[0].frames.clear();
  record.sites[1].refilled_bytes = 100 * kMib;
  EXPECT_EQ(answer(record).where, "free() in an unknown function returned 798 MiB by brk in 200 calls.");
}

TEST(RecordAnswer, LeavesOutCausesBelowOnePercent) {
  const Answer found = answer(refilling_record());
  EXPECT_EQ(found.headline, "python3 spent 36 % of its CPU time (191 of 529 ms) on zeroing memory.");
  ASSERT_TRUE(found.table);
  EXPECT_EQ(found.table->rows(), 1U);
  EXPECT_NE(found.table->text().find("~191 ms"), std::string::npos);
}

TEST(RecordAnswer, GivesSettingsAsACommandWithTheAllocatorThatWasRecorded) {
  Record record = refilling_record();
  record.tax.env = {{"MALLOC_CONF", "dirty_decay_ms:-1"}};
  record.tax.env_costs = "memory stays";
  record.command = {"./a program", "x"};
  ASSERT_EQ(answer(record).steps.size(), 2U);
  EXPECT_EQ(answer(record).steps[0].command, "MALLOC_CONF=dirty_decay_ms:-1 './a program' x");
  EXPECT_EQ(answer(record).steps[1].command, "zerotax advise -- './a program' x");
  EXPECT_EQ(answer(record).warnings, std::vector<std::string>{"The settings have a price: memory stays."});
  record.allocator = {{"name", "jemalloc"}, {"preload", "/lib/libjemalloc.so.2"}};
  EXPECT_EQ(answer(record).steps[0].command.find("LD_PRELOAD=/lib/libjemalloc.so.2 MALLOC_CONF="), 0U);
  EXPECT_EQ(answer(record).headline.find("a program with jemalloc spent 36 %"), 0U);
}

TEST(RecordAnswer, SaysThatNothingIsToBeGainedInOneSentence) {
  Record record = refilling_record();
  record.tax.rows.erase(record.tax.rows.begin());
  record.tax.zeroing_cpu_ns = 33'000;
  EXPECT_EQ(headline(record),
            "python3 spent under 0.1 % of its CPU time (33.0 µs of 529 ms) on zeroing memory, so there is nothing to "
            "gain.");
  EXPECT_FALSE(answer(record).table);
  EXPECT_TRUE(answer(record).steps.empty());
  record.tax.zeroing_cpu_ns = 10'000'000;
  EXPECT_NE(headline(record).find("on zeroing memory; no single cause takes 1 %, so there is"), std::string::npos);
  record.tax.not_recorded.noticed = true;
  EXPECT_EQ(headline(record).find("nothing to gain"), std::string::npos);
}

TEST(RecordAnswer, GivesTheBoundsOfAnUnknownShare) {
  Record record = refilling_record();
  Tax& tax = record.tax;
  tax.share_of_cpu = NotAvailable{"some were not timed"};
  tax.zeroing_cpu_ns = NotAvailable{"some were not timed"};
  tax.zeroing_at_most_cpu_ns = 200'000'000;
  EXPECT_EQ(headline(record), "python3 spent 36 to 38 % of its CPU time (191 to 200 of 529 ms) on zeroing memory.");
  EXPECT_EQ(answer(record).warnings,
            std::vector<std::string>{"Only bounds of the share are known; some were not timed."});
  tax.zeroing_at_most_cpu_ns = NotAvailable{"some were not timed"};
  EXPECT_EQ(headline(record), "python3 spent at least 36 % of its CPU time (191 of 529 ms) on zeroing memory.");
  tax.zeroing_at_least_cpu_ns = 0;
  EXPECT_EQ(headline(record), "python3 used 529 ms of CPU time; the part spent on zeroing memory is unknown.");
  tax.zeroing_at_most_cpu_ns = 5'000'000;
  EXPECT_EQ(headline(record), "python3 spent at most 0.9 % of its CPU time (5.00 of 529 ms) on zeroing memory.");
}

TEST(RecordAnswer, CountsProgramsThatWereNotRecordedInsteadOfNamingAll) {
  Record record = refilling_record();
  const std::size_t none = warnings(record).size();
  for (int i = 0; i < 50; ++i) {
    record.not_followed.push_back(
        {i + 1, "program" + std::to_string(i), "it is static", 1, std::uint64_t{5}, std::uint64_t{1'000'000}});
  }
  EXPECT_EQ(warnings(record).size(), none + 50);
  const std::vector<std::string> found = answer(record).warnings;
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], "program0 was not recorded (it is static), with 5 minor faults and 1.00 ms of CPU time.");
  EXPECT_EQ(found[2], "48 more programs were not recorded, either.");
}

TEST(RecordAnswer, FitsOneScreenForEveryReferenceDocument) {
  std::size_t documents = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(ZEROTAX_SOURCE_DIR "/results/reference/upstream")) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    const Json json = Json::parse(file);
    if (!json.is_object() || json.value("schema", "") != "zerotax.record/1") continue;
    ++documents;
    const Record record = read_record(json);
    const std::string text = answer_text(answer(record));
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), kAnswerLines) << text;
    EXPECT_EQ(text.find(wrap(headline(record))), 0U) << text;
  }
  EXPECT_GE(documents, 6U);
}

}  // namespace
}  // namespace zerotax::record
