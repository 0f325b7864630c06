#include "record/calls/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "base/error.h"
#include "base/names.h"
#include "base/units.h"
#include "os/clock.h"
#include "os/page.h"
#include "os/write_all.h"
#include "record/calls/document.h"
#include "record/calls/format.h"

namespace zerotax::record {
namespace {

/// Calls by which an address is fetched before it is looked up.
constexpr std::uint64_t kAhead = 12;
constexpr std::int64_t kRelease_ns = 100'000'000;
constexpr std::int64_t kTick_ns = 1'000'000;

/// The library of the process that did most calls.
std::string allocator_of(const Record& record) {
  const RecordedProcess* busiest = nullptr;
  const auto calls = [](const RecordedProcess& process) {
    return process.figures.malloc_calls.value_or(0) + process.figures.calloc_calls.value_or(0);
  };
  for (const RecordedProcess& process : record.processes) {
    if (busiest == nullptr || calls(process) > calls(*busiest)) busiest = &process;
  }
  return busiest == nullptr ? "" : file_name(busiest->allocator);
}

CallsCounts counts_of(const Totals& totals) {
  const KernelMetrics& kernel = totals.kernel;
  return {kernel.minor_faults,           kernel.zero_fill_faults, kernel.zeroed_bytes,
          kernel.refilled_bytes,         kernel.returned_bytes,   totals.zeroed_bytes,
          totals.redundant_zeroed_bytes, totals.mapping_calls,    kernel.peak_bytes};
}

}  // namespace

CallsRecording::CallsRecording(const RecordArena& arena, std::string path, std::uint64_t limit)
    : path_(std::move(path)),
      area_path_(arena.path() + "-calls"),
      limit_(limit),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
      adopted_(kRings) {
  if (!file_) {
    throw UsageError(fmt::format("cannot write {}: {}", path_, std::strerror(errno)), "give --calls another path");
  }
  open_area(area_path_);
  std::string head(kCallsMagic);
  head.append(reinterpret_cast<const char*>(&kCallsVersion), sizeof kCallsVersion);
  head.resize(kCallsHeadBytes);
  if (!write_all(file_.get(), head)) failure_ = errno;
  thread_ = std::thread([this] { run(); });
}

CallsRecording::~CallsRecording() {
  stop();
  ::munmap(static_cast<void*>(area_), kCallAreaBytes);
}

void CallsRecording::open_area(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const bool made = fd && (::geteuid() != 0 || ::fchmod(fd.get(), 0666) == 0) &&
                    ::ftruncate(fd.get(), static_cast<off_t>(kCallAreaBytes)) == 0;
  void* const memory =
      made ? ::mmap(nullptr, kCallAreaBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd.get(), 0)
           : MAP_FAILED;
  if (memory == MAP_FAILED) {
    throw MachineError(fmt::format("cannot make {}: {}", path, std::strerror(errno)),
                       "point TMPDIR at a folder that you may write to; check ulimit -f and -v");
  }
  area_ = static_cast<CallArea*>(memory);
  area_->magic = kCallAreaMagic;
}

CallRing& CallsRecording::ring(std::size_t index) const {
  auto* const rings = reinterpret_cast<CallRing*>(reinterpret_cast<char*>(area_) + kRingsOffset);
  return rings[index];
}

void CallsRecording::run() {
  std::int64_t released_ns = monotonic_ns();
  std::int64_t ticked_ns = released_ns;
  while (!stopping_) {
    if (!drain(false)) wait();
    const std::int64_t now = monotonic_ns();
    if (now - ticked_ns >= kTick_ns) ++area_->tick, ticked_ns = now;
    if (now - released_ns < kRelease_ns) continue;
    release_rings();
    released_ns = now;
  }
}

void CallsRecording::wait() {
  constexpr long kLongest_ns = 2'000'000;
  const std::uint32_t before = area_->wake;
  area_->sleeping = 1;
  const timespec longest{0, kLongest_ns};
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&area_->wake), FUTEX_WAIT, before, &longest, nullptr, 0);
  area_->sleeping = 0;
}

