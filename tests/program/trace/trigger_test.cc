#include <gtest/gtest.h>

#include "base/error.h"
#include "trace/kernel_events.h"
#include "trace/triggered_run.h"

namespace zerotax::trace {
namespace {

TEST(Trigger, IsAnEventOrARateOfFaults) {
  EXPECT_EQ(parse_trigger("deadline_*").event, "deadline_*");
  const auto rate = parse_trigger("100 faults in 10ms").rate;
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->faults, 100U);
  EXPECT_EQ(rate->within_ns, 10'000'000);
  EXPECT_EQ(parse_trigger("1 fault in 0.5 s").rate->within_ns, 500'000'000);
  EXPECT_EQ(parse_trigger("7 faults in 20us").rate->within_ns, 20'000);
}

TEST(Trigger, AnythingElseIsRefused) {
  for (const char* words : {"a-b", "kernel_fork", "5 faults", "0 faults in 1ms", "-5 faults in 1ms", "5 faults in 1h",
                            "5 faults in 0ms", "5 faults in 1e3ms", "5 faults in nan s", "5 faults in 99999999s",
                            "5 forks in 1ms", "5 faults in 1 ms now", "5faults in 1ms"}) {
    EXPECT_THROW(parse_trigger(words), UsageError) << words;
  }
}

TEST(Trigger, TheSentenceComesFromTheTrace) {
  const std::vector<EventCount> types{{{5, 0, 9}, "request"}, {{1, 9, 9}, "missed"}};
  EXPECT_NE(event_trigger_text(types, "mis*").find("stopped at the first missed"), std::string::npos);
  EXPECT_NE(event_trigger_text(types, "other").find("no other was recorded"), std::string::npos);
}

TEST(EventNames, MakeOneList) {
  EXPECT_EQ(event_list({"a", "b*", "!c"}), "a,b*,!c");
  EXPECT_EQ(event_list({"!c"}), "!c");
  EXPECT_EQ(event_list({}), "");
  EXPECT_THROW(event_list({"a,b"}), UsageError);
  EXPECT_THROW(event_list({"!!c"}), UsageError);
}

}  // namespace
}  // namespace zerotax::trace
