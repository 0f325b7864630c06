#include "observe/symbols.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <csignal>

#include "observe/file_reader.h"

namespace zerotax {
namespace {

/// The address of this function, as the program's file counts addresses.
[[gnu::noinline]] std::uint64_t own_address() {
  link_map* map = nullptr;
  Dl_info info{};
  ::dladdr1(reinterpret_cast<void*>(&own_address), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
  return reinterpret_cast<std::uint64_t>(&own_address) - map->l_addr;
}
constexpr int kOwnLine = __LINE__ - 6;

constexpr const char* kSelf = "/proc/self/exe";

TEST(Symbols, NameFunctionFileAndLine) {
  const NamedFrame frame = Symbols().frame(kSelf, {}, own_address());
  EXPECT_NE(frame.function->find("own_address"), std::string::npos);
  EXPECT_TRUE(frame.file->ends_with("symbols_test.cc"));
  EXPECT_EQ(*frame.line, kOwnLine);
  const std::string label = frame_label(frame, false);
  EXPECT_NE(label.find("(symbols_test.cc:" + std::to_string(kOwnLine) + ")"), std::string::npos);
}

TEST(Symbols, AFileThatHasTwoNamesIsReadOnce) {
  Symbols symbols;
  const NamedFrame first = symbols.frame(kSelf, {}, own_address());
  const pid_t reader = FileReader::shared().pid();
  ASSERT_GT(reader, 0);
  ::kill(reader, SIGKILL);
  const std::string other = fmt::format("/proc/{}/exe", ::getpid());
  const NamedFrame second = symbols.frame(other, {}, own_address());
  EXPECT_EQ(FileReader::shared().pid(), reader) << "nothing was asked";
  EXPECT_EQ(*second.function, *first.function);
  EXPECT_EQ(*second.line, *first.line);
  EXPECT_EQ(*second.module, other);
  EXPECT_FALSE(symbols.frame("/proc/thread-self/exe", {1, 2, 3}, own_address()).function);
}

TEST(Symbols, AFileThatChangedNamesNothing) {
  const NamedFrame frame = Symbols().frame(kSelf, {1, 2, 3}, own_address());
  EXPECT_NE(frame.function.why().find("replaced"), std::string::npos);
}

TEST(Symbols, AMissingFileNamesNothing) {
  const NamedFrame frame = Symbols().frame("/no/such/file", {}, 0x1234);
  EXPECT_FALSE(frame.function);
  EXPECT_EQ(frame_label(frame, false), "0x1234 (file)");
  EXPECT_EQ(frame_label(frame, true), "file+0x1234");
}

TEST(Symbols, AnAddressInNoFileIsJustThat) {
  const NamedFrame frame = Symbols().frame("", {}, 0x1234);
  EXPECT_FALSE(frame.module);
  EXPECT_EQ(frame_label(frame, false), "0x1234");
}

}  // namespace
}  // namespace zerotax
