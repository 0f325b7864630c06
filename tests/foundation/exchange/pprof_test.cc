#include "exchange/pprof.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>

namespace zerotax::exchange {
namespace {

std::string unpacked(std::string file) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
  std::array<char, 4096> text{};
  stream.next_in = reinterpret_cast<Bytef*>(file.data());
  stream.avail_in = static_cast<uInt>(file.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  return {text.data(), text.size() - stream.avail_out};
}

TEST(Pprof, IsTheMessageThatTheFormatSays) {
  Pprof profile;
  profile.types = {{"a", "bytes"}};
  profile.first_type = "a";
  profile.samples = {{{{"f", "s", "m", 300, 7}}, {1}, ""}};
  profile.time_ns = 2;
  const std::string found = unpacked(pprof_file(profile));
  // string_table 0 to 2, then sample_type {1, 2}
  EXPECT_EQ(found.substr(0, 18), std::string("\x32\x00\x32\x01"
                                             "a"
                                             "\x32\x05"
                                             "bytes"
                                             "\x0a\x04\x08\x01\x10\x02",
                                             18));
  EXPECT_NE(found.find(std::string("\x22\x0d\x08\x01\x10\x01\x18\xac\x02\x22\x04\x08\x01\x10\x07", 15)), found.npos)
      << "location {1, mapping 1, address 300, line {function 1, 7}}";
  EXPECT_NE(found.find(std::string("\x12\x06\x0a\x01\x01\x12\x01\x01", 8)), found.npos) << "sample {[1], [1]}";
  EXPECT_NE(found.find(std::string("\x48\x02", 2)), found.npos) << "time_nanos";
  EXPECT_NE(found.find(std::string("\x70\x01", 2)), found.npos) << "default_sample_type";
}

TEST(Pprof, WhatIsAlikeIsThereOnce) {
  Pprof profile;
  profile.types = {{"a", "bytes"}, {"b", "bytes"}};
  const Pprof::Frame frame{"function_of_a_long_name", "", "", 0, 0};
  profile.samples = {{{frame}, {1, 0}, "kind_of_site"}, {{frame, frame}, {0, 2}, "kind_of_site"}};
  const std::string found = unpacked(pprof_file(profile));
  for (const char* name : {"function_of_a_long_name", "kind_of_site", "bytes"}) {
    EXPECT_EQ(found.find(name), found.rfind(name)) << name;
  }
}

TEST(Pprof, WithoutSamplesItIsOneTooAndZeroValuesStay) {
  Pprof profile;
  profile.types = {{"a", "bytes"}, {"b", "bytes"}};
  EXPECT_FALSE(unpacked(pprof_file(profile)).empty());
  profile.samples = {{{}, {0, -1}, ""}};
  const std::string minus_one = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  EXPECT_NE(unpacked(pprof_file(profile)).find(std::string("\x12\x0b\x00", 3) + minus_one), std::string::npos);
}

}  // namespace
}  // namespace zerotax::exchange
