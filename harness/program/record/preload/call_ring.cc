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

// Weak: glibc has it since 2.32 (sys/single_threaded.h).
extern "C" [[gnu::weak]] char __libc_single_threaded;  // NOLINT(bugprone-reserved-identifier)

namespace zerotax::record {
namespace {

/// What a thread writes to.
struct Writer {
  CallRing* ring;
  std::uint64_t head;
  std::uint64_t limit;        ///< of head: from here on there is to ask
  std::uint64_t populated;    ///< calls of the ring that are backed by pages
  std::int64_t clock_ns;      ///< when the clock was read last
  std::uint32_t until_clock;  ///< calls
  std::uint32_t tick;         ///< the driver's, when the clock was read last
  std::uint64_t forked_at;
  bool over;  ///< it ended, or found no ring
};
constinit thread_local Writer writer [[gnu::tls_model("initial-exec")]] = {};

CallArea* area = nullptr;
CallStream* stream = nullptr;
constinit std::atomic<bool> gave_up{false};  ///< the driver no longer empties rings
pthread_key_t end_key;
bool has_end_key = false;

CallRing* ring_at(std::size_t index) {
  return reinterpret_cast<CallRing*>(reinterpret_cast<char*>(area) + kRingsOffset) + index;
}

/// The index of a ring that nobody has, or kRings.
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

/// Whether recording has stopped. gave_up makes this final, because another process may write to the area.
bool has_stopped() { return gave_up || area->stopped != 0; }

void wake_driver() {
  if (area->sleeping == 0) return;
  ++area->wake;
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&area->wake), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

/// The ring is full. Returns false if nobody empties it any more.
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

/// Sets the limit for the next piece of the ring, once it may be written.
bool next_piece() {
  Writer& own = writer;
  const OwnWork work;
  if (has_stopped()) return false;
  wake_driver();
  if (!wait_for_driver(*own.ring, own.head)) {
    // Nobody listens: nor will anybody later.
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

/// The thread's ring, or nullptr if it has none and gets none.
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

/// Where the thread's next call is written; nullptr: nowhere.
RawCall* next_call() {
  Writer& own = writer;
  // A new child of fork, which has not begun its stream.
  if (guard.alive == 0 && process != nullptr) return nullptr;
  if (own.ring == nullptr && !begin_thread()) return nullptr;
  if (own.head == own.limit && !next_piece()) return nullptr;
  return &own.ring->calls[own.head % kRingCalls];
}

void publish() { writer.ring->head.store(++writer.head, std::memory_order_release); }

/// Without the bus lock while there is but one thread: who starts a second one clears the C library's flag before.
std::uint64_t next_ticket() {
  if (&__libc_single_threaded == nullptr || __libc_single_threaded == 0) {
    return stream->tickets.fetch_add(1, std::memory_order_relaxed);
  }
  const std::uint64_t ticket = stream->tickets.load(std::memory_order_relaxed);
  stream->tickets.store(ticket + 1, std::memory_order_relaxed);
  return ticket;
}

/// RawCall::time. To read the clock takes as long as a call: calls that follow each other fast have it read for one in
/// sixteen, and the first after a pause.
[[gnu::noinline]] std::uint32_t read_clock() {
  constexpr std::int64_t kSlow_ns = 10'000;
  const std::int64_t now = monotonic_ns();
  writer.until_clock = now - writer.clock_ns < kSlow_ns ? 16 : 1;
  writer.clock_ns = now;
  writer.tick = area->tick.load(std::memory_order_relaxed);
  return static_cast<std::uint32_t>((now - stream->started_ns) >> kTimeShift);
}

/// The last of the destructors of a thread's values: those of allocators and of the program may still free.
void end_thread(void* ring) {
  constexpr unsigned kRounds = 3;  // PTHREAD_DESTRUCTOR_ITERATIONS is 4
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
  // With the rings of threads to come: a program may forbid itself to open files.
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
