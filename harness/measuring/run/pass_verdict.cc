#include "run/pass_verdict.h"

#include <fmt/format.h>

#include <cstring>

#include "base/one_line.h"
#include "base/printable.h"
#include "base/size.h"
#include "base/units.h"
#include "meter/probe_exit.h"
#include "run/child_verdict.h"

namespace zerotax {
namespace {

using Status = PassResult::Status;

/// "in calloc, operation 3".
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
  return fmt::format("{}, operation {}", where, samples.ops_started);
}

std::string first_line(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  return line.empty() ? "" : fmt::format(" ({})", first_characters(printable(line), 120));
}

/// For a process that exited.
PassVerdict judge_exit(const ChildResult& child, const SampleBlock& samples, const std::string& how) {
  const std::string where = place(samples);
  if (child.code == kCaseFailed && samples.failure[0] != '\0') {
    return {Status::kFailed, fmt::format("{} {}{}", printable(&samples.failure[0]), where, first_line(child.errors))};
  }
  if (child.code == kNoSampleBlock && samples.phase == Phase::kStart && probe_says(child, kNoSampleBlock)) {
    return {Status::kCrashed,
            "closed the descriptor of the measurement, which is not its own, before the first operation"};
  }
  // The library may end the process with any status, 0 too: what counts is whether we reached the end.
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

}  // namespace zerotax
