#include "prove/dirty_memory.h"

#include <algorithm>
#include <set>

#include "prove/program_writer.h"

namespace zerotax::prove {
namespace {

constexpr std::uint64_t kMostBytes = 1U << 20;
constexpr std::uint64_t kRunBytes = 64U << 10;
constexpr std::uint64_t kMostBlocks = 100;
constexpr std::size_t kMostRepeats = 40;

/// Returns the sizes of the small blocks that operations allocate.
std::set<std::uint64_t> sizes_in(const Ops& ops) {
  std::set<std::uint64_t> sizes;
  for (const Op& op : ops) {
    const std::uint64_t m = std::max<std::uint64_t>(1, op.m);
    if (op.kind == kOpCall && op.n <= kMostBytes && m <= kMostBytes) sizes.insert(op.n * m);
  }
  return sizes;
}

std::uint32_t last_id(const Ops& ops) {
  std::uint32_t last = 0;
  for (const Op& op : ops) last = std::max({last, op.id, op.block});
  return last;
}

}  // namespace

Ops on_dirty_memory(const Ops& ops) {
  const std::uint32_t step = last_id(ops);
  std::uint32_t last = 0;
  Ops made;
  for (const std::uint64_t size : sizes_in(ops)) {
    const std::uint32_t first = last + 1;
    const auto blocks = std::clamp<std::uint64_t>(kRunBytes / std::max<std::uint64_t>(1, size), 4, kMostBlocks);
    for (std::uint64_t i = 0; i < blocks; ++i) {
      Op call{};
      call.kind = kOpCall;
      call.row = kRowMalloc;
      call.fill = kFillUsable;
      call.id = ++last;
      call.n = size;
      made.push_back(call);
    }
    for (std::uint32_t id = first; id <= last; ++id) {
      Op release{};
      release.kind = kOpFree;
      release.block = id;
      made.push_back(release);
    }
  }
  if (made.size() + ops.size() > kLongestProgram) return ops;
  for (std::size_t round = 0; round < kMostRepeats && made.size() + ops.size() <= kLongestProgram;
       ++round, last += step) {
    for (Op op : ops) {
      op.id += op.id == 0 ? 0 : last;
      op.block += op.block == 0 ? 0 : last;
      made.push_back(op);
    }
  }
  return made;
}

}  // namespace zerotax::prove
