#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

#include "os/clock.h"
#include "record/preload/calls.h"
#include "record/preload/process.h"
#include "record/preload/shared_memory.h"
#include "record/preload/state.h"

// Weak, because only glibc 2.32 and later have this symbol (sys/single_threaded.h).
extern "C" [[gnu::weak]] char __libc_single_threaded;  // NOLINT(bugprone-reserved-identifier)

namespace zerotax::record {
namespace {

/// The state of a thread that writes calls into its ring.
struct Writer {
  CallRing* ring;
  std::uint64_t head;
  std::uint64_t limit;        ///< value of head at which the thread must check the ring again
  std::uint64_t populated;    ///< number of calls in the ring that are backed by pages
  std::int64_t clock_ns;      ///< time of the last reading of the clock
  std::uint32_t until_clock;  ///< calls until the next reading of the clock
  std::uint32_t tick;         ///< CallArea::tick at the last reading of the clock
  std::uint64_t forked_at;
  bool over;  ///< whether the thread ended, or found no ring
};
constinit thread_local Writer writer [[gnu::tls_model("initial-exec")]] = {};

CallArea* area = nullptr;
CallStream* stream = nullptr;
constinit std::atomic<bool> gave_up{false};  ///< whether the driver no longer empties rings
pthread_key_t end_key;
bool has_end_key = false;

CallRing* ring_at(std::size_t index) {
  return reinterpret_cast<CallRing*>(reinterpret_cast<char*>(area) + kRingsOffset) + index;
}

/// Takes a free ring. Returns the ring's index, or kRings if no ring is free.
std::size_t take_ring() {
  const std::size_t used = area->rings_used;
  for (std::size_t i = 0; i < used && i < kRings; ++i) {
    RingState expected = RingState::kFree;
    if (area->ring_states[i].compare_exchange_strong(expected, RingState::kUsed)) return i;
  }
  for (std::size_t i = area->rings_used.fetch_add(1); i < kRings; i = area->rings_used.fetch_add(1)) {
    RingState expected = RingState::kFree;
    if (area->ring_states[i].compare_exchange_strong(expected, RingState::kUsed)) return i;
  }
  area->rings_used = kRings;
  return kRings;
}

/// Whether recording has stopped. `gave_up` makes a stop final, even if another process changes the area.
bool has_stopped() { return gave_up || area->stopped != 0; }

void wake_driver() {
  if (area->sleeping == 0) return;
  ++area->wake;
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&area->wake), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

/// Waits while the ring is full. Returns false if the driver does not empty it any more.
bool wait_for_driver(const CallRing& ring, std::uint64_t head) {
  constexpr std::int64_t kPatience_ns = 10'000'000'000;
  const std::int64_t began = monotonic_ns();
  while (head - ring.tail.load(std::memory_order_acquire) >= kRingCalls) {
    if (has_stopped() || monotonic_ns() - began > kPatience_ns) return false;
    wake_driver();
    const timespec pause{0, 50'000};
    ::nanosleep(&pause, nullptr);
  }
  return true;
}

void lose() {
  ++stream->lost;
  writer.over = true;
  writer.ring = nullptr;
}

/// Sets the limit to the end of the next piece of the ring once that piece may be written. Returns false if no further
/// calls can be written.
bool next_piece() {
  Writer& own = writer;
  const OwnWork work;
  if (has_stopped()) return false;
  wake_driver();
  if (!wait_for_driver(*own.ring, own.head)) {
    // The driver has not emptied the ring for a long time, and is not expected to do so later.
    gave_up = true;
    area->stopped = 1;
    return false;
  }
  if (own.populated < kRingCalls && own.head >= own.populated) {
    if (!have_pages(&own.ring->calls[own.populated], kPieceCalls * sizeof(RawCall))) return false;
    own.populated += kPieceCalls;
  }
  const std::uint64_t room = own.ring->tail.load(std::memory_order_acquire) + kRingCalls - own.head;
  own.limit = own.head + (room < kPieceCalls - own.head % kPieceCalls ? room : kPieceCalls - own.head % kPieceCalls);
  return own.limit != own.head;
}

/// Gives the thread a ring. Returns false if the thread cannot have a ring.
bool begin_thread() {
  Writer& own = writer;
  if (own.over || stream == nullptr || has_stopped()) return false;
  const OwnWork work;
  const std::size_t index = take_ring();
  own.ring = index == kRings ? nullptr : ring_at(index);
  if (own.ring == nullptr || !have_pages(own.ring, offsetof(CallRing, calls))) {
    lose();
    return false;
  }
  own.ring->thread = stream->threads.fetch_add(1);
  own.ring->tail = 0;
  own.ring->head = 0;
  own.ring->stream = static_cast<std::uint32_t>(stream - &area->streams[0]) + 1;
  own.head = own.limit = own.populated = 0;
  own.clock_ns = monotonic_ns();
  own.until_clock = 1;
  if (has_end_key) ::pthread_setspecific(end_key, own.ring);
  return true;
}

/// Returns the slot for the thread's next call, or nullptr if calls cannot be written.
RawCall* next_call() {
  Writer& own = writer;
  // This thread is in a new child of fork, which has not begun its stream.
  if (guard.alive == 0 && process != nullptr) return nullptr;
  if (own.ring == nullptr && !begin_thread()) return nullptr;
  if (own.head == own.limit && !next_piece()) return nullptr;
  return &own.ring->calls[own.head % kRingCalls];
}

void publish() { writer.ring->head.store(++writer.head, std::memory_order_release); }

/// Returns the next ticket. In a process with a single thread, this takes no bus lock. A second thread cannot
/// interfere, because its start first clears the C library's flag.
std::uint64_t next_ticket() {
  if (&__libc_single_threaded == nullptr || __libc_single_threaded == 0) {
    return stream->tickets.fetch_add(1, std::memory_order_relaxed);
  }
  const std::uint64_t ticket = stream->tickets.load(std::memory_order_relaxed);
  stream->tickets.store(ticket + 1, std::memory_order_relaxed);
  return ticket;
}

/// Returns RawCall::time. Reading the clock takes as long as a recorded call of the allocator. Therefore the clock is
/// read only for one of sixteen fast successive calls, and for the first call after a pause.
[[gnu::noinline]] std::uint32_t read_clock() {
  constexpr std::int64_t kSlow_ns = 10'000;
  const std::int64_t now = monotonic_ns();
  writer.until_clock = now - writer.clock_ns < kSlow_ns ? 16 : 1;
  writer.clock_ns = now;
  writer.tick = area->tick.load(std::memory_order_relaxed);
  return static_cast<std::uint32_t>((now - stream->started_ns) >> kTimeShift);
}

/// Ends a thread's ring in a late round of thread-specific destructors, because destructors of allocators and of the
/// program may still free blocks.
void end_thread(void* ring) {
  constexpr unsigned kRounds = 3;  // one round less than the C library's PTHREAD_DESTRUCTOR_ITERATIONS (4)
  constinit static thread_local unsigned round [[gnu::tls_model("initial-exec")]] = 0;
  if (++round < kRounds && ::pthread_setspecific(end_key, ring) == 0) return;
  if (writer.ring != ring) return;
  note_call(RawKind::kEnd, nullptr, 0);
  writer.over = true;
  writer.ring = nullptr;
}

CallStream* begin_stream(std::uint32_t parent, std::uint64_t forked_at) {
  const std::uint32_t index = area->streams_used.fetch_add(1);
  if (index >= kStreams) return nullptr;
  CallStream& own = area->streams[index];
  own.pid = ::getpid();
  own.parent = parent;
  own.forked_at = forked_at;
  own.started_ns = monotonic_ns();
  own.ready = 1;
  return &own;
}

}  // namespace

void note_call(RawKind kind, const void* block, std::uint64_t bytes, std::uint8_t alignment) {
  RawCall* const call = next_call();
  if (call == nullptr) return;
  const bool paused = writer.tick != area->tick.load(std::memory_order_relaxed);
  const std::uint32_t time = --writer.until_clock == 0 || paused ? read_clock() : 0;
  *call = {next_ticket(), kind, alignment, {}, time, reinterpret_cast<std::uintptr_t>(block), bytes};
  publish();
}

bool open_call_area() {
  if (area != nullptr) return false;
  SharedMemory memory(kCallsVariable, kCallAreaMagic, kCallAreaBytes);
  if (!memory.found()) return false;
  // The rings of future threads are mapped here as well, because a program may forbid itself to open files later.
  area = static_cast<CallArea*>(memory.map(0, kCallAreaBytes));
  if (area == nullptr) return false;
  memory.keep();
  writer.forked_at = kNoTicket;
  stream = !has_stopped() ? begin_stream(0, kNoTicket) : nullptr;
  if (stream == nullptr) return false;
  has_end_key = ::pthread_key_create(&end_key, end_thread) == 0;
  return true;
}

bool begin_child_stream() {
  const std::uint64_t forked_at = writer.forked_at;
  writer = {};
  writer.forked_at = kNoTicket;
  stream = begin_stream(static_cast<std::uint32_t>(stream - &area->streams[0]) + 1, forked_at);
  return stream != nullptr;
}

bool is_own_stream() { return stream->pid == ::getpid(); }

void end_stream(ImagePages image) {
  stream->image_zeroed_bytes = image.zeroed;
  stream->image_copied_bytes = image.copied;
  stream->ended_time = static_cast<std::uint32_t>((monotonic_ns() - stream->started_ns) >> kTimeShift);
  stream->ended = 1;
  wake_driver();
}

void note_fork_call() {
  if (next_call() == nullptr) return;
  note_call(RawKind::kFork, nullptr, 0);
  writer.forked_at = writer.ring->calls[(writer.head - 1) % kRingCalls].ticket;
}

void forget_fork() { writer.forked_at = kNoTicket; }

}  // namespace zerotax::record
