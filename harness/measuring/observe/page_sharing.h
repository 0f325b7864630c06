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

/// Which private pages each process has, and with whom it shares them, as far as forks, faults and ends show it. From
/// that, the class of a fault of which only the address is known: an ordinary user learns no more. Pages are numbers
/// (address / page_bytes()).
class PageSharing {
 public:
  /// Answers whether a process has a page now; asked before a page is taken for copied because of that process.
  using Holds = std::function<bool(pid_t pid, std::uint64_t page)>;
  explicit PageSharing(Holds holds) : holds_(std::move(holds)) {}

  /// The child has all pages of its parent from here on.
  void fork(pid_t parent, pid_t child);
  /// Its pages are gone: it ended, or runs another program.
  void end(pid_t pid);
  /// The process has a page at some time, though no fault reported it: it was there before us, or populated by the
  /// kernel. `shared`: with another one, which may be `with` (0: one that is not watched). False if it was known.
  bool found(pid_t pid, std::uint64_t page, std::uint64_t time_ns, bool shared, pid_t with);
  /// The same after a time in which faults were not reported: what is known of the page may be out of date. `forked`:
  /// there was a fork in it, which may have write-protected the page.
  void found_anew(pid_t pid, std::uint64_t page, std::uint64_t time_ns, bool shared, pid_t with, bool forked);
  /// A fault at that time brought this page and all others of a huge page, `pages` of them from `first`, of which none
  /// was known.
  void found_huge(pid_t pid, std::uint64_t first, std::uint64_t pages, std::uint64_t time_ns);
  /// The process has these pages now, and no other of those that were known: giving pages back is not reported.
  void keep_only(pid_t pid, const std::unordered_set<std::uint64_t>& pages);
  /// A fault in private anonymous memory.
  FaultClass anonymous_fault(pid_t pid, std::uint64_t page, std::uint64_t time_ns);
  /// A fault in a private mapping of a file. `is_copy` says whether the page is the process's own copy by now; empty if
  /// the page or the process is gone. Returns kOther if the page may have been read or copied.
  FaultClass file_fault(pid_t pid, std::uint64_t page, std::uint64_t time_ns, std::optional<bool> is_copy);

 private:
  struct Page {
    std::uint32_t frame = 0;       ///< index in frames_
    bool write_protected = false;  ///< since a fork
    std::uint64_t since_ns = 0;    ///< it is known to be there
  };
  using Pages = std::unordered_map<std::uint64_t, Page>;

  struct Frame {
    std::vector<pid_t> owners;  ///< 0 is one that is not watched
    std::uint32_t huge = 0;     ///< index in huge_; 0: it is not part of a huge page
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
  /// How many parts of each huge page each process has: the kernel copies a part if another has any other part, too.
  std::vector<std::unordered_map<pid_t, std::uint32_t>> huge_{{}};
};

}  // namespace zerotax
