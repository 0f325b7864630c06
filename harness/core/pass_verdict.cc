#include "core/pass_verdict.h"

#include <fmt/format.h>

#include <cstring>

#include "base/size.h"
#include "base/units.h"
#include "core/child_verdict.h"
#include "meter/probe_exit.h"

namespace zerotax {
namespace {

using Status = PassResult::Status;

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

/// Of a process that exited.
PassVerdict judge_exit(const ChildResult& child, const Record& record, const std::string& how) {
  const std::string where = place(record);
  if (child.code == kCaseFailed && record.failure[0] != '\0') {
    return {Status::kFailed, fmt::format("{} {}{}", &record.failure[0], where, first_line(child.errors))};
  }
  if (child.code == kNoRecord && record.phase == Phase::kStart && probe_says(child, kNoRecord)) {
    return {Status::kCrashed,
            "closed the descriptor of the measurement, which is not its own, before the first operation"};
  }
  // The library may end the process with any status, 0 too: what counts is whether we reached the end.
  if (child.code != 0 || record.phase != Phase::kDone) {
    return {Status::kCrashed, fmt::format("{} {}{}", how, where, first_line(child.errors))};
  }
  if (record.returned_null != 0 || record.ops_done < record.ops_started) {
    return {
        Status::kFailed,
        fmt::format("calloc returned NULL ({}), operation {}",
                    record.returned_null != 0 ? std::strerror(static_cast<int>(record.returned_null)) : "errno not set",
                    record.ops_started)};
  }
  return {Status::kOk, ""};
}

}  // namespace

bool probe_says(const ChildResult& child, int exit_status) {
  return child.end == ChildResult::End::kExited && child.code == exit_status &&
         child.errors.find(kProbeSays) != std::string::npos;
}

PassVerdict judge_pass(const ChildResult& child, const Record& record, const PassLimits& limits, bool out_of_memory) {
  const std::string where = place(record);
  const std::string how = how_it_ended(child, limits.timeout);
  switch (child.end) {
    case ChildResult::End::kExited:
      return judge_exit(child, record, how);
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

}  // namespace zerotax
