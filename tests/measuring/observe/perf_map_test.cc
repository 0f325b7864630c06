#include "observe/perf_map.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace zerotax {
namespace {

std::string name_at(const PerfMapNames& names, std::uint64_t address) {
  const PerfMapNames::Entry* entry = names.find(address);
  return entry != nullptr ? entry->function.function : "";
}

TEST(PerfMapNames, NamesEachAddressOfARange) {
  PerfMapNames names;
  names.add("1000 20 one\n0x2000 10 two words\n");
  EXPECT_EQ(name_at(names, 0xfff), "");
  EXPECT_EQ(name_at(names, 0x1000), "one");
  EXPECT_EQ(name_at(names, 0x101f), "one");
  EXPECT_EQ(name_at(names, 0x1020), "");
  EXPECT_EQ(name_at(names, 0x200f), "two words");
  EXPECT_EQ(names.damage(), "");
}

TEST(PerfMapNames, WhatIsNamedLaterReplacesWhatItOverlaps) {
  PerfMapNames names;
  names.add("1000 100 old\n2000 100 kept\n1080 10 new\n");
  EXPECT_EQ(name_at(names, 0x1080), "new");
  EXPECT_EQ(name_at(names, 0x1000), "");  // the function's code was freed
  EXPECT_EQ(name_at(names, 0x2000), "kept");
}

TEST(PerfMapNames, ALineMayComeInParts) {
  PerfMapNames names;
  for (const char* part : {"10", "00 2", "0 o", "ne", "\n2000 10 t"}) names.add(part);
  EXPECT_EQ(name_at(names, 0x1000), "one");
  EXPECT_EQ(name_at(names, 0x2000), "");
  EXPECT_EQ(names.damage(), "");
}

TEST(PerfMapNames, DamagedLinesNameNothingAndAreCounted) {
  PerfMapNames names;
  names.add("1000 20 one\nnonsense\n");
  EXPECT_EQ(names.damage(), "line 2 is damaged");
  names.add("2000 zz two\n3000 10\n-1 10 x\nffffffffffffffff 10 over the end\n\n4000 0 empty\n");
  EXPECT_EQ(names.damage(), "6 lines are damaged, and line 2 is the first");
  EXPECT_EQ(name_at(names, 0x1000), "one");
  EXPECT_EQ(name_at(names, 0x2000), "");
  std::string endless(1 << 20, 'a');
  endless += "\n5000 10 after\n";
  names.add(endless);
  EXPECT_EQ(name_at(names, 0x5000), "after");
}

TEST(ScriptFunction, IsTakenApartAsCPythonWritesIt) {
  const ScriptFunction grow = script_function("py::Pool.grow:/srv/my app/big:array.py");
  EXPECT_EQ(grow.function, "Pool.grow");
  EXPECT_EQ(grow.file, "/srv/my app/big:array.py");
  EXPECT_EQ(grow.line, 0);
  EXPECT_TRUE(grow.trampoline);
  EXPECT_EQ(script_frame(grow).function, "Pool.grow");
  EXPECT_EQ(script_frame(grow).module, "big:array.py");
}

TEST(ScriptFunction, IsTakenApartAsV8WritesIt) {
  const ScriptFunction touch = script_function("JS:*touch /srv/my app/x.js:12:5");
  EXPECT_EQ(touch.function, "touch");
  EXPECT_EQ(touch.file, "/srv/my app/x.js");
  EXPECT_EQ(touch.line, 12);
  EXPECT_FALSE(touch.trampoline);
  EXPECT_EQ(script_function("LazyCompile:~get size file:///srv/x.mjs:3:1").function, "get size");
  EXPECT_EQ(script_function("LazyCompile:~get size file:///srv/x.mjs:3:1").file, "/srv/x.mjs");
  const ScriptFunction of_v8_10 = script_function("LazyCompile:*compute /root/c.js:7");
  EXPECT_EQ(of_v8_10.function + " " + of_v8_10.file, "compute /root/c.js") << "Node.js 18 writes no column";
  EXPECT_EQ(of_v8_10.line, 7);
  EXPECT_EQ(script_function("JS:^emit node:events:466:44").file, "node:events");
  EXPECT_EQ(script_function("Function:~ /srv/x.js:1:1").function, "(anonymous)");
  EXPECT_EQ(script_function("JS:*noplace").function, "noplace");
}

TEST(ScriptFunction, OfAnotherInterpreterIsItsNameWithoutControlCharacters) {
  EXPECT_EQ(script_function("Lcom/example/Main;::main").function, "Lcom/example/Main;::main");
  EXPECT_EQ(script_function("a\x1b[31mb").function, "a\\x1b[31mb");
  EXPECT_EQ(script_frame(script_function("x")).module, "perf map");
}

/// A fixture with the perf map of this process. The map is removed at the end.
class PerfMapOfOurs : public testing::Test {
 protected:
  PerfMapOfOurs() { std::filesystem::remove(path_); }
  ~PerfMapOfOurs() override { std::filesystem::remove(path_); }

