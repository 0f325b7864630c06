#include "drive/stored_run.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

class StoredRunTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "zerotax-stored-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  [[nodiscard]] std::string path(const std::string& name = "") const { return (folder_ / name).string(); }

  fs::path folder_;
};

constexpr const char* kRun = R"({"schema": "zerotax.run/1", "points_file": "points.jsonl"})";
constexpr const char* kPoint =
    R"({"allocator":"a","version":"1","env":{},"case":"c","thread":"main","status":"ok","size_bytes":1,"touch":0,"first_ops":[]})";

TEST_F(StoredRunTest, AFolderHasPointsAndMayHaveThresholds) {
  write("run.json", kRun);
  write("points.jsonl", std::string(kPoint) + "\n" + kPoint + "\n");
  EXPECT_EQ(read_stored_run(path()).points.size(), 2U);
  EXPECT_TRUE(read_stored_run(path()).thresholds.is_null());
  write("thresholds.json", R"({"schema": "zerotax.thresholds/1", "thresholds": []})");
  EXPECT_TRUE(read_stored_run(path()).thresholds.is_object());
  EXPECT_EQ(read_stored_run(path("run.json")).points.size(), 2U);
}

TEST_F(StoredRunTest, ALineThatWasCutShortIsLeftOutAndStays) {
  const std::string lines = std::string(kPoint) + "\n{\"alloc";
  write("run.json", kRun);
  write("points.jsonl", lines);
  EXPECT_EQ(read_stored_run(path()).points.size(), 1U);
  EXPECT_EQ(fs::file_size(folder_ / "points.jsonl"), lines.size());
}

TEST_F(StoredRunTest, AFileMayHaveItsPointsInIt) {
  write("one.json", std::string(R"({"schema": "zerotax.run/1", "points": [)") + kPoint + "]}");
  EXPECT_EQ(read_stored_run(path("one.json")).points.size(), 1U);
}

TEST_F(StoredRunTest, WhatIsNoRunIsRefused) {
  EXPECT_THROW(read_stored_run(path("nothing")), UsageError);
  EXPECT_THROW(read_stored_run(path()), UsageError) << "an empty folder";
  write("list.json", "[]");
  EXPECT_THROW(read_stored_run(path("list.json")), UsageError);
  write("other.json", R"({"schema": "zerotax.plan/1"})");
  EXPECT_THROW(read_stored_run(path("other.json")), UsageError);
  write("odd.json", R"({"schema": "zerotax.run/1", "points": [7]})");
  EXPECT_THROW(read_stored_run(path("odd.json")), UsageError);
  write("run.json", kRun);
  EXPECT_THROW(read_stored_run(path()), UsageError) << "no points";
  write("points.jsonl", "{}\n");
  EXPECT_THROW(read_stored_run(path()), UsageError);
}

}  // namespace
}  // namespace zerotax
