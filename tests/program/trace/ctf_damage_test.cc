#include <fstream>

#include "base/error.h"
#include "os/input_file.h"
#include "recorder_testing.h"
#include "trace/ctf_trace.h"
#include "trace/document.h"
#include "trace/fields.h"

/// An event with the name of a recorder's event, but with fields of other kinds.
ZEROTAX_EVENT(function_entry, (char, function, 16), (double, stack))

namespace zerotax::trace {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRecord = 24;
constexpr std::uint64_t kHead = 80;

/// Makes a trace of two packets, which contain `first` and `second` numbers. Returns the path of the stream file.
std::string make_trace(const TraceFolder& folder, std::uint64_t first, std::uint64_t second) {
  start(folder);
  record_numbers(0, first);
  zerotax_trace_flush();
  record_numbers(0, second, first);
  zerotax_trace_stop();
  return ctf_process_folders(folder.path()).front() + "/stream-" +
         std::to_string(CtfTrace(folder.path()).streams().front().number);
}

TEST(CtfDamage, CutAtAnyLengthOfTheLastPacketKeepsWhatIsWhole) {
  const TraceFolder folder;
  const std::string stream = make_trace(folder, 20, 5);
  const std::uint64_t first_packet = kHead + 20 * kRecord;
  ASSERT_EQ(fs::file_size(stream), first_packet + kHead + 5 * kRecord);
  for (std::uint64_t length = fs::file_size(stream) - 1; length >= first_packet; --length) {
    fs::resize_file(stream, length);
    CtfTrace trace(folder.path());
    const std::uint64_t in_last = length < first_packet + kHead ? 0 : (length - first_packet - kHead) / kRecord;
    EXPECT_EQ(read_numbers(trace)[0], sequence(20 + in_last)) << length;
    EXPECT_EQ(trace.problems().size(), length == first_packet ? 0U : 1U) << length;
  }
}

TEST(CtfDamage, RepairCutsAHalfPacket) {
  const TraceFolder folder;
  const std::string stream = make_trace(folder, 20, 5);
  fs::resize_file(stream, fs::file_size(stream) - 7);
  EXPECT_EQ(repair_ctf_trace(folder.path()).problems.size(), 1U);
  EXPECT_EQ(fs::file_size(stream), kHead + 20 * kRecord);
  EXPECT_TRUE(repair_ctf_trace(folder.path()).problems.empty());
}

TEST(CtfDamage, ADamagedHeadCostsItsPacketOnly) {
  const TraceFolder folder;
  const std::string stream = make_trace(folder, 20, 5);
  std::fstream(stream, std::ios::in | std::ios::out | std::ios::binary).write("\0\0\0\0", 4);
  CtfTrace trace(folder.path());
  EXPECT_EQ(read_numbers(trace)[0], sequence(5, 20));
  EXPECT_EQ(trace.problems().size(), 1U);
}

TEST(CtfDamage, APacketIsLeftOutOnceItsSlotIsTaken) {
  const TraceFolder folder;
  zerotax_trace_options options{};
  options.buffer_bytes = 64 << 10;
  options.mode = ZEROTAX_TRACE_OVERWRITE;
  options.drain = ZEROTAX_TRACE_DRAIN_OFF;
  start(folder, options);
  record_numbers(0, 10'000);
  // The state of a process that was killed while it wrote the header of its next packet into the oldest slot.
  const TraceFolder killed;
  fs::copy(folder.path(), killed.path(), fs::copy_options::recursive);
  zerotax_trace_stop();
  for (const auto& entry : fs::directory_iterator(ctf_process_folders(killed.path()).front())) {
    if (!entry.path().filename().string().starts_with(recorder::kRingPrefix)) continue;
    std::string bytes = read_input_file(entry.path());
    auto& lane = reinterpret_cast<recorder::RingFile*>(bytes.data())->lanes[0];
    if (lane.produced == 0) continue;
    lane.begun = lane.produced;
    char* const slots = bytes.data() + lane.offset;
    char* const next = slots + lane.produced % lane.slots * lane.slot_bytes;
    std::memcpy(next, slots + (lane.produced - 1) % lane.slots * lane.slot_bytes, lane.slot_bytes);
    auto& header = *reinterpret_cast<recorder::PacketHeader*>(next);
    header.sequence = lane.produced - lane.slots;
    header.timestamp_begin = lane.last;
    std::ofstream(entry.path(), std::ios::binary) << bytes;
  }
  CtfTrace trace(killed.path());
  const auto kept = read_numbers(trace)[0];
  EXPECT_EQ(kept.size() % ((4096 - kHead) / kRecord), 0U);
  ASSERT_GT(kept.size(), 1000U);
  EXPECT_EQ(kept, sequence(kept.size(), kept.front()));
  EXPECT_EQ(kept.front(), trace.discarded());
}

TEST(CtfDamage, AnUnknownTypeCostsTheRestOfItsPacket) {
  const TraceFolder folder;
  const std::string stream = make_trace(folder, 20, 5);
  std::fstream file(stream, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(kHead + 3 * kRecord + 6)).write("\xff\xff", 2);
  file.close();
  CtfTrace trace(folder.path());
  auto expected = sequence(3);
  for (const auto value : sequence(5, 20)) expected.push_back(value);
  EXPECT_EQ(read_numbers(trace)[0], expected);
  EXPECT_EQ(trace.problems().size(), 1U);
  EXPECT_EQ(read_numbers(trace)[0], expected);
  EXPECT_EQ(trace.problems().size(), 1U);
}

TEST(CtfDamage, CutMetadataIsSaidAndTheRestIsRead) {
  const TraceFolder folder;
  make_trace(folder, 20, 5);
  const std::string metadata = ctf_process_folders(folder.path()).front() + "/metadata";
  const auto whole = fs::file_size(metadata);
  for (std::uintmax_t length = whole; length-- > 0;) {
    fs::resize_file(metadata, length);
    try {
      CtfTrace trace(folder.path());
      read_numbers(trace);
    } catch (const UsageError&) {  // NOLINT(bugprone-empty-catch): a clear word
    }
  }
  EXPECT_THROW(CtfTrace{folder.path()}, UsageError);
}

TEST(CtfDamage, AnEventWithOurNameAndOtherFieldsIsShown) {
  const TraceFolder folder;
  start(folder);
  record(function_entry{.function = "text", .stack = 1e300});
  zerotax_trace_stop();
  CtfTrace trace(folder.path());
  std::FILE* file = std::tmpfile();
  write_perfetto(trace, file);
  EXPECT_GT(std::ftell(file), 0);
  std::fclose(file);
  trace.for_each([](const CtfEvent& event) {
    EXPECT_EQ(ctf_field<std::uint64_t>(event, "function"), 0U);
    EXPECT_EQ(ctf_field<std::uint64_t>(event, "stack"), 0U);
    EXPECT_EQ(ctf_field<std::string>(event, "function"), "text");
    EXPECT_EQ(ctf_field<std::vector<unsigned char>>(event, "stack").size(), 0U);
  });
}

TEST(CtfDamage, NothingAndOthersTracesAreRefused) {
  const TraceFolder folder;
  EXPECT_THROW(CtfTrace{folder.path()}, UsageError);
  EXPECT_THROW(CtfTrace{folder.path() + "/none"}, UsageError);
  std::ofstream(folder.path() + "/metadata") << "/* CTF 1.8 */\ntrace { major = 1; };\n";
  EXPECT_THROW(CtfTrace{folder.path()}, UsageError);
}

}  // namespace
}  // namespace zerotax::trace
