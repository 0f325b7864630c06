#include "record/resident/watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <thread>
#include <utility>

#include "base/names.h"
#include "base/printable.h"
#include "os/clock.h"
#include "os/foreground.h"
#include "os/pid_namespace.h"
#include "record/preload/block_table.h"
#include "record/run_watch.h"

namespace zerotax::record {
namespace {

constexpr long kPause_ns = 20'000'000;
/// A process is idle after this time with at most this number of calls to its allocator, because the timers of a server
/// make a few calls even when it has nothing to do.
constexpr std::int64_t kIdle_ns = 1'000'000'000;
constexpr std::uint64_t kIdleCalls = 200;
/// Looks at idle moments take at most 1/kShare of a CPU.
constexpr std::int64_t kShare = 20;
constexpr std::size_t kMostRows = 20;
constexpr const char* kNotInspected = "its memory could not be inspected";

using Blocks = BlockTable<ResidentBlock, kResidentLevels>;

off_t area_offset(std::size_t index, std::size_t member) {
  return static_cast<off_t>(kResidentOffset + index * kResidentBytes + member);
}

/// Copies the written parts of a range of the file to zeroed memory, because reading its holes would take long. Returns
/// false if nothing was written.
bool read_written(int fd, off_t begin, std::size_t bytes, void* to) {
  const off_t end = begin + static_cast<off_t>(bytes);
  bool any = false;
  for (off_t data = ::lseek(fd, begin, SEEK_DATA); data >= 0 && data < end; data = ::lseek(fd, data, SEEK_DATA)) {
    const off_t hole = std::min(::lseek(fd, data, SEEK_HOLE), end);
    while (data < hole) {
      const ssize_t got =
          ::pread(fd, static_cast<char*>(to) + (data - begin), static_cast<std::size_t>(hole - data), data);
      if (got <= 0) return any;
      any = true;
      data += got;
    }
  }
  return any;
}

/// Reads a value that is 0 so far, and stays so if it cannot be read.
template <typename T>
void read_at(int fd, off_t offset, T& value) {
  [[maybe_unused]] const ssize_t got = ::pread(fd, static_cast<void*>(&value), sizeof value, offset);
}

void add_block(void* blocks, ResidentBlock& block) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 56;
  if (block.begin == 0 || block.begin >= kMost || block.bytes >= kMost) return;
  static_cast<std::vector<ResidentBlock>*>(blocks)->push_back(block);
}

/// Returns the entries with the highest values, the highest first.
template <typename Key, typename Entry, typename Value>
std::vector<std::pair<Key, Entry>> highest(const std::map<Key, Entry>& entries, Value value) {
  std::vector<std::pair<Key, Entry>> rows(entries.begin(), entries.end());
  std::stable_sort(rows.begin(), rows.end(), [&](auto& a, auto& b) { return value(a.second) > value(b.second); });
  if (rows.size() > kMostRows) rows.resize(kMostRows);
  return rows;
}

/// Returns why the parts of a process are unknown, or "".
std::string why_not_all_seen(const ProcessSlot& process, const ResidentHead* head) {
  if ((process.gaps & kOwnCalloc) != 0) return "the program's own allocator was called";
  if ((process.gaps & kOwnScope) != 0) return "a library in its own scope called the allocator unseen";
  if ((process.gaps & kNoUsableSize) != 0) return "the allocator does not report the size of a block";
  if (head == nullptr) return "it had no address space for zerotax's tables, or ended early";
  if (head->lost_blocks != 0 || head->lost_marks != 0) return "it had more blocks than zerotax has room for";
  return "";
}

/// Returns the allocator's own counts. `head` may be nullptr.
Measured<AllocatorCounts> allocator_counts(const ResidentHead* head) {
  const CountsFrom from = head != nullptr ? head->says.from.load() : CountsFrom::kNotAsked;
  const auto counts = [&](const char* function, std::initializer_list<const char*> names) {
    AllocatorCounts found{function, {}};
    for (const char* name : names) found.counts.push_back({name, head->says.bytes[found.counts.size()]});
    return found;
  };
  switch (from) {
    case CountsFrom::kGlibc:
      return counts("mallinfo2", {"uordblks", "hblkhd", "fordblks", "keepcost"});
    case CountsFrom::kJemalloc:
      return counts("mallctl", {"stats.allocated", "stats.active", "stats.resident", "stats.retained"});
    case CountsFrom::kMimalloc:
      return counts("mi_process_info", {"current_commit", "peak_commit"});
    case CountsFrom::kTcmalloc:
      return counts("MallocExtension_GetNumericProperty",
                    {"generic.current_allocated_bytes", "generic.heap_size", "tcmalloc.pageheap_free_bytes",
                     "tcmalloc.pageheap_unmapped_bytes"});
    case CountsFrom::kNoFunction:
      return NotAvailable{"the allocator has no function that returns its counts"};
    case CountsFrom::kWithinCall:
      return NotAvailable{"the process ended within a call to its allocator"};
    case CountsFrom::kRefused:
      return NotAvailable{"the allocator was built or configured without counts"};
    default:
      return NotAvailable{"the end of the process was not seen"};
  }
}

}  // namespace

