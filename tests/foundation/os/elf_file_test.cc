#include "os/elf_file.h"

#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "os/process_info.h"

namespace zerotax {
namespace {

/// Returns the load bias of each loaded file, as reported by the loader.
std::map<std::string, std::uint64_t> biases() {
  std::map<std::string, std::uint64_t> found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        const std::string name = info->dlpi_name;
        std::error_code failure;  // error for a name that belongs to no file, such as linux-vdso.so.1
        const auto path = std::filesystem::canonical(name, failure);
        auto& all = *static_cast<std::map<std::string, std::uint64_t>*>(to);
        all[name.empty() ? process_program(::getpid()) : path.string()] = info->dlpi_addr;
        return 0;
      },
      &found);
  return found;
}

TEST(ElfFile, KnowsWhatTheLoaderAddedFromWhereTheCodeWasMapped) {
  std::size_t seen = 0;
  std::map<std::string, std::uint64_t> first;
  const auto known = biases();
  for (const ProcessMapping& mapping : process_mappings(::getpid())) {
    first.try_emplace(mapping.name, mapping.begin);
    const auto bias = known.find(mapping.name);
    if (bias == known.end() || !mapping.executable) continue;
    const ElfFile file(mapping.name);
    EXPECT_EQ(file.load_bias(mapping.begin, mapping.file_offset), bias->second) << mapping.name;
    EXPECT_EQ(file.first_address(bias->second), first.at(mapping.name)) << mapping.name;
    ++seen;
  }
  EXPECT_GE(seen, 2U);
}

TEST(ElfFile, KnowsNoneOfWhatItDoesNotHold) {
  const ElfFile file(process_program(::getpid()));
  EXPECT_FALSE(file.load_bias(0x400000, std::uint64_t{1} << 40).has_value());
  EXPECT_FALSE(ElfFile("/proc/self/cmdline").load_bias(0x400000, 0).has_value());
  EXPECT_FALSE(ElfFile("/proc/self/cmdline").first_address(0).has_value());
}

}  // namespace
}  // namespace zerotax
