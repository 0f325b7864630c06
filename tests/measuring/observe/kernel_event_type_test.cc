#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "base/error.h"
#include "observe/kernel_event_log.h"

namespace zerotax {
namespace {

constexpr const char* kFormat =
    "name: made_up\nID: 7\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:0;\n"
    "\tfield:unsigned long args[2];\toffset:32;\tsize:16;\tsigned:0;\n"
    "\tfield:bool yes;\toffset:48;\tsize:1;\tsigned:0;\n"
    "\tfield:__data_loc unsigned long[] mask;\toffset:52;\tsize:4;\tsigned:0;\n"
    "\tfield:u8 address[6];\toffset:56;\tsize:6;\tsigned:0;\n\nprint fmt: \"x\"\n";

KernelEventKind made_up() { return {"some:made_up", parse_trace_event(kFormat)}; }

KernelEvent event_of_made_up() {
  KernelEvent event;
  event.pid = 11;
  event.tid = 12;
  event.raw.resize(80);
  const auto put = [&](std::size_t at, auto value) { std::memcpy(event.raw.data() + at, &value, sizeof value); };
  std::memcpy(event.raw.data() + 8, "program", 7);
  put(24, pid_t{-5});
  put(28, std::uint32_t{5} << 16 | 64U);  // five bytes at offset 64
  put(32, std::uint64_t{100});
  put(40, std::uint64_t{200});
  put(48, std::uint8_t{1});
  put(61, std::uint8_t{9});
  std::memcpy(event.raw.data() + 64, "file", 5);
  return event;
}

const zerotax_field& field_of(const KernelEventType& type, const std::string& name) {
  for (const zerotax_field& field : type.fields()) {
    if (field.name == name) return field;
  }
  throw std::out_of_range(name);
}

template <typename T>
T value_of(const KernelEventType& type, const std::vector<unsigned char>& bytes, const std::string& name,
           std::size_t number = 0) {
  T value{};
  std::memcpy(&value, bytes.data() + field_of(type, name).offset + number * sizeof value, sizeof value);
  return value;
}

TEST(KernelEventType, HasTheFieldsOfTheKernelBehindThreadAndProcess) {
  KernelEventType type(made_up());
  std::vector<std::string> names;
  for (const zerotax_field& field : type.fields()) names.emplace_back(field.name);
  EXPECT_EQ(names, (std::vector<std::string>{"pid", "tid", "comm", "event_pid", "name", "args", "yes", "address"}));
  EXPECT_EQ(type.left_out(), std::vector<std::string>{"mask"});
  EXPECT_EQ(field_of(type, "comm").count, 16U);
  EXPECT_EQ(field_of(type, "comm").kind, static_cast<unsigned>(ZEROTAX_KIND_TEXT));
  EXPECT_EQ(field_of(type, "args").bytes, 8U);
  EXPECT_EQ(field_of(type, "address").count, 6U);
  for (const zerotax_field& field : type.fields()) EXPECT_EQ(field.offset % field.bytes, 0U) << field.name;
}

TEST(KernelEventType, TakesEachValueFromWhereTheFormatSaysThatItIs) {
  KernelEventType type(made_up());
  const std::vector<unsigned char>& bytes = type.bytes_of(event_of_made_up());
  EXPECT_EQ(value_of<pid_t>(type, bytes, "pid"), 11);
  EXPECT_EQ(value_of<pid_t>(type, bytes, "tid"), 12);
  EXPECT_EQ(value_of<pid_t>(type, bytes, "event_pid"), -5);
  EXPECT_EQ(value_of<std::uint64_t>(type, bytes, "args", 1), 200U);
  EXPECT_EQ(value_of<std::uint8_t>(type, bytes, "yes"), 1);
  EXPECT_EQ(value_of<std::uint8_t>(type, bytes, "address", 5), 9);
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  EXPECT_STREQ(text + field_of(type, "comm").offset, "program");
  EXPECT_STREQ(text + field_of(type, "name").offset, "file");
}

TEST(KernelEventType, OfDataThatIsCutTheRestIsZero) {
  KernelEventType type(made_up());
  KernelEvent event = event_of_made_up();
  static_cast<void>(type.bytes_of(event));
  for (std::size_t bytes = 0; bytes <= 66; bytes += 6) {
    event.raw.resize(bytes);
    const std::vector<unsigned char>& found = type.bytes_of(event);
    if (bytes <= 48) {
      EXPECT_EQ(value_of<std::uint8_t>(type, found, "yes"), 0) << bytes;
    }
    EXPECT_EQ(value_of<pid_t>(type, found, "pid"), 11);
  }
}

TEST(KernelEventType, OfASwitchSaysWhichWayItWent) {
  KernelEventType type(kernel_event_kind("switches"));
  KernelEvent event;
  event.out = true;
  const std::vector<unsigned char>& bytes = type.bytes_of(event);
  EXPECT_EQ(value_of<std::uint8_t>(type, bytes, "out"), 1);
  EXPECT_EQ(value_of<std::uint8_t>(type, bytes, "preempted"), 0);
}

TEST(KernelEventKind, OfEveryTracepointOfThisKernelCanBeDescribed) {
  if (::geteuid() != 0) GTEST_SKIP() << "tracefs is root's";
  const std::vector<std::string> names = trace_event_names();
  ASSERT_GT(names.size(), 100U);
  std::size_t known = 0;
  for (const std::string& name : names) {
    try {
      const KernelEventType type(kernel_event_kind(name));
      EXPECT_LE(type.fields().size(), 64U) << name;
      ++known;
    } catch (const UsageError&) {
      // perf does not accept the numbers of ftrace's own events ("ftrace:function").
    }
  }
  EXPECT_GT(known, names.size() * 9 / 10);
}

TEST(KernelEventKind, RefusesWhatDoesNotExistAndSaysWhatWasMeant) {
  if (::geteuid() != 0) GTEST_SKIP() << "tracefs is root's";
  const auto remedy = [](const std::string& name) -> std::string {
    try {
      static_cast<void>(kernel_event_kind(name));
    } catch (const UsageError& error) {
      return error.remedy();
    }
    return "";
  };
  EXPECT_NE(remedy("sched_switch").find("did you mean sched:sched_switch?"), std::string::npos);
  EXPECT_NE(remedy("sched:sched_swich").find("did you mean sched:sched_switch?"), std::string::npos);
  EXPECT_NE(remedy("sched/sched_switch"), "");
  EXPECT_NE(remedy("../x:y"), "");
}

}  // namespace
}  // namespace zerotax
