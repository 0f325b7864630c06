#include "drive/probe_process.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/size.h"
#include "os/memory.h"
#include "os/unique_fd.h"

namespace zerotax {
namespace {

/// A record in shared memory, mapped here.
class SharedRecord {
 public:
  explicit SharedRecord(std::size_t bytes) : bytes_(bytes), fd_(::memfd_create("zerotax-record", MFD_CLOEXEC)) {
    if (fd_ && ::ftruncate(fd_.get(), static_cast<off_t>(bytes)) == 0) {
      memory_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    }
    if (memory_ == MAP_FAILED) {
      throw MachineError("no shared memory for a record", "free some memory, or give fewer --ops");
    }
  }
  ~SharedRecord() { ::munmap(memory_, bytes_); }
  SharedRecord(const SharedRecord&) = delete;
  SharedRecord& operator=(const SharedRecord&) = delete;

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] Record& record() const { return *static_cast<Record*>(memory_); }
  [[nodiscard]] std::unique_ptr<unsigned char[]> copy() const {
    auto bytes = std::make_unique<unsigned char[]>(bytes_);
    std::memcpy(bytes.get(), memory_, bytes_);
    return bytes;
  }

 private:
  std::size_t bytes_;
  UniqueFd fd_;
  void* memory_ = MAP_FAILED;
};

std::uint32_t ops_of(Pass pass, const Repeats& repeats) {
  switch (pass) {
    case Pass::kZeroing:
      return std::min(repeats.ops, repeats.zeroing_ops);
    case Pass::kAudit:
    case Pass::kFaults:
      return std::min(repeats.ops, repeats.audit_ops);
    case Pass::kTiming:
    case Pass::kDifferential:
    case Pass::kBare:
      break;
  }
  return repeats.ops;
}

Request make_request(const PointSpec& point, Pass pass) {
  Request request{};
  request.magic = kRecordMagic;
  request.pass = pass;
  std::snprintf(&request.case_name[0], sizeof request.case_name, "%s", point.case_name.c_str());
  request.size_bytes = point.size_bytes;
  request.touch = point.touch;
  request.thread = point.thread == "worker" ? Thread::kWorker : Thread::kMain;
  request.ops = ops_of(pass, point.repeats);
  request.clock = point.time.clock;
  request.pause_ns = point.time.pause_ns;
  // Not the audit: its figures must not depend on how fast the machine is. Nor the bare pass: it must not look at a
  // clock.
  if (pass == Pass::kTiming || pass == Pass::kZeroing || pass == Pass::kDifferential) {
    request.min_ops = point.repeats.min_ops;
    request.budget_ns = point.repeats.budget_ms * 1'000'000;
  }
  return request;
}

/// "in calloc, operation 3".
std::string place(const Record& record) {
  const char* where = "before the first operation";
  switch (record.phase) {
    case Phase::kStart:
      return where;
    case Phase::kSetUp:
      return "while the case was set up";
    case Phase::kCalloc:
      where = "in calloc";
      break;
    case Phase::kCheck:
      where = "while the block was looked at";
      break;
    case Phase::kTouch:
      where = "while the block was written to";
      break;
    case Phase::kReceive:
      where = "while data was received";
      break;
    case Phase::kFork:
      where = "in fork or the writes after it";
      break;
    case Phase::kFree:
      where = "in free";
      break;
    case Phase::kTransfer:
      return "in the loop without meters";
    case Phase::kBetween:
      where = "between two calls";
      break;
    case Phase::kDone:
      return "after the last operation";
  }
  return fmt::format("{}, operation {}", where, record.ops_started);
}

std::string first_line(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  return line.empty() ? "" : fmt::format(" ({})", line.substr(0, 120));
}

struct Verdict {
  PassResult::Status status;
  std::string reason;
};

Verdict judge(const ChildResult& child, const Record& record, const PassLimits& limits, bool out_of_memory) {
  using Status = PassResult::Status;
  const std::string where = place(record);
  switch (child.end) {
    case ChildResult::End::kExited:
      if (child.code == kCaseFailed && record.failure[0] != '\0') {
        return {Status::kFailed, fmt::format("{} {}{}", &record.failure[0], where, first_line(child.errors))};
      }
      if (child.code != 0) {
        return {Status::kCrashed,
                fmt::format("exited with status {} {}{}", child.code, where, first_line(child.errors))};
      }
      if (record.returned_null != 0 || (record.ops_done < record.ops_started && record.phase == Phase::kDone)) {
        return {Status::kFailed,
                fmt::format(
                    "calloc returned NULL ({}), operation {}",
                    record.returned_null != 0 ? std::strerror(static_cast<int>(record.returned_null)) : "errno not set",
                    record.ops_started)};
      }
      return {Status::kOk, ""};
    case ChildResult::End::kSignalled:
      return {Status::kCrashed,
              fmt::format("killed by SIG{} {}{}{}", sigabbrev_np(child.code), where,
                          out_of_memory ? " (the kernel ran out of memory)" : "", first_line(child.errors))};
    case ChildResult::End::kTimeout:
      return {Status::kTimeout,
              fmt::format("not done after {:.3g} s: {}", std::chrono::duration<double>(limits.timeout).count(), where)};
    case ChildResult::End::kMemory:
      return {Status::kCrashed,
              fmt::format("out of memory: its resident set passed {} {}", format_size(limits.resident_bytes), where)};
    case ChildResult::End::kStopped:
      return {Status::kStopped, "interrupted"};
    case ChildResult::End::kNotStarted:
      break;
  }
  return {Status::kCrashed, fmt::format("could not be started: {}", std::strerror(child.code))};
}

}  // namespace

PassResult run_pass(const Allocator& allocator, const PointSpec& point, Pass pass, const PassLimits& limits,
                    const std::function<bool()>& stop) {
  const Request request = make_request(point, pass);
  const SharedRecord shared(Record::bytes(request.ops));
  shared.record().request = request;

  ChildCommand command;
  command.program = allocator.probe;
  command.arguments = {fmt::format("--zerotax-record={}", shared.fd())};
  command.inherited_fd = shared.fd();
  command.capture = true;
  command.timeout = limits.timeout;
  command.resident_limit = limits.resident_bytes;
  for (const auto& entry : allocator.env) command.environment.emplace_back(entry);
  if (allocator.preload) command.environment.emplace_back("LD_PRELOAD", *allocator.preload);

  const auto kills = oom_kills();
  const ChildResult child = run_child(command, stop);
  if (child.end == ChildResult::End::kExited && child.code == kWrongRecord && shared.record().phase == Phase::kStart) {
    throw MachineError(fmt::format("the probe '{}' is of another build than this program", allocator.probe),
                       "build both together with ./run build");
  }
  const bool out_of_memory = kills && oom_kills() > kills;
  const Verdict verdict = judge(child, shared.record(), limits, out_of_memory);
  return {shared.copy(), verdict.status, verdict.reason};
}

}  // namespace zerotax