ResidentWatch::ResidentWatch(const RecordArena& arena)
    : arena_(arena),
      beats_([this] {
        while (!stopping_) {
          ++arena_.shared().driver_beats;
          std::this_thread::sleep_for(std::chrono::nanoseconds(5 * kPause_ns));
        }
      }),
      thread_([this] { run(); }) {}

ResidentWatch::~ResidentWatch() {
  stopping_ = true;
  thread_.wait();
  for (const Slot& slot : slots_) {
    if (slot.process != nullptr) RecordArena::unwatch(slot.process);
    if (slot.head != nullptr) ::munmap(static_cast<void*>(slot.head), sizeof(ResidentHead));
  }
}

void ResidentWatch::stop() {
  stopping_ = true;
  beats_.wait();
  thread_.join();
}

void ResidentWatch::run() {
  // If this thread fails, the processes must not wait for it.
  const std::unique_ptr<std::atomic<bool>, void (*)(std::atomic<bool>*)> end(&stopping_,
                                                                             [](auto* ends) { *ends = true; });
  auto& wakes = arena_.shared().driver_wakes;
  while (!stopping_) {
    const std::uint32_t before = wakes;
    look();
    const timespec longest{0, kPause_ns};
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&wakes), FUTEX_WAIT, before, &longest, nullptr, 0);
  }
}

void ResidentWatch::look() {
  slots_.resize(arena_.slots_used());
  const unsigned signals = kept_signals();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].is_over || (slots_[i].head == nullptr && !open(i))) continue;
    look_at(i);
    if (signals != signals_ && is_running(i)) divide_now(i, ResidentAt::kSignal, {});
  }
  signals_ = signals;
}

bool ResidentWatch::open(std::size_t index) {
  Slot& slot = slots_[index];
  if (slot.process == nullptr) slot.process = arena_.watch_slot(index);
  std::uint32_t ready = 0;
  read_at(arena_.file(), area_offset(index, offsetof(ResidentArea, head.ready)), ready);
  if (slot.process == nullptr || ready != 1) return false;
  void* const memory =
      ::mmap(nullptr, sizeof(ResidentHead), PROT_READ | PROT_WRITE, MAP_SHARED, arena_.file(), area_offset(index, 0));
  if (memory == MAP_FAILED) return false;
  slot.head = static_cast<ResidentHead*>(memory);
  slot.pid = slot.process->pid;
  slot.started_ns = slot.process->started_ns;
  slot.quiet_ns = monotonic_ns();
  if (slot.process->pid_namespace != own_pid_namespace()) slot.why_not = "it ran in another PID namespace";
  return true;
}

void ResidentWatch::look_at(std::size_t index) {
  Slot& slot = slots_[index];
  ResidentHead& head = *slot.head;
  const std::int64_t now = monotonic_ns();
  if (const std::uint32_t asked = head.asked; asked != head.answered) {
    const bool ends = head.moment == AskedMoment::kEnd;
    divide_now(index, ends ? ResidentAt::kEnd : ResidentAt::kPeak, head.ending);
    slot.was_idle = slot.was_idle || ends;
    head.answered = asked;
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&head.answered), FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
  const std::uint64_t changes = head.changes;
  if (changes < slot.changes || changes - slot.changes > kIdleCalls) {
    slot.changes = changes;
    slot.quiet_ns = now;
    slot.was_idle = false;
  }
  if (slot.was_idle || now - slot.quiet_ns < kIdle_ns || now < slot.next_ns) return;
  slot.was_idle = true;
  if (is_running(index)) divide_now(index, ResidentAt::kIdle, {});
  slot.next_ns = now + kShare * (monotonic_ns() - now);
}

