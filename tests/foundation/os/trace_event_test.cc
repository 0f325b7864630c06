#include "os/trace_event.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "os/processor.h"

namespace zerotax {
namespace {

constexpr const char* kFormat =
    "name: mm_page_alloc\nID: 653\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
    "\tfield:unsigned int order;\toffset:16;\tsize:4;\tsigned:0;\n"
    "\tfield:unsigned long gfp_flags;\toffset:24;\tsize:8;\tsigned:0;\n\nprint fmt: \"x\"\n";

TEST(TraceEvent, IsReadFromItsFormat) {
  const auto event = parse_trace_event(kFormat);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->id, 653U);
  unsigned char data[32]{};
  const std::uint64_t flags = 0x140dca;
  data[16] = 9;
  std::memcpy(&data[24], &flags, sizeof flags);
  EXPECT_EQ(event->number("order", &data[0], sizeof data), 9U);
  EXPECT_EQ(event->number("gfp_flags", &data[0], sizeof data), flags);
  EXPECT_EQ(event->number("gfp_flags", &data[0], 28), 0U) << "cut";
  EXPECT_EQ(event->number("pfn", &data[0], sizeof data), 0U) << "no such field";
}

TEST(TraceEvent, WhatIsNoFormatIsNoEvent) {
  EXPECT_FALSE(parse_trace_event(""));
  EXPECT_FALSE(parse_trace_event("ID: 3\n"));
}

TEST(TraceEvent, TheKernelsOwnIsReadWithoutAMount) {
  if (::geteuid() != 0) GTEST_SKIP() << "tracefs is root's";
  if (!kHasFaultTracepoints) GTEST_SKIP() << "Linux has no such tracepoint for this processor";
  const auto event = read_trace_event("exceptions/page_fault_user");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->fields.count("error_code"), 1U);
  EXPECT_FALSE(read_trace_event("exceptions/no_such_event"));
}

}  // namespace
}  // namespace zerotax
