#include <gtest/gtest.h>

#include <cstring>

#include "fork/kernel_events.h"

namespace zerotax::fork {
namespace {

/// The kinds of events. Each event has only the field mm.
std::vector<KernelEventKind> kinds() {
  TraceEvent event;
  event.id = 1;
  event.fields["mm"] = {0, 8, false, "struct mm_struct *", 0};
  return {6, {"made up", event}};
}

KernelEvent at(std::uint64_t time_ns, std::size_t kind, std::uint64_t mm = 0) {
  KernelEvent event;
  event.kind = kind;
  event.time_ns = time_ns;
  event.raw.resize(sizeof mm);
  std::memcpy(event.raw.data(), &mm, sizeof mm);
  return event;
}

constexpr std::uint64_t kParent = 7;
constexpr std::uint64_t kChild = 8;

/// The events of a fork. The lock of the child's memory is taken after, and released before, the lock of the parent's
/// memory.
std::vector<KernelEvent> a_fork(std::uint64_t begin) {
  return {at(begin, 0),
          at(begin + 10, 1, kParent),
          at(begin + 12, 1, kChild),
          at(begin + 38, 2, kChild),
          at(begin + 40, 2, kParent),
          at(begin + 45, 3),
          at(begin + 51, 4),
          at(begin + 58, 5)};
}

TEST(ForkPhases, AreCutAtTheEventsOfTheParentsMemory) {
  const ForkPhaseTimes times = phases_of(a_fork(100), kinds());
  ASSERT_EQ(times.forks.size(), 1);
  EXPECT_EQ(times.forks.front(), (std::vector<double>{10, 30, 5, 6, 7}));
  EXPECT_EQ(times.incomplete, 0);
  EXPECT_EQ(times.forks.front().size(), fork_phases().size());
}

TEST(ForkPhases, WhatHappensOutsideAForkIsNoPartOfOne) {
  std::vector<KernelEvent> events{at(1, 1, kParent), at(2, 2, kParent)};
  for (const std::uint64_t begin : {100, 200}) {
    for (const KernelEvent& event : a_fork(begin)) events.push_back(event);
    events.push_back(at(begin + 70, 1, kParent));
    events.push_back(at(begin + 75, 2, kParent));
  }
  const ForkPhaseTimes times = phases_of(events, kinds());
  ASSERT_EQ(times.forks.size(), 2);
  EXPECT_EQ(times.forks[0], times.forks[1]);
}

TEST(ForkPhases, AForkThatLacksAnEventIsLeftOutAndCounted) {
  const std::vector<KernelEvent> whole = a_fork(100);
  for (const std::size_t missing : {1, 4, 5, 6, 7}) {
    std::vector<KernelEvent> events = whole;
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(missing));
    for (const KernelEvent& event : a_fork(300)) events.push_back(event);
    const ForkPhaseTimes times = phases_of(events, kinds());
    EXPECT_EQ(times.forks.size() + times.incomplete, 2) << missing;
    // Without the event of the parent's lock, the child's lock takes its place. The times still ascend, so the loss is
    // not detected.
    EXPECT_EQ(times.forks.size(), missing == 1 ? 2 : 1) << missing;
  }
}

}  // namespace
}  // namespace zerotax::fork
