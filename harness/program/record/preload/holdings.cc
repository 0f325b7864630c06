#include "record/preload/holdings.h"

#include <sys/resource.h>
#include <unistd.h>

#include <bit>
#include <cstring>

#include "base/size.h"
#include "os/clock.h"
#include "os/faults.h"
#include "record/preload/examine.h"
#include "record/preload/file_pages.h"
#include "record/preload/huge_use.h"
#include "record/preload/kept_file.h"
#include "record/preload/large_blocks.h"
#include "record/preload/own_stack.h"
#include "record/preload/process.h"
#include "record/preload/quiet_child.h"
#include "record/preload/returns.h"
#include "record/preload/shared_memory.h"
#include "record/preload/state.h"

namespace zerotax::record {
namespace {

// Returns of fewer bytes are negligible, and cause no sample of the process's memory.
constexpr std::uint64_t kLookBytes = kLargeBytes;
constexpr std::uint64_t kMostSampled = std::uint64_t{16} << 20;

// These files show the calling thread, because the first thread may end long before the process, and an ended thread
// shows no memory.
constinit KeptFile statm("/proc/thread-self/statm");
constinit KeptFile smaps_rollup("/proc/thread-self/smaps_rollup");
constinit KeptFile status("/proc/thread-self/status");

/// Reads a number from a text after skipping blanks, and moves `text` to the character after the number.
std::uint64_t number(const char*& text) {
  std::uint64_t value = 0;
  while (*text == ' ' || *text == '\t') ++text;
  for (; *text >= '0' && *text <= '9'; ++text) value = 10 * value + static_cast<std::uint64_t>(*text - '0');
  return value;
}

/// Returns the resident bytes (proc_pid_statm(5)), without pages of hugetlbfs. The numbers are exact since Linux 6.17;
/// in earlier versions, they may lack some hundred KiB per CPU.
std::optional<Resident> resident_now() {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (const auto now = read_resident(statm.check())) return now;
    statm.drop();
  }
  return std::nullopt;
}

struct Rollup {
  std::uint64_t anonymous = 0;
  std::uint64_t huge = 0;
  std::uint64_t swapped = 0;
};

/// Reads the bytes from the page tables, which takes some milliseconds per GiB.
std::optional<Rollup> rollup() {
  char text[2048];
  const int fd = smaps_rollup.check();
  const ssize_t got = fd < 0 ? -1 : ::pread(fd, &text[0], sizeof text - 1, 0);
  if (got <= 0) return std::nullopt;
  text[got] = '\0';
  const auto kib = [&](const char* name) -> std::uint64_t {
    const char* line = std::strstr(&text[0], name);
    if (line == nullptr) return 0;
    line += std::strlen(name);
    return number(line) << 10;
  };
  return Rollup{kib("\nAnonymous:"), kib("\nAnonHugePages:"), kib("\nSwap:")};
}

/// Samples the memory that the process holds. Returns the resident bytes of files and shared memory.
std::uint64_t look(Holdings& holdings) {
  const auto now = resident_now();
  if (!now) {
    note_gap(kNoHoldings);
    return 0;
  }
  const std::uint64_t hugetlb = holdings.hugetlb_mapped_bytes != 0 ? noted_file_pages().hugetlb : 0;
  holdings.last_bytes = now->anonymous + hugetlb;
  raise(holdings.peak_bytes, now->anonymous + hugetlb);
  return now->files;
}

/// Number of faults outside known memory above which the pages of the shared zero page are counted, to explain these
/// faults.
constexpr std::uint64_t kOtherFaults = 512;

/// Returns the bytes that map the shared zero page; 0 if the faults outside known memory are at most kOtherFaults.
std::uint64_t read_only_bytes(const Holdings& holdings) {
  const std::uint64_t populated = less(holdings.at_end_bytes + holdings.returned_bytes, holdings.at_open_bytes);
  const std::uint64_t known = holdings.faults_at_open + holdings.own_faults + populated / page_bytes();
  return holdings.minor_faults > known + kOtherFaults ? zero_page_bytes() : 0;
}

}  // namespace

std::uint64_t own_minor_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_minflt);
}

std::optional<Resident> read_resident(int fd) {
  char text[128];
  const ssize_t got = fd < 0 ? -1 : ::pread(fd, &text[0], sizeof text - 1, 0);
  text[got > 0 ? got : 0] = '\0';
  const char* at = &text[0];
  number(at);
  const std::uint64_t resident = number(at);
  const std::uint64_t shared = number(at);
  if (resident == 0) return std::nullopt;
  return Resident{less(resident, shared) * page_bytes(), shared * page_bytes()};
}