/// Whether the process has neither ended nor executed another program. If an exec failed, the process runs on.
bool ResidentWatch::is_running(std::size_t index) {
  Slot& slot = slots_[index];
  slot.is_over = slot.is_over || !is_still(slot.pid, *slot.process);
  return !slot.is_over && slot.process->holdings.closed == 0;
}

void ResidentWatch::divide_now(std::size_t index, ResidentAt at, const ResidentBlock& ending) {
  Slot& slot = slots_[index];
  if (slot.pid <= 0 || slot.why_not.starts_with("it ran in")) return;
  const std::int64_t at_ns = monotonic_ns();
  std::optional<HeldMemoryMap> memory = read_memory(index);
  if (!memory) {
    // A process that did not ask may have ended meanwhile.
    if (at == ResidentAt::kEnd || at == ResidentAt::kPeak || slot.moments.empty()) slot.why_not = kNotInspected;
    return;
  }
  ResidentBlock last = ending;
  add_block(&memory->blocks, last);
  std::sort(memory->blocks.begin(), memory->blocks.end(),
            [](const ResidentBlock& a, const ResidentBlock& b) { return a.begin < b.begin; });
  Moment moment{at, at_ns, memory->blocks.size(), divide(*memory)};
  const auto same =
      std::find_if(slot.moments.begin(), slot.moments.end(), [at](const Moment& each) { return each.at == at; });
  if (same == slot.moments.end()) {
    slot.moments.push_back(std::move(moment));
  } else if (at != ResidentAt::kIdle || moment.division.parts.freed_bytes() >= same->division.parts.freed_bytes()) {
    *same = std::move(moment);
  }
}

std::optional<HeldMemoryMap> ResidentWatch::read_memory(std::size_t index) const {
  const pid_t living = living_thread(slots_[index].pid);
  UniqueFd fd(::open(fmt::format("/proc/{}/pagemap", living).c_str(), O_RDONLY | O_CLOEXEC));
  auto mappings = read_smaps(living);
  if (!fd || !mappings) return std::nullopt;
  const Pagemap pagemap(std::move(fd), method_);
  HeldMemoryMap memory;
  memory.mappings = std::move(*mappings);
  const auto add = [](void* ranges, AddressRange pages) {
    static_cast<std::vector<AddressRange>*>(ranges)->push_back(pages);
  };
  for (const MappingMemory& mapping : memory.mappings) {
    // Memory of hugetlbfs does not count as anonymous, although its pages do.
    if (mapping.anonymous == 0) continue;
    const AddressRange range{mapping.begin, mapping.begin + mapping.mapped};
    if (!pagemap.for_each_resident(range, add, &memory.resident)) return std::nullopt;
  }
  const char* const allocator = &slots_[index].process->allocator[0];
  memory.is_glibc = file_name(std::string(allocator, ::strnlen(allocator, kPathBytes))).starts_with("libc");
  read_blocks(index, memory);
  read_marks(index, memory);
  return memory;
}

void ResidentWatch::read_blocks(std::size_t index, HeldMemoryMap& memory) const {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  for (std::size_t level = 0; level < Blocks::levels(); ++level) {
    std::vector<Line> copy(Blocks::bytes_of(level) / sizeof(Line));
    const off_t offset = area_offset(index, offsetof(ResidentArea, blocks) + Blocks::offset_of(level));
    // The levels are used one after another.
    if (!read_written(arena_.file(), offset, Blocks::bytes_of(level), copy.data())) return;
    Blocks::for_each_in(&copy[0].bytes[0], level, add_block, &memory.blocks);
  }
}

