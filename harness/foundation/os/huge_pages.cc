#include "os/huge_pages.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "os/kernel_version.h"
#include "os/page.h"

namespace zerotax {
namespace {

/// Defined in linux/prctl.h since Linux 6.18.
constexpr unsigned long kExceptAdvised = 1UL << 1;

/// Sums a counter over all page sizes in /sys. If /sys has no such counter, reads the counter of huge pages in
/// /proc/vmstat.
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

const char* word_of(HugePages huge_pages) {
  constexpr const char* kWords[] = {"", "always", "madvise", "never"};
  return kWords[static_cast<std::size_t>(huge_pages)];
}

HugePages huge_pages_of(const std::string& word) {
  for (const HugePages each : {HugePages::kOfSystem, HugePages::kAlways, HugePages::kAdvised, HugePages::kNever}) {
    if (word == word_of(each)) return each;
  }
  throw UsageError("invalid huge pages '" + word + "'", "choose: always, madvise, never");
}

Measured<std::string> system_huge_pages() {
  // The line "always [madvise] never" means "madvise".
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  if (!std::getline(file, line)) return NotAvailable{"this kernel has no transparent huge pages"};
  const auto open = line.find('[');
  const auto close = line.find(']');
  if (open == std::string::npos || close == std::string::npos) return line;
  return line.substr(open + 1, close - open - 1);
}

std::string why_no_huge_pages(HugePages wanted) {
  if (wanted == HugePages::kOfSystem || wanted == HugePages::kNever) return "";
  const auto setting = system_huge_pages();
  if (!setting) return setting.why();
  if (*setting == "never" || (*setting != "always" && wanted == HugePages::kAlways)) {
    return "the system's setting is '" + *setting + "', and a process cannot exceed the setting";
  }
  if (*setting == "always" && wanted == HugePages::kAdvised && !kernel_is_at_least(6, 18)) {
    return "the system's setting is 'always', and switching a process to 'madvise' needs Linux 6.18 or later";
  }
  return "";
}

std::optional<HugePagesSwitch> switch_for(HugePages wanted) {
  switch (wanted) {
    case HugePages::kOfSystem:
      return std::nullopt;
    case HugePages::kNever:
      return HugePagesSwitch{1, 0};
    case HugePages::kAlways:
      return HugePagesSwitch{0, 0};
    case HugePages::kAdvised:
      break;
  }
  const auto setting = system_huge_pages();
  return setting && *setting == "always" ? HugePagesSwitch{1, kExceptAdvised} : HugePagesSwitch{0, 0};
}

std::optional<std::uint64_t> huge_fault_bytes() { return sum_of("anon_fault_alloc", "thp_fault_alloc"); }

std::optional<std::uint64_t> huge_shared_bytes() { return sum_of("shmem_alloc", "thp_file_alloc"); }

}  // namespace zerotax
