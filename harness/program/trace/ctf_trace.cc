#include "trace/ctf_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "os/input_file.h"

namespace zerotax::trace {
namespace {

namespace fs = std::filesystem;

/// Sets `number` to N if the name is the prefix followed by N; otherwise returns false.
bool number_behind(const std::string& name, const std::string& prefix, std::uint64_t& number) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
  if (name.find_first_not_of("0123456789", prefix.size()) != std::string::npos) return false;
  const auto [end, failure] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
  return failure == std::errc();
}

/// Returns the paths of a folder's files whose names are the prefix followed by a number, ordered by that number.
std::map<std::uint64_t, std::string> numbered(const std::string& folder, const std::string& prefix) {
  std::map<std::uint64_t, std::string> found;
  std::uint64_t number = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (number_behind(entry.path().filename(), prefix, number)) found[number] = entry.path();
  }
  return found;
}

using recorder::LaneFile;
using recorder::PacketHeader;
using recorder::RingFile;

/// Size of the smallest buffer slot that the recorder makes on any machine.
constexpr std::uint64_t kLeastSlotBytes = 4096;

/// Whether a packet of this trace begins at address `at`.
bool is_packet(const char* at, std::uint64_t room, const std::string& uuid, PacketHeader& header) {
  if (room < sizeof header) return false;
  std::memcpy(&header, at, sizeof header);
  return header.magic == recorder::kPacketMagic && std::memcmp(header.uuid, uuid.data(), sizeof header.uuid) == 0 &&
         header.content_bits % 8 == 0 && header.packet_bits % 64 == 0 && header.content_bits <= header.packet_bits &&
         header.content_bits >= sizeof header * 8;
}

std::uint64_t next_packet(const MappedFile& file, std::uint64_t from, const std::string& uuid) {
  PacketHeader header{};
  while (from < file.size() && !is_packet(file.data() + from, file.size() - from, uuid, header)) from += 8;
  return std::min<std::uint64_t>(from, file.size());
}

}  // namespace

std::vector<std::string> ctf_process_folders(const std::string& folder) {
  std::error_code failure;
  if (fs::exists(folder + "/metadata", failure)) return {folder};
  std::vector<std::string> found;
  if (!fs::is_directory(folder, failure)) {
    throw UsageError(fmt::format("'{}' is not a folder", folder), "give the folder that a trace was written to");
  }
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (fs::exists(entry.path() / "metadata", failure)) found.push_back(entry.path());
  }
  if (found.empty()) {
    throw UsageError(fmt::format("no trace found in '{}'", folder),
                     "give the folder that a trace was written to; a program that records nothing writes no trace");
  }
  std::sort(found.begin(), found.end());
  return found;
}

CtfTrace::CtfTrace(std::string folder) : folder_(std::move(folder)) {
  const auto folders = ctf_process_folders(folder_);
  for (const std::string& each : folders) {
    try {
      open_process(each);
    } catch (const Error& failure) {
      if (folders.size() == 1) throw;
      problems_.emplace_back(failure.what());
    }
  }
  found_on_opening_ = problems_.size();
  const bool empty =
      std::all_of(streams_.begin(), streams_.end(), [](const auto& stream) { return stream.packets.empty(); });
  if (!problems_.empty() && (processes_.empty() || empty)) {
    throw UsageError(problems_.front(),
                     "give the folder that a trace was written to: nothing in this folder can be read");
  }
}

void CtfTrace::open_process(const std::string& folder) {
  CtfProcess process;
  process.folder = folder;
  std::string problem;
  const std::string path = folder + "/metadata";
  process.metadata = parse_ctf_metadata(read_input_file(path), path, problem);
  if (!problem.empty()) problems_.push_back(problem);
  processes_.push_back(std::move(process));
  open_streams(processes_.size() - 1);
}

void CtfTrace::open_streams(std::size_t process) {
  const std::string& folder = processes_[process].folder;
  for (const auto& [number, path] : numbered(folder, "stream-")) {
    files_.push_back(std::make_unique<MappedFile>(path));
    CtfStream stream;
    stream.process = process;
    stream.number = number;
    stream.nested = number % recorder::kLanes != 0;
    CtfStreamFile scanned = scan_stream(*files_.back(), path, processes_[process].metadata.uuid, problems_);
    stream.packets = std::move(scanned.packets);
    stream.cut = scanned.cut;
    streams_.push_back(std::move(stream));
  }
  for (const auto& [number, path] : numbered(folder, recorder::kRingPrefix)) add_ring(process, path);
  for (CtfStream& stream : streams_) {
    if (stream.process != process || stream.packets.empty()) continue;
    stream.tid = static_cast<pid_t>(stream.packets.front().header.tid);
    for (const CtfPacket& packet : stream.packets) {
      stream.discarded = std::max(stream.discarded, packet.header.discarded);
    }
  }
}

void CtfTrace::add_ring(std::size_t process, const std::string& path) {
  files_.push_back(std::make_unique<MappedFile>(path));
  const auto* ring = check_ring(*files_.back(), path, processes_[process].metadata.uuid, problems_);
  if (ring == nullptr || ring->in_use == 0) return;
  for (unsigned lane = 0; lane < recorder::kLanes; ++lane) {
    const std::uint64_t number = ring->lanes[lane].stream;
    auto found = std::find_if(streams_.begin(), streams_.end(), [&](const CtfStream& stream) {
      return stream.process == process && stream.number == number;
    });
    // If the process was killed while it wrote a packet, the buffer still has the whole packet.
    const bool cut = found != streams_.end() && found->cut;
    const std::uint64_t next =
        found == streams_.end() || found->packets.empty() ? 0 : found->packets.back().header.sequence + (cut ? 0 : 1);
    auto packets = packets_of_ring(*ring, lane, next);
    if (cut && !packets.empty() && packets.front().header.sequence == next) {
      found->packets.pop_back();
      const std::string file = fmt::format("{}/stream-{}: ", processes_[process].folder, number);
      std::erase_if(problems_, [&](const std::string& problem) { return problem.starts_with(file + "cut in packet"); });
    }
    if (packets.empty() && ring->lanes[lane].discarded == 0) continue;
    if (found == streams_.end()) {
      CtfStream stream;
      stream.process = process;
      stream.number = number;
      stream.nested = lane != 0;
      stream.tid = static_cast<pid_t>(ring->tid);
      found = streams_.insert(streams_.end(), std::move(stream));
    }
    found->packets.insert(found->packets.end(), packets.begin(), packets.end());
    found->discarded = std::max(found->discarded, ring->lanes[lane].discarded);
  }
}

