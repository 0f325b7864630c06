// Checks that the committed documents match the table of metrics. After a change of the table, ZEROTAX_WRITE=1
// build/tests/point_tests writes the documents again.
#include <gtest/gtest.h>

#include "metrics_page.h"
#include "metrics_schema.h"
#include "schema_text.h"

namespace zerotax {
namespace {

constexpr const char* kSchema = ZEROTAX_SOURCE_DIR "/results/schema/point.schema.json";
constexpr const char* kPage = ZEROTAX_SOURCE_DIR "/results/schema/metrics.md";

TEST(MetricsDocuments, TheSchemaOfPointsIsWhatTheTableSays) {
  expect_committed(kSchema, schema_text(with_metrics(Json::parse(text_of(kSchema)))), "point_tests");
}

TEST(MetricsDocuments, ThePageOfMetricsIsWhatTheTableSays) { expect_committed(kPage, metrics_page(), "point_tests"); }

TEST(MetricsDocuments, AKeyThatIsNoLongerInTheTableLeavesTheSchema) {
  const Json schema = Json::parse(text_of(kSchema));
  Json stale = schema;
  stale["properties"]["gone_bytes"] = {{"description", "Gone."}, {"$ref", "#/$defs/count"}};
  stale["required"].push_back("gone_bytes");
  stale["properties"]["fork"]["properties"]["child"]["properties"]["gone"] = {{"$ref", "#/$defs/count"}};
  EXPECT_EQ(with_metrics(stale), schema);
}

TEST(MetricsDocuments, ATypeOrDescriptionThatWasEditedByHandIsThatOfTheTableAgain) {
  const Json schema = Json::parse(text_of(kSchema));
  Json edited = schema;
  edited["properties"]["zeroed_bytes"]["description"] = "Something else.";
  edited["properties"]["home"]["anyOf"][0]["enum"].push_back("nowhere");
  edited["$defs"]["first_op"]["properties"].erase("calloc_ns");
  EXPECT_EQ(with_metrics(edited), schema);
}

}  // namespace
}  // namespace zerotax
