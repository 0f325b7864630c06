#include "replay/calls_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/json.h"
#include "base/size.h"
#include "base/units.h"
#include "files/document.h"
#include "os/page.h"
#include "record/calls/result.h"

namespace zerotax::replay {
namespace {

using record::EventKind;

constexpr const char* kRemedy = "give a complete, unchanged file of zerotax record --calls";
/// Maximum number of processes in a recording. Each process takes a slot of the recorder's table.
constexpr std::uint32_t kMostProcesses = 16'384;

/// Reads numbers from the events of one part.
class Bytes {
 public:
  explicit Bytes(const std::string& text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] bool failed() const { return failed_; }

  std::uint8_t byte() {
    if (at_ < text_.size()) return static_cast<std::uint8_t>(text_[at_++]);
    failed_ = true;
    return 0;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      value |= std::uint64_t{next & 0x7fU} << shift;
      if (next < 0x80) return value;
    }
    failed_ = true;
    return 0;
  }

 private:
  const std::string& text_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

/// Largest number of pages of a block of any size.
constexpr std::uint64_t kMostPages = kAddressSpaceBytes / kLeastPageBytes;

/// Reads a range of pages. Returns false if the range lies beyond any address space.
bool read_range(Bytes& bytes, Event& event) {
  const std::uint64_t first = bytes.varint();
  const std::uint64_t pages = bytes.varint();
  if (first > kMostPages || pages > kMostPages || first + pages > kMostPages) return false;
  event.ranges = {{first, pages}};
  return !bytes.failed();
}

/// Reads ranges of pages. Returns false if they are not ascending, or lie beyond any address space.
bool read_ranges(Bytes& bytes, Event& event) {
  std::uint64_t at = 0;
  for (std::uint64_t left = bytes.varint(); left != 0 && !bytes.failed(); --left) {
    const std::uint64_t between = bytes.varint();
    const std::uint64_t pages = bytes.varint();
    if (between > kMostPages || pages > kMostPages || at + between + pages > kMostPages) return false;
    event.ranges.emplace_back(at + between, pages);
    at += between + pages;
  }
  return !bytes.failed();
}

/// Reads the next event. Returns false if the event is of an unknown kind or cut off.
bool read_event(Bytes& bytes, Event& event) {
  constexpr std::uint8_t kAbove = 15;
  const std::uint8_t head = bytes.byte();
  if ((head & 15) >= record::kEventKinds) return false;
  event.kind = static_cast<EventKind>(head & 15);
  event.first = head >> 4;
  event.ranges.clear();
  if (event.first == kAbove) {
    const std::uint64_t more = bytes.varint();
    if (more > ~std::uint64_t{0} - kAbove) return false;
    event.first += more;
  }
  if (event.kind == EventKind::kAligned || event.kind == EventKind::kRealloc) event.second = bytes.varint();
  if (event.kind == EventKind::kTouched) return read_ranges(bytes, event);
  if (event.kind == EventKind::kReturn || event.kind == EventKind::kHuge) return read_range(bytes, event);
  if (event.kind == EventKind::kThread) {
    if (event.first > ~std::uint32_t{0}) return false;
    event.thread = static_cast<std::uint32_t>(event.first);
  }
  return !bytes.failed();
}

}  // namespace

CallsFile::CallsFile(const std::string& path)
    : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status {};
  if (!fd_ || ::fstat(fd_.get(), &status) != 0) {
    throw UsageError(fmt::format("cannot read {}: {}", path, std::strerror(errno)), kRemedy);
  }
  if (!S_ISREG(status.st_mode)) throw UsageError(fmt::format("{} is not a regular file", path), kRemedy);
  bytes_ = static_cast<std::uint64_t>(status.st_size);
  const std::string head = bytes_ < record::kCallsHeadBytes ? "" : read(0, record::kCallsHeadBytes);
  if (!head.starts_with(record::kCallsMagic)) {
    throw UsageError(fmt::format("{} is not a file of recorded calls", path), kRemedy);
  }
  std::uint32_t version = 0;
  std::memcpy(&version, &head[sizeof record::kCallsMagic - 1], sizeof version);
  if (version != record::kCallsVersion) {
    throw UsageError(fmt::format("{} has version {} of its format, and this is zerotax for version {}", path, version,
                                 record::kCallsVersion),
                     "record the program again with this version");
  }
  read_parts();
  check_about();
}

