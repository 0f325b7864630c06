#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace zerotax {

/// How the measurement of a point ended.
enum class PointStatus : std::uint8_t { kOk, kFailed, kNotZero, kMisaligned, kCrashed, kTimeout, kSkipped };

/// "not_zero", as in JSON.
const char* word_of(PointStatus status);

/// Nothing for a word that is not a status.
std::optional<PointStatus> status_of_word(std::string_view word);

/// Every status, in the order of the schema.
const std::vector<PointStatus>& all_statuses();

/// Whether the allocator did what it must: measured to its end and nothing promised was broken, or not measured at all.
bool is_healthy(PointStatus status);

/// Whether the point was measured to its end, promises kept or not.
bool has_result(PointStatus status);

}  // namespace zerotax
