#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "os/process_info.h"

namespace zerotax {

/// A mapping of a process.
struct Region {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  bool shared = false;
  bool hugetlb = false;
  std::string name;  ///< path, [heap] or [stack]; empty if the mapping is anonymous
  bool writable = true;
  bool executable = false;
  std::uint64_t inode = 0;   ///< inode of the mapped file; 0 if there is no file
  bool unreported = false;   ///< whether an unreported mremap created the mapping, so that the state of its pages is
                             ///< unknown
  std::uint64_t device = 0;  ///< device of the file system that contains the file
  bool readable = true;

  /// Returns whether a file or shared memory provides the mapping's pages, as long as the process has not modified
  /// them.
  [[nodiscard]] bool of_file() const;
  /// Returns whether the mapping's code comes from a file, not from a JIT compiler.
  [[nodiscard]] bool has_file_code() const;
};

/// Converts a line of /proc/PID/maps to a region.
Region region_of(ProcessMapping mapping, bool unreported = false);

/// The mappings of one process, built from kernel events. The kernel does not report unmapping, so a mapping stays
/// until another one replaces it.
class AddressSpace {
 public:
  void map(Region region);
  /// Returns the mapping at an address, or nullptr.
  [[nodiscard]] const Region* find(std::uint64_t address) const;
  [[nodiscard]] const std::map<std::uint64_t, Region>& regions() const { return regions_; }
  /// Returns whether code of CPython has been mapped.
  [[nodiscard]] bool has_python() const { return has_python_; }

 private:
  std::map<std::uint64_t, Region> regions_;  ///< disjoint regions by start address
  bool has_python_ = false;
};

}  // namespace zerotax
