#pragma once

#include "base/fields.h"
#include "record/runs/result.h"

namespace zerotax::record::runs {

void to_json(Json& json, Metric metric);
void to_json(Json& json, const Place& place);
void from_json(const Json& json, Place& place);

/// A key for each value.
template <typename Enum, typename T, std::size_t kSize>
void to_json(Json& json, const ByEnum<Enum, T, kSize>& values) {
  for (std::size_t i = 0; i < kSize; ++i) json[key_of(static_cast<Enum>(i))] = values.all[i];
}
template <typename Enum, typename T, std::size_t kSize>
void from_json(const Json& json, ByEnum<Enum, T, kSize>& values) {
  for (std::size_t i = 0; i < kSize; ++i) {
    const char* const key = key_of(static_cast<Enum>(i));
    // Earlier versions had fewer counts of a site.
    if (!std::is_same_v<Enum, SiteNumber> || json.contains(key)) read_field(json, key, values.all[i]);
  }
}

}  // namespace zerotax::record::runs
