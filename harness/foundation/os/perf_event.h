#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "os/processor.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Whose perf events are taken.
struct PerfScope {
  std::vector<pid_t> processes{};  ///< that run, and all that they start
  int cgroup = -1;                 ///< whatever runs in it: a folder of the hierarchy of perf events
  bool machine = false;            ///< whatever runs
  bool has_us = false;             ///< we are in it, or in the cgroup, and not meant
  bool light = false;  ///< without what costs a busy server several percent: tracepoints, counts in its threads

  /// Processes may be among them that nobody in it has started. It takes the right to watch CPUs.
  [[nodiscard]] bool is_open() const { return cgroup >= 0 || machine; }
};

/// perf_event_open(2) on one CPU (-1: any) of one thread (0: the calling one; -1: all, for a scope's cgroup if it has
/// one). Sets the size of the attributes. Allocates nothing.
UniqueFd open_perf_event(perf_event_attr& attributes, pid_t thread, int cpu, const PerfScope& scope = {});

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

/// The content of a record about a task that is no sample: PERF_RECORD_MMAP, _MMAP2, _COMM, _FORK, _EXIT, _READ or
/// _SWITCH.
struct PerfTaskRecord {
  std::uint32_t type = 0;
  std::uint16_t misc = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t id = 0;  ///< of the event
  pid_t pid = 0;
  pid_t tid = 0;
  pid_t parent = 0;         ///< of a fork or an exit
  std::uint64_t value = 0;  ///< of a read
  std::string name;         ///< of a COMM or MMAP2
  // Of MMAP2:
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t device = 0;  ///< in the form of fstat(2)
  std::uint64_t inode = 0;
  std::uint32_t protection = 0;  ///< PROT_…
  std::uint32_t flags = 0;       ///< MAP_…

  /// Whether the task of a COMM executed another program. If not, the task only changed its name.
  [[nodiscard]] bool is_exec() const { return (misc & PERF_RECORD_MISC_COMM_EXEC) != 0; }
};

/// Returns nothing for records of other types. The event must have sample_id_all. Of the fields that this adds to the
/// end of a record, the event must have PERF_SAMPLE_TID, _TIME and _IDENTIFIER, and no others.
std::optional<PerfTaskRecord> parse_task_record(const perf_event_header& header, PerfRecordReader reader);

/// The ring buffer of a perf event, mapped here. Source: perf_event_open(2), "MMAP layout".
class PerfBuffer {
 public:
  /// `bytes`: a power of two of pages. Throws std::system_error if it is unavailable.
  PerfBuffer(int fd, std::size_t bytes);
  ~PerfBuffer();
  PerfBuffer(PerfBuffer&& other) noexcept
      : page_(std::exchange(other.page_, nullptr)),
        bytes_(other.bytes_),
        record_(std::move(other.record_)),
        lost_(other.lost_) {}
  PerfBuffer& operator=(PerfBuffer&&) = delete;
  PerfBuffer(const PerfBuffer&) = delete;
  PerfBuffer& operator=(const PerfBuffer&) = delete;

  /// Calls visit(header, body of the record as a PerfRecordReader) for each record since the last call, and makes room.
  /// A record that reports lost records is not visited: lost() counts them.
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
      PerfRecordReader reader(record_.data() + sizeof header, record_.size() - sizeof header);
      if (header.type == PERF_RECORD_LOST) {
        reader.take<std::uint64_t>();  // the event
        lost_ += reader.take<std::uint64_t>();
      } else {
        visit(header, reader);
      }
      tail += header.size;
    }
    __atomic_store_n(&page_->data_tail, tail, __ATOMIC_RELEASE);
  }
  /// The number of records that were lost because nobody read them in time. The kernel reports them with the next
  /// record.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  void copy(void* target, std::uint64_t from, std::size_t bytes) const;

  perf_event_mmap_page* page_;
  std::size_t bytes_;
  std::vector<unsigned char> record_;
  std::uint64_t lost_ = 0;
};

/// The errno with which perf_event_open(2) is denied to this process, whatever is asked of it; 0 if it is not. The call
/// is tried with flags that no kernel knows: the kernel itself refuses those first (EINVAL), so that any other answer
/// is that of a seccomp filter or sandbox in front of it, as containers have. Allocates nothing.
int perf_denial();
/// That denial in words; empty if perf_event_open(2) is not denied.
std::string why_perf_denied();

/// What would permit it there.
inline constexpr const char* kPermitPerf =
    "permit the call, as with docker run --cap-add PERFMON or --security-opt seccomp=unconfined, or run zerotax "
    "outside";

/// The error of a perf event that could not be opened. `what` as in "the kernel does not permit sampling"; `error`: its
/// errno; `paranoid`: the highest kernel.perf_event_paranoid with which an ordinary user may have it, -1 for events
/// that are root's. The reason is the filter, the setting, the limit or the missing feature, whichever it is.
MachineError perf_refusal(const std::string& what, int error, int paranoid);

/// The registers of user mode and the top of its stack, as a perf sample has them (PERF_SAMPLE_REGS_USER,
/// PERF_SAMPLE_STACK_USER).
struct UserStack {
  Registers registers{};
  std::vector<unsigned char> stack;  ///< from the stack pointer upwards
};

/// What perf_event_attr::sample_regs_user must be.
std::uint64_t user_register_mask();

/// Takes both off a sample. False if it was taken where there is no user mode (a thread of the kernel).
bool take_user_stack(PerfRecordReader& reader, UserStack& to);

/// The processor's cycles of the calling thread, in user and kernel mode, by a hardware counter (perf_event_open(2)).
/// Many virtual machines have none. Allocates nothing.
class CycleCounter {
 public:
  CycleCounter();

  /// Why there is no counter; empty if there is one.
  [[nodiscard]] const char* reason() const { return reason_; }
  /// Cycles so far; nothing if there is no counter, or if it did not run all the time.
  [[nodiscard]] std::optional<std::int64_t> read() const;

 private:
  UniqueFd fd_;
  const char* reason_ = "";
};

}  // namespace zerotax