void CallsRecording::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  thread_.join();
  // Of threads that were killed, places are missing in the order of calls.
  while (drain(false)) {
  }
  while (drain(true)) {
  }
  area_->stopped = 1;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (!processes_[i].encoder) continue;
    processes_[i].encoder->finish();
    flush(i);
  }
}

/// Returns whether there was anything.
bool CallsRecording::drain(bool holes) {
  adopt();
  bool any = false;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (!processes_[i].encoder) begin(i);
    if (processes_[i].encoder) any = drain_process(i, holes) || any;
  }
  return any;
}

/// Finds out about new processes and threads.
void CallsRecording::adopt() {
  const std::size_t streams = std::min<std::size_t>(area_->streams_used, kStreams);
  while (processes_.size() < streams && area_->streams[processes_.size()].ready != 0) {
    processes_.push_back({&area_->streams[processes_.size()], {}, 0, {}});
  }
  const std::size_t rings = std::min<std::size_t>(area_->rings_used, kRings);
  for (std::size_t i = 0; i < rings; ++i) {
    if (adopted_[i] || area_->ring_states[i] != RingState::kUsed) continue;
    const std::uint32_t stream = ring(i).stream;
    if (stream == 0 || stream > processes_.size()) continue;
    adopted_[i] = true;
    processes_[stream - 1].rings.push_back(i);
  }
}

/// A process can be begun when what it has from its parent is known.
void CallsRecording::begin(std::size_t index) {
  Process& process = processes_[index];
  const std::uint32_t parent = process.stream->parent;
  if (parent == 0 || parent > index || process.stream->forked_at == kNoTicket) {
    process.encoder.emplace();
  } else if (processes_[parent - 1].encoder) {
    process.encoder = processes_[parent - 1].encoder->take_child(process.stream->forked_at);
  }
}

bool CallsRecording::drain_ring(std::size_t index, Process& process) {
  CallRing& from = ring(index);
  const std::uint64_t head = from.head.load(std::memory_order_acquire);
  std::uint64_t tail = from.tail.load(std::memory_order_relaxed);
  const std::uint64_t before = tail;
  bool ended = false;
  for (; tail != head && !ended; ++tail) {
    const RawCall& call = from.calls[tail % kRingCalls];
    process.encoder->expect(from.calls[(tail + kAhead) % kRingCalls]);
    if (call.ticket != process.next_ticket) break;
    ++process.next_ticket;
    if (!limited_) process.encoder->add(from.thread, call);
    ended = call.kind == RawKind::kEnd;
  }
  from.tail.store(tail, std::memory_order_release);
  if (ended) {
    std::erase(process.rings, index);
    from.stream = 0;
    adopted_[index] = false;
    area_->ring_states[index] = RingState::kFree;
  }
  return tail != before;
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
  for (const std::size_t index : process.rings) {
    const CallRing& from = ring(index);
    const std::uint64_t tail = from.tail;
    if (tail != from.head.load(std::memory_order_acquire)) next = std::min(next, from.calls[tail % kRingCalls].ticket);
  }
  if (next == kNoTicket) return false;
  process.next_ticket = next;
  return true;
}

/// Those of processes that ended.
void CallsRecording::release_rings() {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    Process& process = processes_[i];
    if (process.rings.empty() || process.stream->ended == 0) continue;
    const auto is_next = [&](const Process& other) { return other.stream->pid == process.stream->pid; };
    const bool replaced =
        std::any_of(processes_.begin() + static_cast<std::ptrdiff_t>(i) + 1, processes_.end(), is_next);
    if (!replaced && (::kill(process.stream->pid, 0) == 0 || errno != ESRCH)) continue;
    if (!process.encoder) continue;
    while (drain_process(i, true)) {
    }
    for (const std::size_t index : process.rings) {
      ring(index).stream = 0;
      adopted_[index] = false;
      area_->ring_states[index] = RingState::kFree;
    }
    process.rings.clear();
  }
}

void CallsRecording::flush(std::size_t index) {
  std::string& events = processes_[index].encoder->events();
  if (!events.empty() && !limited_) write_part(kCallsOfProcess, index, events);
  events.clear();
  if (written_ < limit_ || limited_) return;
  limited_ = true;
  area_->stopped = 1;
}

