#include "run/probe_process.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/lines.h"
#include "base/printable.h"
#include "base/size.h"
#include "base/units.h"
#include "files/shared_file.h"
#include "meter/probe_exit.h"
#include "os/machine_trouble.h"
#include "os/memory.h"
#include "run/debian_library.h"
#include "run/helper_program.h"
#include "run/interrupt.h"
#include "run/probe_identity.h"

namespace zerotax {
namespace {

using Status = PassResult::Status;

/// Returns the step that the process reached, such as "in calloc, operation 3".
std::string place(const SampleBlock& samples) {
  const char* where = "before the first operation";
  switch (samples.phase) {
    case Phase::kStart:
      return where;
    case Phase::kSetUp:
      return "while the case was set up";
    case Phase::kCalloc:
      where = samples.mallocs != 0 ? "in malloc" : "in calloc";
      break;
    case Phase::kCheck:
      where = "while the block was examined";
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
  return fmt::format("{}, operation {}", where, samples.ops_started);
}

std::string first_line(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  return line.empty() ? "" : fmt::format(" ({})", first_characters(printable(line), 120));
}

/// Judges a process that exited.
PassVerdict judge_exit(const ChildResult& child, const SampleBlock& samples, const std::string& how) {
  const std::string where = place(samples);
  if (child.code == kCaseFailed && samples.failure[0] != '\0') {
    return {Status::kFailed, fmt::format("{} {}{}", printable(&samples.failure[0]), where, first_line(child.errors))};
  }
  if (child.code == kNoSampleBlock && samples.phase == Phase::kStart && probe_says(child, kNoSampleBlock)) {
    return {Status::kCrashed,
            "closed the descriptor of the measurement before the first operation, which belongs to zerotax"};
  }
  // The library may end the process with any status, even 0, so the sample block must show that the probe reached its
  // end.
  if (child.code != 0 || samples.phase != Phase::kDone) {
    return {Status::kCrashed, fmt::format("{} {}{}", how, where, first_line(child.errors))};
  }
  if (samples.returned_null != 0 || samples.ops_done < samples.ops_started) {
    return {Status::kFailed,
            fmt::format(
                "{} returned NULL ({}), operation {}", samples.mallocs != 0 ? "malloc" : "calloc",
                samples.returned_null != 0 ? std::strerror(static_cast<int>(samples.returned_null)) : "errno not set",
                samples.ops_started)};
  }
  return {Status::kOk, ""};
}

}  // namespace

bool probe_says(const ChildResult& child, int exit_status) {
  return child.end == ChildResult::End::kExited && child.code == exit_status &&
         child.errors.find(kProbeSays) != std::string::npos;
}

PassVerdict judge_pass(const ChildResult& child, const SampleBlock& samples, const PassLimits& limits,
                       bool out_of_memory) {
  const std::string where = place(samples);
  const std::string how = how_it_ended(child, limits.timeout);
  switch (child.end) {
    case ChildResult::End::kExited:
      return judge_exit(child, samples, how);
    case ChildResult::End::kSuspended:
      return {Status::kCrashed, fmt::format("{}, {}", how, where)};
    case ChildResult::End::kSignalled:
      return {Status::kCrashed,
              fmt::format("{} {}{}{}", how, where, out_of_memory ? " (the kernel ran out of memory)" : "",
                          first_line(child.errors))};
    case ChildResult::End::kTimeout:
      return {Status::kTimeout, fmt::format("{}: {}", how, where)};
    case ChildResult::End::kMemory:
      return {Status::kCrashed,
              fmt::format("{}: its resident set exceeded {} {}", how, format_size(limits.resident_bytes), where)};
    case ChildResult::End::kStopped:
      return {Status::kStopped, how};
    case ChildResult::End::kNotStarted:
      break;
  }
  return {Status::kCrashed, how};
}

std::string probe_words(const ChildResult& child) {
  const std::string words = child.errors.substr(child.errors.find(kProbeSays) + std::strlen(kProbeSays));
  return words.substr(0, words.find('\n'));
}

namespace {

/// A sample block in shared memory, mapped into this process.
class SharedSampleBlock {
 public:
  explicit SharedSampleBlock(std::size_t bytes) : bytes_(bytes), file_("zerotax-samples", bytes) {
    memory_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.fd(), 0);
    if (memory_ == MAP_FAILED) throw call_trouble("shared memory for a sample block is unavailable: mmap", errno);
  }
  ~SharedSampleBlock() { ::munmap(memory_, bytes_); }
  SharedSampleBlock(const SharedSampleBlock&) = delete;
  SharedSampleBlock& operator=(const SharedSampleBlock&) = delete;

