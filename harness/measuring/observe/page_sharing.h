#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "observe/fault.h"

namespace zerotax {

/// Tracks which private pages each process has, and which processes share them. The sources are forks, faults and ends
/// of processes. Faults are classified by their addresses alone, because only root can see more. Pages are identified
/// by numbers (address / page_bytes()).
class PageSharing {
 public:
  /// Returns whether a process has a page now. A fault counts as a copy only if this function confirms that another
  /// owner still has the page.
  using Holds = std::function<bool(pid_t pid, std::uint64_t page)>;
  explicit PageSharing(Holds holds) : holds_(std::move(holds)) {}

  /// Notes that the child shares all pages of its parent from now on.
  void fork(pid_t parent, pid_t child);
  /// Forgets the pages of a process that ended or runs another program.
  void end(pid_t pid);
  /// Notes that a process has a page without a reported fault, because tracing began later or the kernel populated the
  /// page without a fault. If `shared`, another process has the page too: process `with`, or an unwatched process if
  /// `with` is 0. Returns false if the page was known.
  bool found(pid_t pid, std::uint64_t page, std::uint64_t time_ns, bool shared, pid_t with);
  /// Notes a page as found() does, but after a time in which faults were not reported. In that time, the data about the
  /// page may have become outdated. `forked` says whether a fork in that time may have write-protected the page.
  void found_anew(pid_t pid, std::uint64_t page, std::uint64_t time_ns, bool shared, pid_t with, bool forked);
  /// Notes that a fault populated a huge page: `pages` base pages from `first` on, none of which was known before.
  void found_huge(pid_t pid, std::uint64_t first, std::uint64_t pages, std::uint64_t time_ns);
  /// Forgets all known pages of the process except `pages`. (The kernel does not report returned pages.)
  void keep_only(pid_t pid, const std::unordered_set<std::uint64_t>& pages);
  /// Classifies a fault in private anonymous memory.
  FaultClass anonymous_fault(pid_t pid, std::uint64_t page, std::uint64_t time_ns);
  /// Classifies a fault in a private mapping of a file. `is_copy` says whether the page is now the process's own copy;
  /// empty if the page or the process no longer exists. Returns kOther if the page may have been either read or copied.
  FaultClass file_fault(pid_t pid, std::uint64_t page, std::uint64_t time_ns, std::optional<bool> is_copy);

 private:
  struct Page {
    std::uint32_t frame = 0;       ///< index in frames_
    bool write_protected = false;  ///< whether a fork write-protected the page
    std::uint64_t since_ns = 0;    ///< earliest time at which the page is known to be populated
  };
  using Pages = std::unordered_map<std::uint64_t, Page>;

  struct Frame {
    std::vector<pid_t> owners;  ///< PIDs; 0 means an unwatched process
    std::uint32_t huge = 0;     ///< index in huge_; 0 if the frame is not part of a huge page
  };

  std::uint32_t new_frame(pid_t owner, std::uint32_t huge = 0);
  void add_owner(std::uint32_t frame, pid_t pid);
  bool remove_owner(Frame& frame, pid_t pid);
  void release(std::uint32_t frame, pid_t pid);
  FaultClass write_fault(pid_t pid, std::uint64_t number, Page& page);

  Holds holds_;
  std::map<pid_t, Pages> processes_;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> unused_;
  /// For each huge page, the number of base pages that each process has. The kernel copies a base page if another
  /// process has any other base page of the huge page.
  std::vector<std::unordered_map<pid_t, std::uint32_t>> huge_{{}};
};

}  // namespace zerotax
