#include "os/input_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "temporary_folder.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

using InputFile = WithTemporaryFolder;

TEST_F(InputFile, IsReadWhole) {
  const std::string text("a\0b\n", 4);
  write("text", text);
  EXPECT_EQ(read_input_file(path("text")), text);
  write("empty", "");
  EXPECT_EQ(read_input_file(path("empty")), "");
  // The size of a file in /proc is 0.
  EXPECT_NE(read_input_file("/proc/self/status").find("VmRSS"), std::string::npos);
}

TEST_F(InputFile, IsAPlainOne) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("loop", path("loop"));
  for (const std::string& name : {path("pipe"), path("loop"), path("none"), folder_.string(), std::string("/dev/zero"),
                                  std::string("/dev/null"), std::string(5000, 'x'), std::string("a\0b", 3)}) {
    EXPECT_THROW(read_input_file(name), UsageError) << name;
  }
}

TEST_F(InputFile, OfMoreThanAGigabyteIsNotReadAtAll) {
  write("large", "");
  fs::resize_file(path("large"), kMostInputBytes + 1);
  EXPECT_THROW(read_input_file(path("large")), UsageError);
}

}  // namespace
}  // namespace zerotax
