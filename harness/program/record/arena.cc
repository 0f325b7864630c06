#include "record/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "os/pagemap.h"
#include "record/preload/resident_area.h"

namespace zerotax::record {
namespace {

/// Bytes at the beginning of a slot, before its first table. The table need not begin on a page boundary.
constexpr std::size_t kHeadBytes = 4096;
static_assert(sizeof(Holdings) + 3 * kPathBytes + 256 <= kHeadBytes);

/// Maximum number of bytes to copy from all slots together. A short process writes 64 KiB, so the limit allows for a
/// short process in each slot.
constexpr std::uint64_t kMostCopied = kProcesses * (std::uint64_t{64} << 10);

[[noreturn]] void cannot(const char* what) {
  throw MachineError(fmt::format("cannot make {}: {}", what, std::strerror(errno)), "check ulimit -v");
}

/// Maximum count of bytes or events in one process (1 EiB). Times have no such limit, because a program may set the
/// clock to any time.
constexpr std::uint64_t kMostCount = std::uint64_t{1} << 60;
constexpr std::uint32_t kAllGaps = kMadeCode | (kOwnScope * 2 - 1);

bool all_counts(std::initializer_list<std::uint64_t> values) {
  return std::all_of(values.begin(), values.end(), [](std::uint64_t value) { return value < kMostCount; });
}

/// Whether all words of a row are valid counts.
template <typename Row>
bool are_counts(const Row& row) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  static_assert(sizeof(Row) % kWord == 0);
  for (std::size_t at = 0; at < sizeof(Row); at += kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char*>(&row) + at, kWord);
    if (word >= kMostCount) return false;
  }
  return true;
}

bool is_whole(const Holdings& holdings) {
  if (holdings.closed > 1 || holdings.samples_used > kFaultSamples) return false;
  for (const FaultSample& sample : holdings.samples) {
    if (!all_counts({sample.bytes, sample.faults})) return false;
  }
  const std::uint64_t shared = holdings.shared_resident_bytes;
  if (shared != kUnknownBytes && !all_counts({shared})) return false;
  return all_counts({holdings.peak_large_live_bytes,
                     holdings.large_whole_bytes,
                     holdings.zero_page_bytes,
                     holdings.live_zero_page_bytes,
                     holdings.own_shared_bytes,
                     holdings.pinned_bytes,
                     holdings.at_start_bytes,
                     holdings.faults_at_open,
                     holdings.last_bytes,
                     holdings.peak_bytes,
                     holdings.returned_bytes,
                     holdings.returned_huge_bytes,
                     holdings.returned_copies,
                     holdings.shared_bytes,
                     holdings.returned_zero_bytes,
                     holdings.hugetlb_mapped_bytes,
                     holdings.private_shared_bytes,
                     holdings.program_mapped_bytes,
                     holdings.image_bytes,
                     holdings.file_mapped_bytes,
                     holdings.forked_bytes,
                     holdings.collapsed_bytes,
                     holdings.collapsed_small_bytes,
                     holdings.copied_in_bytes,
                     holdings.hugetlb_bytes,
                     holdings.at_end_zero_bytes,
                     holdings.file_bytes,
                     holdings.files_at_open_bytes,
                     holdings.lost_blocks,
                     holdings.sharers_begun,
                     holdings.sharers_ended,
                     holdings.sharers_faults,
                     holdings.sharers_cpu_ns,
                     holdings.quiet_begun,
                     holdings.quiet_ended,
                     holdings.quiet_execs,
                     holdings.own_bytes,
                     holdings.own_faults,
                     holdings.peak_live_bytes,
                     holdings.kept_peak_live_bytes,
                     holdings.at_end_bytes,
                     holdings.huge_bytes,
                     holdings.swapped_bytes,
                     holdings.copied_bytes,
                     holdings.minor_faults});
}

bool is_whole(Module& module) {
  if (module.ready == 0) return true;
  end_text(module.path);
  return module.ready == 1 && module.build_id_bytes <= kBuildIdBytes && module.begin <= module.end;
}

bool is_whole(PythonFunction& function) {
  end_text(function.function);
  end_text(function.file);
  return function.ready <= 1 && function.line >= 0;
}

bool is_whole(const Site& site) {
  if (site.ready == 0) return true;
  // Requested bytes are not checked, because a failed call may have requested any number of bytes.
  bool whole = site.ready == 1 && site.kind < SiteKind::kFault && site.depth <= kFrames &&
               all_counts({site.calls, site.zeroed_bytes, site.redundant_bytes, site.zero_faults,
                           site.sampled_zeroed_bytes, site.sampled_redundant_bytes, site.unexamined_bytes,
                           site.sampled_calls, site.sampled_clears_bytes, site.kernel_zeroed_bytes, site.refilled_bytes,
                           site.first_pages.bytes, site.first_pages.events, site.growth.bytes, site.growth.events});
  for (const auto& bytes : site.returned) whole = whole && bytes < kMostCount;
  return whole;
}

