#include "os/process_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "os/input_file.h"

namespace zerotax {
namespace {

/// Two files, the second of which later takes the name of the first.
class Replaced : public testing::Test {
 protected:
  Replaced() {
    std::string folder = (std::filesystem::temp_directory_path() / "process-file-XXXXXX").string();
    folder_ = ::mkdtemp(folder.data());
    file_.name = folder_ + "/program";
    std::ofstream(file_.name) << "mine";
    std::ofstream(folder_ + "/other") << "other's";
    const FileId id = file_id(file_.name);
    file_.inode = id.inode;
    file_.device = id.device;
  }
  ~Replaced() override { std::filesystem::remove_all(folder_); }
  void replace() const { std::filesystem::rename(folder_ + "/other", file_.name); }
  bool opens(const MappedProcessFile& file) { return static_cast<bool>(open_mapped_file(::getpid(), file)); }

  std::string folder_;
  MappedProcessFile file_;
};

TEST_F(Replaced, AFileThatWasFoundStaysTheSame) {
  ProcessFiles files;
  const std::string path = files.find(::getpid(), file_);
  EXPECT_EQ(text_of(path), "mine");
  replace();
  EXPECT_EQ(text_of(file_.name), "other's");
  EXPECT_EQ(text_of(path), "mine");
  // The original file is already open, but its name no longer refers to it.
  EXPECT_EQ(files.find(::getpid(), file_), "");
}

TEST_F(Replaced, AnotherFileOfTheNameIsNotOpened) {
  EXPECT_TRUE(opens(file_));
  replace();
  EXPECT_FALSE(opens(file_));
  EXPECT_TRUE(opens({0, 0, file_.name})) << "the inode is unknown";
  EXPECT_FALSE(opens({0, 0, folder_ + "/none"}));
}

TEST_F(Replaced, AFileOfThisNumberOnAnotherDeviceIsNotOpened) {
  ASSERT_TRUE(opens(file_));
  MappedProcessFile elsewhere = file_;
  ++elsewhere.device;
  // On overlayfs and btrfs, the kernel's inode and device differ from those of fstat(2).
  if (opens(elsewhere)) GTEST_SKIP() << "the temporary folder is on overlayfs or btrfs";
}

TEST_F(Replaced, WhatIsNoRegularFileIsNeverOpened) {
  const std::string name = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(name.c_str(), 0600), 0);
  EXPECT_FALSE(opens({0, 0, name, file_id(name).inode, file_id(name).device}));
  EXPECT_FALSE(opens({0, 0, folder_}));
  EXPECT_FALSE(opens({0, 0, "/dev/null"}));
}

TEST_F(Replaced, ALinkIsNotFollowed) {
  ASSERT_EQ(::symlink(file_.name.c_str(), (folder_ + "/link").c_str()), 0);
  EXPECT_FALSE(opens({0, 0, folder_ + "/link", file_.inode, file_.device}));
  ASSERT_EQ(::symlink(folder_.c_str(), (folder_ + "/around").c_str()), 0);
  EXPECT_FALSE(opens({0, 0, folder_ + "/around/program", file_.inode, file_.device}));
}

}  // namespace
}  // namespace zerotax
