#include "point/point_outcome.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace zerotax {
namespace {

PointStatus status_of(PassResult::Status status) {
  switch (status) {
    case PassResult::Status::kOk:
      return PointStatus::kOk;
    case PassResult::Status::kFailed:
      return PointStatus::kFailed;
    case PassResult::Status::kCrashed:
      return PointStatus::kCrashed;
    case PassResult::Status::kTimeout:
      return PointStatus::kTimeout;
    case PassResult::Status::kStopped:
      break;
  }
  return PointStatus::kSkipped;
}

/// Status and reason of a point: of its first pass that went wrong, then of its contents.
void set_status(const Passes& passes, Point& point) {
  for (const auto& [name, pass] : {std::pair{"audit", &passes.audit},
                                   {"timing", &passes.timing},
                                   {"zeroing", &passes.zeroing},
                                   {"differential", &passes.differential},
                                   {"faults", &passes.faults},
                                   {"held", &passes.held},
                                   {"held without huge pages", &passes.held_without}}) {
    if (!pass->made() || pass->status() == PassResult::Status::kOk) continue;
    point.status = status_of(pass->status());
    point.reason = fmt::format("{} pass: {}", name, pass->reason());
    return;
  }
  for (std::size_t i = 0; i < passes.audit.ops(); ++i) {
    if (passes.audit.op(i).not_zero == 0) continue;
    point.status = PointStatus::kNotZero;
    point.reason = fmt::format("calloc handed out a block with a non-zero byte at offset {}, operation {}",
                               passes.audit.op(i).not_zero_offset, i + 1);
    return;
  }
  for (std::size_t i = 0; i < passes.audit.ops(); ++i) {
    if (passes.audit.op(i).misaligned == 0) continue;
    point.status = PointStatus::kMisaligned;
    point.reason = fmt::format("calloc handed out a block aligned to {} bytes where {} are required, operation {}",
                               passes.audit.op(i).misaligned, alignof(std::max_align_t), i + 1);
    return;
  }
}

/// The promises that were broken, in whatever operation.
void add_violations(const PassResult& audit, std::vector<std::string>& violations) {
  bool dirty = false;
  bool misaligned = false;
  for (std::size_t i = 0; i < audit.ops(); ++i) {
    dirty = dirty || audit.op(i).not_zero != 0;
    misaligned = misaligned || audit.op(i).misaligned != 0;
  }
  if (dirty) violations.emplace_back(word_of(PointStatus::kNotZero));
  if (misaligned) violations.emplace_back(word_of(PointStatus::kMisaligned));
}

}  // namespace

void set_outcome(const Passes& passes, Point& point) {
  set_status(passes, point);
  // A pass that went wrong is the status, and what was measured until then is not judged.
  if (point.status == PointStatus::kNotZero || point.status == PointStatus::kMisaligned) {
    add_violations(passes.audit, point.violations);
  }
}

}  // namespace zerotax