bool is_whole(const ForkSite& site) {
  return site.ready == 1 && site.kind <= ForkKind::kSharer && site.depth <= kFrames && site.failed <= site.calls &&
         all_counts({site.calls, site.timed, site.ns, site.longest_ns, site.held_bytes, site.execs, site.exec_ns,
                     site.allocated, site.new_user, site.new_session});
}

bool is_whole(const ThreadBlock& block) {
  if (block.state == BlockState::kFree) return true;
  if (block.state.load() > BlockState::kEnded || block.merged > ~std::uint32_t{0} / 2) return false;
  for (const auto& kind : block.calls) {
    for (const CallRow& row : kind) {
      if (row.calls >= kMostCount) return false;
    }
  }
  for (const auto& cause : block.returned) {
    for (const ReturnRow& row : cause) {
      if (!all_counts({row.calls, row.bytes})) return false;
    }
  }
  for (const ZeroCost& cost : block.cost) {
    if (!all_counts({cost.bytes, cost.faults})) return false;
  }
  return are_counts(block.zeroed) && are_counts(block.filled) && are_counts(block.small_returns) &&
         all_counts({block.sampled_stores, block.sampled_bytes, block.sampled_redundant_bytes, block.unseen_calls,
                     block.unseen_bytes, block.free_calls, block.mapping_calls, block.sampled_returns,
                     block.huge_blocks, block.huge_examined_bytes, block.huge_written_bytes, block.offered_bytes});
}

template <typename Rows>
bool are_whole(Rows& rows) {
  return std::all_of(std::begin(rows), std::end(rows), [](auto& row) { return is_whole(row); });
}

}  // namespace

RecordArena::RecordArena(bool keeps_resident)
    : file_("zerotax-arena", keeps_resident ? kResidentFileBytes : kArenaBytes),
      path_(file_.pass_on()),
      keeps_resident_(keeps_resident) {
  void* memory = ::mmap(nullptr, kSlotsOffset, PROT_READ | PROT_WRITE, MAP_SHARED, file_.fd(), 0);
  if (memory == MAP_FAILED) cannot("a mapping of the recording's memory");
  arena_ = static_cast<Arena*>(memory);
  arena_->pagemap_method = static_cast<std::uint32_t>(Pagemap().method());
  if (keeps_resident) arena_->keeps_resident = 1;
  if (keeps_resident) count_live_heap();
  arena_->magic = kArenaMagic;
}

RecordArena::~RecordArena() {
  for (ProcessSlot* slot : slots_) {
    if (slot != nullptr) ::munmap(slot, kSlotBytes);
  }
  if (head_ != nullptr) ::munmap(head_, kSlotsOffset);
  ::munmap(arena_, kSlotsOffset);
}

void* RecordArena::copy(std::size_t offset, std::size_t bytes) {
  constexpr const char* kWhat = "a copy of the recording's memory";
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) cannot(kWhat);
  // Only the written parts are copied. Most of a slot is a hole, and reading the hole through a shared mapping would
  // allocate pages for it.
  const auto begin = static_cast<off_t>(offset);
  const off_t end = begin + static_cast<off_t>(bytes);
  for (off_t data = ::lseek(file_.fd(), begin, SEEK_DATA); data >= 0 && data < end;) {
    const off_t hole = std::min(::lseek(file_.fd(), data, SEEK_HOLE), end);
    while (data < hole) {
      const ssize_t got =
          ::pread(file_.fd(), static_cast<char*>(memory) + (data - begin), static_cast<std::size_t>(hole - data), data);
      if (got <= 0) cannot(kWhat);
      data += got;
      copied_bytes_ += static_cast<std::uint64_t>(got);
    }
    data = ::lseek(file_.fd(), data, SEEK_DATA);
  }
  return memory;
}

std::size_t RecordArena::slots_used() const { return std::min<std::size_t>(arena_->slots_used, kProcesses); }

