#include <gtest/gtest.h>

#include "judge/document.h"

namespace zerotax::findings {
namespace {

TEST(MetricsText, EachMetricHasTheUnitAtTheEndOfItsName) {
  EXPECT_EQ(metrics_text({{"calloc_ns", {4e7}},
                          {"redundant_zeroed_bytes", {std::uint64_t{104'857'600}}},
                          {"zeroed_bytes", {std::uint64_t{1}}},
                          {"calloc_faults", {12'345.0}},
                          {"mean_faults", {0.25}},
                          {"avoids", {true}},
                          {"zero_ns", NotAvailable{"no clock"}}}),
            "calloc_ns 40.0 ms; redundant_zeroed_bytes 104,857,600 bytes; zeroed_bytes 1 byte; calloc_faults 12,345; "
            "mean_faults 0.25; avoids "
            "yes; zero_ns n/a: no clock");
  EXPECT_EQ(metrics_text({}), "");
}

TEST(MetricsText, AKnobSaysWhatItChangedOrWhyThatIsNotKnown) {
  const NamedMetrics metrics{{"calloc_ns", {2000.0}}, {"avoids", {false}}};
  EXPECT_EQ(knob_entry({{"A", "1"}}, metrics).text, "calloc_ns 2.00 µs; avoids no");
  EXPECT_EQ(knob_entry({{"A", "1"}}, NotAvailable{"not tried"}).text, "not tried");
}

}  // namespace
}  // namespace zerotax::findings
