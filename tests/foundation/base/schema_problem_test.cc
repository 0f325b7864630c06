#include <gtest/gtest.h>

#include <stdexcept>

#include "base/schema.h"

namespace zerotax {
namespace {

Json baseline() {
  return Json::parse(R"({"schema": "zerotax.baseline/1", "allocator": "a", "version": "1", "env": {},
    "measured_on": {"kernel": "6", "cpu": "x", "thp": "never"},
    "points": [{"case": "calloc_loop", "size_bytes": 4096, "touch": 0.5, "thread": "main", "status": "ok",
      "zeroed_bytes": 0, "redundant_zeroed_bytes": {"na": "why"}, "populated_bytes": 1, "zeroed_method": "none",
      "calloc_syscalls": {"mmap": 1}, "free_syscalls": {"na": "why"}, "home": {"na": "why"}, "first_ops": []}],
    "thresholds": []})");
}

std::string problem_with(const char* key, const Json& value) {
  Json changed = baseline();
  changed["points"][0][key] = value;
  return schema_problem(changed, "baseline");
}

TEST(SchemaProblem, ThereIsNoneInWhatIsSound) { EXPECT_EQ(schema_problem(baseline(), "baseline"), ""); }

// The schema of baselines refers to rules in the schema of points, which is another file.
TEST(SchemaProblem, NamesThePlaceTheValueAndTheFault) {
  EXPECT_EQ(problem_with("zeroed_bytes", "x"), R"(/points/0/zeroed_bytes: "x" has the wrong type)");
  EXPECT_EQ(problem_with("zeroed_bytes", -7),
            "/points/0/zeroed_bytes: -7 is out of range (a number greater than or equal to 0)");
  EXPECT_EQ(problem_with("touch", 7), "/points/0/touch: 7 is out of range (a number less than or equal to 1)");
  EXPECT_EQ(problem_with("thread", "x"), R"(/points/0/thread: "x" is not one of the allowed words)");
  EXPECT_EQ(problem_with("zeroed_bytes", {{"na", 1}}), "/points/0/zeroed_bytes/na: 1 has the wrong type");
  EXPECT_EQ(problem_with("calloc_syscalls", {{"mmap", -1}}).substr(0, 33), "/points/0/calloc_syscalls/mmap: -");
  EXPECT_EQ(schema_problem(7, "baseline"), "document: 7 has the wrong type");
}

TEST(SchemaProblem, NumbersThatAreNone) {
  for (const Json& value : {Json(1e308), Json(0.5), Json(UINT64_MAX), Json(INT64_MAX), Json(true), Json(nullptr)}) {
    EXPECT_NE(problem_with("zeroed_bytes", value), "") << value;
  }
}

TEST(SchemaProblem, NamesWhatIsMissing) {
  Json changed = baseline();
  changed["points"][0].erase("home");
  EXPECT_EQ(schema_problem(changed, "baseline"), "/points/0: lacks 'home'");
}

TEST(SchemaProblem, KeysOfALaterVersionPass) {
  Json changed = baseline();
  changed["later"] = 1;
  changed["points"][0]["later"] = {1, 2};
  changed["points"][0]["home"]["later"] = 1;
  EXPECT_EQ(schema_problem(changed, "baseline"), "");
}

TEST(SchemaProblem, TextAsLongAsTheParserLetsPassCanBeMatched) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's frames are so large that the recursive matcher overflows the stack";
#endif
  Json changed = baseline();
  const std::string longest(16'384, 'x');
  changed["points"][0]["calloc_syscalls"] = {{longest, 1}};
  EXPECT_EQ(schema_problem(changed, "baseline"), "");
  changed["points"][0]["home"] = {{"na", std::string(16'384, ' ')}};
  EXPECT_NE(schema_problem(changed, "baseline"), "");
}

TEST(SchemaProblem, ASchemaThatThereIsNotIsADefect) { EXPECT_THROW(schema_problem({}, "nope"), std::logic_error); }

}  // namespace
}  // namespace zerotax
