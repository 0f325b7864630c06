#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/json.h"
#include "files/output_file.h"

namespace zerotax {

/// Expects that every document of this schema in results/reference keeps its keys and values when it is read into the
/// struct and written again. Fails if there are fewer than `least` documents.
template <typename Document>
void expect_committed_documents_come_back(const std::string& schema, std::size_t least) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ZEROTAX_SOURCE_DIR "/results/reference")) {
    if (entry.path().extension() != ".json") continue;
    const Json json = read_json_file(entry.path());
    if (!json.is_object() || text_field(json, "schema", "") != schema) continue;
    EXPECT_EQ(json_text(Json(json.get<Document>())), json_text(json)) << entry.path();
    ++count;
  }
  EXPECT_GE(count, least);
}

}  // namespace zerotax