void ResidentWatch::read_marks(std::size_t index, HeldMemoryMap& memory) const {
  std::vector<Leaf> leaves(kLeaves);
  read_written(arena_.file(), area_offset(index, offsetof(ResidentArea, leaves)), kLeaves * sizeof(Leaf),
               leaves.data());
  const std::uint64_t leaf_bytes = kLeafPages * page_bytes();
  for (std::size_t i = 0; i < kLeaves; ++i) {
    const Leaf& leaf = leaves[i];
    const std::uint64_t begin = (leaf.key - 1) * leaf_bytes;
    const auto held = std::lower_bound(memory.resident.begin(), memory.resident.end(), begin,
                                       [](AddressRange range, std::uint64_t at) { return range.end <= at; });
    if (leaf.key == 0 || held == memory.resident.end() || held->begin >= begin + leaf_bytes) continue;
    std::vector<std::uint16_t>& marks = memory.marks[leaf.key - 1];
    marks.resize(kLeafPages);
    const off_t offset = area_offset(index, offsetof(ResidentArea, marks) + i * kLeafPages * sizeof marks[0]);
    if (leaf.has_marks != 0) read_written(arena_.file(), offset, kLeafPages * sizeof marks[0], marks.data());
    std::replace(marks.begin(), marks.end(), std::uint16_t{kUnmarked}, leaf.common.load());
  }
}

ResidentMoment ResidentWatch::named(const Moment& moment, std::size_t index, const FrameNames& names) const {
  ResidentMoment row;
  const auto frames = [&](std::uint32_t site) -> std::vector<NamedFrame> {
    if (site == 0 || site > kBlockSites) return {};
    BlockSite found{};
    read_at(arena_.file(), area_offset(index, offsetof(ResidentArea, sites) + (site - 1) * sizeof(BlockSite)), found);
    return names(&found.frames[0], std::min<std::uint64_t>(found.depth, kFrames));
  };
  row.moment = moment.at;
  row.at_ns = moment.at_ns;
  row.parts = moment.division.parts;
  row.live_blocks = moment.live_blocks;
  const Division& division = moment.division;
  for (const auto& [name, heap] : highest(division.heaps, [](auto& each) { return each.parts.resident_bytes; })) {
    row.heaps.push_back({name, heap.parts, heap.last.bytes, heap.below_last, {}});
    if (heap.last.bytes != 0) row.heaps.back().last_block_frames = frames(heap.last.site);
  }
  for (const auto& [site, bytes] : highest(division.freed, [](auto each) { return each; })) {
    row.freed.push_back({bytes, frames(site)});
  }
  for (const auto& [site, holder] : highest(division.holders, [](auto& each) { return each.kept_bytes(); })) {
    row.holders.push_back(
        {holder.blocks, holder.smallest, holder.pages, holder.free_bytes, holder.below_bytes, frames(site)});
  }
  return row;
}

Resident ResidentWatch::result(const SeenRun& seen, RecordedScripts& scripts, std::int64_t started_ns) const {
  Resident resident;
  Symbols symbols;
  for (const ProcessSlot* process : seen.processes()) {
    ResidentProcess& row = resident.processes.emplace_back();
    row.pid = process->pid;
    row.executable = printable(&process->executable[0]);
    row.allocator = printable(&process->allocator[0]);
    row.why_not = why_not_all_seen(*process, nullptr);
    row.allocator_counts = allocator_counts(nullptr);
    const FrameNames names = [&](const std::uint64_t* frames, std::size_t depth) {
      return named_frames(*process, frames, depth, scripts, symbols);
    };
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const Slot& slot = slots_[i];
      if (slot.head == nullptr || slot.pid != process->pid || slot.started_ns != process->started_ns) continue;
      row.allocator_counts = allocator_counts(slot.head);
      row.why_not = slot.why_not.empty() ? why_not_all_seen(*process, slot.head) : slot.why_not;
      // If some calls were not seen, no part is right.
      if ((process->gaps & (kOwnCalloc | kOwnScope | kNoUsableSize)) != 0) continue;
      for (const Moment& moment : slot.moments) {
        row.moments.push_back(named(moment, i, names));
        row.moments.back().at_ns -= started_ns;
      }
    }
    // A process that returned no memory was not looked at before, although it held the most later.
    const ResidentMoment* const peak = row.find(ResidentAt::kPeak);
    const std::uint64_t most = peak != nullptr ? peak->parts.resident_bytes : 0;
    const bool is_highest = std::none_of(row.moments.begin(), row.moments.end(),
                                         [&](const ResidentMoment& each) { return each.parts.resident_bytes > most; });
    if (!is_highest) std::erase_if(row.moments, [](auto& each) { return each.moment == ResidentAt::kPeak; });
    std::stable_sort(row.moments.begin(), row.moments.end(),
                     [](const ResidentMoment& a, const ResidentMoment& b) { return a.at_ns < b.at_ns; });
  }
  return resident;
}

}  // namespace zerotax::record
