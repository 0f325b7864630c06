#include "files/results.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "files/output_file.h"
#include "os/clock.h"
#include "point/point.h"
#include "point/point_document.h"
#include "run/planning.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

class Results : public testing::Test {
 protected:
  void SetUp() override {
    folder = (fs::temp_directory_path() / ("zerotax-results-" + std::to_string(::getpid()))).string();
    fs::remove_all(folder);
    plan.allocators.push_back({"mine", "/bin/true", "/lib/libmine.so", {{"A", "x,\"y\""}}, "1.2"});
    add_points(plan, {{"calloc_loop"}, {4096, 8192}, {0.0, 1.0}, {"main"}}, {});
    header = {"running", utc_now(), "", {"zerotax", "run"}, {}};
  }
  void TearDown() override { fs::remove_all(folder); }
  [[nodiscard]] Point point(std::size_t i) const { return skipped_point(plan, plan.points.at(i), "a test"); }

  std::string folder;
  Plan plan;
  RunHeader header;
};

TEST_F(Results, AreOnDiskAsSoonAsTheyAreAdded) {
  ResultsFolder results(folder, plan, header);
  results.add(point(0));
  const ResultsFolder other(folder);
  EXPECT_EQ(other.points().size(), 1U);
  EXPECT_EQ(read_json_file(folder + "/run.json").at("state"), "running");
}

TEST_F(Results, AreMeasuredByOneCommand) {
  const ResultsFolder results(folder, plan, header);
  {
    const UniqueFd lock = lock_results(folder);
    try {
      lock_results(folder);
      FAIL() << "the folder was locked twice";
    } catch (const UsageError& refusal) {
      EXPECT_NE(std::string(refusal.what()).find(fmt::format("process {} (", ::getpid())), std::string::npos);
    }
  }
  EXPECT_TRUE(lock_results(folder)) << "a process that has ended holds no lock";
}

TEST_F(Results, NeverGoIntoAFolderThatHoldsSomething) {
  fs::create_directories(folder);
  write_file(folder + "/notes.txt", "mine");
  EXPECT_THROW(ResultsFolder(folder, plan, header), UsageError);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
}

TEST_F(Results, DropALineThatWasCutShort) {
  {
    ResultsFolder results(folder, plan, header);
    results.add(point(0));
    results.add(point(1));
  }
  const auto whole = fs::file_size(folder + "/points.jsonl");
  fs::resize_file(folder + "/points.jsonl", whole - 5);
  ResultsFolder resumed(folder);
  ASSERT_EQ(resumed.points().size(), 1U);
  resumed.add(point(1));
  EXPECT_EQ(fs::file_size(folder + "/points.jsonl"), whole);
  EXPECT_EQ(resumed.finished_keys().size(), 2U);
}

TEST_F(Results, OfAnotherSchemaAreRefused) {
  { const ResultsFolder results(folder, plan, header); }
  Json run = read_json_file(folder + "/run.json");
  run["schema"] = "zerotax.run/2";
  write_file(folder + "/run.json", run.dump());
  try {
    const ResultsFolder resumed(folder);
    FAIL();
  } catch (const UsageError& failure) {
    EXPECT_NE(std::string(failure.what()).find("zerotax.run/2"), std::string::npos);
  }
}

TEST_F(Results, AsCsvHaveARowAPointAndQuoteWhatNeedsIt) {
  ResultsFolder results(folder, plan, header);
  for (std::size_t i = 0; i < plan.points.size(); ++i) results.add(point(i));
  header.state = "complete";
  results.finish(plan, header);
  std::ifstream file(folder + "/points.csv");
  std::string line;
  std::getline(file, line);
  EXPECT_TRUE(line.starts_with("allocator,version,preload,env,case,size_bytes,"));
  const auto columns = std::count(line.begin(), line.end(), ',');
  std::size_t rows = 0;
  while (std::getline(file, line)) {
    ++rows;
    EXPECT_NE(line.find(R"("{""A"":""x,\""y\""""}")"), std::string::npos) << line;
    // One comma is part of the quoted environment.
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), columns + 1) << line;
  }
  EXPECT_EQ(rows, 4U);
  EXPECT_EQ(read_json_file(folder + "/run.json").at("plan").at("points_finished"), 4);
}

TEST_F(Results, AsCsvHaveNoTextForWhatIsNotAvailable) {
  const std::string csv = points_csv({point(0)});
  EXPECT_EQ(csv.find("\"\"na\"\""), std::string::npos) << csv;
  // Every column after the reason is empty. The header shows how many there are.
  const std::string columns = csv.substr(0, csv.find('\n'));
  const std::string names = columns.substr(columns.find(",reason") + std::string(",reason").size());
  const std::string nothing(static_cast<std::size_t>(std::count(names.begin(), names.end(), ',')), ',');
  EXPECT_GT(nothing.size(), 10U);
  EXPECT_TRUE(csv.ends_with(",skipped,a test" + nothing + "\n")) << csv;
}

TEST_F(Results, AsCsvHaveThePercentilesUnderTheirNames) {
  Point measured = point(0);
  measured[Metric::kCallocNs] = MetricValue::time({20.0, 10.0, 30.0});
  const std::string csv = points_csv({measured});
  EXPECT_NE(csv.find(",calloc_ns_median,calloc_ns_p05,calloc_ns_p95,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",a test,20.0,10.0,30.0,"), std::string::npos) << csv;
}

TEST_F(Results, AsCsvQuoteAQuoteAndShowALineBreak) {
  Point quoted = point(0);
  quoted.reason = "a \"b\"";
  EXPECT_NE(points_csv({quoted}).find(",\"a \"\"b\"\"\","), std::string::npos);
  quoted.reason = "a\nb";
  EXPECT_NE(points_csv({quoted}).find(",a\\nb,"), std::string::npos);
}

}  // namespace
}  // namespace zerotax
