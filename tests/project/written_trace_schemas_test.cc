// The committed schemas match the structs of the results of trace. This test has its own program, because trace's
// recorder has a function zerotax::record, and other rooms have a namespace of that name. After a change of a struct,
// ZEROTAX_WRITE=1 build/tests/project_tests writes the schemas again.
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
