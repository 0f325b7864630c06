#include "replay/streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_map>

#include "base/error.h"
#include "base/size.h"
#include "base/units.h"
#include "record/calls/format.h"
#include "record/calls/shared_array.h"

namespace zerotax::replay {
namespace {

constexpr const char* kMoreSpace = "point TMPDIR at a folder with several times the space of the recording";

using record::EventKind;

/// Memory limit for reading a recording. The limit suffices for about ten million live blocks.
constexpr std::size_t kMostBytes = std::size_t{768} << 20;
constexpr std::size_t kBytesOfReturns = 48;  ///< estimated memory for a block whose pages were returned
constexpr std::size_t kBytesOfBlock = 64;

/// Whether an event ends a block.
bool ends_block(const Event& event) {
  return event.kind == EventKind::kFree || event.kind == EventKind::kUnmap ||
         (event.kind == EventKind::kRealloc && event.first != 0);
}

}  // namespace

PreparedFile::PreparedFile(std::string path, std::uint32_t processes)
    : path_(std::move(path)), fd_(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
  struct statvfs status {};
  if (::fstatvfs(fd_.get(), &status) == 0) most_bytes_ = std::uint64_t{status.f_bavail} * status.f_frsize / 2;
  const prepared_head head{processes};
  write(0, &head, sizeof head);
  end_ = sizeof head + processes * sizeof(prepared_process);
}

void PreparedFile::write(std::uint64_t offset, const void* from, std::size_t bytes) {
  if (offset + bytes > most_bytes_) {
    throw MachineError(
        fmt::format("{} takes more than {}, half of the free space there", path_, format_size(most_bytes_)),
        kMoreSpace);
  }
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t more =
        ::pwrite(fd_.get(), static_cast<const char*>(from) + done, bytes - done, static_cast<off_t>(offset + done));
    if (more < 0) {
      throw MachineError(fmt::format("cannot write {}: {}", path_, std::strerror(errno)), kMoreSpace);
    }
    done += static_cast<std::size_t>(more);
  }
}

std::uint64_t PreparedFile::append_block(const std::string& operations) {
  const std::uint64_t at = end_;
  const prepared_block head{0, static_cast<std::uint32_t>(operations.size()), 0};
  write(at, &head, sizeof head);
  write(at + sizeof head, operations.data(), operations.size());
  end_ += sizeof head + operations.size();
  return at;
}

std::uint64_t PreparedFile::append_streams(const std::vector<std::uint64_t>& first_blocks) {
  const std::uint64_t at = end_;
  write(at, first_blocks.data(), first_blocks.size() * sizeof(std::uint64_t));
  end_ += first_blocks.size() * sizeof(std::uint64_t);
  return at;
}

void PreparedFile::link(std::uint64_t block, std::uint64_t next) { write(block, &next, sizeof next); }

void PreparedFile::set_process(std::uint32_t process, const prepared_process& row) {
  write(sizeof(prepared_head) + process * sizeof row, &row, sizeof row);
}

void Streams::flush(Stream& stream) {
  const std::uint64_t block = file_.append_block(stream.pending);
  stream.pending.clear();
  if (stream.last_block == 0) {
    first_blocks_[stream.number] = block;
  } else {
    file_.link(stream.last_block, block);
  }
  stream.last_block = block;
}

bool Streams::start(std::uint32_t thread) {
  if (thread < known_.size() && known_[thread]) return false;
  if (thread >= known_.size()) known_.resize(thread + std::size_t{1});
  known_[thread] = true;
  if (!first_blocks_.empty()) {
    // The first thread starts all threads, as in most programs. The C library allocates data of the new thread in the
    // heap of the thread that starts it, where the data would keep the blocks below from being trimmed.
    if (live_.empty() || !turn_to(live_.begin()->first)) return false;
    begin(kOpStart);
    number(first_blocks_.size());
  }
  live_[thread].number = static_cast<std::uint32_t>(first_blocks_.size());
  first_blocks_.push_back(0);
  most_live_ = std::max(most_live_, live_.size());
  return true;
}

bool Streams::turn_to(std::uint32_t thread) {
  if (current_ != nullptr && thread == current_thread_) return true;
  const auto found = live_.find(thread);
  if (found == live_.end() && !start(thread)) return false;
  if (ordered_ && current_ != nullptr) begin(kOpPass);
  const bool first = turn_ == 0 && current_ == nullptr;
  current_ = &live_[thread];
  current_thread_ = thread;
  if (!ordered_ || first) return true;
  begin(kOpTurn);
  number(++turn_);
  return true;
}

void Streams::end_thread() {
  // Ignores the end of the first thread, because the process ends with its first thread.
  if (current_->number == 0) return;
  if (ordered_) begin(kOpPass);
  begin(kOpEnd);
  flush(*current_);
  live_.erase(current_thread_);
  current_ = nullptr;
}

void Streams::begin(prepared_operation operation) {
  constexpr std::size_t kLongest = 256;
  if (current_->pending.size() + kLongest > kPreparedBlockBytes) flush(*current_);
  current_->pending += static_cast<char>(operation);
}

void Streams::number(std::uint64_t value) { record::append_varint(current_->pending, value); }

std::uint64_t Streams::finish() {
  for (auto& [thread, stream] : live_) flush(stream);
  return file_.append_streams(first_blocks_);
}

RecordedPages recorded_pages(const CallsFile& file, std::size_t process, std::uint64_t first_block) {
  RecordedPages pages;
  std::uint64_t count = first_block;
  std::uint64_t ended = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> returns;
  std::uint64_t number = 0;
  const auto block_of = [&](const Event& event, const char* what) {
    if (event.first >= count) {
      file.damaged(fmt::format("process {}, event {}", process, number),
                   fmt::format("{} of a block that does not exist", what));
    }
    return count - 1 - event.first;
  };
  file.for_each(process, [&](const Event& event) {
    ++number;
    if (makes_block(event.kind)) ++count;
    if (ends_block(event)) ++ended;
    switch (event.kind) {
      case EventKind::kTouched: {
        const std::uint64_t block = block_of(event, "pages");
        const auto known = returns.find(block);
        pages.populated.add(block, known != returns.end() ? known->second : 0, event.ranges);
        break;
      }
      case EventKind::kReturn:
        if (event.first < count) ++returns[count - 1 - event.first];
        break;
      case EventKind::kUnmap:
        if (event.first < count) returns.erase(count - 1 - event.first);
        break;
      case EventKind::kHuge:
        pages.huge.add(block_of(event, "huge pages"), 0, event.ranges);
        break;
      default:
        break;
    }
    if (number % kEventsOfCheck == 0) {
      // In this pass, blocks take no memory yet, so the check uses an estimate of their memory.
      const std::uint64_t live = less(count - first_block, ended);
      check_memory(file, process, number, pages.bytes() + returns.size() * kBytesOfReturns + live * kBytesOfBlock);
    }
  });
  pages.populated.sort();
  pages.huge.sort();
  return pages;
}

void check_memory(const CallsFile& file, std::size_t process, std::uint64_t event, std::size_t bytes) {
  if (record::shared_array_bytes + bytes <= kMostBytes) return;
  throw UsageError(fmt::format("reading {} takes more than {} of memory (process {}, event {}): too many blocks at "
                               "once, or too many ranges of pages",
                               file.path(), format_size(kMostBytes), process, event),
                   "record a shorter part of the program: zerotax record --calls FILE --calls-limit SIZE");
}

}  // namespace zerotax::replay
