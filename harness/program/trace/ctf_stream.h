#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "format/ring_file.h"
#include "os/mapped_file.h"
#include "trace/ctf_types.h"

namespace zerotax::trace {

/// A packet: its head as it is read (for a begun packet of a buffer: as it would be completed), and where its records
/// are.
struct CtfPacket {
  recorder::PacketHeader header;
  const char* records = nullptr;
  std::uint64_t bytes = 0;  ///< of the records
};

/// The packets of a stream file that are readable, in their order. Cut or damaged packets are left out and reported in
/// `problems`, each a line that begins with the file.
struct CtfStreamFile {
  std::vector<CtfPacket> packets;
  std::uint64_t whole_bytes = 0;  ///< of the file up to where a packet is cut at its end
  bool cut = false;  ///< the last packet is: its process was killed while it was written, or the file was cut
};
CtfStreamFile scan_stream(const MappedFile& file, const std::string& path, const std::string& uuid,
                          std::vector<std::string>& problems);

/// The packets of a lane of a thread's buffer that its stream file lacks, which ends with packet `next` - 1. The text
/// of a begun one's head is completed. `ring` must be check_ring()'s.
std::vector<CtfPacket> packets_of_ring(const recorder::RingFile& ring, unsigned lane, std::uint64_t next);

/// The buffer in a file; nullptr, reported in `problems`, if it is damaged or belongs to another trace.
const recorder::RingFile* check_ring(const MappedFile& file, const std::string& path, const std::string& uuid,
                                     std::vector<std::string>& problems);

}  // namespace zerotax::trace
