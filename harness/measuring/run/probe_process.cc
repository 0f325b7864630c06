#include "run/probe_process.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "files/shared_file.h"
#include "meter/probe_exit.h"
#include "os/machine_trouble.h"
#include "os/memory.h"
#include "run/debian_library.h"
#include "run/interrupt.h"
#include "run/pass_verdict.h"
#include "run/probe_identity.h"

namespace zerotax {
namespace {

/// A sample block in shared memory, mapped here.
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
  // Not the audit: its metrics must not depend on how fast the machine is. Nor the bare pass: it must not look at a
  // clock.
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
  // A huge page is populated whole by one store, and zeroed bytes are counted by page.
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
