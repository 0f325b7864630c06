// The committed schemas match the structs of the results of trace. They are tested apart from the others because
// trace's recorder has a function zerotax::record, and the others use a namespace of that name. After a struct changed,
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
