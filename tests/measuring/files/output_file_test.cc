#include "files/output_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

class OutputFile : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("zerotax-output-" + std::to_string(::getpid()));
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder / name).string(); }
  static std::string read(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
  fs::path folder;
};

TEST_F(OutputFile, ReplacesAWholeFileAndLeavesNothingBeside) {
  write_file(path("a"), "one");
  write_file(path("a"), "two");
  EXPECT_EQ(read(path("a")), "two");
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFile, OnAFullDiskNamesItAndTheRemedy) {
  try {
    write_file("/dev/full", "text");
    FAIL() << "a full disk was not noticed";
  } catch (const UsageError& failure) {
    EXPECT_NE(std::string(failure.what()).find("No space left"), std::string::npos) << failure.what();
    EXPECT_NE(failure.remedy().find("space"), std::string::npos);
  }
}

TEST_F(OutputFile, ThatCannotBeFinishedLeavesTheOldOneAndNothingBeside) {
  write_file(path("a"), "old");
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{2, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(write_file(path("a"), "too long"), UsageError);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(read(path("a")), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFile, ThatCannotBeWrittenIsFoundBeforeTheWork) {
  EXPECT_THROW(check_writable(path("no/such/folder/a")), UsageError);
  write_file(path("file"), "kept");
  EXPECT_THROW(check_writable(path("file/below")), UsageError);
  EXPECT_THROW(write_file(path("file/below"), "x"), UsageError);
  check_writable(path("file"));
  check_writable(path("new"));
  EXPECT_EQ(read(path("file")), "kept");
  EXPECT_EQ(files(), 1U) << "looking creates nothing";
}

TEST_F(OutputFile, ReadsJsonAndRefusesTheRest) {
  write_file(path("good"), R"({"a": 1})");
  write_file(path("bad"), "{");
  EXPECT_EQ(read_json_file(path("good")).at("a"), 1);
  EXPECT_THROW(read_json_file(path("bad")), UsageError);
  EXPECT_THROW(read_json_file(path("none")), UsageError);
}

}  // namespace
}  // namespace zerotax
