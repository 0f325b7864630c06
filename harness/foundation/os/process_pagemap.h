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

/// The pagemaps of other processes, kept open.
class ProcessPagemaps {
 public:
  /// The entry of a page (address / page_bytes()); nothing if the process is gone or may not be looked at.
  std::optional<PagemapEntry> entry(pid_t pid, std::uint64_t page);
  /// Visits the populated pages of a range. False if the process is gone or may not be looked at.
  bool for_each(pid_t pid, AddressRange range, const std::function<void(std::uint64_t page, PagemapEntry)>& visit);
  /// To be called when it ended or runs another program.
  void forget(pid_t pid) { open_.erase(pid); }

 private:
  int open(pid_t pid);

  std::map<pid_t, UniqueFd> open_;
};

}  // namespace zerotax
