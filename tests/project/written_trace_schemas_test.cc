// The committed schemas match the structs of the results of trace, whose recorder has a function zerotax::record. After
// a change of these, ZEROTAX_WRITE=1 build/tests/project_tests writes them again.
#include "field_schema.h"
#include "trace/document.h"

namespace zerotax {
namespace {

TEST(WrittenTraceSchemas, AreWhatTheStructsOfTheResultsSay) {
  expect_schema<trace::Functions>("functions");
  expect_schema<trace::FunctionDiff>("functions_diff");
  expect_schema<trace::Summary>("trace");
  expect_schema<trace::Control>("trace_control");
  expect_schema<trace::EventList>("trace_events");
}

}  // namespace
}  // namespace zerotax
