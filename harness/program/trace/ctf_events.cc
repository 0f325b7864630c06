#include <fmt/format.h>

#include <cstring>
#include <queue>

#include "trace/ctf_trace.h"

namespace zerotax::trace {
namespace {

constexpr std::uint64_t kMask = (std::uint64_t{1} << recorder::kTickBits) - 1;

}  // namespace

/// Reads the events of one stream in order.
class CtfCursor {
 public:
  CtfCursor(const CtfStream& stream, const CtfProcess& process, std::vector<std::string>& problems)
      : stream_(stream), process_(process), problems_(problems) {
    event_.stream = &stream;
  }

  [[nodiscard]] const CtfEvent& event() const { return event_; }

  /// Moves to the next event. Returns false if there is none.
  bool next() {
    event_.discarded_before = 0;
    while (packet_ < stream_.packets.size()) {
      const CtfPacket& packet = stream_.packets[packet_];
      if (at_ == 0) begin(packet);
      if (at_ < packet.bytes && read(packet)) return true;
      ++packet_;
      at_ = 0;
    }
    return false;
  }

 private:
  void begin(const CtfPacket& packet) {
    event_.ticks = packet.header.timestamp_begin;
    if (packet.header.discarded > discarded_) {
      event_.discarded_before += packet.header.discarded - discarded_;
      discarded_ = packet.header.discarded;
    }
  }

  bool read(const CtfPacket& packet) {
    std::uint64_t word = 0;
    const std::uint64_t room = packet.bytes - at_;
    if (room < sizeof word) return false;  // scan_stream has reported the cut packet
    std::memcpy(&word, packet.records + at_, sizeof word);
    event_.type_id = word >> recorder::kTickBits;
    const auto found = process_.metadata.types.find(event_.type_id);
    if (found == process_.metadata.types.end()) {
      problems_.push_back(
          fmt::format("{}/stream-{}: an event of unknown type {} in packet {}: the rest of the packet is skipped",
                      process_.folder, stream_.number, event_.type_id, packet.header.sequence));
      return false;
    }
    if (sizeof word + found->second.bytes > room) return false;
    event_.type = &found->second;
    event_.bytes = packet.records + at_ + sizeof word;
    // A record contains only the lower bits of the clock. These bits wrap at most once between two records of a packet.
    const std::uint64_t low = word & kMask;
    std::uint64_t ticks = (event_.ticks & ~kMask) | low;
    if (ticks < event_.ticks) ticks += kMask + 1;
    event_.ticks = ticks;
    event_.monotonic_ns = process_.metadata.monotonic_ns(ticks);
    event_.pid = process_.metadata.pid;
    event_.tid = stream_.tid;
    if (event_.type->of_kernel) take_owner();
    at_ += found->second.record_bytes();
    return true;
  }

  /// Sets the process and thread from the first two fields of a kernel event (observe/kernel_event_log.cc).
  void take_owner() {
    const std::vector<CtfField>& fields = event_.type->fields;
    if (fields.size() < 2 || fields[0].name != "pid" || fields[1].name != "tid") return;
    if (fields[0].bytes != sizeof event_.pid || fields[1].bytes != sizeof event_.tid) return;
    std::memcpy(&event_.pid, event_.bytes + fields[0].offset, sizeof event_.pid);
    std::memcpy(&event_.tid, event_.bytes + fields[1].offset, sizeof event_.tid);
  }

  const CtfStream& stream_;
  const CtfProcess& process_;
  std::vector<std::string>& problems_;
  std::size_t packet_ = 0;
  std::uint64_t at_ = 0;
  std::uint64_t discarded_ = 0;
  CtfEvent event_;
};

std::string CtfTrace::process_of(const CtfEvent& event) const {
  for (const CtfProcess& process : processes_) {
    if (process.metadata.pid == event.pid) return process.metadata.process_name;
  }
  return std::to_string(event.pid);
}

/// All streams, in a queue ordered by the time of their next event.
struct CtfEvents::Streams {
  /// Orders streams by the time of their next event. If two times are equal, the stream with the lower number comes
  /// first, so that the order is always the same.
  struct Later {
    const std::vector<CtfCursor>* cursors;
    bool operator()(std::size_t one, std::size_t other) const {
      const auto first = (*cursors)[one].event().monotonic_ns;
      const auto second = (*cursors)[other].event().monotonic_ns;
      return first != second ? first > second : one > other;
    }
  };
  std::vector<CtfCursor> cursors;
  std::priority_queue<std::size_t, std::vector<std::size_t>, Later> queue{Later{&cursors}};
  std::size_t told = SIZE_MAX;  ///< index of the stream whose event was returned last
};

CtfEvents::CtfEvents(CtfTrace& trace) : streams_(std::make_unique<Streams>()) {
  trace.problems_.resize(trace.found_on_opening_);
  streams_->cursors.reserve(trace.streams_.size());
  for (const CtfStream& stream : trace.streams_) {
    streams_->cursors.emplace_back(stream, trace.processes_[stream.process], trace.problems_);
  }
  for (std::size_t i = 0; i < streams_->cursors.size(); ++i) {
    if (streams_->cursors[i].next()) streams_->queue.push(i);
  }
}

CtfEvents::~CtfEvents() = default;

const CtfEvent* CtfEvents::next() {
  Streams& streams = *streams_;
  if (streams.told != SIZE_MAX && streams.cursors[streams.told].next()) streams.queue.push(streams.told);
  streams.told = SIZE_MAX;
  if (streams.queue.empty()) return nullptr;
  streams.told = streams.queue.top();
  streams.queue.pop();
  return &streams.cursors[streams.told].event();
}

void CtfTrace::for_each(const std::function<void(const CtfEvent&)>& tell) {
  CtfEvents events(*this);
  while (const CtfEvent* event = events.next()) tell(*event);
}

}  // namespace zerotax::trace
