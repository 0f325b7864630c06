#include "findings/figures_text.h"

#include <gtest/gtest.h>

#include "findings/document.h"

namespace zerotax::findings {
namespace {

TEST(FiguresText, EachMetricHasTheUnitAtTheEndOfItsName) {
  EXPECT_EQ(figures_text({{"calloc_ns", 4e7},
                          {"redundant_zeroed_bytes", 104'857'600},
                          {"zeroed_bytes", 1},
                          {"calloc_faults", 12'345.0},
                          {"mean_faults", 0.25},
                          {"avoids", true},
                          {"zero_ns", not_available("no clock")}}),
            "calloc_ns 40.0 ms; redundant_zeroed_bytes 104,857,600 bytes; zeroed_bytes 1 byte; calloc_faults 12,345; "
            "mean_faults 0.25; avoids "
            "yes; zero_ns n/a: no clock");
  EXPECT_EQ(figures_text(Json::object()), "");
}

TEST(FiguresText, AKnobSaysWhatItChangedOrWhyThatIsNotKnown) {
  EXPECT_EQ(knob_json({{"A", "1"}}, {{"calloc_ns", 2000}, {"avoids", false}})["text"], "calloc_ns 2.00 µs; avoids no");
  EXPECT_EQ(knob_json({{"A", "1"}}, not_available("not tried"))["text"], "not tried");
}

}  // namespace
}  // namespace zerotax::findings
