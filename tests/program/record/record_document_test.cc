#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/lines.h"
#include "record/answer.h"
#include "small_pages.h"

namespace zerotax::record {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Compares with the content of a file. With ZEROTAX_WRITE in the environment, writes the file instead.
void expect_content(const std::string& text, const std::filesystem::path& path) {
  if (std::getenv("ZEROTAX_WRITE") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(text, content_of(path)) << path;
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
    expect_content(record_text(record), path.replace_extension(".txt"));
    expect_content(answer_text(answer(record)), path.replace_extension(".answer.txt"));
    EXPECT_EQ(record_text(record).find(wrap(headline(record)) + "\n"), 0U) << "both texts begin with the headline";
  }
  EXPECT_GE(documents, 2U);
}

}  // namespace
}  // namespace zerotax::record
