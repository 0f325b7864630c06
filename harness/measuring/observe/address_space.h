#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "os/process_info.h"

namespace zerotax {

/// The mapping at an address of a process.
struct Region {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  bool shared = false;
  bool hugetlb = false;
  std::string name;  ///< path, [heap], [stack]; empty: anonymous
  bool writable = true;
  bool executable = false;
  std::uint64_t inode = 0;   ///< of the file; 0: no file
  bool unreported = false;   ///< found in /proc/PID/maps: moved here by mremap, its pages unknown
  std::uint64_t device = 0;  ///< of the file system that holds the file
  bool readable = true;

  /// Its pages are a file's, or those of shared memory, until a private one is written.
  [[nodiscard]] bool of_file() const;
  /// The code in it is that of a file: not what a compiler made in memory (JIT).
  [[nodiscard]] bool has_file_code() const;
};

/// The region of a line of /proc/PID/maps.
Region region_of(ProcessMapping mapping, bool unreported = false);

/// The mappings of one process, as the kernel reports them one by one. It does not report those that are removed:
/// what is mapped over them replaces them.
class AddressSpace {
 public:
  void map(Region region);
  /// Nothing: null.
  [[nodiscard]] const Region* find(std::uint64_t address) const;
  [[nodiscard]] const std::map<std::uint64_t, Region>& regions() const { return regions_; }

 private:
  std::map<std::uint64_t, Region> regions_;  ///< by begin; they do not overlap
};

}  // namespace zerotax
