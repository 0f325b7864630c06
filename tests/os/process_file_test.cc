#include "os/process_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace zerotax {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::uint64_t inode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

/// Two files, of which the second takes the name of the first later.
class Replaced : public testing::Test {
 protected:
  Replaced() {
    std::string folder = (std::filesystem::temp_directory_path() / "process-file-XXXXXX").string();
    folder_ = ::mkdtemp(folder.data());
    name_ = folder_ + "/program";
    std::ofstream(name_) << "mine";
    std::ofstream(folder_ + "/other") << "other's";
    inode_ = inode_of(name_);
  }
  ~Replaced() override { std::filesystem::remove_all(folder_); }
  void replace() const { std::filesystem::rename(folder_ + "/other", name_); }

  std::string folder_;
  std::string name_;
  std::uint64_t inode_ = 0;
};

TEST_F(Replaced, AFileThatWasFoundStaysTheSame) {
  ProcessFiles files;
  const std::string path = files.find(::getpid(), 0, 0, name_, inode_);
  EXPECT_EQ(text_of(path), "mine");
  replace();
  EXPECT_EQ(text_of(name_), "other's");
  EXPECT_EQ(text_of(path), "mine");
  // It is open already; by its name it is not found any more.
  EXPECT_EQ(process_file(::getpid(), 0, 0, name_, inode_), "");
}

TEST_F(Replaced, AnotherFileOfTheNameIsNotOpened) {
  EXPECT_TRUE(open_file_of(name_, inode_));
  replace();
  EXPECT_FALSE(open_file_of(name_, inode_));
  EXPECT_TRUE(open_file_of(name_, 0));
  EXPECT_FALSE(open_file_of(folder_ + "/none", 0));
}

}  // namespace
}  // namespace zerotax
