#include "snapshot/process/placement.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <map>
#include <stdexcept>

#include "os/numa_nodes.h"

namespace zerotax::snapshot {
namespace {

// A mask of NUMA nodes, in the form that the system calls expect.
constexpr std::size_t kMostNodes = 1024;
constexpr std::size_t kWordBits = sizeof(unsigned long) * CHAR_BIT;
using NodeMask = std::array<unsigned long, kMostNodes / kWordBits>;

NodeMask mask_of(const std::vector<unsigned>& nodes) {
  NodeMask mask{};
  for (const unsigned node : nodes) mask[node / kWordBits] |= 1UL << (node % kWordBits);
  return mask;
}

[[noreturn]] void fail(const char* what) { throw std::runtime_error(std::string(what) + ": " + std::strerror(errno)); }

void set_policy(int mode, const std::vector<unsigned>& nodes) {
  const NodeMask mask = mask_of(nodes);
  // The kernel reads one bit less than the given number of bits.
  if (::syscall(SYS_set_mempolicy, mode, nodes.empty() ? nullptr : mask.data(), kMostNodes + 1) != 0) {
    fail("set_mempolicy");
  }
}

void set_policy_of(AddressRange range, int mode, const std::vector<unsigned>& nodes) {
  const NodeMask mask = mask_of(nodes);
  const AddressRange pages = range.pages();
  if (::syscall(SYS_mbind, pages.begin, pages.bytes(), mode, mask.data(), kMostNodes + 1, 0) != 0) fail("mbind");
}

/// Numbers of pages of a range: those in memory, those on the first node, and those on the second.
struct PageNodes {
  std::int64_t seen = 0;
  std::int64_t on_first = 0;
  std::int64_t on_second = 0;
};

PageNodes nodes_of(AddressRange range) {
  // Every page is checked. Pages at equal distances could all be on one node under interleaving.
  constexpr std::size_t kAtOnce = 16'384;
  const AddressRange all = range.pages();
  const std::vector<unsigned> known = numa_nodes();
  PageNodes found;
  std::vector<void*> pages;
  std::vector<int> nodes;
  for (std::uintptr_t at = all.begin; at < all.end;) {
    pages.clear();
    for (; at < all.end && pages.size() < kAtOnce; at += page_bytes()) {
      pages.push_back(reinterpret_cast<void*>(at));  // NOLINT(performance-no-int-to-ptr)
    }
    nodes.assign(pages.size(), -1);
    // Without target nodes, move_pages(2) only reports the node of each page.
    if (::syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0) != 0) return found;
    for (const int node : nodes) {
      if (node < 0) continue;
      ++found.seen;
      if (static_cast<unsigned>(node) == known.front()) ++found.on_first;
      if (known.size() > 1 && static_cast<unsigned>(node) == known[1]) ++found.on_second;
    }
  }
  return found;
}

}  // namespace

Placement::Placement(const std::string& name) : nodes_(numa_nodes()) {
  static const std::map<std::string, Kind> kKinds{
      {"default", Kind::kDefault}, {"same", Kind::kSame}, {"apart", Kind::kApart}, {"interleaved", Kind::kInterleaved}};
  const auto found = kKinds.find(name);
  if (found == kKinds.end()) throw std::invalid_argument("placement=" + name + " is unknown");
  kind_ = found->second;
}

std::string Placement::why_not() const {
  return is_default() || nodes_.size() > 1 ? "" : "this machine has one NUMA node";
}

Placement::Policy Placement::policy_of(Block block) const {
  if (kind_ == Kind::kInterleaved) return {MPOL_INTERLEAVE, nodes_};
  return {MPOL_BIND, {kind_ == Kind::kApart && block == Block::kDestination ? nodes_[1] : nodes_.front()}};
}

void Placement::begin(Block block) const {
  if (!is_default()) set_policy(policy_of(block).mode, policy_of(block).nodes);
}

void Placement::end() const {
  if (!is_default()) set_policy(MPOL_DEFAULT, {});
}

void Placement::bind(Block block, AddressRange range) const {
  if (!is_default()) set_policy_of(range, policy_of(block).mode, policy_of(block).nodes);
}

void add_nodes(RunMetrics& metrics, AddressRange array, AddressRange destination) {
  const PageNodes of_array = nodes_of(array);
  metrics.array_pages_seen = of_array.seen;
  metrics.array_on_first = of_array.on_first;
  metrics.array_on_second = of_array.on_second;
  const PageNodes of_destination = nodes_of(destination);
  metrics.destination_pages_seen = of_destination.seen;
  metrics.destination_on_first = of_destination.on_first;
  metrics.destination_on_second = of_destination.on_second;
}

}  // namespace zerotax::snapshot