void CallsFile::damaged(const std::string& where, const std::string& why) const {
  throw UsageError(fmt::format("{} is damaged ({}): {}", path_, where, why), kRemedy);
}

std::string CallsFile::read(std::uint64_t offset, std::uint64_t bytes) const {
  std::string text(bytes, '\0');
  for (std::uint64_t got = 0; got < bytes;) {
    const ssize_t more = ::pread(fd_.get(), &text[got], bytes - got, static_cast<off_t>(offset + got));
    if (more <= 0) damaged(fmt::format("byte {}", offset + got), "the file cannot be read");
    got += static_cast<std::uint64_t>(more);
  }
  return text;
}

void CallsFile::read_parts() {
  std::uint64_t at = record::kCallsHeadBytes;
  for (bool last = false; !last;) {
    const std::string where = fmt::format("byte {}", at);
    if (bytes_ - at < sizeof(record::CallsPart)) {
      damaged(where, "the last part is missing: the file was cut off, or zerotax record was killed");
    }
    Part part{};
    std::memcpy(&part.head, read(at, sizeof part.head).data(), sizeof part.head);
    at += sizeof part.head;
    part.offset = at;
    if (part.head.stored_bytes > bytes_ - at) damaged(where, "a part is longer than the file");
    if (part.head.raw_bytes > record::kMostPartBytes)
      damaged(where, "a part is larger than any part that zerotax writes");
    at += part.head.stored_bytes;
    last = part.head.kind == record::kAboutCalls;
    if (last && part.head.process != 0) damaged(where, "the last part belongs to a process");
    if (last) {
      if (at != bytes_) damaged(fmt::format("byte {}", at), "data follow the last part");
      const std::string text = unpacked(part);
      try {
        const Json json = parse_strict_json(text);
        check_document(json, path_, "calls", kRemedy);
        about_ = json.get<record::CallsAbout>();
      } catch (const JsonTextError& failure) {
        damaged(where, failure.what());
      }
      return;
    }
    if (part.head.kind != record::kCallsOfProcess) damaged(where, "a part has an unknown kind");
    if (part.head.process >= kMostProcesses) damaged(where, "a part has an impossible process number");
    if (part.head.process >= parts_.size()) parts_.resize(part.head.process + 1);
    parts_[part.head.process].push_back(part);
  }
}

void CallsFile::check_about() {
  if (parts_.size() > about_.processes.size() || about_.processes.size() > kMostProcesses) {
    damaged("its last part", "the number of processes is wrong");
  }
  if (const std::uint64_t page = about_.page_bytes.value_or(kLeastPageBytes); page != page_bytes()) {
    throw OtherPages(fmt::format("{} was recorded with pages of {}, and this machine has pages of {}", path_,
                                 format_size(page), format_size(page_bytes())),
                     "replay the recording on a machine with pages of that size, or record the program again on this "
                     "machine");
  }
  parts_.resize(about_.processes.size());
  for (std::size_t i = 0; i < about_.processes.size(); ++i) {
    const record::CallsProcess& process = about_.processes[i];
    if (process.parent.has_value() != process.fork.has_value() || (process.parent && *process.parent >= i)) {
      damaged("its last part", fmt::format("process {} has no parent before it", i));
    }
  }
}

std::string CallsFile::unpacked(const Part& part) const {
  const std::string where = fmt::format("byte {}", part.offset);
  const std::string stored = read(part.offset, part.head.stored_bytes);
  const auto* const from = reinterpret_cast<const Bytef*>(stored.data());
  if (::crc32(0, from, static_cast<uInt>(stored.size())) != part.head.crc32) damaged(where, "wrong checksum");
  std::string raw(part.head.raw_bytes, '\0');
  uLongf bytes = raw.size();
  if (::uncompress(reinterpret_cast<Bytef*>(raw.data()), &bytes, from, stored.size()) != Z_OK || bytes != raw.size()) {
    damaged(where, "the part cannot be decompressed");
  }
  return raw;
}

void CallsFile::for_each(std::size_t process, const std::function<void(const Event& event)>& visit) const {
  Event event;
  std::uint64_t number = 0;
  for (const Part& part : parts_[process]) {
    const std::string raw = unpacked(part);
    Bytes bytes(raw);
    for (; !bytes.at_end(); ++number) {
      if (!read_event(bytes, event)) damaged(fmt::format("process {}, event {}", process, number), "no such event");
      visit(event);
    }
  }
}

}  // namespace zerotax::replay
