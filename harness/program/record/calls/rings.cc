#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "record/arena.h"
#include "record/calls/recording.h"

// Empties the rings of recorded processes.

namespace zerotax::record {
namespace {

/// Number of calls between the prefetch of an address and its lookup.
constexpr std::uint64_t kAhead = 12;

}  // namespace

/// Empties the rings once. Returns whether any call was encoded.
bool CallsRecording::drain(bool holes) {
  adopt();
  bool any = false;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (!processes_[i].encoder) begin(i);
    if (processes_[i].encoder) any = drain_process(i, holes) || any;
  }
  return any;
}

/// Registers new processes and threads.
void CallsRecording::adopt() {
  const std::size_t streams = std::min<std::size_t>(area_->streams_used, kStreams);
  while (processes_.size() < streams && area_->streams[processes_.size()].ready != 0) {
    CallStream& stream = area_->streams[processes_.size()];
    const std::uint32_t parent = stream.parent;
    processes_.push_back({.stream = &stream,
                          .pid = stream.pid,
                          .parent = parent <= processes_.size() ? parent : 0,
                          .forked_at = stream.forked_at,
                          .started_ns = is_time(stream.started_ns) ? stream.started_ns : 0,
                          .known = limited_});
  }
  const std::size_t rings = std::min<std::size_t>(area_->rings_used, kRings);
  for (std::size_t i = 0; i < rings; ++i) {
    if (adopted_[i] || area_->ring_states[i] != RingState::kUsed) continue;
    const std::uint32_t stream = ring(i).stream;
    if (stream == 0 || stream > processes_.size() || processes_[stream - 1].over) continue;
    adopted_[i] = true;
    processes_[stream - 1].rings.push_back({i, ring(i).thread, 0});
  }
}

/// Begins to encode a process once its parent's state at the fork is known.
void CallsRecording::begin(std::size_t index) {
  Process& process = processes_[index];
  if (process.parent == 0 || process.forked_at == kNoTicket) {
    process.encoder.emplace();
  } else if (processes_[process.parent - 1].encoder) {
    process.encoder = processes_[process.parent - 1].encoder->take_child(process.forked_at);
  }
}

/// Encodes the calls of a ring, up to the first call that must wait for an earlier call in another ring of the process.
CallsRecording::Drained CallsRecording::take_calls(Ring& own, Process& process) {
  CallRing& from = ring(own.index);
  const std::uint64_t head = from.head.load(std::memory_order_acquire);
  if (head - own.tail > kRingCalls) return Drained::kDamaged;
  for (; own.tail != head; ++own.tail) {
    RawCall call;
    std::memcpy(&call, &from.calls[own.tail % kRingCalls], sizeof call);
    std::atomic_signal_fence(std::memory_order_acquire);  // the program may change the shared call, so it is read only
                                                          // once
    process.encoder->expect(from.calls[(own.tail + kAhead) % kRingCalls]);
    if (call.ticket < process.next_ticket || call.kind > RawKind::kHuge) return Drained::kDamaged;
    if (call.ticket != process.next_ticket) break;
    ++process.next_ticket;
    if (!limited_) process.encoder->add(own.thread, call);
    if (call.kind == RawKind::kFork) stop_if_too_large();
    if (call.kind == RawKind::kEnd) return Drained::kEnded;
  }
  from.tail.store(own.tail, std::memory_order_release);
  return Drained::kAll;
}

bool CallsRecording::drain_ring(Ring& own, Process& process) {
  const std::uint64_t before = own.tail;
  const Drained drained = take_calls(own, process);
  if (drained == Drained::kAll) return own.tail != before;
  if (drained == Drained::kDamaged) ++process.bad;
  const std::size_t index = own.index;
  std::erase_if(process.rings, [&](const Ring& each) { return each.index == index; });
  free_ring(index);
  return true;
}

void CallsRecording::free_ring(std::size_t index) {
  ring(index).stream = 0;
  adopted_[index] = false;
  area_->ring_states[index] = RingState::kFree;
}

bool CallsRecording::drain_process(std::size_t index, bool holes) {
  Process& process = processes_[index];
  bool any = false;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < process.rings.size(); ++i) more = drain_ring(process.rings[i], process) || more;
    if (!more && holes) more = step_over_hole(process);
    any = any || more;
    if (process.encoder->events().size() >= kUsualPartBytes) flush(index);
  }
  return any;
}

bool CallsRecording::step_over_hole(Process& process) {
  std::uint64_t next = kNoTicket;
  for (const Ring& own : process.rings) {
    const CallRing& from = ring(own.index);
    if (own.tail == from.head.load(std::memory_order_acquire)) continue;
    next = std::min(next, __atomic_load_n(&from.calls[own.tail % kRingCalls].ticket, __ATOMIC_RELAXED));
  }
  // take_calls() drops a ring whose tickets decrease.
  if (next == kNoTicket || next <= process.next_ticket) return false;
  process.next_ticket = next;
  return true;
}

/// Frees the rings of ended processes.
void CallsRecording::release_rings() {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    Process& process = processes_[i];
    if (process.rings.empty() || process.stream->ended == 0) continue;
    if (!is_replaced(i) && (::kill(process.pid, 0) == 0 || errno != ESRCH)) continue;
    if (!process.encoder) continue;
    while (drain_process(i, true)) {
    }
    for (const Ring& own : process.rings) free_ring(own.index);
    process.rings.clear();
    end_process(i);
  }
}

}  // namespace zerotax::record
