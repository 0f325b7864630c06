#include "run/memory_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/size.h"
#include "base/units.h"
#include "run/interrupt.h"

namespace zerotax {
namespace {

constexpr std::uint64_t kProcessBytes = 64 * kMiB;

std::uint64_t needed(std::uint64_t size_bytes) { return size_bytes + size_bytes / 8 + kProcessBytes; }

}  // namespace

std::string why_too_large(std::uint64_t size_bytes, const MemoryState& memory) {
  if (needed(size_bytes) <= memory.usable()) return "";
  const bool by_cgroup = memory.cgroup_available && *memory.cgroup_available < memory.available;
  return fmt::format("needs {} of memory, and {} has {} left", format_size(needed(size_bytes)),
                     by_cgroup ? "this cgroup" : "the machine", format_size(memory.usable()));
}

void warm_up(std::uint64_t bytes) { warm_up_memory(std::min(bytes, read_memory_state().usable() / 2), stop_requested); }

std::size_t audits_side_by_side(std::uint64_t size_bytes, const MemoryState& memory) {
  // An audit may need twice the block: some allocators keep the last one.
  const std::uint64_t fit = memory.usable() / (2 * needed(size_bytes));
  const std::size_t cpus = std::max(1U, std::thread::hardware_concurrency());
  return std::clamp<std::size_t>(fit, 1, cpus);
}

std::uint64_t resident_limit(std::uint64_t size_bytes, const MemoryState& memory) {
  const std::uint64_t spare = 256 * kMiB;
  const std::uint64_t most = memory.usable() > spare ? memory.usable() - spare : memory.usable();
  return std::min(2 * size_bytes + kGiB, most);
}

}  // namespace zerotax
