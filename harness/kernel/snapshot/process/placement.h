#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/page.h"
#include "snapshot/process/run_block.h"

namespace zerotax::snapshot {

/// The NUMA nodes of the array and of the destination. "default" is the kernel's choice. "same" puts the array and the
/// destination on the first node. "apart" puts the destination on the second node. "interleaved" distributes all pages
/// over all nodes. set_mempolicy(2) places memory that is written as soon as it is allocated, and mbind(2) places other
/// memory.
class Placement {
 public:
  /// Throws std::invalid_argument for another name.
  explicit Placement(const std::string& name);

  /// The reason why the placement is impossible here; empty if it is possible.
  [[nodiscard]] std::string why_not() const;
  enum class Block { kArray, kDestination };
  // begin(), end() and bind() throw std::runtime_error if the kernel refuses.
  // From begin() to end(), the thread's allocations get the placement of this block. After end(), the kernel chooses
  // again.
  void begin(Block block) const;
  void end() const;
  void bind(Block block, AddressRange range) const;
  [[nodiscard]] bool is_default() const { return kind_ == Kind::kDefault; }

 private:
  enum class Kind { kDefault, kSame, kApart, kInterleaved };
  struct Policy {
    int mode;
    std::vector<unsigned> nodes;
  };
  [[nodiscard]] Policy policy_of(Block block) const;

  Kind kind_ = Kind::kDefault;
  std::vector<unsigned> nodes_;
};

/// Counts the pages of the array and of the destination that are in memory, by node.
void add_nodes(RunMetrics& metrics, AddressRange array, AddressRange destination);

}  // namespace zerotax::snapshot
