#include "files/new_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"
#include "files/output_kind.h"
#include "temporary_folder.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

class NewFiles : public WithTemporaryFolder {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string text(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
};

TEST_F(NewFiles, WhatWasThereStaysUntilItIsKept) {
  put(path("a"), "old");
  NewFile file(path("a"));
  file.add("new");
  EXPECT_EQ(text(path("a")), "old");
  file.keep();
  EXPECT_EQ(text(path("a")), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(NewFiles, WithoutAKeepNothingRemains) {
  put(path("a"), "old");
  { NewFile(path("a")).add("new"); }
  { NewFile(path("b")).add("new"); }
  EXPECT_EQ(text(path("a")), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(NewFiles, OfAKilledProcessLeavesTheOldFileWhole) {
  put(path("a"), "old");
  const pid_t child = ::fork();
  if (child == 0) {
    NewFile file(path("a"));
    file.add("new");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(text(path("a")), "old");
}

TEST_F(NewFiles, ALinkStaysAndALinkToNothingIsReplaced) {
  put(path("a"), "old");
  fs::create_symlink("a", path("link"));
  fs::create_symlink(path("elsewhere"), path("dangling"));
  for (const char* name : {"link", "dangling"}) {
    NewFile file(path(name));
    file.add(name);
    file.keep();
  }
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(text(path("a")), "link");
  EXPECT_FALSE(fs::is_symlink(path("dangling")));
  EXPECT_FALSE(fs::exists(path("elsewhere")));
}

TEST_F(NewFiles, ALinkAtTheNameBesideIsNotFollowed) {
  put(path("theirs"), "theirs");
  fs::create_symlink("theirs", path("a." + std::to_string(::getpid()) + ".new"));
  NewFile file(path("a"));
  file.add("new");
  file.keep();
  EXPECT_EQ(text(path("theirs")), "theirs");
  EXPECT_EQ(text(path("a")), "new");
}

TEST_F(NewFiles, APartTakesAFreePlaceOnly) {
  put(path("a"), "old");
  NewFile replacing(path("a"));
  replacing.add("part");
  const std::string beside = replacing.keep_part();
  EXPECT_EQ(text(path("a")), "old");
  EXPECT_EQ(text(beside), "part");
  NewFile made(path("b"));
  made.add("part");
  EXPECT_EQ(made.keep_part(), path("b"));
  EXPECT_EQ(text(path("b")), "part");
}

TEST_F(NewFiles, WhatCameMeanwhileAndIsNotOursStaysAndSoDoesTheResult) {
  remember_output("--json", path("a"));
  NewFile file(path("a"));
  file.add("new");
  put(path("a"), "of another");
  try {
    file.keep();
    FAIL() << "it was replaced";
  } catch (const UsageError& refusal) {
    EXPECT_EQ(text(path("a")), "of another");
    EXPECT_EQ(text(refusal.remedy().substr(refusal.remedy().find('/'))), "new") << refusal.remedy();
  }
}

TEST_F(NewFiles, AFullDiskIsNamedAndAFolderIsRefused) {
  EXPECT_THROW(NewFile("/dev/full").add("x"), UsageError);
  EXPECT_THROW(NewFile{folder_.string()}, UsageError);
  NewFile nowhere("/dev/null");
  nowhere.add("x");
  nowhere.keep();
  struct stat status {};
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

}  // namespace
}  // namespace zerotax
