#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/json.h"
#include "thresholds/signature.h"

namespace zerotax::thresholds {

/// What later callocs do at a size, as the table and the map call it.
enum class Doing : std::uint8_t { kNoZerosBack, kNoZerosKept, kDirty, kNeedless, kUnknown };

struct DoingWords {
  const char* key;    ///< in JSON
  const char* words;  ///< for people
};
/// By Doing.
const std::array<DoingWords, 5>& doings();

Doing doing_of(const Signature& signature);

/// Adds to an object of "zerotax.thresholds/1" what the map and the page say of it, or replaces that: `title`,
/// `sentence`, `notes`, `words`; of each lane `name`, `pieces`, `like_main`; of each threshold `steady`, `doubtful`.
/// Needs nothing but what every version has written. Throws a Json exception if it is no such object.
void add_map(Json& document);

}  // namespace zerotax::thresholds
