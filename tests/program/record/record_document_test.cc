#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "record/result.h"
#include "small_pages.h"

namespace zerotax::record {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(RecordDocument, ComesBackByteForByteAndIsPrintedAsItWas) {
  ONLY_WITH_SMALL_PAGES();
  std::size_t documents = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ZEROTAX_SOURCE_DIR "/tests/program/record/data")) {
    std::filesystem::path path = entry.path();
    if (path.extension() != ".json") continue;
    ++documents;
    const std::string json = content_of(path);
    const Record record = read_record(Json::parse(json));
    EXPECT_EQ(json_text(record_json(record)), json) << path;
    EXPECT_EQ(record_text(record), content_of(path.replace_extension(".txt"))) << path;
  }
  EXPECT_GE(documents, 2U);
}

}  // namespace
}  // namespace zerotax::record