void open_holdings(ProcessSlot& slot) {
  open_mappings();
  statm.drop();
  smaps_rollup.drop();
  status.drop();
  if (slot.forked == 0) smaps_rollup.get();
  const AtFork* const at_fork = quiet_since();
  const auto found = at_fork != nullptr ? at_fork->resident : resident_now();
  if (!found) slot.gaps |= kNoHoldings;
  const std::uint64_t now = found ? found->anonymous : 0;
  Holdings& holdings = slot.holdings;
  // A child of fork examines only the remembered mappings, because examining all mappings takes longer than many
  // children live.
  const FilePages files = slot.forked != 0 ? noted_file_pages() : FilePages{now, 0};
  holdings.at_start_bytes = less(now, files.copied) + files.hugetlb;
  holdings.last_bytes = now + files.hugetlb;
  holdings.peak_bytes = now + files.hugetlb;
  // If the bytes at the start are unknown, no memory that the process holds later is known to be new.
  holdings.at_open_bytes = found ? now + files.hugetlb : ~std::uint64_t{0} >> 1;
  holdings.files_at_open_bytes = found ? found->files : 0;
  holdings.faults_at_open = at_fork != nullptr ? at_fork->faults : own_minor_faults();
  slot.cpu_at_start_ns = slot.forked != 0 ? 0 : own_cpu_ns();
  slot.cpu_ns = slot.cpu_at_start_ns;
}

void about_to_return(std::uint64_t bytes) {
  Holdings& holdings = process->holdings;
  if (holdings.unlooked_bytes.fetch_add(bytes) + bytes < kLookBytes) return;
  holdings.unlooked_bytes = 0;
  look(holdings);
}

void note_forked_holdings() {
  if (process == nullptr || guard.alive == 0 || process->pid != ::getpid()) return;
  const OwnWork own;
  look(process->holdings);
  process->holdings.forked_bytes += process->holdings.last_bytes;
}

std::uint64_t look_at_holdings() {
  look(process->holdings);
  return process->holdings.last_bytes;
}

void have_returned(std::uint64_t bytes, std::uint64_t huge_bytes) {
  Holdings& holdings = process->holdings;
  holdings.returned_bytes += bytes;
  holdings.returned_huge_bytes += huge_bytes;
  holdings.pool_bytes += bytes;
}

std::uint64_t take_from_pool(std::uint64_t bytes) {
  std::atomic<std::uint64_t>& pool = process->holdings.pool_bytes;
  std::uint64_t there = pool;
  while (there != 0) {
    const std::uint64_t taken = there < bytes ? there : bytes;
    if (pool.compare_exchange_weak(there, there - taken)) return taken;
  }
  return 0;
}

void give_to_pool(std::uint64_t bytes) {
  if (bytes != 0) process->holdings.pool_bytes += bytes;
}

void measure_faults(std::uint64_t bytes, bool huge) {
  Holdings& holdings = process->holdings;
  const std::uint32_t returns = ++holdings.returns;
  if (!std::has_single_bit(returns)) return;
  const std::uint32_t index = holdings.samples_used;
  if (index >= kFaultSamples) return;
  const std::uint64_t unit = huge ? huge_page_bytes() : page_bytes();
  const std::uint64_t whole = (bytes + unit - 1) & ~(unit - 1);
  const std::uint64_t sampled = whole < kMostSampled ? whole : kMostSampled;
  holdings.own_bytes += sampled;
  const FaultSample sample = measure_fault_cost(sampled, huge ? PageKind::kHuge : PageKind::kAsSet);
  holdings.own_bytes -= sampled;
  if (sample.faults == 0) return;
  holdings.samples[index] = sample;
  holdings.own_faults += sample.faults;
  holdings.samples_used = index + 1;
}

