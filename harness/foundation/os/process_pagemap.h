#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "os/page.h"
#include "os/pagemap.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Reads the pagemaps of other processes, and keeps them open.
class ProcessPagemaps {
 public:
  /// Returns the entry of a page (address / page_bytes()), or nothing if the process has ended or may not be inspected.
  std::optional<PagemapEntry> entry(pid_t pid, std::uint64_t page);
  /// Visits the populated pages of a range. Returns false if the process has ended or may not be inspected.
  bool for_each(pid_t pid, AddressRange range, const std::function<void(std::uint64_t page, PagemapEntry)>& visit);
  /// Returns the number of private pages of a range that are in memory and that other processes map, too. Pages
  /// that map the shared zero page are left out since Linux 6.7. Returns nothing if the process has ended or may not be
  /// inspected, and before Linux 6.7 if the range exceeds 64 GiB.
  std::optional<std::uint64_t> shared_pages(pid_t pid, AddressRange range);
  /// Must be called when the process has ended or executed another program.
  void forget(pid_t pid) { open_.erase(pid); }

 private:
  int open(pid_t pid);

  std::map<pid_t, UniqueFd> open_;
  std::optional<Pagemap::Method> method_;  ///< method of shared_pages(); empty before its first call
};

}  // namespace zerotax