  [[nodiscard]] int fd() const { return file_.fd(); }
  [[nodiscard]] SampleBlock& samples() const { return *static_cast<SampleBlock*>(memory_); }
  [[nodiscard]] std::unique_ptr<unsigned char[]> copy() const {
    auto bytes = std::make_unique<unsigned char[]>(bytes_);
    std::memcpy(bytes.get(), memory_, bytes_);
    return bytes;
  }

 private:
  std::size_t bytes_;
  SharedFile file_;
  void* memory_ = MAP_FAILED;
};

std::uint32_t ops_of(Pass pass, const Repeats& repeats) {
  switch (pass) {
    case Pass::kZeroing:
      return std::min(repeats.ops, repeats.zeroing_ops);
    case Pass::kAudit:
    case Pass::kFaults:
    case Pass::kHeld:
      return std::min(repeats.ops, repeats.audit_ops);
    case Pass::kTiming:
    case Pass::kDifferential:
    case Pass::kBare:
    case Pass::kLoop:
      break;
  }
  return repeats.ops;
}

Request make_request(const PointSpec& point, Pass pass) {
  Request request{};
  request.magic = kSampleBlockMagic;
  request.pass = pass;
  std::snprintf(&request.case_name[0], sizeof request.case_name, "%s", point.case_name.c_str());
  request.size_bytes = point.size_bytes;
  request.touch = point.touch;
  request.thread = point.thread == "worker" ? Thread::kWorker : Thread::kMain;
  request.ops = ops_of(pass, point.repeats);
  request.clock = point.time.clock;
  request.pause_ns = point.time.pause_ns;
  // The audit and the bare pass have none of these limits: metrics of the audit must not depend on speed, and the bare
  // pass must not read a clock.
  if (pass == Pass::kTiming || pass == Pass::kZeroing || pass == Pass::kDifferential || pass == Pass::kLoop) {
    request.min_ops = point.repeats.min_ops;
    request.budget_ns = point.repeats.budget_ms * 1'000'000;
  }
  return request;
}

}  // namespace

PassResult run_pass(const Allocator& allocator, const PointSpec& point, Pass pass, const PassLimits& limits) {
  const Request request = make_request(point, pass);
  const SharedSampleBlock shared(SampleBlock::bytes(SampleBlock::recorded(request)));
  shared.samples().request = request;

  ChildCommand command;
  command.program = allocator.probe;
  command.arguments = {fmt::format("--zerotax-samples={}", shared.fd())};
  command.inherited_fd = shared.fd();
  command.capture = true;
  // One store populates a whole huge page, but zeroed bytes are counted in base pages.
  command.huge_pages = pass == Pass::kAudit ? HugePages::kNever : limits.huge_pages;
  command.timeout = std::max<std::chrono::milliseconds>(
      std::chrono::duration_cast<std::chrono::milliseconds>(limits.timeout - limits.used),
      std::chrono::milliseconds(1));
  command.resident_limit = limits.resident_bytes;
  for (const auto& entry : allocator.env) command.environment.emplace_back(entry);
  if (allocator.preload) command.environment.emplace_back("LD_PRELOAD", *allocator.preload);
  use_own_libraries(command, allocator.preload);

  const auto kills = oom_kills();
  const ChildResult child = run_child(command, stop_requested);
  const std::string probe = fmt::format("the probe '{}'", allocator.probe);
  if (child.end == ChildResult::End::kNotStarted) throw start_trouble(probe, child, kMissingProbe);
  if (probe_says(child, kWrongSampleBlock)) throw other_build(allocator);
  if (probe_says(child, kNoMachine)) throw probe_trouble(probe, probe_words(child));
  const bool out_of_memory = kills && oom_kills() > kills;
  const PassVerdict verdict = judge_pass(child, shared.samples(), limits, out_of_memory);
  if (verdict.status == PassResult::Status::kCrashed || verdict.status == PassResult::Status::kFailed) {
    throw_if_limited(child, fmt::format("{}: {}", allocator.name, verdict.reason));
  }
  return {shared.copy(), verdict.status, verdict.reason, child.used};
}

}  // namespace zerotax
