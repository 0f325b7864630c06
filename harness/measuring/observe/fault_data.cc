#include "observe/fault_data.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/json.h"
#include "os/processor.h"

namespace zerotax {
namespace {

constexpr std::size_t kEnough = std::size_t{64} << 10;  ///< number of bytes to collect before a write
constexpr std::size_t kMost = std::size_t{16} << 20;
/// Bytes that a pipe accepts without blocking once poll(2) reports it as writable (PIPE_BUF, pipe(7)).
constexpr std::size_t kAtOnce = 4096;
constexpr int kPatienceMs = 1000;
constexpr const char* kNotSeen = kHasFaultTracepoints
                                     ? R"({"na":"seen as root only"})"
                                     : R"({"na":"Linux has no tracepoints of page faults on this processor"})";

}  // namespace

FaultLog::FaultLog(std::string path, bool durations)
    : file_(path), regular_(file_.takes_place()), durations_(durations) {
  result_.path = std::move(path);
}

const std::string& FaultLog::quoted(const std::string& name) {
  const auto [entry, is_new] = quoted_.try_emplace(name);
  if (is_new) entry->second = json_line(Json(name));
  return entry->second;
}

void FaultLog::add(const Fault& fault, FaultClass kind, std::uint64_t start_ns, const Region* where,
                   const Region* code) {
  if (failed_ || waiting_.size() >= kMost) {
    ++result_.not_written;
    return;
  }
  const auto out = std::back_inserter(waiting_);
  fmt::format_to(out, R"({{"time_ns":{},"pid":{},"tid":{},"class":"{}","address":{},"mapping":{},"instruction":{})",
                 fault.begin_ns > start_ns ? fault.begin_ns - start_ns : 0, fault.pid, fault.tid,
                 fault_class_name(kind), fault.address, where != nullptr ? quoted(where->name) : "null",
                 fault.instruction);
  if (fault.in_kernel()) {
    fmt::format_to(out, R"(,"code":"kernel","code_offset":{})", fault.instruction);
  } else if (code != nullptr && !code->name.empty()) {
    fmt::format_to(out, R"(,"code":{},"code_offset":{})", quoted(code->name),
                   fault.instruction - code->begin + code->file_offset);
  } else {
    fmt::format_to(out, R"(,"code":null,"code_offset":null)");
  }
  fmt::format_to(out, R"(,"kernel":{},"copied_bytes":{})", fault.in_kernel(),
                 kind == FaultClass::kCopy ? fault.copied_bytes() : 0);
  if (!durations_) {
    fmt::format_to(out, R"(,"write":{0},"zeroed_bytes":{0},"duration_ns":{0})", kNotSeen);
  } else {
    fmt::format_to(out, R"(,"write":{},"zeroed_bytes":{})", fault.is_write(),
                   kind == FaultClass::kZeroFill ? fault.bytes() : 0);
    if (fault.end_ns == 0) {
      fmt::format_to(out, R"(,"duration_ns":{{"na":"it ended in a signal, or its end was lost"}})");
    } else {
      fmt::format_to(out, R"(,"duration_ns":{})", fault.end_ns - fault.begin_ns);
    }
  }
  fmt::format_to(out, "}}\n");
  ++lines_waiting_;
  if (waiting_.size() >= kEnough) drain(0);
}

void FaultLog::flush(std::chrono::steady_clock::time_point until) {
  while (!drain(1) && std::chrono::steady_clock::now() < until) continue;
}

/// Writes until the buffer is empty, or the reader accepts no bytes for `wait_ms`. Returns whether the buffer is empty.
bool FaultLog::drain(int wait_ms) {
  std::size_t done = 0;
  while (!failed_ && done < waiting_.size()) {
    std::size_t bytes = waiting_.size() - done;
    if (!regular_) {
      // O_NONBLOCK on standard output would also affect the program, because zerotax and the program share the open
      // file.
      pollfd ready{file_.fd(), POLLOUT, 0};
      if (::poll(&ready, 1, wait_ms) == 0) break;
      bytes = std::min(bytes, kAtOnce);
    }
    const ssize_t taken = ::write(file_.fd(), waiting_.data() + done, bytes);
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0 && errno == EAGAIN) break;
    if (taken < 0) {
      fail(errno);
      break;
    }
    const char* from = waiting_.data() + done;
    const auto lines = static_cast<std::uint64_t>(std::count(from, from + taken, '\n'));
    result_.written += lines;
    lines_waiting_ -= lines;
    const auto last = std::find(std::make_reverse_iterator(from + taken), std::make_reverse_iterator(from), '\n');
    if (lines > 0) whole_bytes_ = bytes_written_ + static_cast<std::uint64_t>(last.base() - from);
    bytes_written_ += static_cast<std::uint64_t>(taken);
    done += static_cast<std::size_t>(taken);
  }
  if (done > 0 && !failed_) {
    std::memmove(waiting_.data(), waiting_.data() + done, waiting_.size() - done);
    waiting_.resize(waiting_.size() - done);
  }
  return waiting_.size() == 0;
}

void FaultLog::fail(int reason) {
  failed_ = true;
  result_.problem = std::strerror(reason);
  result_.not_written += lines_waiting_;
  lines_waiting_ = 0;
  waiting_.clear();
  // If ftruncate fails, part of a line remains in the file.
  if (regular_ && ::ftruncate(file_.fd(), static_cast<off_t>(whole_bytes_)) != 0) return;
}

FaultLogResult FaultLog::finish() {
  drain(kPatienceMs);
  result_.not_written += lines_waiting_;
  if (result_.not_written > 0 && result_.problem.empty()) result_.problem = "its reader was too slow";
  if (result_.not_written == 0) {
    file_.keep();
  } else {
    result_.path = file_.keep_part();
  }
  return std::move(result_);
}

void FaultSampling::add_gap(std::uint64_t gap, std::uint64_t all, const ClassCounts& counts) {
  const auto add = [&](double Variance::*of, std::uint64_t count, Variance& shares) {
    const auto faults = static_cast<double>(all);
    // If a few faults include none of a class, faults of this class may still occur. Half a fault is therefore added to
    // the class, and one fault to the total.
    const double share = (static_cast<double>(count) + 0.5) / (faults + 1);
    const double change = before_ ? share - (*before_).*of : 0;
    const auto unseen = static_cast<double>(gap);
    variance.*of += unseen * unseen * (share * (1 - share) / faults + change * change / 2);
    shares.*of = share;
  };
  Variance shares;
  add(&Variance::copies, counts.copies, shares);
  add(&Variance::reuses, counts.reuses, shares);
  add(&Variance::zero_fills, counts.zero_fills, shares);
  before_ = shares;
}

std::vector<MappingFaults> joined(std::vector<MappingFaults> parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const MappingFaults& one, const MappingFaults& other) { return one.begin < other.begin; });
  std::vector<MappingFaults> whole;
  for (MappingFaults& part : parts) {
    const auto same = std::find_if(whole.begin(), whole.end(), [&](const MappingFaults& other) {
      return other.name == part.name && part.begin < other.end;
    });
    if (same == whole.end()) {
      whole.push_back(std::move(part));
      continue;
    }
    same->end = std::max(same->end, part.end);
    same->counts.add(part.counts);
  }
  return whole;
}

}  // namespace zerotax
