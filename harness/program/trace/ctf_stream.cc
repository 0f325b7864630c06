#include "trace/ctf_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace zerotax::trace {
namespace {

using recorder::LaneFile;
using recorder::PacketHeader;
using recorder::RingFile;

/// Of what the recorder writes, anywhere.
constexpr std::uint64_t kLeastSlotBytes = 4096;

/// Whether a packet of this trace begins there.
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
  // A process that was killed while it made the file, or just after.
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
  const std::uint64_t oldest = produced > lane.slots ? produced - lane.slots : 0;
  for (std::uint64_t sequence = std::max(oldest, next); sequence <= produced; ++sequence) {
    const std::uint64_t offset = lane.offset + sequence % lane.slots * lane.slot_bytes;
    PacketHeader header{};
    std::memcpy(&header, base + offset, sizeof header);
    if (sequence == produced) {
      // Begun; and if the process was killed while it completed it, the head may say so already.
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
