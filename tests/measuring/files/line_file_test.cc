#include "files/line_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "temporary_folder.h"

namespace zerotax {
namespace {

class BoundedLogs : public WithTemporaryFolder {
 protected:
  [[nodiscard]] std::string path() const { return (folder_ / "log").string(); }
  static std::string text(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
};

TEST_F(BoundedLogs, BothFilesTogetherNeverExceedTheLimit) {
  BoundedLog log(path(), 1000);
  for (int i = 0; i < 500; ++i) {
    log.add(std::to_string(i) + std::string(static_cast<std::size_t>(i % 90), 'x'));
    const std::uintmax_t earlier =
        std::filesystem::exists(path() + ".1") ? std::filesystem::file_size(path() + ".1") : 0;
    ASSERT_LE(std::filesystem::file_size(path()) + earlier, 1000U);
  }
  EXPECT_EQ(text(path()).substr(text(path()).rfind('\n', text(path()).size() - 2) + 1, 3), "499");
}

TEST_F(BoundedLogs, WhatIsThereStays) {
  put(path(), "one\n");
  BoundedLog(path(), 1000).add("two");
  EXPECT_EQ(text(path()), "one\ntwo\n");
}

TEST_F(BoundedLogs, AnIncompleteLineIsCutOff) {
  put(path(), "one\n" + std::string(9000, 'x'));
  BoundedLog(path(), 100'000).add("two");
  EXPECT_EQ(text(path()), "one\ntwo\n");
  put(path(), "only a part");
  BoundedLog(path(), 100'000).add("two");
  EXPECT_EQ(text(path()), "two\n");
}

TEST_F(BoundedLogs, OnlyOneProcessWrites) {
  const BoundedLog first(path(), 1000);
  EXPECT_THROW(BoundedLog(path(), 1000), UsageError);
}

TEST_F(BoundedLogs, AfterRotationToo) {
  BoundedLog first(path(), 100);
  for (int i = 0; i < 20; ++i) first.add("some line");
  EXPECT_THROW(BoundedLog(path(), 100), UsageError);
}

TEST_F(BoundedLogs, ALineThatIsTooLongIsRefused) {
  BoundedLog log(path(), 100);
  EXPECT_THROW(log.add(std::string(60, 'x')), UsageError);
  log.add("short");
  EXPECT_EQ(text(path()), "short\n");
}

TEST_F(BoundedLogs, NeitherAPipeNorAFolderIsALog) {
  ::mkfifo(path().c_str(), 0600);
  EXPECT_THROW(BoundedLog(path(), 1000), UsageError);
  EXPECT_THROW(BoundedLog(folder_.string(), 1000), UsageError);
  EXPECT_THROW(BoundedLog("/dev/null", 1000), UsageError);
}

TEST_F(BoundedLogs, ALineFileBeginsAgain) {
  put(path(), "earlier\n");
  LineFile file(path());
  file.add("one");
  EXPECT_EQ(text(path()), "one\n");
  file.add("two");
  EXPECT_EQ(text(path()), "one\ntwo\n");
}

}  // namespace
}  // namespace zerotax
