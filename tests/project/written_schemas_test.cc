// The committed schemas match the structs of the results. After a change of these, ZEROTAX_WRITE=1
// build/tests/project_tests writes them again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "field_schema.h"
#include "profile/result.h"
#include "schema_text.h"

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
                         testing::Values(Written{"profile", FieldSchema::of<profile::Profile>}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace zerotax
