#include "observe/unwinder.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>

#include "observe/file_reader.h"
#include "observe/symbols.h"
#include "os/processor.h"
#include "registers.h"

namespace zerotax {
namespace {

/// The end of this thread's stack, whose distance depends on the environment and on chance.
std::uintptr_t stack_end() {
  pthread_attr_t attributes{};
  void* lowest = nullptr;
  std::size_t bytes = 0;
  ::pthread_getattr_np(::pthread_self(), &attributes);
  ::pthread_attr_getstack(&attributes, &lowest, &bytes);
  ::pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uintptr_t>(lowest) + bytes;
}

/// A sample of this thread, like a sample that the kernel would take here: the registers that unwinding needs, and the
/// stack.
__attribute__((noinline)) PerfEvent look(std::size_t stack_bytes) {
  PerfEvent sample;
  sample.has_user = true;
  ZEROTAX_READ_REGISTERS(sample.registers);
  const std::uint64_t sp = sample.registers[kStackPointer];
  // Like the kernel, copies no more of the stack than exists.
  sample.stack.resize(std::min(stack_bytes, stack_end() - sp));
  std::memcpy(sample.stack.data(), reinterpret_cast<const void*>(sp), sample.stack.size());
  return sample;
}

__attribute__((noinline)) PerfEvent inner_function(std::size_t bytes) {
  PerfEvent sample = look(bytes);
  asm volatile("" ::: "memory");
  return sample;
}

__attribute__((noinline)) PerfEvent outer_function(std::size_t bytes) {
  PerfEvent sample = inner_function(bytes);
  asm volatile("" ::: "memory");
  return sample;
}

/// Reports the executable mappings of this process to the unwinder, as perf would.
void map_self(Unwinder& unwinder) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    Unwinder::Mapping mapping{};
    char dash = 0;
    std::string rights;
    std::string device;
    std::uint64_t inode = 0;
    words >> std::hex >> mapping.begin >> dash >> mapping.end >> rights >> mapping.file_offset >> device >> std::dec >>
        inode >> mapping.name;
    if (rights.size() > 2 && rights[2] == 'x') unwinder.map(mapping);
  }
}

std::vector<std::string> functions(const Stack& stack) {
  std::vector<std::string> names;
  for (const Frame& frame : stack) names.push_back(frame.function.substr(frame.function.rfind(':') + 1));
  return names;
}

bool ends_with(const std::vector<std::string>& names, const std::vector<std::string>& last) {
  if (names.size() < last.size()) return false;
  for (std::size_t i = 0; i < last.size(); ++i) {
    if (names[names.size() - last.size() + i].rfind(last[i], 0) != 0) return false;
  }
  return true;
}

TEST(Unwinder, NamesTheCallsOutermostFirst) {
  Unwinder unwinder(static_cast<std::uint32_t>(::getpid()));
  map_self(unwinder);
  const Stack stack = unwinder.frames(outer_function(6000));
  const auto names = functions(stack);
  EXPECT_TRUE(ends_with(names, {"outer_function", "inner_function", "look"})) << testing::PrintToString(names);
  EXPECT_EQ(stack.back().module, "observe_tests");
  EXPECT_EQ(functions(unwinder.frames(outer_function(6000))), names);
}

TEST(Unwinder, KnowsWhereAFunctionThatItHasNamedEnds) {
  Unwinder unwinder(static_cast<std::uint32_t>(::getpid()));
  map_self(unwinder);
  const auto begin = reinterpret_cast<std::uint64_t>(&inner_function);
  const std::string name = unwinder.name(begin).function;
  std::uint64_t end = begin;
  for (; unwinder.name(end).function == name; ++end) EXPECT_EQ(unwinder.name(end).offset, end - begin);
  // The second unwinder has not named the function before, but must find the same end of the function.
  Unwinder other(static_cast<std::uint32_t>(::getpid()));
  map_self(other);
  EXPECT_EQ(other.name(end).function, unwinder.name(end).function);
  EXPECT_EQ(other.name(end - 1).function, name);
  EXPECT_NE(other.name(begin - 1).function, name);
}

TEST(Unwinder, NamesThatAnotherProcessNeededAreKnown) {
  Unwinder unwinder(static_cast<std::uint32_t>(::getpid()));
  map_self(unwinder);
  Unwinder other(static_cast<std::uint32_t>(::getpid()));
  map_self(other);
  const auto begin = reinterpret_cast<std::uint64_t>(&inner_function);
  other.name(reinterpret_cast<std::uint64_t>(&outer_function));  // this call makes the reader open the files
  const Frame frame = unwinder.name(begin + 1);
  const pid_t reader = FileReader::shared().pid();
  ASSERT_GT(reader, 0);
  ::kill(reader, SIGKILL);
  EXPECT_EQ(other.name(begin + 2).function, frame.function);
  EXPECT_EQ(other.name(begin + 2).offset, 2U);
  EXPECT_EQ(other.name(begin + 2).module, frame.module);
  EXPECT_EQ(FileReader::shared().pid(), reader) << "nothing was asked";
}

TEST(Unwinder, CutsAStackThatWasNotCopiedWhole) {
  Unwinder unwinder(static_cast<std::uint32_t>(::getpid()));
  map_self(unwinder);
  const auto names = functions(unwinder.frames(outer_function(8)));
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.back().rfind("look", 0), 0U) << names.back();
  EXPECT_LT(names.size(), 4U);
}

TEST(Unwinder, OfAProcessWithoutMappingsHasTheAddress) {
  Unwinder unwinder(1);
  PerfEvent sample;
  sample.has_user = true;
  sample.registers[kProgramCounter] = 0x1234;
  const Stack stack = unwinder.frames(sample);
  ASSERT_EQ(stack.size(), 1U);
  EXPECT_EQ(stack[0].function, "0x1234");
  EXPECT_EQ(stack[0].module, "");
}

TEST(Unwinder, OfASampleOutsideUserModeHasNothing) {
  Unwinder unwinder(1);
  EXPECT_TRUE(unwinder.frames(PerfEvent{}).empty());
}

TEST(LibcFunction, IsKnownByItsAddressInOurOwnLibraryOnly) {
  EXPECT_EQ(libc_function(file_id("/bin/true"), 0x1000), "");
  EXPECT_EQ(libc_function(file_id("/no/such/file"), 0), "");
}

}  // namespace
}  // namespace zerotax
