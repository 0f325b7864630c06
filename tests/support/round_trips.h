#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "base/json.h"

namespace zerotax {

/// Removes the metrics that an earlier version did not have (base/fields.h).
inline void drop_missing(Json& json) {
  const auto is_missing = [](const Json& value) {
    return is_not_available(value) && value.at("na") == "an earlier version wrote this file";
  };
  for (auto at = json.begin(); json.is_structured() && at != json.end();) {
    if (json.is_object() && is_missing(*at)) {
      at = json.erase(at);
    } else {
      drop_missing(*at++);
    }
  }
}

/// Expects that the room's structs read and write every committed document of this schema unchanged, byte for byte.
/// Fails if there is no document.
inline void expect_round_trips(const std::string& schema, const std::function<Json(const Json&)>& there_and_back) {
  std::size_t documents = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ZEROTAX_SOURCE_DIR "/results/reference")) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.substr(0, 200).find('"' + schema + '"') == std::string::npos) continue;
    ++documents;
    Json back = there_and_back(Json::parse(text));
    drop_missing(back);
    EXPECT_EQ(json_text(back), text) << entry.path();
  }
  EXPECT_GT(documents, 0U);
}

}  // namespace zerotax