void CallsRecording::write_part(std::uint32_t kind, std::size_t process, const std::string& raw) {
  uLongf stored = ::compressBound(raw.size());
  std::string part(sizeof(CallsPart) + stored, '\0');
  auto* const to = reinterpret_cast<Bytef*>(&part[sizeof(CallsPart)]);
  ::compress(to, &stored, reinterpret_cast<const Bytef*>(raw.data()), raw.size());
  part.resize(sizeof(CallsPart) + stored);
  const CallsPart head{kind, static_cast<std::uint32_t>(process), static_cast<std::uint32_t>(stored),
                       static_cast<std::uint32_t>(raw.size()),
                       static_cast<std::uint32_t>(::crc32(0, to, static_cast<uInt>(stored)))};
  std::memcpy(part.data(), &head, sizeof head);
  if (failure_ == 0 && !write_all(file_.get(), part)) {
    failure_ = errno;
    area_->stopped = 1;
  }
  written_ += part.size();
}

CallsProcess CallsRecording::row_of(const Process& process, const Record& record, std::int64_t started_ns) const {
  CallsProcess row;
  std::int64_t nearest = 0;
  for (const RecordedProcess& recorded : record.processes) {
    const std::int64_t apart = std::abs(recorded.started_ns + started_ns - process.stream->started_ns);
    if (recorded.pid != process.stream->pid || (!row.name.empty() && apart >= nearest)) continue;
    nearest = apart;
    row.name = file_name(recorded.executable);
  }
  const std::uint32_t parent = process.stream->parent;
  if (parent != 0 && parent <= processes_.size() && processes_[parent - 1].encoder) {
    row.fork = processes_[parent - 1].encoder->fork_number(process.stream->forked_at);
    if (row.fork) row.parent = parent - 1;
  }
  row.threads = process.stream->threads;
  row.lost_threads = process.stream->lost;
  row.image_zeroed_bytes = process.stream->image_zeroed_bytes;
  row.image_copied_bytes = process.stream->image_copied_bytes;
  if (!process.encoder) return row;
  const CallCounts& counts = process.encoder->counts();
  row.mallocs = counts.mallocs;
  row.callocs = counts.callocs;
  row.aligned = counts.aligned;
  row.reallocs = counts.reallocs;
  row.frees = counts.frees;
  row.maps = counts.maps;
  row.unknown_frees = counts.unknown;
  return row;
}

std::string CallsRecording::finish(const Record& record, const RecordTarget& target, std::int64_t started_ns) {
  stop();
  CallsAbout all;
  all.zerotax_version = record.zerotax_version;
  all.allocator = allocator_of(record);
  if (target.allocator) {
    for (const auto& [key, value] : target.allocator->env) all.env.push_back(fmt::format("{}={}", key, value));
  }
  all.page_bytes = page_bytes();
  all.limited = limited_;
  all.recorded = counts_of(record.totals);
  for (const Process& process : processes_) all.processes.push_back(row_of(process, record, started_ns));
  write_part(kAboutCalls, 0, json_text(calls_about_json(all)));
  if (failure_ != 0) {
    throw MachineError(fmt::format("cannot write {}: {}", path_, std::strerror(failure_)),
                       "free some space, or give --calls another path");
  }
  std::uint64_t calls = 0;
  std::uint64_t lost = 0;
  for (const CallsProcess& each : all.processes) {
    calls += each.mallocs + each.callocs + each.aligned + each.reallocs + each.frees;
    lost += each.lost_threads;
  }
  std::string missing;
  if (lost != 0) missing += fmt::format("; {} more were lost, for there was no room", format_counted(lost, "thread"));
  if (record.processes.size() > processes_.size()) {
    missing += fmt::format("; {} more could not be recorded",
                           format_counted(record.processes.size() - processes_.size(), "process", "processes"));
  }
  if (all.limited) missing += "; the recording stopped at --calls-limit";
  return fmt::format("{}: {} of {}, {}{}\n", path_, format_counted(calls, "call"),
                     format_counted(all.processes.size(), "process", "processes"), format_size(written_), missing);
}

}  // namespace zerotax::record
