#include "trace/ctf_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "os/input_file.h"

namespace zerotax::trace {
namespace {

namespace fs = std::filesystem;

/// N of "PREFIXN", or nothing.
bool number_behind(const std::string& name, const std::string& prefix, std::uint64_t& number) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
  if (name.find_first_not_of("0123456789", prefix.size()) != std::string::npos) return false;
  const auto [end, failure] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
  return failure == std::errc();
}

/// Names in a folder that are the prefix and a number, by that number.
std::map<std::uint64_t, std::string> numbered(const std::string& folder, const std::string& prefix) {
  std::map<std::uint64_t, std::string> found;
  std::uint64_t number = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (number_behind(entry.path().filename(), prefix, number)) found[number] = entry.path();
  }
  return found;
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
                     "give the folder that a trace was written to; a program that records nothing leaves none");
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
    throw UsageError(problems_.front(), "give the folder that a trace was written to: nothing of this one can be read");
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
    // A packet that was being written when the process was killed is whole in the buffer.
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

}  // namespace zerotax::trace
