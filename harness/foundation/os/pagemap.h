#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "os/page.h"
#include "os/range_list.h"
#include "os/unique_fd.h"

namespace zerotax {

/// One entry of /proc/PID/pagemap. No privilege is needed for one's own processes, but for the frame number.
/// Source: Documentation/admin-guide/mm/pagemap.rst.
class PagemapEntry {
 public:
  explicit PagemapEntry(std::uint64_t bits) : bits_(bits) {}
  [[nodiscard]] bool present() const { return bit(63); }
  [[nodiscard]] bool swapped() const { return bit(62); }
  /// A guard page (MADV_GUARD_INSTALL): its entry looks like a swapped page's. Told since Linux 6.15.
  [[nodiscard]] bool guard() const { return bit(58); }
  /// In memory or swapped.
  [[nodiscard]] bool populated() const { return (present() || swapped()) && !guard(); }
  /// A file's page, or one of shared memory.
  [[nodiscard]] bool of_file() const { return bit(61); }
  /// Mapped by this process alone.
  [[nodiscard]] bool exclusive() const { return bit(56); }
  /// Written since the process cleared its soft-dirty bits (Documentation/admin-guide/mm/soft-dirty.rst).
  [[nodiscard]] bool soft_dirty() const { return bit(55); }
  /// The number of the page frame of a present page; 0 for all but root (CAP_SYS_ADMIN).
  [[nodiscard]] std::uint64_t frame() const { return present() ? bits_ & ((std::uint64_t{1} << 55) - 1) : 0; }

 private:
  [[nodiscard]] bool bit(unsigned number) const { return (bits_ >> number & 1) != 0; }

  std::uint64_t bits_;
};

/// Which pages of this process are populated: /proc/self/pagemap, by the PAGEMAP_SCAN ioctl where the kernel has it
/// (Linux >= 6.7), else by reading it entry by entry. Neither needs privilege. Allocates nothing.
class Pagemap {
 public:
  enum class Method { kScan, kRead, kNone };
  using Visit = void (*)(void* context, AddressRange pages);

  /// Whether pages of this process may be shared with another one that it forked, or that forked it.
  enum class Sharing { kPossible, kNever };

  /// Takes the best method that works here. ZEROTAX_PAGEMAP=scan|read|none in the environment limits the choice, so
  /// that a fallback can be tested on a kernel that does not need it.
  explicit Pagemap(Sharing sharing = Sharing::kPossible);

  /// Opens it with a method that was found before in this program, without new checks: the shared zero page counts
  /// as populated with kRead. kNone where /proc is out of reach by now.
  explicit Pagemap(Method known);

  /// Takes over a descriptor of /proc/self/pagemap and such a method. `release` gives the descriptor back.
  Pagemap(UniqueFd fd, Method known) : fd_(std::move(fd)), method_(known) {}
  [[nodiscard]] int release() { return fd_.release(); }

  [[nodiscard]] Method method() const { return method_; }
  /// Why the method is kNone; empty otherwise.
  [[nodiscard]] const char* reason() const { return reason_; }
  /// Why it is not kScan; empty if it is.
  [[nodiscard]] const char* no_scan_reason() const;

  /// Adds to `populated` the pages of `range` (page aligned) that have a physical page behind them, swapped pages
  /// included, the shared zero page and guard pages (MADV_GUARD_INSTALL, whose entries look like a swapped page's)
  /// excluded. kRead knows the zero page by its frame number as root; the number is
  /// hidden from others, but where nothing is shared by fork, the zero page is the only anonymous page that is not
  /// exclusively mapped (bit 56). If neither says, it counts as populated. Source:
  /// Documentation/admin-guide/mm/pagemap.rst.
  /// Returns false if the kernel refused.
  bool populated(AddressRange range, RangeList& populated) const;

  /// The same, passed range by range in ascending order (neighbours may touch); nothing is kept.
  bool for_each_populated(AddressRange range, Visit visit, void* context) const;

  /// Adds the pages of `range` at which the shared zero page is mapped: read, and never written. Only where
  /// knows_zero_page(). Returns false if the kernel refused.
  bool zero_pages(AddressRange range, RangeList& zero_pages) const;

  /// Whether the shared zero page, which reading maps, can be told from a page that was written.
  [[nodiscard]] bool knows_zero_page() const {
    return method_ == Method::kScan || no_zero_page_ || zero_frame_ != 0 || exclusive_tells_;
  }

  /// Populated bytes of private anonymous memory in a range of whole pages: pages of files and of shared memory are
  /// left out, swapped pages are not. `huge` are those that a huge page of the page tables maps (kScan only, else 0).
  /// `zero` are further bytes, at which the shared zero page is mapped (kScan only, else 0).
  struct Anonymous {
    std::uint64_t bytes = 0;
    std::uint64_t huge = 0;
    std::uint64_t zero = 0;
  };
  /// Nothing if the kernel refused.
  [[nodiscard]] std::optional<Anonymous> anonymous(AddressRange range) const;

  /// Adds to `written` the pages of `range` written since they were write-protected by a WriteTracker, or
  /// populated since it began to watch them (kScan only). The shared zero page was read, not written.
  bool written(AddressRange range, RangeList& written) const;
  /// The same, passed range by range.
  bool for_each_written(AddressRange range, Visit visit, void* context) const;

  /// Passes the pages of `range` whose soft-dirty bit is set, one by one: those of for_each_populated() that were
  /// written or populated since the process cleared these bits. By either method. False if the kernel refused.
  bool for_each_soft_dirty(AddressRange range, Visit visit, void* context) const;

  /// What the kernel says of the page of an address; nothing if it refused.
  [[nodiscard]] std::optional<PagemapEntry> entry(std::uintptr_t address) const;

 private:
  bool scan(AddressRange range, std::uint64_t inverted, std::uint64_t all_of, std::uint64_t any_of, Visit visit,
            void* context) const;
  enum class Kind { kAny, kAnonymous, kZeroPage, kSoftDirty };
  /// `kind`: what is populated, of it what is anonymous or soft-dirty, or instead of it the shared zero page.
  bool read(AddressRange range, Kind kind, Visit visit, void* context) const;
  void learn_zero_page(Sharing sharing);
  void learn_guards();
  [[nodiscard]] bool is_zero_page(PagemapEntry entry) const;

  UniqueFd fd_;
  Method method_ = Method::kNone;
  const char* reason_ = "";
  std::uint64_t zero_frame_ = 0;  ///< 0: not known
  std::uint64_t guard_ = 0;       ///< the category of guard pages; 0: this kernel has none (Linux 6.15)
  bool switched_off_ = false;     ///< the scan, by ZEROTAX_PAGEMAP=read
  bool no_zero_page_ = false;     ///< reading maps pages of their own: no page is the zero page
  bool exclusive_tells_ = false;  ///< whether an anonymous page that is not exclusively mapped is the zero page
};

}  // namespace zerotax