namespace {

/// Records the resident shared memory that is mapped (proc_pid_status(5)), apart from the recorder's own, and records
/// the pinned memory.
void note_shared(Holdings& holdings) {
  holdings.shared_resident_bytes = kUnknownBytes;
  char text[4096];
  const int fd = status.check();
  const ssize_t got = fd < 0 ? -1 : ::pread(fd, &text[0], sizeof text - 1, 0);
  text[got > 0 ? got : 0] = '\0';
  const auto kib = [&](const char* name) -> std::optional<std::uint64_t> {
    const char* line = std::strstr(&text[0], name);
    if (line == nullptr) return std::nullopt;
    line += std::strlen(name);
    return number(line) << 10;
  };
  holdings.pinned_bytes = kib("\nVmPin:").value_or(0);
  const auto resident = kib("\nRssShmem:");
  std::uint64_t own = 0;
  const auto add = [](void* sum, AddressRange pages) {
    const auto add_bytes = [](void* bytes, AddressRange part) { *static_cast<std::uint64_t*>(bytes) += part.bytes(); };
    for_each_populated(pages, add_bytes, sum);
  };
  if (!resident || !for_each_own_mapping(add, &own)) return;
  holdings.own_shared_bytes = own;
  holdings.shared_resident_bytes = *resident > own ? *resident - own : 0;
}

/// Records the memory that the process holds now.
void close_memory() {
  const TimedOwnWork own;
  settle_live_blocks();
  Holdings& holdings = process->holdings;
  const std::uint64_t files = look(holdings);
  holdings.file_bytes = less(files, holdings.files_at_open_bytes);
  FilePages file_pages;
  if (process->forked == 0) {
    bool made_code = false;
    file_pages = all_file_pages(made_code);
    if (made_code) note_gap(kMadeCode);
    note_shared(holdings);
    holdings.image_bytes = zeroed_image_bytes();
  } else {
    file_pages = noted_file_pages();
  }
  const auto found = process->forked == 0 ? rollup() : std::nullopt;
  if (found && found->huge != 0) count_held_huge();
  holdings.copied_bytes = file_pages.copied;
  holdings.hugetlb_bytes = file_pages.hugetlb;
  holdings.at_end_bytes = found ? found->anonymous : less(holdings.last_bytes, file_pages.hugetlb);
  holdings.huge_bytes = (found ? found->huge : 0) + file_pages.hugetlb;
  holdings.swapped_bytes = found ? found->swapped : 0;
  raise(holdings.peak_bytes, holdings.at_end_bytes + file_pages.hugetlb);
}

/// Values that grow whenever the process populates memory, or returns memory.
struct Progress {
  std::uint64_t faults;
  std::uint64_t returned_bytes;
  bool operator==(const Progress&) const = default;
};

Progress progress() { return {own_minor_faults(), process->holdings.returned_bytes}; }

/// The progress at the last close of the counts.
Progress closed_at{};

void close_now() {
  // The destructors close the counts, and _exit closes the counts again. The second close is needless if no memory
  // changed.
  if (process->holdings.closed != 0 && progress() == closed_at) return;
  const TimedOwnWork own;
  close_memory();
  Holdings& holdings = process->holdings;
  rusage usage{};
  // A program may forbid itself getrusage (seccomp). In that case, only the kernel's count of faults is available.
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return;
  process->user_ns = in_ns(usage.ru_utime);
  process->system_ns = in_ns(usage.ru_stime);
  holdings.minor_faults = static_cast<std::uint64_t>(usage.ru_minflt);
  holdings.at_end_zero_bytes = read_only_bytes(holdings);
  process->cpu_ns = own_cpu_ns();
  closed_at = progress();
  holdings.closed = 1;
}

}  // namespace

void close_holdings() {
  if (process == nullptr || process->pid != ::getpid() || guard.alive == 0) return;
  // The thread that ends the process may never have allocated.
  if (state.block != nullptr || prepare(state)) on_own_stack(close_now);
}

void reopen_holdings() {
  if (process != nullptr && process->pid == ::getpid()) process->holdings.closed = 0;
}

SharerUse add_own_use() {
  const SharerUse use{own_minor_faults(), static_cast<std::uint64_t>(own_cpu_ns())};
  process->holdings.sharers_faults += use.faults;
  process->holdings.sharers_cpu_ns += use.cpu_ns;
  return use;
}

void take_back_use(SharerUse use) {
  process->holdings.sharers_faults -= use.faults;
  process->holdings.sharers_cpu_ns -= use.cpu_ns;
}

SharerUse note_sharer_end() {
  Holdings& holdings = process->holdings;
  if (holdings.closed != 0 && (state.block != nullptr || prepare(state))) on_own_stack(close_memory);
  ++holdings.sharers_ended;
  return add_own_use();
}

void take_back_sharer_end(SharerUse use) {
  take_back_use(use);
  --process->holdings.sharers_ended;
}

}  // namespace zerotax::record
