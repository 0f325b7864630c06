#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "files/output_file.h"
#include "os/unique_fd.h"
#include "temporary_folder.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

using OutputPaths = WithTemporaryFolder;

TEST_F(OutputPaths, AreOneFileByAnyNameOfIt) {
  write("a", "x");
  fs::create_symlink("a", path("link"));
  fs::create_hard_link(path("a"), path("hard"));
  fs::create_directory(path("folder"));
  for (const char* name : {"a", "./a", "link", "hard", "folder/../a"})
    EXPECT_TRUE(is_same_file(path("a"), path(name))) << name;
  EXPECT_FALSE(is_same_file(path("a"), path("b")));
  EXPECT_TRUE(is_same_file(path("b"), path("folder/../b"))) << "the file b does not exist yet";
  EXPECT_FALSE(is_same_file(path("b"), path("folder/b")));
  EXPECT_TRUE(is_same_file("-", "-"));
  EXPECT_FALSE(is_same_file("/dev/null", "/dev/null")) << "/dev/null takes any number of outputs";
}

TEST_F(OutputPaths, DifferFromEachOtherAndFromInputs) {
  write("in", "x");
  const std::string one = path("one");
  check_outputs({{"--a", one}, {"--b", path("two")}, {"--c", ""}, {"--d", ""}, {"--e", "-"}},
                {{"the input", path("in")}});
  EXPECT_THROW(check_outputs({{"--a", one}, {"--b", one}}), UsageError);
  EXPECT_THROW(check_outputs({{"--a", "-"}, {"--b", "-"}}), UsageError);
  EXPECT_THROW(check_outputs({{"--a", path("in")}}, {{"the input", path("in")}}), UsageError);
  EXPECT_THROW(check_outputs({{"--a", folder_.string()}}), UsageError);
  EXPECT_FALSE(fs::exists(one));
}

TEST_F(OutputPaths, OfAPipeNeedAReaderAndKeepIt) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(check_outputs({{"--a", pipe}}), UsageError) << "the output would wait for a reader forever";
  const UniqueFd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  check_outputs({{"--a", pipe}});
  char byte = 0;
  EXPECT_EQ(::read(reader.get(), &byte, 1), -1) << "the pipe's reader would have seen the end";
  EXPECT_EQ(errno, EAGAIN);
  write_file(pipe, "x");
  EXPECT_EQ(::read(reader.get(), &byte, 1), 1);
  EXPECT_EQ(::read(reader.get(), &byte, 1), 0) << "the pipe's reader sees the end";
}

TEST_F(OutputPaths, StayOutsideAFolderOfResults) {
  const NamedPath out{"--out", path("new/")};
  EXPECT_THROW(check_outside({{"--json", path("new/run.json")}}, out), UsageError);
  EXPECT_THROW(check_outside({{"--json", path("new/../new/x/run.json")}}, out), UsageError);
  check_outside({{"--json", path("newer.json")}, {"--csv", "-"}, {"--svg", ""}}, out);
  check_outside({{"--json", path("new/run.json")}}, {"--out", ""});
}

TEST(LibraryInputs, AreThePathsOfWords) {
  const auto inputs = library_inputs({"glibc", "a=/x/liba.so", "b=c=d"});
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[0].path, "/x/liba.so");
  EXPECT_EQ(inputs[1].path, "c=d");
}

}  // namespace
}  // namespace zerotax
