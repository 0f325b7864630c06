#include "os/huge_faults.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "os/page.h"

namespace zerotax {

namespace {

/// Sums a counter over all sizes in /sys. Without /sys, takes the counter of huge pages in /proc/vmstat.
std::optional<std::uint64_t> sum_of(const char* counter, const char* of_huge_pages) {
  constexpr const char* kFolder = "/sys/kernel/mm/transparent_hugepage";
  std::error_code failure;
  if (!std::filesystem::exists(kFolder, failure)) return failure ? std::nullopt : std::optional<std::uint64_t>(0);
  std::optional<std::uint64_t> bytes;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder, failure)) {
    const std::string name = entry.path().filename().string();
    constexpr const char* kPrefix = "hugepages-";
    std::ifstream file(entry.path() / "stats" / counter);
    std::uint64_t pieces = 0;
    if (!name.starts_with(kPrefix) || !(file >> pieces)) continue;
    bytes = bytes.value_or(0) + pieces * (std::strtoull(name.c_str() + std::string(kPrefix).size(), nullptr, 10) << 10);
  }
  if (bytes) return bytes;
  std::ifstream file("/proc/vmstat");
  std::string word;
  std::uint64_t value = 0;
  while (file >> word >> value) {
    if (word == of_huge_pages) return value * huge_page_bytes();
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> huge_fault_bytes() { return sum_of("anon_fault_alloc", "thp_fault_alloc"); }

std::optional<std::uint64_t> huge_shared_bytes() { return sum_of("shmem_alloc", "thp_file_alloc"); }

}  // namespace zerotax
