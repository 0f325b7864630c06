#pragma once

#include <linux/perf_event.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace zerotax {

/// That the kernel refused the last system call, by errno.
inline std::system_error refused() { return {errno, std::generic_category()}; }

/// An ordinary user may lock 516 KiB a CPU for perf (perf_event_mlock_kb).
inline constexpr std::size_t kUserPerfBufferBytes = std::size_t{512} << 10;

/// Reads a perf record's fields one after the other; past its end, zeros.
class PerfRecordReader {
 public:
  PerfRecordReader(const unsigned char* data, std::size_t bytes) : at_(data), end_(data + bytes) {}

  template <typename T>
  T take() {
    T value{};
    if (left() < sizeof value) {
      at_ = end_;
      return value;
    }
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  /// The addresses of a call chain (PERF_SAMPLE_CALLCHAIN), innermost first, without the marks between its parts.
  std::vector<std::uint64_t> take_chain() {
    std::vector<std::uint64_t> chain;
    const auto frames = take<std::uint64_t>();
    for (std::uint64_t i = 0; i < frames && left() > 0; ++i) {
      const auto address = take<std::uint64_t>();
      // Marks are "negative".
      if (address < static_cast<std::uint64_t>(PERF_CONTEXT_MAX)) chain.push_back(address);
    }
    return chain;
  }
  /// The device in a record of a mapping (PERF_RECORD_MMAP2), in the form of fstat(2).
  std::uint64_t take_device() {
    const auto major = take<std::uint32_t>();
    return makedev(major, take<std::uint32_t>());
  }
  void skip(std::size_t bytes) { at_ += bytes < left() ? bytes : left(); }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] const unsigned char* at() const { return at_; }
  /// The text that begins here.
  [[nodiscard]] std::string text() const {
    const auto* start = reinterpret_cast<const char*>(at_);
    return {start, ::strnlen(start, left())};
  }

 private:
  const unsigned char* at_;
  const unsigned char* end_;
};

/// The ring buffer of a perf event, mapped here. Source: perf_event_open(2), "MMAP layout".
class PerfBuffer {
 public:
  /// `bytes`: a power of two of pages. Throws std::system_error if it is unavailable.
  PerfBuffer(int fd, std::size_t bytes);
  ~PerfBuffer();
  PerfBuffer(PerfBuffer&& other) noexcept
      : page_(std::exchange(other.page_, nullptr)), bytes_(other.bytes_), record_(std::move(other.record_)) {}
  PerfBuffer& operator=(PerfBuffer&&) = delete;
  PerfBuffer(const PerfBuffer&) = delete;
  PerfBuffer& operator=(const PerfBuffer&) = delete;

  /// Calls visit(header, body of the record as a PerfRecordReader) for each record since the last call, and makes room.
  template <typename Visit>
  void read(Visit visit) {
    const std::uint64_t head = __atomic_load_n(&page_->data_head, __ATOMIC_ACQUIRE);
    std::uint64_t tail = page_->data_tail;
    while (tail < head) {
      perf_event_header header{};
      copy(&header, tail, sizeof header);
      if (header.size < sizeof header) break;
      record_.resize(header.size);
      copy(record_.data(), tail, header.size);
      visit(header, PerfRecordReader(record_.data() + sizeof header, record_.size() - sizeof header));
      tail += header.size;
    }
    __atomic_store_n(&page_->data_tail, tail, __ATOMIC_RELEASE);
  }

 private:
  void copy(void* target, std::uint64_t from, std::size_t bytes) const;

  perf_event_mmap_page* page_;
  std::size_t bytes_;
  std::vector<unsigned char> record_;
};

}  // namespace zerotax