std::uint64_t CtfTrace::discarded() const {
  std::uint64_t sum = 0;
  for (const CtfStream& stream : streams_) sum += stream.discarded;
  for (const CtfProcess& process : processes_) sum += process.metadata.records_without_stream;
  return sum;
}

CtfStreamFile scan_stream(const MappedFile& file, const std::string& path, const std::string& uuid,
                          std::vector<std::string>& problems) {
  CtfStreamFile found;
  if (file.failure() != 0) problems.push_back(fmt::format("{}: {}", path, std::strerror(file.failure())));
  std::uint64_t at = 0;
  while (at < file.size()) {
    PacketHeader header{};
    const std::uint64_t room = file.size() - at;
    if (!is_packet(file.data() + at, room, uuid, header)) {
      const std::uint64_t next = next_packet(file, at + 8, uuid);
      problems.push_back(next < file.size() ? fmt::format("{}: damaged from byte {} to {}: left out", path, at, next)
                                            : fmt::format("{}: damaged or cut from byte {} on: left out", path, at));
      if (next < file.size()) found.whole_bytes = next;
      at = next;
      continue;
    }
    const std::uint64_t length = header.packet_bits / 8;
    CtfPacket packet{header, file.data() + at + sizeof header, header.content_bits / 8 - sizeof header};
    if (length > room) {
      problems.push_back(
          fmt::format("{}: cut in packet {}: {} of {} bytes are there", path, header.sequence, room, length));
      packet.bytes = std::min(packet.bytes, room - sizeof header);
      found.cut = true;
    } else {
      found.whole_bytes = at + length;
    }
    found.packets.push_back(packet);
    at += length;
  }
  return found;
}

const RingFile* check_ring(const MappedFile& file, const std::string& path, const std::string& uuid,
                           std::vector<std::string>& problems) {
  const auto* ring = reinterpret_cast<const RingFile*>(file.data());
  const auto bad = [&](const char* why) -> const RingFile* {
    problems.push_back(fmt::format("{}: {}: left out", path, why));
    return nullptr;
  };
  if (file.size() < recorder::kRingHeaderBytes) return bad("a cut buffer");
  // Without a magic number, the process was killed while or just after it made the file.
  if (ring->magic[0] == '\0') return nullptr;
  if (std::memcmp(ring->magic, recorder::kRingMagic, sizeof ring->magic) != 0)
    return bad("not a buffer of the recorder");
  if (std::memcmp(ring->uuid, uuid.data(), sizeof ring->uuid) != 0) return bad("a buffer of another trace");
  for (const LaneFile& lane : ring->lanes) {
    if (lane.slots == 0 || lane.slots > 4096 || lane.slot_bytes < kLeastSlotBytes || lane.slot_bytes > file.size() ||
        lane.offset < recorder::kRingHeaderBytes || lane.offset + lane.slots * lane.slot_bytes > file.size()) {
      return bad("a damaged or cut buffer");
    }
  }
  return ring;
}

std::vector<CtfPacket> packets_of_ring(const RingFile& ring, unsigned index, std::uint64_t next) {
  const LaneFile& lane = ring.lanes[index];
  const std::string uuid(reinterpret_cast<const char*>(ring.uuid), sizeof ring.uuid);
  const char* const base = reinterpret_cast<const char*>(&ring);
  std::vector<CtfPacket> found;
  const std::uint64_t produced = lane.produced;
  std::uint64_t oldest = produced > lane.slots ? produced - lane.slots : 0;
  // Skips the oldest packet once it is written or dropped. The next packet reuses its slot, and a header that is half
  // overwritten would falsify all later times of the stream.
  if (produced >= lane.slots && lane.consumed > oldest) ++oldest;
  for (std::uint64_t sequence = std::max(oldest, next); sequence <= produced; ++sequence) {
    const std::uint64_t offset = lane.offset + sequence % lane.slots * lane.slot_bytes;
    PacketHeader header{};
    std::memcpy(&header, base + offset, sizeof header);
    if (sequence == produced) {
      // This packet was begun but not completed. If the process was killed while it completed the packet, the header
      // may already be that of a complete packet.
      const std::uint64_t length = lane.committed - ring.base - offset;
      if (lane.begun != produced + 1 || length > lane.slot_bytes || length < sizeof header) break;
      header.content_bits = length * 8;
      header.packet_bits = recorder::padded(length) * 8;
      header.timestamp_end = lane.last;
      header.discarded = lane.discarded;
    }
    PacketHeader as_read{};
    std::memcpy(&as_read, &header, sizeof header);
    if (!is_packet(reinterpret_cast<const char*>(&header), sizeof header, uuid, as_read)) continue;
    if (header.sequence != sequence || header.packet_bits / 8 > lane.slot_bytes) continue;
    found.push_back({header, base + offset + sizeof header, header.content_bits / 8 - sizeof header});
  }
  return found;
}

}  // namespace zerotax::trace
