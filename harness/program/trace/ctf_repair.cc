#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "os/input_file.h"
#include "os/regular_file.h"
#include "os/unique_fd.h"
#include "trace/ctf_trace.h"

namespace zerotax::trace {
namespace {

namespace fs = std::filesystem;

/// Whether a process still maps the buffer at `path`. The PID alone proves nothing: a later process may have the same
/// PID.
bool is_mapped(pid_t pid, const std::string& path) {
  std::error_code failure;
  const std::string absolute = fs::canonical(path, failure);
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    if (line.find(absolute) != std::string::npos) return true;
  }
  return false;
}

void write_packet(int file, const CtfPacket& packet, const std::string& path) {
  std::string bytes(reinterpret_cast<const char*>(&packet.header), sizeof packet.header);
  bytes.append(packet.records, packet.bytes);
  bytes.resize(packet.header.packet_bits / 8);
  if (!write_all(file, bytes)) {
    throw UsageError(fmt::format("'{}' cannot be written: {}", path, std::strerror(errno)),
                     "free some space, or copy the trace to another disk");
  }
}

/// Returns an empty packet that holds the final number of discarded records. A stream gets such a packet if its other
/// packets lack the number.
CtfPacket last_word(const recorder::RingFile& ring, const recorder::LaneFile& lane, std::uint64_t sequence) {
  CtfPacket packet;
  packet.header = {recorder::kPacketMagic,
                   {},
                   0,
                   lane.last,
                   lane.last,
                   sizeof packet.header * 8,
                   sizeof packet.header * 8,
                   sequence,
                   lane.discarded,
                   ring.pid,
                   ring.tid};
  std::memcpy(packet.header.uuid, ring.uuid, sizeof ring.uuid);
  return packet;
}

void complete(const recorder::RingFile& ring, unsigned index, const std::string& folder, const std::string& uuid,
              CtfRepair& repair) {
  const recorder::LaneFile& lane = ring.lanes[index];
  const std::string path = fmt::format("{}/stream-{}", folder, lane.stream);
  CtfStreamFile there;
  std::error_code failure;
  if (fs::exists(path, failure)) {
    const MappedFile mapped(path);
    there = scan_stream(mapped, path, uuid, repair.problems);
    // Drops packets that extend past the cut. The file is about to be shortened, so the records of these packets must
    // not be read.
    while (!there.packets.empty() && mapped.size() > there.whole_bytes &&
           there.packets.back().records + there.packets.back().bytes > mapped.data() + there.whole_bytes) {
      there.packets.pop_back();
    }
  }
  const std::uint64_t next = there.packets.empty() ? 0 : there.packets.back().header.sequence + 1;
  std::uint64_t told = there.packets.empty() ? 0 : there.packets.back().header.discarded;
  std::vector<CtfPacket> packets = packets_of_ring(ring, index, next);
  if (!packets.empty()) told = packets.back().header.discarded;
  if (lane.discarded > told) {
    packets.push_back(last_word(ring, lane, packets.empty() ? next : packets.back().header.sequence + 1));
  }
  if (packets.empty()) return;
  // The recorder makes no symbolic links, so a link at this path could lead to someone else's file.
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(there.whole_bytes)) != 0) {
    throw UsageError(fmt::format("'{}' cannot be written: {}", path, std::strerror(errno)),
                     "give a trace that you may write to");
  }
  for (const CtfPacket& packet : packets) write_packet(file.get(), packet, path);
  repair.packets += packets.size();
}

/// Cuts off half-written packets in all streams, even in streams without a buffer. Returns the number of usable
/// streams.
std::size_t cut_half_packets(const std::string& folder, const std::string& uuid, CtfRepair& repair) {
  std::size_t usable = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("stream-") || entry.is_symlink()) continue;
    std::uint64_t whole = 0;
    {
      const MappedFile mapped(entry.path());
      if (mapped.failure() != 0) {
        repair.problems.push_back(fmt::format("{}: {}", entry.path().string(), std::strerror(mapped.failure())));
      }
      if (mapped.size() == 0) continue;
      const CtfStreamFile found = scan_stream(mapped, entry.path(), uuid, repair.problems);
      // A file that does not begin with a packet is not a stream, and stays unchanged.
      if (found.packets.empty() && mapped.size() >= sizeof(recorder::PacketHeader)) continue;
      ++usable;
      whole = found.whole_bytes;
      if (whole == mapped.size()) continue;
    }
    std::error_code failure;
    fs::resize_file(entry.path(), whole, failure);
    if (failure) repair.problems.push_back(fmt::format("{}: {}", entry.path().string(), failure.message()));
  }
  return usable;
}

}  // namespace

CtfRepair repair_ctf_trace(const std::string& folder) {
  CtfRepair repair;
  std::size_t usable = 0;
  for (const std::string& process : ctf_process_folders(folder)) {
    std::string problem;
    CtfMetadata metadata;
    try {
      metadata = parse_ctf_metadata(read_input_file(process + "/metadata"), process + "/metadata", problem);
    } catch (const Error& failure) {
      repair.problems.emplace_back(failure.what());
      continue;
    }
    bool runs = false;
    for (const auto& entry : fs::directory_iterator(process)) {
      if (!entry.path().filename().string().starts_with(recorder::kRingPrefix)) continue;
      const std::string path = entry.path();
      {
        const MappedFile mapped(path);
        const std::size_t before = repair.problems.size();
        const auto* ring = check_ring(mapped, path, metadata.uuid, repair.problems);
        if (repair.problems.size() != before)
          continue;  // Keeps the damaged buffer, because some of its data may still be recovered.
        ++usable;
        if (ring != nullptr && is_mapped(static_cast<pid_t>(ring->pid), path)) {
          repair.problems.push_back(fmt::format("{}: process {} is still recording", process, ring->pid));
          runs = true;
          break;
        }
        if (ring != nullptr && ring->in_use != 0) {
          for (unsigned lane = 0; lane < recorder::kLanes; ++lane)
            complete(*ring, lane, process, metadata.uuid, repair);
        }
      }
      ::unlink(path.c_str());
      ++repair.buffers;
    }
    if (!runs) usable += cut_half_packets(process, metadata.uuid, repair);
  }
  if (usable == 0 && !repair.problems.empty()) {
    throw UsageError(repair.problems.front(),
                     "give the folder that a trace was written to: nothing in this folder can be repaired");
  }
  return repair;
}

}  // namespace zerotax::trace
