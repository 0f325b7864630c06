#include "os/process_stat.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "os/memory.h"
#include "os/process_info.h"

namespace zerotax {
namespace {

std::string line_of(const std::string& name) {
  return "4711 (" + name +
         ") S 17 4711 4711 0 -1 4194560 103 7000 5 2 30 12 400 100 20 0 3 0 120169 2998272 412 18446744073709551615 "
         "1\n";
}

TEST(ProcessStat, EveryFieldIsRead) {
  const std::string line = line_of("redis-server");
  const auto stat = parse_process_stat(line);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 4711);
  EXPECT_EQ(stat->name, "redis-server");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 17);
  EXPECT_FALSE(stat->kernel_thread);
  EXPECT_EQ(stat->minor_faults, 103U);
  EXPECT_EQ(stat->children_minor_faults, 7000U);
  EXPECT_EQ(stat->major_faults, 5U);
  EXPECT_EQ(stat->children_major_faults, 2U);
  EXPECT_EQ(stat->user_ticks, 30U);
  EXPECT_EQ(stat->system_ticks, 12U);
  EXPECT_EQ(stat->children_user_ticks, 400U);
  EXPECT_EQ(stat->children_system_ticks, 100U);
  EXPECT_EQ(stat->threads, 3U);
  EXPECT_EQ(stat->start_ticks, 120169U);
  EXPECT_EQ(stat->resident_pages, 412U);
}

TEST(ProcessStat, ANameMayHaveAnyCharacter) {
  for (const std::string name : {"a b", "(", ")", "a) S 1 2 (b", ") R 9 9 9", "", "line\nbreak", "\xff\xfe"}) {
    const std::string line = line_of(name);
    const auto stat = parse_process_stat(line);
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->name, name);
    EXPECT_EQ(stat->parent, 17);
    EXPECT_EQ(stat->resident_pages, 412U);
  }
}

TEST(ProcessStat, WhatIsNoSuchLineIsRefused) {
  const std::string whole = line_of("x");
  for (const std::string text :
       {"", "4711", "4711 (x", "4711 x) S 1", "(x) S 1", "4711 (x)", "4711 (x) S", "a (x) S 1 2"}) {
    EXPECT_FALSE(parse_process_stat(text)) << text;
  }
  EXPECT_FALSE(parse_process_stat(whole.substr(0, 60)));
}

TEST(ProcessStat, AKernelThreadIsKnownByItsFlag) {
  const auto stat = parse_process_stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 3 0 0 1844 1");
  ASSERT_TRUE(stat);
  EXPECT_TRUE(stat->kernel_thread);
}

TEST(ProcessStat, TheKernelsOwnLineIsRead) {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const auto stat = parse_process_stat(line);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, ::getpid());
  EXPECT_EQ(stat->parent, ::getppid());
  EXPECT_GT(stat->minor_faults, 0U);
  EXPECT_GT(stat->resident_pages, 0U);
}

TEST(ProcessStat, AnonymousPagesAreResidentLessShared) {
  EXPECT_EQ(parse_process_pages("732 412 300 5 0 90 0\n")->anonymous(), 112U);
  EXPECT_EQ(parse_process_pages("732 300 412 5 0 90 0\n")->anonymous(), 0U);
  EXPECT_FALSE(parse_process_pages("732 412"));
  EXPECT_FALSE(parse_process_pages(""));
}

TEST(VmEvents, AllZonesAreAdded) {
  const VmEvents events = parse_vm_events(
      "nr_anon_transparent_hugepages 3\npgalloc_dma 5\npgalloc_normal 70\npgalloc_movable 0\npgfree 40\npgfault 900\n"
      "pgmajfault 8\npgfaultx 1\nodd\n");
  EXPECT_EQ(events.allocated_pages, 75U);
  EXPECT_EQ(events.freed_pages, 40U);
  EXPECT_EQ(events.faults, 900U);
  EXPECT_EQ(events.major_faults, 8U);
  EXPECT_EQ(events.huge_pages_now, 3U);
}

TEST(VmEvents, WhatIsNotThereIsEmpty) {
  EXPECT_FALSE(parse_vm_events("").faults);
  EXPECT_FALSE(parse_vm_events("pgfault").faults);
  EXPECT_TRUE(read_vm_events().faults);
}

TEST(Smaps, MappingsHaveTheirMemory) {
  std::istringstream text(
      "55d0-65d0 rw-p 00000000 00:00 0                  [heap]\nSize: 4 kB\nRss:  64 kB\nAnonymous:  60 kB\n"
      "AnonHugePages:  0 kB\nVmFlags: rd wr\n7000-9000 rw-p 00000000 00:00 0 \nAnonymous: 8 kB\nAnonHugePages: 8 kB\n"
      "a000-b000 r--p 00000000 08:01 77 /lib/a b.so (deleted)\nRss: 4 kB\n");
  const std::vector<MappingMemory> found = parse_smaps(text);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].name, "[heap]");
  EXPECT_EQ(found[0].mapped, 0x1000U);
  EXPECT_EQ(found[0].resident, 64U * 1024);
  EXPECT_EQ(found[0].anonymous, 60U * 1024);
  EXPECT_EQ(found[1].name, "");
  EXPECT_EQ(found[1].huge, 8U * 1024);
  EXPECT_EQ(found[2].name, "/lib/a b.so (deleted)");
  EXPECT_EQ(found[2].anonymous, 0U);
}

}  // namespace
}  // namespace zerotax
