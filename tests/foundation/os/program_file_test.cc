#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "os/elf_file.h"
#include "os/processor.h"

namespace zerotax {
namespace {

// This program is dynamically linked and has no sanitizer, however this test is built.
constexpr const char* kProgram = "/bin/sh";

class ProgramFile : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    Elf64_Ehdr header{};
    const std::string program = read(kProgram);
    std::memcpy(&header, program.data(), std::min(program.size(), sizeof header));
    if (header.e_machine != kElfMachine)
      GTEST_SKIP() << "this system's programs are for another processor, run by an emulator";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string make(const std::string& name, const std::string& content, mode_t mode = 0755) {
    std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    ::chmod(path.c_str(), mode);
    return path;
  }

  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_ = ::testing::TempDir() + "program_file_XXXXXX";
};

TEST_F(ProgramFile, ADynamicProgramCanBePreloadedInto) { EXPECT_EQ(why_not_preloadable(kProgram), ""); }

TEST_F(ProgramFile, AScriptIsJudgedByItsInterpreter) {
  EXPECT_EQ(why_not_preloadable(make("good", "#!/bin/sh\n")), "");
  EXPECT_EQ(why_not_preloadable(make("spaced", "#! \t/bin/sh -e\n")), "");
  EXPECT_EQ(why_not_preloadable(make("nested", "#!" + folder_ + "/good\n")), "");
  EXPECT_NE(why_not_preloadable(make("missing", "#!/no/such\n")).find("'/no/such'"), std::string::npos);
  EXPECT_NE(why_not_preloadable(make("empty", "#!\n")), "");
}

TEST_F(ProgramFile, AScriptThatInterpretsItselfEnds) {
  const std::string path = folder_ + "/loop";
  make("loop", "#!" + path + "\n");
  EXPECT_NE(why_not_preloadable(path), "");
}

TEST_F(ProgramFile, WhatIsNoProgramIsNamed) {
  EXPECT_NE(why_not_preloadable(make("text", "echo\n")).find("neither"), std::string::npos);
  EXPECT_NE(why_not_preloadable(make("nothing", "")).find("neither"), std::string::npos);
  EXPECT_NE(why_not_preloadable(make("cut",
                                     "\x7f"
                                     "ELF\x02\x01"))
                .find("broken"),
            std::string::npos);
}

TEST_F(ProgramFile, EveryCutOfAProgramIsSurvived) {
  const std::string whole = read(kProgram);
  for (std::size_t bytes = 1; bytes < 2000; bytes += 37) why_not_preloadable(make("part", whole.substr(0, bytes)));
  EXPECT_NE(why_not_preloadable(make("part", whole.substr(0, 200))), "");
}

TEST_F(ProgramFile, ALoaderNameThatIsSaidToBeLongerThanTheFileIsBroken) {
  std::string broken = read(kProgram);
  Elf64_Ehdr header{};
  std::memcpy(&header, broken.data(), sizeof header);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    char* place = &broken[header.e_phoff + i * sizeof segment];
    std::memcpy(&segment, place, sizeof segment);
    if (segment.p_type == PT_INTERP) segment.p_filesz = std::uint64_t{1} << 62;
    std::memcpy(place, &segment, sizeof segment);
  }
  EXPECT_EQ(why_not_preloadable(make("huge", broken)), "is a broken program file");
}

TEST_F(ProgramFile, AnotherProcessorIsNamed) {
  std::string other = read(kProgram);
  other[18] = static_cast<char>(kElfMachine == EM_X86_64 ? EM_AARCH64 : EM_X86_64);
  EXPECT_NE(why_not_preloadable(make("other", other)).find("another kind of processor"), std::string::npos);
  other = read(kProgram);
  other[4] = 1;  // ELFCLASS32
  EXPECT_NE(why_not_preloadable(make("narrow", other)).find("another kind of processor"), std::string::npos);
}

TEST_F(ProgramFile, SetuidCountsOnlyForWhoIsNotItsOwner) {
  const std::string path = make("setuid", read(kProgram), 04755);
  EXPECT_EQ(why_not_preloadable(path), "") << "it is our own";
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown(path.c_str(), 65534, 65534), 0);
  ::chmod(path.c_str(), 04755);  // chown removes the setuid bit
  EXPECT_NE(why_not_preloadable(path).find("setuid"), std::string::npos);
}

TEST_F(ProgramFile, ProgramsAreFoundAsExecvpFindsThem) {
  const std::string program = make("mine", "#!/bin/sh\n");
  make("plain", "#!/bin/sh\n", 0644);
  std::filesystem::create_directory(folder_ + "/folder");
  const char* path = std::getenv("PATH");
  const std::string before = path != nullptr ? path : "";
  ::setenv("PATH", ("/no/such:" + folder_).c_str(), 1);
  EXPECT_EQ(find_program("mine"), program);
  EXPECT_EQ(find_program("plain"), "") << "it may not be executed";
  EXPECT_EQ(find_program("folder"), "");
  EXPECT_EQ(find_program(""), "");
  EXPECT_EQ(find_program(program), program);
  EXPECT_EQ(find_program("./mine"), "");
  ::setenv("PATH", before.c_str(), 1);
}

}  // namespace
}  // namespace zerotax
