#include "os/process_stat.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>

namespace zerotax {
namespace {

/// PF_KTHREAD in the ninth field, from the kernel's include/linux/sched.h.
constexpr std::uint64_t kKernelThread = 0x00200000;
/// Field numbers as in proc(5), from 1. kFirst is the field after the state.
constexpr std::size_t kFirst = 4;
constexpr std::size_t kLastNeeded = 24;
constexpr std::size_t kLast = 28;

/// Reads the next number, skipping the blanks before it. A negative number becomes 0. Only two fields that zerotax
/// reads can be negative: the parent of a process of another namespace, and times that old kernels failed to count.
bool take(std::string_view& text, std::uint64_t& number) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (negative) number = 0;
  return true;
}

}  // namespace

std::int64_t tick_ns() {
  static const std::int64_t ns = 1'000'000'000 / ::sysconf(_SC_CLK_TCK);
  return ns;
}

std::optional<ProcessStat> parse_process_stat(std::string_view line) {
  // The name may contain any character, and ends at the last parenthesis.
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  ProcessStat stat;
  std::uint64_t number = 0;
  std::string_view first = line.substr(0, open);
  if (!take(first, number)) return std::nullopt;
  stat.pid = static_cast<pid_t>(number);
  stat.name = line.substr(open + 1, close - open - 1);
  std::string_view rest = line.substr(close + 1);
  if (rest.size() < 3 || rest[0] != ' ') return std::nullopt;
  stat.state = rest[1];
  rest.remove_prefix(2);
  std::array<std::uint64_t, kLast + 1> field{};
  for (std::size_t i = kFirst; i <= kLast; ++i) {
    if (!take(rest, field[i]) && i <= kLastNeeded) return std::nullopt;
  }
  stat.parent = static_cast<pid_t>(field[4]);
  stat.kernel_thread = (field[9] & kKernelThread) != 0;
  stat.minor_faults = field[10];
  stat.children_minor_faults = field[11];
  stat.major_faults = field[12];
  stat.children_major_faults = field[13];
  stat.user_ticks = field[14];
  stat.system_ticks = field[15];
  stat.children_user_ticks = field[16];
  stat.children_system_ticks = field[17];
  stat.threads = field[20];
  stat.start_ticks = field[22];
  stat.resident_pages = field[24];
  stat.start_stack = field[28];
  return stat;
}

std::optional<ProcessPages> parse_process_pages(std::string_view statm) {
  ProcessPages pages;
  if (!take(statm, pages.mapped) || !take(statm, pages.resident) || !take(statm, pages.shared)) return std::nullopt;
  return pages;
}

}  // namespace zerotax