const ProcessSlot* RecordArena::watch_slot(std::size_t index) const {
  const auto offset = static_cast<off_t>(kSlotsOffset + index * kSlotBytes);
  std::uint32_t ready = 0;  // first member of ProcessSlot, so it lies at the slot's offset
  // Reading a hole through a mapping would allocate a page for it.
  if (::pread(file_.fd(), &ready, sizeof ready, offset) != sizeof ready || ready == 0) return nullptr;
  void* const memory = ::mmap(nullptr, kHeadBytes, PROT_READ, MAP_SHARED, file_.fd(), offset);
  return memory == MAP_FAILED ? nullptr : static_cast<const ProcessSlot*>(memory);
}

void RecordArena::unwatch(const ProcessSlot* head) { ::munmap(const_cast<ProcessSlot*>(head), kHeadBytes); }

void RecordArena::copy_head() {
  if (head_ != nullptr) ::munmap(head_, kSlotsOffset);
  head_ = nullptr;
  const std::uint64_t before = copied_bytes_;
  head_ = static_cast<Arena*>(copy(0, kSlotsOffset));
  copied_bytes_ = before;
  for (ExecEntry& entry : head_->execs) {
    if (entry.ready != 0) end_text(entry.path);
  }
}

std::vector<const ProcessSlot*> RecordArena::processes() {
  copy_head();
  while (slots_.size() < slots_used()) {
    if (copied_bytes_ > kMostCopied) {
      unread_ = slots_used() - slots_.size();
      break;
    }
    auto* const slot = static_cast<ProcessSlot*>(copy(kSlotsOffset + slots_.size() * kSlotBytes, kSlotBytes));
    slots_.push_back(slot);
    if (slot->ready == 0 || is_whole(*slot)) continue;
    damaged_.push_back({slot->pid, &slot->executable[0]});
    slot->ready = 0;
  }
  std::vector<const ProcessSlot*> found;
  for (const ProcessSlot* slot : slots_) {
    if (slot->ready != 0) found.push_back(slot);
  }
  return found;
}

std::vector<const ExecEntry*> RecordArena::entries() const {
  std::vector<const ExecEntry*> found;
  if (head_ == nullptr) return found;
  const std::size_t used = std::min<std::size_t>(head_->execs_used, kExecs);
  for (std::size_t i = 0; i < used; ++i) {
    if (head_->execs[i].ready != 0) found.push_back(&head_->execs[i]);
  }
  return found;
}

std::vector<const ExecEntry*> RecordArena::execs() const {
  std::vector<const ExecEntry*> found = entries();
  std::erase_if(found, [](const ExecEntry* entry) { return entry->ended != 0; });
  return found;
}

std::vector<const ForkSite*> RecordArena::forks() const {
  std::vector<const ForkSite*> found;
  if (head_ == nullptr) return found;
  for (const ForkSite& site : head_->forks) {
    if (site.ready != 0 && is_whole(site)) found.push_back(&site);
  }
  return found;
}

std::uint64_t RecordArena::forks_lost() const {
  return head_ == nullptr ? 0 : std::min<std::uint64_t>(kMostCount, head_->forks_lost);
}

std::uint64_t RecordArena::used_bytes() const {
  struct stat status {};
  constexpr std::uint64_t kStatBlock = 512;  // unit of st_blocks in bytes (stat(2))
  return ::fstat(file_.fd(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * kStatBlock : 0;
}

std::vector<const Mark*> RecordArena::marks() {
  copy_head();
  std::vector<const Mark*> found;
  const std::size_t used = std::min<std::size_t>(head_->marks_used, kMarks);
  for (std::size_t i = 0; i < used; ++i) {
    if (head_->marks[i].ready != 0 && is_time(head_->marks[i].ns)) found.push_back(&head_->marks[i]);
  }
  return found;
}

std::size_t RecordArena::lost_processes() const {
  const std::size_t used = arena_->slots_used;
  return unread_ + (used > kProcesses ? used - kProcesses : 0);
}

bool is_whole(ProcessSlot& slot) {
  end_text(slot.name);
  end_text(slot.executable);
  end_text(slot.command);
  end_text(slot.allocator);
  const bool times = is_time(slot.started_ns) && is_time(slot.ended_ns) && is_time(slot.user_ns) &&
                     is_time(slot.system_ns) && is_time(slot.cpu_at_start_ns) && is_time(slot.cpu_ns);
  return times && slot.ready == 1 && (slot.gaps & ~kAllGaps) == 0 && slot.pid > 0 && slot.parent >= 0 &&
         slot.forked <= 1 && slot.ended <= 1 && slot.threads_used <= kThreads && slot.modules_used <= kModules &&
         slot.sites_lost < kMostCount && is_whole(slot.holdings) && are_whole(slot.modules) && are_whole(slot.sites) &&
         are_whole(slot.threads) && are_whole(slot.python_functions);
}

}  // namespace zerotax::record
