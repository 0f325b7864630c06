#include "point/point_status.h"

#include <array>
#include <cstddef>

namespace zerotax {
namespace {

/// The words, in the order of the enumeration.
constexpr std::array kWords{"ok", "failed", "not_zero", "misaligned", "crashed", "timeout", "skipped"};

}  // namespace

const char* word_of(PointStatus status) { return kWords.at(static_cast<std::size_t>(status)); }

std::optional<PointStatus> status_of_word(std::string_view word) {
  for (const PointStatus status : all_statuses()) {
    if (word == word_of(status)) return status;
  }
  return std::nullopt;
}

const std::vector<PointStatus>& all_statuses() {
  static const std::vector<PointStatus> all = [] {
    std::vector<PointStatus> statuses;
    for (std::size_t i = 0; i < kWords.size(); ++i) statuses.push_back(static_cast<PointStatus>(i));
    return statuses;
  }();
  return all;
}

bool is_healthy(PointStatus status) { return status == PointStatus::kOk || status == PointStatus::kSkipped; }

bool has_result(PointStatus status) {
  return status == PointStatus::kOk || status == PointStatus::kNotZero || status == PointStatus::kMisaligned;
}

}  // namespace zerotax
