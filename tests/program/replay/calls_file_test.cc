#include "replay/calls_file.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "calls_testing.h"
#include "files/folders.h"
#include "replay/prepare.h"
#include "small_pages.h"

namespace zerotax::replay {
namespace {

using enum record::EventKind;

class CallsFiles : public ::testing::Test {
 protected:
  /// Returns the error message for a file; empty if the file can be replayed.
  std::string refusal(const std::string& content) {
    write_text(path_, content);
    try {
      prepare(CallsFile(path_), folder_.file("prepared"), false);
    } catch (const UsageError& failure) {
      return failure.what();
    }
    return "";
  }
  std::string refusal(const Events& events) { return refusal(calls_file({events.text})); }

  const TemporaryFolder folder_{"test"};
  const std::string path_ = folder_.file("x.calls");
};

Events usual() {
  Events events;
  events.add(kMalloc, 100).add(kCalloc, 1 << 20).add(kAligned, 5000, {12}).add(kThread, 1).add(kTime, 20);
  events.add(kTouched, 1, {2, 0, 3, 5, 1})
      .add(kRealloc, 2, {1 << 21})
      .add(kRealloc, 0, {16})
      .add(kEnd, 0)
      .add(kThread, 0);
  events.add(kFree, 0).add(kMap, 1 << 16).add(kTouched, 0, {1, 1, 2}).add(kReturn, 0, {0, 4}).add(kUnmap, 0);
  return events;
}

TEST_F(CallsFiles, EventsComeBackAsTheyWereWritten) {
  ONLY_WITH_SMALL_PAGES();
  write_text(path_, calls_file({usual().text}));
  const CallsFile file(path_);
  Events back;
  file.for_each(0, [&](const Event& event) {
    std::vector<std::uint64_t> more;
    if (event.kind == kAligned || event.kind == kRealloc) more = {event.second};
    if (event.kind == kTouched) more = {event.ranges.size()};
    std::uint64_t at = 0;
    for (const auto& [first, pages] : event.ranges) {
      more.insert(more.end(), {first - at, pages});
      at = first + pages;
    }
    back.add(event.kind, event.first, more);
  });
  EXPECT_EQ(back.text, usual().text);
}

TEST_F(CallsFiles, AWholeRecordingIsPrepared) {
  ONLY_WITH_SMALL_PAGES();
  write_text(path_, calls_file({usual().text}));
  const Prepared prepared = prepare(CallsFile(path_), folder_.file("prepared"), false);
  EXPECT_EQ(prepared.calls, 6U);
  EXPECT_EQ(prepared.threads, 2U);
  EXPECT_EQ(prepared.processes, 1U);
}

TEST_F(CallsFiles, EveryFileThatIsCutOffIsRefused) {
  ONLY_WITH_SMALL_PAGES();
  const std::string whole = calls_file({usual().text});
  ASSERT_EQ(refusal(whole), "");
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) EXPECT_NE(refusal(whole.substr(0, bytes)), "") << bytes;
  EXPECT_NE(refusal(whole + "x"), "");
}

TEST_F(CallsFiles, NoChangedByteOfTheCallsIsOverlooked) {
  const std::string whole = calls_file({usual().text});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    // A change of the reserved bytes is not detected, because they are never read.
    if (at >= 12 && at < record::kCallsHeadBytes) continue;
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_NE(refusal(changed), "") << at;
  }
}

TEST_F(CallsFiles, ForeignFilesAreRefused) {
  EXPECT_NE(refusal(std::string("")).find("is not a file of recorded calls"), std::string::npos);
  EXPECT_NE(refusal(std::string(1000, 'x')).find("is not a file of recorded calls"), std::string::npos);
  std::string later = calls_file({usual().text});
  later[8] = 9;
  EXPECT_NE(refusal(later).find("version 9"), std::string::npos);
  EXPECT_THROW(CallsFile(folder_.path()), UsageError);
  EXPECT_THROW(CallsFile(folder_.file("absent")), UsageError);
}

