// The committed schemas match the structs of the results. After a change of these, ZEROTAX_WRITE=1
// build/tests/project_tests writes them again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "advise/result.h"
#include "field_schema.h"
#include "profile/result.h"
#include "replay/result.h"
#include "schema_text.h"
#include "top/result.h"
#include "trace/document.h"

namespace zerotax {
namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct Written {
  const char* name;
  Json (*schema)(const std::string& id);
};

class WrittenSchemas : public testing::TestWithParam<Written> {};

TEST_P(WrittenSchemas, AreWhatTheStructsOfTheResultsSay) {
  const std::string file = std::string(GetParam().name) + ".schema.json";
  const std::string path = ZEROTAX_SOURCE_DIR "/results/schema/" + file;
  const std::string text = schema_text(GetParam().schema(file));
  if (std::getenv("ZEROTAX_WRITE") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(text_of(path), text) << path << " is out of date: run ZEROTAX_WRITE=1 build/tests/project_tests";
}

INSTANTIATE_TEST_SUITE_P(Results, WrittenSchemas,
                         testing::Values(Written{"advise", FieldSchema::of<advise::AdviceResult>},
                                         Written{"advise_self_test", FieldSchema::of<advise::SelfTest>},
                                         Written{"calls", FieldSchema::of<record::CallsAbout>},
                                         Written{"functions", FieldSchema::of<trace::Functions>},
                                         Written{"functions_diff", FieldSchema::of<trace::FunctionDiff>},
                                         Written{"profile", FieldSchema::of<profile::Profile>},
                                         Written{"record", FieldSchema::of<record::Record>},
                                         Written{"replay", FieldSchema::of<replay::Replay>},
                                         Written{"top", FieldSchema::of<top::Sample>},
                                         Written{"trace", FieldSchema::of<trace::Summary>},
                                         Written{"trace_control", FieldSchema::of<trace::Control>},
                                         Written{"trace_events", FieldSchema::of<trace::EventList>},
                                         Written{"workloads", FieldSchema::of<replay::Workloads>}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace zerotax
