#include <gtest/gtest.h>

#include "base/error.h"
#include "told_calls.h"

namespace zerotax::trace {
namespace {

constexpr std::uint64_t kMain = 1;
constexpr std::uint64_t kServe = 2;
constexpr std::uint64_t kLog = 3;

/// main calls serve twice, and each serve calls log. The first log takes 10 ns, and the second log takes 20 ns.
void tell_calls(Told& told) {
  told.enter(kMain, 1, 0);
  told.enter(kServe, 2, 100);
  told.enter(kLog, 3, 110);
  told.leave(kLog, 120);
  told.leave(kServe, 150);
  told.enter(kServe, 2, 200);
  told.enter(kLog, 3, 210);
  told.leave(kLog, 230);
  told.leave(kServe, 290);
  told.leave(kMain, 300);
}

FunctionChoice choice(bool begins, bool ends, bool shown) { return {begins, ends, shown}; }

TEST(FunctionSelection, AWantedFunctionIsShownWithWhatItCalls) {
  Told told;
  told.calls.choose = [](std::size_t, std::uint64_t function) { return choice(function == kServe, false, true); };
  tell_calls(told);
  EXPECT_EQ(told.of(kMain).calls, 0U);
  EXPECT_EQ(told.of(kServe).calls, 2U);
  EXPECT_EQ(told.of(kLog).calls, 2U);
}

TEST(FunctionSelection, TheTimeOfTheOthersIsAsWithoutTheFilter) {
  Told told;
  told.calls.choose = [](std::size_t, std::uint64_t function) { return choice(true, function == kServe, true); };
  tell_calls(told);
  EXPECT_EQ(told.of(kServe).calls + told.of(kLog).calls, 0U);
  EXPECT_EQ(told.of(kMain).total_ns, 300U);
  EXPECT_EQ(told.of(kMain).self_ns, 300U - 50 - 90);
}

TEST(FunctionSelection, AFunctionThatIsNotShownPassesItsPathOn) {
  Told told;
  CallPaths paths;
  told.calls.paths = &paths;
  told.calls.choose = [](std::size_t, std::uint64_t function) { return choice(true, false, function != kServe); };
  tell_calls(told);
  const auto order = paths.ordered(0);
  ASSERT_EQ(order.size(), 2U);
  EXPECT_EQ(paths.at(order[1]).function, kLog);
  EXPECT_EQ(paths.at(order[1]).parent, order[0]);
  EXPECT_EQ(paths.at(order[1]).depth, 1U);
}

TEST(CallPaths, HaveTheTimesOfTheirOwnCalls) {
  Told told;
  CallPaths paths;
  told.calls.paths = &paths;
  tell_calls(told);
  told.enter(kLog, 1, 400);
  told.leave(kLog, 1400);
  told.enter(kLog, 1, 1500);
  told.calls.finish();
  const auto order = paths.ordered(0);
  ASSERT_EQ(order.size(), 4U);  // the paths log, main, main/serve and main/serve/log
  const CallPath& alone = paths.at(order[0]);
  EXPECT_EQ(alone.function, kLog);
  EXPECT_EQ(alone.total_ns, 1000U);
  EXPECT_EQ(alone.unfinished, 1U);
  const CallPath& serve = paths.at(order[2]);
  EXPECT_EQ(serve.calls, 2U);
  EXPECT_EQ(serve.total_ns, 140U);
  EXPECT_EQ(serve.self_ns, 110U);
  EXPECT_EQ(paths.at(order[3]).total_ns, 30U);
  EXPECT_EQ(paths.ordered(1).size(), 2U);
}

TEST(CallPaths, OfADeepRecursionAreOrderedWithoutOne) {
  CallPaths paths;
  std::size_t path = CallPaths::kRoot;
  for (int i = 0; i < 200'000; ++i) path = paths.child(0, path, 1);
  EXPECT_EQ(paths.ordered(0).size(), 200'000U);
  EXPECT_EQ(paths.ordered(7).size(), 7U);
}

TEST(TimeSums, AreTheSameInAnyOrder) {
  TimeSums one;
  TimeSums other;
  for (const std::uint64_t ns : {2U, 4U, 4U, 4U, 5U, 5U, 7U, 9U}) one.add(ns);
  for (const std::uint64_t ns : {9U, 7U, 5U, 5U}) other.add(ns);
  TimeSums rest;
  for (const std::uint64_t ns : {4U, 4U, 4U, 2U}) rest.add(ns);
  other.add(rest);
  EXPECT_EQ(one.mean(), 5.0);
  EXPECT_DOUBLE_EQ(one.variance(), 32.0 / 7);
  EXPECT_EQ(other.variance(), one.variance());
}

TEST(TimeSums, KnowASmallVarianceOfLongTimes) {
  TimeSums sums;
  for (const std::uint64_t ns : {1'000'000'000'000U - 3, 1'000'000'000'000U, 1'000'000'000'000U + 3}) sums.add(ns);
  EXPECT_NEAR(sums.variance(), 9.0, 0.001);
}

NamedFrame frame_of(const std::string& function, const std::string& module) {
  NamedFrame frame;
  frame.module = module;
  frame.address = 16;
  frame.function = function;
  return frame;
}

TEST(FunctionFilter, MatchesNamesWithAndWithoutParametersAndPatterns) {
  const NamedFrame frame = frame_of("app::read(int) const", "/usr/lib/libapp.so");
  for (const char* name : {"app::read", "app::read(int) const", "app::*", "*read*"}) {
    FunctionFilter filter;
    filter.functions = {name};
    EXPECT_TRUE(filter.choose(frame).begins) << name;
    EXPECT_FALSE(filter.choose(frame_of("app::write(int)", "/usr/lib/libapp.so")).begins &&
                 name != std::string("app::*"))
        << name;
  }
  for (const char* name : {"libapp.so", "/usr/lib/libapp.so", "libapp*"}) {
    FunctionFilter filter;
    filter.not_objects = {name};
    EXPECT_FALSE(filter.choose(frame).shown) << name;
  }
}

TEST(FunctionFilter, ANameThatMatchesNothingIsAnError) {
  FunctionFilter filter;
  filter.functions = {"raed"};
  filter.check_all_matched();  // does not throw, because the trace has no functions
  filter.choose(frame_of("read(int)", "/bin/app"));
  try {
    filter.check_all_matched();
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(error.remedy().find("did you mean read?"), std::string::npos) << error.remedy();
  }
}

TEST(WithoutParameters, LeavesTheNameThatOneTypes) {
  EXPECT_EQ(without_parameters("main"), "main");
  EXPECT_EQ(without_parameters("f(int, void (*)(int))"), "f");
  EXPECT_EQ(without_parameters("(anonymous namespace)::f(int) const"), "(anonymous namespace)::f");
  EXPECT_EQ(without_parameters("A::operator()(int)"), "A::operator()");
  EXPECT_EQ(without_parameters("(anonymous namespace)::value"), "(anonymous namespace)::value");
}

}  // namespace
}  // namespace zerotax::trace
