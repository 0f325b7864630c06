#include "record/preload/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "os/clock.h"
#include "os/faults.h"
#include "os/pagemap.h"
#include "os/pid_namespace.h"
#include "os/unique_fd.h"
#include "record/preload/calls.h"
#include "record/preload/ending.h"
#include "record/preload/examine.h"
#include "record/preload/first_pages.h"
#include "record/preload/forks.h"
#include "record/preload/holdings.h"
#include "record/preload/live_blocks.h"
#include "record/preload/live_heap.h"
#include "record/preload/modules.h"
#include "record/preload/own_memory.h"
#include "record/preload/own_stack.h"
#include "record/preload/python_frames.h"
#include "record/preload/quiet_child.h"
#include "record/preload/real.h"
#include "record/preload/resident.h"
#include "record/preload/returns.h"
#include "record/preload/shared_memory.h"
#include "record/preload/text.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

// The function that pthread_atfork calls in glibc. The symbol is weak, because a child may preload this library under
// the loader of another C library, which must find no symbol missing. Without this function, the guard page reveals a
// fork.
extern "C" {
extern void* __dso_handle;
[[gnu::weak]] int __register_atfork(void (*)(), void (*)(), void (*)(), void*);
}

namespace zerotax::record {

constinit thread_local ThreadState state [[gnu::tls_model("initial-exec")]]{};
Guard guard{};
Arena* arena = nullptr;
ProcessSlot* process = nullptr;

OwnWork::OwnWork(std::uintptr_t mark)
    : armed_(state.armed), mark_(state.mark), inside_(state.now.inside), errno_(errno) {
  state.armed = nullptr;
  state.mark = mark;
  state.now.inside = Inside::kOwn;
}

OwnWork::~OwnWork() {
  state.armed = armed_;
  state.mark = mark_;
  state.now.inside = inside_;
  errno = errno_;
}

TimedOwnWork::TimedOwnWork(std::uintptr_t mark) : outermost_(state.now.inside != Inside::kOwn), own_(mark) {
  if (!outermost_) return;
  began_ns_ = monotonic_ns();
  began_cpu_ns_ = thread_cpu_ns();
}

TimedOwnWork::~TimedOwnWork() {
  if (!outermost_ || state.block == nullptr) return;
  state.block->own_ns += static_cast<std::uint64_t>(monotonic_ns() - began_ns_);
  state.block->own_cpu_ns += static_cast<std::uint64_t>(thread_cpu_ns() - began_cpu_ns_);
}

namespace {

ThreadBlock early_block{};    // counts of calls before the recorder's constructor
ThreadBlock nowhere_block{};  // counts of calls if nothing is recorded
std::uint32_t slot_index = 0;

class GuardLock {
 public:
  GuardLock() {
    while (__atomic_exchange_n(&guard.lock, 1U, __ATOMIC_ACQUIRE) != 0) ::sched_yield();
  }
  ~GuardLock() { __atomic_store_n(&guard.lock, 0U, __ATOMIC_RELEASE); }
  GuardLock(const GuardLock&) = delete;
  GuardLock& operator=(const GuardLock&) = delete;
};

void read_text(const char* path, char* text, std::size_t room) {
  const UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t got = fd ? ::read(fd.get(), text, room - 1) : 0;
  text[got > 0 ? got : 0] = '\0';
  // A command line separates its words by zero bytes.
  for (ssize_t i = 0; i + 1 < got; ++i) {
    if (text[i] == '\0') text[i] = ' ';
  }
}

/// Maps a free slot, or returns nullptr.
ProcessSlot* map_slot() {
  SharedMemory memory(kArenaVariable, kArenaMagic, kArenaBytes);
  if (!memory.found()) return nullptr;
  if (arena == nullptr) {
    arena = static_cast<Arena*>(memory.map(0, kSlotsOffset));
    if (arena == nullptr) return nullptr;
    memory.keep();
  }
  const std::uint32_t index = slot_index = arena->slots_used.fetch_add(1);
  if (index >= kProcesses) return nullptr;
  auto* slot = static_cast<ProcessSlot*>(memory.map(kSlotsOffset + index * kSlotBytes, kSlotBytes));
  if (slot == nullptr) return nullptr;
  if (have_pages(slot, page_bytes())) return slot;
  ::munmap(slot, kSlotBytes);
  return nullptr;
}

void describe(ProcessSlot& slot, bool forked) {
  slot.pid = ::getpid();
  slot.parent = ::getppid();
  slot.forked = forked ? 1 : 0;
  slot.started_ns = monotonic_ns();
  slot.pid_namespace = own_pid_namespace();
  ::prctl(PR_GET_NAME, &slot.name[0]);
  const ssize_t length = ::readlink("/proc/self/exe", &slot.executable[0], kPathBytes - 1);
  slot.executable[length > 0 ? length : 0] = '\0';
  // Without /proc, the path that was passed to exec is used.
  const auto* const told = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  if (length <= 0 && told != nullptr) std::strncpy(&slot.executable[0], told, kPathBytes - 1);
  read_text("/proc/self/cmdline", &slot.command[0], kPathBytes);
  slot.modules_used = 1;  // index 0 means no module
}

/// Opens a slot for a child of fork. If no slot is free, the child continues in its parent's slot.
void open_after_fork() {
  begin_calls_in_child();
  ProcessSlot* const parent = process;
  if (quiet_since() != nullptr) --parent->holdings.quiet_begun;
  // While `process` is null, faults in the new slot are not added to the parent's counts.
  process = nullptr;
  const std::int64_t faults = thread_minor_faults();
  ProcessSlot* const own = parent == nullptr ? nullptr : map_slot();
  process = parent;
  open_pages();
  open_live_blocks();
  if (own == nullptr) {
    copy_resident(kProcesses);
    note_gap(kHoldsChildren);
    guard.in_parents_slot = 1;
    end_quiet_child();
    return;
  }
  describe(*own, true);
  if (const AtFork* const at_fork = quiet_since()) own->started_ns = at_fork->ns;
  open_holdings(*own);
  own->gaps |= parent->gaps & ~std::uint32_t{kHoldsChildren | kThreadsShared | kSitesLost | kBlocksLost};
  own->holdings.shared_bytes = parent->holdings.shared_bytes.load();
  own->holdings.private_shared_bytes = parent->holdings.private_shared_bytes.load();
  own->holdings.program_mapped_bytes = parent->holdings.program_mapped_bytes.load();
  own->holdings.hugetlb_mapped_bytes = parent->holdings.hugetlb_mapped_bytes.load();
  own->holdings.large_live_bytes = parent->holdings.large_live_bytes.load();
  own->holdings.peak_large_live_bytes = static_cast<std::uint64_t>(parent->holdings.large_live_bytes.load());
  own->pagemap_method = parent->pagemap_method;
  std::memcpy(&own->allocator[0], &parent->allocator[0], kPathBytes);
  open_live_heap(*own);
  copy_resident(slot_index);
  process = own;
  // The account of a quiet child starts at the fork, so it includes the faults of opening the slot, which are the
  // recorder's own.
  if (end_quiet_child()) own->holdings.own_faults += static_cast<std::uint64_t>(thread_minor_faults() - faults);
  own->ready = 1;
  ::munmap(parent, kSlotBytes);
}

void add_block(ThreadBlock& to, const ThreadBlock& from) {
  to.add(from);
  to.merged += from.merged + 1;
}

/// If all blocks are taken, frees blocks of ended threads by adding their counts to the block of the first ended
/// thread. Returns a free block, or nullptr.
ThreadBlock* recycle() {
  const GuardLock lock;
  for (ThreadBlock& block : process->threads) {
    if (block.state != BlockState::kFree || &block == &process->threads[kThreads - 1]) continue;
    block.state = BlockState::kUsed;
    return &block;
  }
  ThreadBlock* sum = nullptr;
  ThreadBlock* freed = nullptr;
  for (ThreadBlock& block : process->threads) {
    if (&block == &process->threads[kThreads - 1]) break;  // threads may share the last block
    if (block.state == BlockState::kUsed) {
      // tgkill can test only threads of this process.
      if (block.pid != ::getpid() || ::syscall(SYS_tgkill, block.pid, block.tid, 0) == 0 || errno != ESRCH) continue;
      block.state = BlockState::kEnded;
    }
    if (sum == nullptr) {
      sum = &block;
      continue;
    }
    add_block(*sum, block);
    std::memset(static_cast<void*>(&block), 0, sizeof block);
    freed = &block;
  }
  if (freed != nullptr) freed->state = BlockState::kUsed;
  return freed;
}

ThreadBlock* claim_block() {
  auto* const table = process;
  if (table == nullptr) return &nowhere_block;
  constexpr std::uint32_t kOwn = kThreads - 1;
  const std::uint32_t index = take_entry(table->threads_used, &table->threads[0], kOwn);
  ThreadBlock* block = index < kOwn ? &table->threads[index] : nullptr;
  if (block == nullptr && table->threads_used == kOwn) block = recycle();
  if (block == nullptr) {
    note_gap(kThreadsShared);
    block = &table->threads[kOwn];
    if (!have_pages(block, sizeof *block)) return &nowhere_block;
  }
  block->pid = ::getpid();
  block->tid = static_cast<std::int32_t>(::syscall(SYS_gettid));
  ::prctl(PR_GET_NAME, &block->name[0]);
  block->state = BlockState::kUsed;
  return block;
}

void begin_samples(ThreadState& thread) {
  thread.small = {0, kFirstSampleBytes, kFirstSampleBytes, kFirstSampleBytes, 0, 0};
  thread.cleared = thread.small;
  thread.large_cleared = {};
  thread.random = static_cast<std::uint64_t>(monotonic_ns()) ^ reinterpret_cast<std::uintptr_t>(&thread);
  if (thread.random == 0) thread.random = 1;  // from 0, the generator would only return 0
  begin_looks(thread);
}

void after_fork_in_child() {
  note_fork_in_child();
  // An earlier handler of fork, such as an allocator's, may have called the recorder, so that this process is already
  // open.
  if (guard.alive != 0 && process != nullptr && process->pid == ::getpid()) return;
  guard.alive = 0;
  guard.lock =
      0;  // The store populates the guard's page before begin_quiet_child() reads how much memory the child holds.
  end_quiet_child();
  if (!begin_quiet_child()) prepare(state);
}

/// Records the file whose calloc the program calls. This is usually the first calloc after the recorder's. It is the
/// program's own calloc if that comes before the recorder's.
void name_allocator(ProcessSlot& slot) {
  void* const first = find_first("calloc");
  const bool is_ours = first == nullptr || first == reinterpret_cast<void*>(&::calloc);
  if (!is_ours) slot.gaps |= kOwnCalloc;
  const void* const called = (slot.gaps & kOwnCalloc) != 0 ? first : reinterpret_cast<void*>(plain_real.calloc);
  copy_text(slot.allocator, object_path(called, slot));
}

void begin_process() {
  const OwnWork own;
  resolve_real();
  find_first_stack();
  ::madvise(&guard, sizeof guard, MADV_WIPEONFORK);
  ProcessSlot* const slot = map_slot();
  if (slot != nullptr) {
    describe(*slot, false);
    slot->pagemap_method = arena->pagemap_method;
    if (slot->pagemap_method == static_cast<std::uint32_t>(Pagemap::Method::kNone)) slot->gaps |= kNoPagemap;
    if (!hook_libc_stores()) slot->gaps |= kNoLibcSlots;
    name_allocator(*slot);
    find_python();
    leave_out_operators();
    open_live_blocks();
    open_holdings(*slot);
    if (!watch_returns()) slot->gaps |= kNoReturns;
    watch_end();
    process = slot;
    open_pages();
    slot->ready = 1;
    if (&__register_atfork != nullptr) __register_atfork(note_fork, note_forked, after_fork_in_child, &__dso_handle);
  }
  begin_live_heap(slot);
  slot != nullptr && arena->keeps_resident != 0 ? begin_resident(slot_index) : stop_resident();
  slot != nullptr ? begin_calls() : stop_calls();
  note_early_memory();
  guard.alive = 1;
  state.block = claim_block();
  begin_samples(state);
  add_block(*state.block, early_block);
  state.block->merged = 0;
}

/// Runs before the constructors of the program and of most libraries, and after those of the C library.
[[gnu::constructor]] void begin() {
  begin_process();
  state.armed = state.block;
}

[[gnu::destructor]] void end() { note_end(); }

}  // namespace

void note_end() {
  if (process == nullptr || guard.alive == 0 || process->pid != ::getpid()) return;
  note_held_blocks();
  note_resident_end();
  close_holdings();
  process->ended_ns = monotonic_ns();
  process->ended = 1;
}

bool is_sharer() {
  return process != nullptr && guard.alive != 0 && guard.in_parents_slot == 0 && process->pid != ::getpid();
}

bool have_pages(const void* begin, std::size_t bytes) {
  const auto from = page_floor(reinterpret_cast<std::uintptr_t>(begin));
  const auto to = page_ceiling(reinterpret_cast<std::uintptr_t>(begin) + bytes);
  const auto known = [](std::uintptr_t page) -> volatile std::uintptr_t& {
    return guard.populated[page / page_bytes() % std::size(guard.populated)];
  };
  bool are_known = true;
  for (std::uintptr_t page = from; page < to; page += page_bytes()) are_known = are_known && known(page) == page;
  if (are_known) return true;
  const int saved = errno;
  const std::int64_t faults = thread_minor_faults();
  // Kernels before 5.14 lack this advice. On such a kernel, a full file system causes a signal, as in any program.
  const bool had = ::madvise(reinterpret_cast<void*>(from), to - from, MADV_POPULATE_WRITE) == 0 || errno == EINVAL;
  if (process != nullptr) process->holdings.own_faults += static_cast<std::uint64_t>(thread_minor_faults() - faults);
  errno = saved;
  for (std::uintptr_t page = from; had && page < to; page += page_bytes()) known(page) = page;
  return had;
}

bool arena_is_reachable() { return SharedMemory(kArenaVariable, kArenaMagic, kArenaBytes).found(); }

void note_gap(Gap gap) {
  if (process != nullptr) process->gaps |= gap;
}

bool prepare(ThreadState& thread) {
  const bool inside_call = thread.armed == nullptr && (thread.block != nullptr || thread.now.inside == Inside::kOwn);
  if (inside_call) return false;
  {
    const OwnWork own;
    const GuardLock lock;
    if (guard.alive == 0) {
      free_own_stacks();
      if (process != nullptr) on_own_stack(open_after_fork);
      guard.alive = 1;
    }
  }
  {
    const OwnWork own;
    // Without an arena, or before the recorder's constructor, the thread counts in early_block.
    thread.block = arena == nullptr ? &early_block : claim_block();
    begin_samples(thread);
  }
  thread.armed = thread.block;
  return true;
}

}  // namespace zerotax::record
