#include "os/pagemap.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "os/kernel_version.h"
#include "os/test_hook.h"

namespace zerotax {
namespace {

// Declared here because Debian 12's headers lack the ioctl. Source: include/uapi/linux/fs.h of Linux 6.7.
struct PageRegion {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t categories;
};
struct ScanArguments {
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t walk_end;
  std::uint64_t vec;
  std::uint64_t vec_len;
  std::uint64_t max_pages;
  std::uint64_t category_inverted;
  std::uint64_t category_mask;
  std::uint64_t category_anyof_mask;
  std::uint64_t return_mask;
};
constexpr unsigned long kPagemapScan = _IOWR('f', 16, ScanArguments);
constexpr std::uint64_t kWritten = 1 << 1;
constexpr std::uint64_t kOfFile = 1 << 2;
constexpr std::uint64_t kPresent = 1 << 3;
constexpr std::uint64_t kSwapped = 1 << 4;
constexpr std::uint64_t kZeroFrame = 1 << 5;
constexpr std::uint64_t kHuge = 1 << 6;
constexpr std::uint64_t kGuard = 1 << 8;  // since Linux 6.15

constexpr std::size_t kRegions = 256;

/// Conditions that a page must meet for a scan to return it: see PAGEMAP_SCAN in
/// Documentation/admin-guide/mm/pagemap.rst.
struct Wanted {
  std::uint64_t inverted;
  std::uint64_t all_of;
  std::uint64_t any_of;
  std::uint64_t returned;  ///< the categories in which regions differ
};

/// Calls visit(region) for the regions of a range. Returns false if the kernel refuses.
template <typename Visit>
bool for_each_region(int fd, AddressRange range, Wanted wanted, Visit visit) {
  PageRegion regions[kRegions];
  ScanArguments arguments{};
  arguments.size = sizeof arguments;
  arguments.start = range.begin;
  arguments.end = range.end;
  arguments.vec = reinterpret_cast<std::uint64_t>(&regions[0]);
  arguments.vec_len = kRegions;
  arguments.category_inverted = wanted.inverted;
  arguments.category_mask = wanted.all_of;
  arguments.category_anyof_mask = wanted.any_of;
  arguments.return_mask = wanted.returned;
  // The buffer of regions may be too short, so the loop continues where the walk ended.
  while (arguments.start < range.end) {
    const int count = ::ioctl(fd, kPagemapScan, &arguments);
    if (count < 0) return false;
    for (int i = 0; i < count; ++i) visit(regions[i]);
    if (arguments.walk_end <= arguments.start) break;
    arguments.start = arguments.walk_end;
  }
  return true;
}

void add_to_list(void* list, AddressRange pages) { static_cast<RangeList*>(list)->add(pages); }

}  // namespace

Pagemap::Pagemap(Sharing sharing) {
  const char* wanted = test_hook("ZEROTAX_PAGEMAP");
  if (wanted != nullptr && std::strcmp(wanted, "none") == 0) {
    reason_ = "switched off by ZEROTAX_PAGEMAP=none";
    return;
  }
  fd_ = UniqueFd(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (!fd_) {
    // The kernel makes root the owner of a process's /proc files if the process's user may not read its executable.
    reason_ = errno == EACCES   ? "/proc/self/pagemap is not permitted (is the measured program readable by its user?)"
              : errno == EMFILE ? "/proc/self/pagemap cannot be opened: no descriptor is left (RLIMIT_NOFILE)"
                                : "/proc/self/pagemap cannot be opened (is /proc mounted?)";
    return;
  }
  method_ = Method::kRead;
  learn_zero_page(sharing);
  switched_off_ = wanted != nullptr && std::strcmp(wanted, "read") == 0;
  if (switched_off_) return;
  ScanArguments nothing{};
  nothing.size = sizeof nothing;
  if (::ioctl(fd_.get(), kPagemapScan, &nothing) != 0) return;
  method_ = Method::kScan;
  learn_guards();
}

void Pagemap::learn_guards() {
  // A kernel that does not know guard pages refuses this category.
  ScanArguments guards{};
  guards.size = sizeof guards;
  guards.category_inverted = guards.category_mask = kGuard;
  if (::ioctl(fd_.get(), kPagemapScan, &guards) == 0) guard_ = kGuard;
}

const char* Pagemap::no_scan_reason() const {
  if (method_ == Method::kScan) return "";
  if (method_ == Method::kNone) return reason_;
  if (switched_off_) return "PAGEMAP_SCAN is switched off by ZEROTAX_PAGEMAP=read";
  return why_refused(6, 7, "this kernel has no PAGEMAP_SCAN (needs Linux 6.7 or later)",
                     "PAGEMAP_SCAN is denied in this process (by a seccomp filter?)");
}

Pagemap::Pagemap(Method known) : method_(known) {
  if (known == Method::kNone) return;
  fd_ = UniqueFd(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (fd_) return;
  method_ = Method::kNone;
  reason_ = "/proc/self/pagemap can no longer be opened";
}

bool Pagemap::populated(AddressRange range, RangeList& populated) const {
  return for_each_populated(range, add_to_list, &populated) && populated.complete();
}

bool Pagemap::for_each_populated(AddressRange range, Visit visit, void* context) const {
  switch (method_) {
    case Method::kScan:
      // A page may be non-zero in two cases: PRESENT and not the zero page, or SWAPPED. One mask cannot express that
      // condition. But a zero page is never swapped, so the mask is: not the zero page, and PRESENT or SWAPPED.
      return scan(range, kZeroFrame | guard_, kZeroFrame | guard_, kPresent | kSwapped, visit, context);
    case Method::kRead:
      return read(range, Kind::kAny, visit, context);
    case Method::kNone:
      break;
  }
  return false;
}

bool Pagemap::for_each_resident(AddressRange range, Visit visit, void* context) const {
  constexpr std::uint64_t kNeither = kOfFile | kZeroFrame;
  if (method_ == Method::kScan) return scan(range, kNeither, kNeither | kPresent, kPresent, visit, context);
  return method_ == Method::kRead && read(range, Kind::kResident, visit, context);
}

bool Pagemap::for_each_written(AddressRange range, Visit visit, void* context) const {
  return method_ == Method::kScan &&
         scan(range, kZeroFrame | guard_, kWritten | kZeroFrame | guard_, kPresent | kSwapped, visit, context);
}

bool Pagemap::for_each_soft_dirty(AddressRange range, Visit visit, void* context) const {
  return method_ != Method::kNone && read(range, Kind::kSoftDirty, visit, context);
}

bool Pagemap::written(AddressRange range, RangeList& written) const {
  return for_each_written(range, add_to_list, &written) && written.complete();
}

bool Pagemap::zero_pages(AddressRange range, RangeList& zero_pages) const {
  if (method_ == Method::kScan) return scan(range, 0, kZeroFrame, kPresent, add_to_list, &zero_pages);
  return method_ == Method::kRead && read(range, Kind::kZeroPage, add_to_list, &zero_pages);
}

bool Pagemap::scan(AddressRange range, std::uint64_t inverted, std::uint64_t all_of, std::uint64_t any_of, Visit visit,
                   void* context) const {
  return for_each_region(fd_.get(), range, {inverted, all_of, any_of, kPresent}, [&](const PageRegion& region) {
    visit(context, {region.start, region.end});
  });
}

std::optional<Pagemap::Anonymous> Pagemap::anonymous(AddressRange range) const {
  Anonymous found;
  if (method_ == Method::kScan) {
    const std::uint64_t neither = kOfFile | guard_;
    const Wanted wanted{neither, neither, kPresent | kSwapped, kHuge | kZeroFrame};
    const bool scanned = for_each_region(fd_.get(), range, wanted, [&](const PageRegion& region) {
      const std::uint64_t bytes = region.end - region.start;
      const bool zero = (region.categories & kZeroFrame) != 0;
      (zero ? found.zero : found.bytes) += bytes;
      if (!zero && (region.categories & kHuge) != 0) found.huge += bytes;
    });
    return scanned ? std::optional(found) : std::nullopt;
  }
  const auto add = [](void* sum, AddressRange pages) { static_cast<Anonymous*>(sum)->bytes += pages.bytes(); };
  if (method_ == Method::kNone || !read(range, Kind::kAnonymous, add, &found)) return std::nullopt;
  return found;
}

bool Pagemap::read(AddressRange range, Kind kind, Visit visit, void* context) const {
  std::uint64_t entries[1024];
  for (std::uintptr_t address = range.begin; address < range.end;) {
    const std::size_t wanted = std::min(std::size(entries), (range.end - address) / page_bytes());
    const ssize_t got = ::pread(fd_.get(), &entries[0], wanted * sizeof entries[0],
                                static_cast<off_t>(address / page_bytes() * sizeof entries[0]));
    if (got <= 0) return false;
    const std::size_t pages = static_cast<std::size_t>(got) / sizeof entries[0];
    for (std::size_t i = 0; i < pages; ++i, address += page_bytes()) {
      const PagemapEntry entry(entries[i]);
      const bool counts = ((kind != Kind::kAnonymous && kind != Kind::kResident) || !entry.of_file()) &&
                          (kind != Kind::kResident || entry.present()) &&
                          (kind != Kind::kSoftDirty || entry.soft_dirty());
      if (counts && entry.populated() && is_zero_page(entry) == (kind == Kind::kZeroPage)) {
        visit(context, {address, address + page_bytes()});
      }
    }
  }
  return true;
}

std::optional<PagemapEntry> Pagemap::entry(std::uintptr_t address) const {
  std::uint64_t bits = 0;
  const auto offset = static_cast<off_t>(address / page_bytes() * sizeof bits);
  if (!fd_ || ::pread(fd_.get(), &bits, sizeof bits, offset) != sizeof bits) return std::nullopt;
  return PagemapEntry(bits);
}

bool Pagemap::is_zero_page(PagemapEntry entry) const {
  if (zero_frame_ != 0) return entry.frame() == zero_frame_;
  return exclusive_tells_ && entry.present() && !entry.of_file() && !entry.exclusive();
}

void Pagemap::learn_zero_page(Sharing sharing) {
  void* page = ::mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  const auto look = [&] { return entry(reinterpret_cast<std::uintptr_t>(page)).value_or(PagemapEntry(0)); };
  // A read of untouched anonymous memory usually maps the shared zero page. Some kernels have no zero page for
  // programs, for example guests of PVM (pvm_no_zero_page=1). These kernels map a separate page for the read, and its
  // frame soon belongs to another page.
  [[maybe_unused]] const char byte = *static_cast<volatile const char*>(page);
  const PagemapEntry zero = look();
  no_zero_page_ = zero.present() && zero.exclusive();
  if (!no_zero_page_) {
    zero_frame_ = zero.frame();
    *static_cast<volatile char*>(page) = 1;
    exclusive_tells_ = sharing == Sharing::kNever && zero.present() && look().exclusive();
  }
  ::munmap(page, page_bytes());
}

}  // namespace zerotax