TEST_F(CallsFiles, HostileCallsAreRefused) {
  ONLY_WITH_SMALL_PAGES();
  const auto expect = [&](const Events& events, const std::string& words) {
    EXPECT_NE(refusal(events).find(words), std::string::npos) << refusal(events) << " lacks " << words;
  };
  expect(Events().add(kFree, 0), "does not exist");
  expect(Events().add(kMalloc, 1).add(kFree, 7), "does not exist");
  expect(Events().add(kMalloc, 1).add(kFree, 0).add(kFree, 0), "freed before");
  expect(Events().add(kMalloc, 1).add(kRealloc, 1, {2}).add(kFree, 1), "freed before");
  expect(Events().add(kMalloc, std::uint64_t{1} << 63), "9223372036854775808 bytes");
  expect(Events().add(kRealloc, 0, {~std::uint64_t{0}}), "bytes");
  expect(Events().add(kAligned, 1, {63}), "alignment");
  expect(Events().add(kThread, 1'000'000'000), "thread 1000000000");
  expect(Events().add(kThread, 1).add(kMalloc, 1).add(kEnd, 0).add(kThread, 1), "had ended");
  expect(Events().add(kThread, 1).add(kMalloc, 1).add(kEnd, 0).add(kMalloc, 1), "without a thread");
  expect(Events().add(kMalloc, 1 << 20).add(kTouched, 0, {1, 0, 1000}), "beyond the end");
  expect(Events().add(kMalloc, 1 << 20).add(kTouched, 3, {0}), "does not exist");
  expect(Events().add(kMap, 4096).add(kFree, 0), "that the program mapped");
  expect(Events().add(kMalloc, 4096).add(kUnmap, 0), "no such mapping");
  expect(Events().add(kMap, 4096).add(kReturn, 0, {0, 100}), "no such pages");
  Events many;
  for (std::uint64_t i = 1; i < 10'000; ++i) many.add(kThread, i).add(kMalloc, 1);
  expect(many, "threads at once");
  Events unknown;
  unknown.text = "\x0f";
  expect(unknown, "no such event");
  unknown.text = "\xf0\xff\xff\xff";
  expect(unknown, "no such event");
}

TEST_F(CallsFiles, AChildBeginsWithTheBlocksOfItsParentAtTheFork) {
  ONLY_WITH_SMALL_PAGES();
  record::CallsAbout about;
  about.processes.resize(2);
  about.processes[1].parent = 0;
  about.processes[1].fork = 1;
  Events parent;
  parent.add(kMalloc, 1).add(kFork, 0).add(kMalloc, 2).add(kFork, 0).add(kFree, 0);
  EXPECT_EQ(refusal(calls_file({parent.text, Events().add(kFree, 0).add(kFree, 1).text}, about)), "");
  EXPECT_NE(refusal(calls_file({parent.text, Events().add(kFree, 2).text}, about)), "");
  about.processes[1].parent = 1;
  EXPECT_NE(refusal(calls_file({parent.text, ""}, about)).find("no parent"), std::string::npos);
  about.processes[1].parent.reset();
  EXPECT_NE(refusal(calls_file({parent.text, ""}, about)).find("no parent"), std::string::npos);
}

TEST_F(CallsFiles, ManyForksShareTheBlocksOfTheirParent) {
  constexpr std::uint64_t kForks = 4000;
  Events parent;
  for (int i = 0; i < 100'000; ++i) parent.add(kMalloc, 10);
  for (std::uint64_t i = 0; i < kForks; ++i) parent.add(kFork, 0).add(kFree, 10 * i);
  record::CallsAbout about;
  about.processes.resize(kForks + 1);
  for (std::uint64_t i = 0; i < kForks; ++i) {
    about.processes[i + 1].parent = 0;
    about.processes[i + 1].fork = i;
  }
  std::vector<std::string> events{parent.text};
  // Child i frees block 10 i, which its parent frees only after the fork.
  for (std::uint64_t i = 0; i < kForks; ++i) events.push_back(Events().add(kFree, 10 * i).text);
  EXPECT_EQ(refusal(calls_file(events, about)), "");
  events.back() = Events().add(kFree, 10 * (kForks - 2)).text;
  EXPECT_NE(refusal(calls_file(events, about)).find("freed before"), std::string::npos);
}

}  // namespace
}  // namespace zerotax::replay
