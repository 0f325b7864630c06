#include "prove/record_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "files/folders.h"

// Fields of an operation that a test does not name are 0.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace zerotax::prove {
namespace {

head some_head() {
  head counters{};
  std::memcpy(&counters.magic[0], "zprove1", sizeof counters.magic);
  counters.seed = 7;
  counters.callocs = 11;
  counters.finding = kOverlap;
  return counters;
}

class RecordFiles : public ::testing::Test {
 protected:
  std::string refusal() {
    try {
      read_record(path_);
    } catch (const UsageError& failure) {
      return failure.what();
    }
    return "";
  }

  const TemporaryFolder folder_{"test"};
  const std::string path_ = folder_.file("record");
};

TEST_F(RecordFiles, AreReadAsTheyWereWrittenWithoutTheFinding) {
  const Ops ops{{.kind = kOpCall, .thread = 3, .fill = kFillTail, .lg = 5, .id = 1, .row = 1, .n = 2, .m = 1500},
                {.kind = kOpFree, .id = 2, .block = 1}};
  write_record(path_, some_head(), ops);
  const RecordFile read = read_record(path_);
  ASSERT_EQ(read.ops.size(), 2U);
  EXPECT_EQ(std::memcmp(read.ops.data(), ops.data(), sizeof(Op) * 2), 0);
  EXPECT_EQ(read.counters.callocs, 11U);
  EXPECT_EQ(read.counters.finding, kNoFinding);
  EXPECT_EQ(read_head(path_).seed, 7U);
  EXPECT_EQ(std::filesystem::file_size(path_), kHeadBytes + 2 * sizeof(Op));
}

TEST_F(RecordFiles, ThatAreCutShortOrOfAnotherProgramAreRefused) {
  EXPECT_NE(refusal().find("shorter"), std::string::npos);
  write_record(path_, some_head(), {Op{}, Op{}});
  std::filesystem::resize_file(path_, kHeadBytes + sizeof(Op));
  EXPECT_NE(refusal().find("fewer operations"), std::string::npos);
  std::ofstream(path_) << std::string(kHeadBytes, 'x');
  EXPECT_NE(refusal().find("is not a record"), std::string::npos);
}

}  // namespace
}  // namespace zerotax::prove