  void write(const std::string& text, std::ios::openmode how = std::ios::app) { std::ofstream(path_, how) << text; }
  std::string named(std::uint64_t address) {
    map_.read();
    const PerfMapNames::Entry* entry = map_.find(address);
    return entry != nullptr ? entry->function.function : "";
  }

  std::string path_ = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  PerfMap map_{::getpid()};
};

TEST_F(PerfMapOfOurs, IsReadOnAsItGrowsAndAnewWhereItWasBegunAnew) {
  EXPECT_EQ(named(0x1000), "");
  EXPECT_TRUE(map_.empty());
  write("1000 10 one\n20");
  EXPECT_EQ(named(0x1000), "one");
  EXPECT_EQ(named(0x2000), "");
  write("00 10 two\n");
  EXPECT_EQ(named(0x2000), "two");
  write("1000 1 x\n", std::ios::trunc);
  EXPECT_EQ(named(0x1000), "x");
  EXPECT_EQ(named(0x2000), "");
  EXPECT_EQ(map_.problem(), "");
}

TEST_F(PerfMapOfOurs, ThatIsDamagedIsReportedWithItsPath) {
  write("1000 10 one\n\x01\x02\x03\n");
  EXPECT_EQ(named(0x1000), "one");
  EXPECT_EQ(map_.problem(), path_ + ": line 2 is damaged");
}

TEST_F(PerfMapOfOurs, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change the owner of a file";
  write("1000 10 one\n");
  ASSERT_EQ(::chown(path_.c_str(), 65534, 65534), 0);
  EXPECT_EQ(named(0x1000), "");
  EXPECT_EQ(map_.problem(), path_ + ": it belongs to user 65534, and the process to user 0");
}

TEST_F(PerfMapOfOurs, ThatEverybodyMayWriteToIsRefused) {
  write("1000 10 one\n");
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  EXPECT_EQ(named(0x1000), "");
  EXPECT_EQ(map_.problem(), path_ + ": any user may write to it");
}

TEST_F(PerfMapOfOurs, ThatIsALinkOrNoRegularFileIsRefused) {
  std::filesystem::create_symlink("/proc/self/maps", path_);
  EXPECT_EQ(named(0x1000), "");
  EXPECT_EQ(map_.problem(), path_ + ": it is a link");
  std::filesystem::remove(path_);
  PerfMap pipe(::getpid());
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  pipe.read();
  EXPECT_EQ(pipe.problem(), path_ + ": it is not a regular file");
}

TEST_F(PerfMapOfOurs, OfAnEarlierProcessIsNotTaken) {
  write("1000 10 one\n");
  std::filesystem::last_write_time(path_, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1000));
  EXPECT_EQ(named(0x1000), "");
  EXPECT_EQ(map_.problem(), "");
  write("1000 10 this one\n");
  EXPECT_EQ(named(0x1000), "this one");
}

TEST_F(PerfMapOfOurs, BeyondItsLimitIsNotRead) {
  write("1000 10 one\n");
  std::filesystem::resize_file(path_, PerfMapFile::kMostBytes + 1);
  EXPECT_EQ(named(0x1000), "one");
  EXPECT_EQ(map_.problem(), path_ + ": it is larger than 64 MiB, so only its beginning is read");
}

TEST_F(PerfMapOfOurs, OfAParentNamesWhatItsChildHasFromIt) {
  write("1000 10 parent's\n");
  PerfMap child(1, std::make_shared<PerfMap>(::getpid()));
  const PerfMapNames::Entry* entry = child.find(0x1000);
  // The parent's perf map is read at the child's first request.
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->function.function, "parent's");
}

}  // namespace
}  // namespace zerotax
