#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/page.h"
#include "snapshot/process/run_block.h"

namespace zerotax::snapshot {

/// The NUMA nodes of the array and of the destination. "default" is the kernel's choice. "same" puts both on the first
/// node. "apart" puts the destination on the second node. "interleaved" distributes the pages of both over all nodes.
/// Memory that is written as soon as it is allocated is placed with set_mempolicy(2), and later memory with mbind(2).
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

/// Counts the pages of both ranges that are in memory, by node.
void add_nodes(RunMetrics& metrics, AddressRange array, AddressRange destination);

}  // namespace zerotax::snapshot
