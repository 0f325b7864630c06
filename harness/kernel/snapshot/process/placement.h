#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/page.h"
#include "snapshot/process/run_block.h"

namespace zerotax::snapshot {

/// On which NUMA nodes the array and the destination of the snapshot lie: "default" (the kernel's choice), "same" (both
/// on the first node), "apart" (the destination on the second), "interleaved" (both page by page on all nodes). By
/// set_mempolicy(2) for memory that is written to as soon as it is allocated, and by mbind(2) for what comes later.
class Placement {
 public:
  /// Throws std::invalid_argument for another name.
  explicit Placement(const std::string& name);

  /// Why it cannot be had here; empty if it can.
  [[nodiscard]] std::string why_not() const;
  enum class Block { kArray, kDestination };
  // All throw std::runtime_error if the kernel refuses.
  /// All that the thread allocates from now on is such a block, until end(): then it is the kernel's choice again.
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
