#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "os/page.h"
#include "os/range_list.h"
#include "os/unique_fd.h"

namespace zerotax {

/// An entry of /proc/PID/pagemap. A process may read the entries of its own pages; only the frame numbers in them need
/// privilege. Source: Documentation/admin-guide/mm/pagemap.rst.
class PagemapEntry {
 public:
  explicit PagemapEntry(std::uint64_t bits) : bits_(bits) {}
  [[nodiscard]] bool present() const { return bit(63); }
  [[nodiscard]] bool swapped() const { return bit(62); }
  /// Whether this is a guard page (MADV_GUARD_INSTALL), whose entry looks like the entry of a swapped page. Kernels
  /// report guard pages since Linux 6.15.
  [[nodiscard]] bool guard() const { return bit(58); }
  /// Whether the page is in memory or swapped.
  [[nodiscard]] bool populated() const { return (present() || swapped()) && !guard(); }
  /// Whether the page belongs to a file or to shared memory.
  [[nodiscard]] bool of_file() const { return bit(61); }
  /// Whether only this process maps the page.
  [[nodiscard]] bool exclusive() const { return bit(56); }
  /// Whether the page was written since the process cleared its soft-dirty bits
  /// (Documentation/admin-guide/mm/soft-dirty.rst).
  [[nodiscard]] bool soft_dirty() const { return bit(55); }
  /// Returns the frame number of a present page, or 0 without root's rights (CAP_SYS_ADMIN).
  [[nodiscard]] std::uint64_t frame() const { return present() ? bits_ & ((std::uint64_t{1} << 55) - 1) : 0; }

 private:
  [[nodiscard]] bool bit(unsigned number) const { return (bits_ >> number & 1) != 0; }

  std::uint64_t bits_;
};

/// Finds the populated pages of this process in /proc/self/pagemap. Uses the PAGEMAP_SCAN ioctl if the kernel has it
/// (since Linux 6.7), and otherwise reads the file entry by entry. Neither method needs privilege. Allocates nothing.
class Pagemap {
 public:
  enum class Method { kScan, kRead, kNone };
  using Visit = void (*)(void* context, AddressRange pages);

  /// Whether a fork may have made this process share pages with its parent or a child.
  enum class Sharing { kPossible, kNever };

  /// Selects the best method that works on this machine. ZEROTAX_PAGEMAP=scan|read|none in the environment limits the
  /// choice, so that a test can use a fallback on any kernel.
  explicit Pagemap(Sharing sharing = Sharing::kPossible);

  /// Opens the pagemap with a method that this program selected before, without new checks. With kRead, the shared zero
  /// page counts as populated. The method is kNone if /proc is no longer accessible.
  explicit Pagemap(Method known);

  /// Takes ownership of a descriptor of /proc/self/pagemap, with a known method. `release` gives the descriptor back.
  Pagemap(UniqueFd fd, Method known) : fd_(std::move(fd)), method_(known) {}
  [[nodiscard]] int release() { return fd_.release(); }

  [[nodiscard]] Method method() const { return method_; }
  /// Returns why the method is kNone, or "" for any other method.
  [[nodiscard]] const char* reason() const { return reason_; }
  /// Returns why the method is not kScan, or "" for kScan.
  [[nodiscard]] const char* no_scan_reason() const;

  /// Adds to `populated` the pages of `range` (page aligned) that have a physical page, in memory or swapped. The
  /// shared zero page and guard pages are excluded. (Entries of guard pages, from MADV_GUARD_INSTALL, look like entries
  /// of swapped pages.) As root, kRead recognizes the zero page by its frame number. Other users cannot see frame
  /// numbers. If fork shares nothing, the zero page is the only anonymous page that is not exclusively mapped (bit 56).
  /// If neither test works, the zero page counts as populated. Source: Documentation/admin-guide/mm/pagemap.rst.
  /// Returns false if the kernel refuses.
  bool populated(AddressRange range, RangeList& populated) const;

  /// Passes to `visit` the pages that populated() would add, range by range in ascending order, and stores nothing.
  /// Adjacent ranges are not always merged.
  bool for_each_populated(AddressRange range, Visit visit, void* context) const;

  /// Passes to `visit` the pages of private anonymous memory that are in memory, not swapped, in the same way.
  bool for_each_resident(AddressRange range, Visit visit, void* context) const;

  /// Adds the pages of `range` that map the shared zero page, because they were read and never written. Requires
  /// knows_zero_page(). Returns false if the kernel refuses.
  bool zero_pages(AddressRange range, RangeList& zero_pages) const;

  /// Whether the shared zero page, which a read maps, can be distinguished from a written page.
  [[nodiscard]] bool knows_zero_page() const {
    return method_ == Method::kScan || no_zero_page_ || zero_frame_ != 0 || exclusive_tells_;
  }

  /// Populated bytes of private anonymous memory in a range of whole pages. Pages of files and of shared memory are
  /// excluded; swapped pages are included. `huge` counts the part that is in huge pages of the page tables (kScan only,
  /// else 0). `zero` counts additional bytes that map the shared zero page (kScan only, else 0).
  struct Anonymous {
    std::uint64_t bytes = 0;
    std::uint64_t huge = 0;
    std::uint64_t zero = 0;
  };
  /// Returns nothing if the kernel refuses.
  [[nodiscard]] std::optional<Anonymous> anonymous(AddressRange range) const;

  /// Adds to `written` the written pages of `range` (kScan only): pages that were written since a WriteTracker
  /// write-protected them, and pages that were populated since the tracker began to watch them. The shared zero page
  /// counts as read, not written.
  bool written(AddressRange range, RangeList& written) const;
  /// Passes to `visit` the pages that written() would add, range by range.
  bool for_each_written(AddressRange range, Visit visit, void* context) const;

  /// Passes to `visit`, one by one, the populated pages whose soft-dirty bit is set. These pages were written or
  /// populated since the process cleared the soft-dirty bits. Works with both methods. Returns false if the kernel
  /// refuses.
  bool for_each_soft_dirty(AddressRange range, Visit visit, void* context) const;

  /// Returns the kernel's entry for the page of an address, or nothing if the kernel refuses.
  [[nodiscard]] std::optional<PagemapEntry> entry(std::uintptr_t address) const;

 private:
  bool scan(AddressRange range, std::uint64_t inverted, std::uint64_t all_of, std::uint64_t any_of, Visit visit,
            void* context) const;
  enum class Kind { kAny, kAnonymous, kResident, kZeroPage, kSoftDirty };
  /// `kind` selects all populated pages, only anonymous pages, only anonymous pages in memory, only soft-dirty pages,
  /// or the shared zero page instead.
  bool read(AddressRange range, Kind kind, Visit visit, void* context) const;
  void learn_zero_page(Sharing sharing);
  void learn_guards();
  [[nodiscard]] bool is_zero_page(PagemapEntry entry) const;

  UniqueFd fd_;
  Method method_ = Method::kNone;
  const char* reason_ = "";
  std::uint64_t zero_frame_ = 0;  ///< 0 if unknown
  std::uint64_t guard_ = 0;       ///< category of guard pages; 0 if this kernel has none (before Linux 6.15)
  bool switched_off_ = false;     ///< whether ZEROTAX_PAGEMAP=read switched the scan off
  bool no_zero_page_ = false;     ///< whether a read maps a separate page, so that no page is the zero page
  bool exclusive_tells_ = false;  ///< whether an anonymous page that is not exclusively mapped is the zero page
};

}  // namespace zerotax
