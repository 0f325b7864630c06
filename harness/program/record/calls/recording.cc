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
#include <fstream>

#include "base/error.h"
#include "base/names.h"
#include "base/printable.h"
#include "base/size.h"
#include "base/units.h"
#include "os/clock.h"
#include "os/page.h"
#include "os/process_info.h"
#include "os/regular_file.h"
#include "record/arena.h"
#include "record/calls/format.h"
#include "record/calls/result.h"
#include "record/kernel_part.h"

namespace zerotax::record {
namespace {

constexpr std::int64_t kRelease_ns = 100'000'000;
constexpr std::int64_t kTick_ns = 1'000'000;
constexpr std::int64_t kLook_ns = 20'000'000;
/// Examining the pages of live blocks takes at most 2 % of a CPU.
constexpr std::int64_t kLookPart = 50;
/// Maximum memory of all encoders. This suffices for some ten million live blocks.
constexpr std::size_t kMostEncoderBytes = std::size_t{768} << 20;

/// Returns the library of the allocator in the process that made the most calls.
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

CallsCounts counts_of(const Record& record) {
  const Totals& totals = record.totals;
  const KernelMetrics& kernel = totals.kernel;
  std::vector<const RecordedProcess*> processes;
  for (const RecordedProcess& process : record.processes) processes.push_back(&process);
  return {kernel.minor_faults,
          kernel.zero_fill_faults,
          kernel.zeroed_bytes,
          kernel.refilled_bytes,
          kernel.returned_bytes,
          totals.zeroed_bytes,
          totals.redundant_zeroed_bytes,
          totals.mapping_calls,
          kernel.peak_bytes ? peak_of(processes) : kernel.peak_bytes};
}

}  // namespace

CallsRecording::CallsRecording(std::string path, std::uint64_t limit)
    : path_(std::move(path)),
      memory_("zerotax-calls", kCallAreaBytes),
      area_path_(memory_.pass_on()),
      limit_(limit),
      file_(path_),
      adopted_(kRings) {
  open_area();
  std::string head(kCallsMagic);
  head.append(reinterpret_cast<const char*>(&kCallsVersion), sizeof kCallsVersion);
  head.resize(kCallsHeadBytes);
  if (!write_all(file_.fd(), head)) failure_ = errno;
  thread_ = Worker([this] {
    try {
      run();
    } catch (...) {
      // Once this thread has ended, no thread empties the rings, so programs must not wait for room in their rings.
      area_->stopped = 1;
      throw;
    }
  });
}

CallsRecording::~CallsRecording() {
  stopping_ = true;
  thread_.wait();
  area_->stopped = 1;
  ::munmap(static_cast<void*>(area_), kCallAreaBytes);
}

void CallsRecording::open_area() {
  void* const memory =
      ::mmap(nullptr, kCallAreaBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory_.fd(), 0);
  if (memory == MAP_FAILED) {
    throw MachineError(fmt::format("cannot map the memory for calls: {}", std::strerror(errno)), "check ulimit -v");
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
  std::int64_t look_ns = released_ns + kLook_ns;
  while (!stopping_) {
    if (!drain(false)) wait();
    const std::int64_t now = monotonic_ns();
    if (now - ticked_ns >= kTick_ns) ++area_->tick, ticked_ns = now;
    if (now >= look_ns && !limited_) {
      for (std::size_t i = 0; i < processes_.size(); ++i) look_at(i);
      const std::int64_t done_ns = monotonic_ns();
      look_ns = done_ns + std::max(kLook_ns, kLookPart * (done_ns - now));
    }
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
  // Asks running programs to write no further calls. A program may ignore this, so the time for reading is limited.
  area_->stopped = 1;
  constexpr std::int64_t kPatience_ns = 10'000'000'000;
  const std::int64_t until = monotonic_ns() + kPatience_ns;
  // A killed thread leaves a gap in the sequence of tickets. The second pass skips such gaps.
  for (const bool holes : {false, true}) {
    while (drain(holes) && monotonic_ns() < until) {
    }
  }
  for (std::size_t i = 0; i < processes_.size(); ++i) end_process(i);
}

void CallsRecording::end_process(std::size_t index) {
  Process& process = processes_[index];
  if (!process.encoder || std::exchange(process.over, true)) return;
  if (!limited_) {
    process.known = process.stream->ended != 0;
    // A killed process did not record its populated pages, so the pages of its last sample are used.
    if (!process.known) process.encoder->note_looks(std::exchange(process.looks, {}));
  }
  process.encoder->finish(process.stream->ended != 0 ? process.stream->ended_time : 0);
  flush(index);
}

/// Whether the process runs another program by now, or its PID belongs to another process.
bool CallsRecording::is_replaced(std::size_t index) const {
  const auto begin = processes_.begin() + static_cast<std::ptrdiff_t>(index) + 1;
  return std::any_of(begin, processes_.end(), [&](const Process& other) { return other.pid == processes_[index].pid; });
}

/// Finds which pages of a process's live blocks are populated. Returns false if the memory is gone or not readable.
bool CallsRecording::look_at(std::size_t index) {
  Process& process = processes_[index];
  if (!process.encoder || process.over || process.stream->ended != 0 || is_replaced(index)) return false;
  const pid_t living = living_thread(process.pid);
  UniqueFd fd(::open(fmt::format("/proc/{}/pagemap", living).c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return false;
  const Pagemap pagemap(std::move(fd), method_);
  std::vector<CallEncoder::Look> looks;
  for (auto& [look, range] : process.encoder->paged()) {
    const auto visit = [](void* context, AddressRange pages) {
      auto& seen = *static_cast<CallEncoder::Look*>(context);
      seen.ranges.emplace_back((pages.begin - page_floor(seen.address)) / page_bytes(), pages.bytes() / page_bytes());
    };
    if (!pagemap.for_each_populated(range, visit, &look)) return false;
    looks.push_back(std::move(look));
  }
  // If the process has ended in the meantime, its memory looks unpopulated.
  std::uint64_t mapped = 0;
  std::ifstream statm(fmt::format("/proc/{}/statm", living));
  if (!(statm >> mapped) || mapped == 0) return false;
  process.looks = std::move(looks);
  return true;
}

/// Stops the recording if the encoders occupy too much memory, because the recorded program may need that memory.
void CallsRecording::stop_if_too_large() {
  std::size_t bytes = shared_array_bytes;
  for (const Process& process : processes_) {
    if (process.encoder) bytes += process.encoder->mapping_bytes();
  }
  if (bytes < kMostEncoderBytes || limited_) return;
  too_large_ = true;
  stop_at_limit();
}

/// Stops the recording after writing all encoded events. All events are written because the children of a fork need
/// their parent's calls before the fork.
void CallsRecording::stop_at_limit() {
  area_->stopped = 1;
  limited_ = true;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (Process& process = processes_[i]; process.encoder && !process.over) {
      process.known = look_at(i);
      process.encoder->note_looks(std::exchange(process.looks, {}));
    }
    if (processes_[i].encoder && !processes_[i].encoder->events().empty()) {
      write_part(kCallsOfProcess, i, std::exchange(processes_[i].encoder->events(), {}));
    }
  }
}

void CallsRecording::flush(std::size_t index) {
  std::string& events = processes_[index].encoder->events();
  if (!events.empty() && !limited_) write_part(kCallsOfProcess, index, events);
  events.clear();
  stop_if_too_large();
  if (written_ >= limit_ && !limited_) stop_at_limit();
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
  if (failure_ == 0 && !write_all(file_.fd(), part)) {
    failure_ = errno;
    area_->stopped = 1;
  }
  written_ += part.size();
}

CallsProcess CallsRecording::row_of(const Process& process, const Record& record, std::int64_t started_ns) const {
  CallsProcess row;
  std::int64_t nearest = 0;
  for (const RecordedProcess& recorded : record.processes) {
    const std::int64_t apart = std::abs(recorded.started_ns + started_ns - process.started_ns);
    if (recorded.pid != process.pid || (!row.name.empty() && apart >= nearest)) continue;
    nearest = apart;
    row.name = file_name(recorded.executable);
    const Count& most = recorded.kernel.zeroed_at_most_bytes;
    row.zeroed_at_most_bytes.reset();
    if (most && !process.known) row.zeroed_at_most_bytes = *most;
  }
  if (process.parent != 0 && processes_[process.parent - 1].encoder) {
    row.fork = processes_[process.parent - 1].encoder->fork_number(process.forked_at);
    if (row.fork) row.parent = process.parent - 1;
  }
  row.threads = process.stream->threads;
  row.lost_threads = process.bad + std::min<std::uint64_t>(process.stream->lost, ~std::uint32_t{0});
  row.image_zeroed_bytes = std::min<std::uint64_t>(process.stream->image_zeroed_bytes, kAddressSpaceBytes);
  row.image_copied_bytes = std::min<std::uint64_t>(process.stream->image_copied_bytes, kAddressSpaceBytes);
  row.pages_known = process.known;
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
  all.recorded = counts_of(record);
  for (const Process& process : processes_) all.processes.push_back(row_of(process, record, started_ns));
  write_part(kAboutCalls, 0, json_text(Json(all)));
  if (failure_ != 0) {
    throw MachineError(fmt::format("cannot write {}: {}", path_, std::strerror(failure_)),
                       "free some space, or give --calls another path");
  }
  file_.keep();
  std::uint64_t calls = 0;
  std::uint64_t lost = 0;
  for (const CallsProcess& each : all.processes) {
    calls += each.mallocs + each.callocs + each.aligned + each.reallocs + each.frees;
    lost += each.lost_threads;
  }
  std::string missing;
  if (lost != 0)
    missing += fmt::format("; {} more were lost, because there was no room", format_counted(lost, "thread"));
  if (record.processes.size() > processes_.size()) {
    missing += fmt::format("; {} more could not be recorded",
                           format_counted(record.processes.size() - processes_.size(), "process", "processes"));
  }
  if (too_large_) {
    missing += fmt::format("; the recording stopped, because data about the program's blocks takes more than {}",
                           format_size(kMostEncoderBytes));
  } else if (all.limited) {
    missing += "; the recording stopped at --calls-limit";
  }
  return fmt::format("{}: {} of {}, {}{}\n", printable(path_), format_counted(calls, "call"),
                     format_counted(all.processes.size(), "process", "processes"), format_size(written_), missing);
}

}  // namespace zerotax::record
