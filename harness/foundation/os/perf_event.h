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

/// Selects the processes for which perf events are opened.
struct PerfScope {
  std::vector<pid_t> processes{};  ///< these running processes, and everything that they start
  int cgroup = -1;                 ///< everything that runs in this cgroup, given by its folder in the hierarchy of
                                   ///< perf events
  bool machine = false;            ///< everything that runs on this machine
  bool has_us = false;             ///< whether the scope contains this process, which must be excluded
  bool light = false;  ///< whether to omit features that slow down a busy server by several percent: tracepoints, and
                       ///< counts in the server's threads

  /// Whether the scope may include processes that no process of the scope started. Such a scope needs the right to
  /// watch CPUs.
  [[nodiscard]] bool is_open() const { return cgroup >= 0 || machine; }
};

/// Opens an event (perf_event_open(2)) on one CPU (-1: any) for one thread. `thread` 0 is the calling thread, and -1
/// all threads, in the scope's cgroup if it has one. Sets the size of the attributes. Allocates nothing.
UniqueFd open_perf_event(perf_event_attr& attributes, pid_t thread, int cpu, const PerfScope& scope = {});

/// Returns the error of the system call that the kernel just refused, from errno.
inline std::system_error refused() { return {errno, std::generic_category()}; }

/// Buffer bytes per CPU for an ordinary user, who may lock 516 KiB per CPU for perf (perf_event_mlock_kb).
inline constexpr std::size_t kUserPerfBufferBytes = std::size_t{512} << 10;

/// Reads the fields of a perf record in order. Fields past the end of the record read as zero.
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
  /// Reads the addresses of a call chain (PERF_SAMPLE_CALLCHAIN), innermost first, without the markers between the
  /// chain's parts.
  std::vector<std::uint64_t> take_chain() {
    std::vector<std::uint64_t> chain;
    const auto frames = take<std::uint64_t>();
    for (std::uint64_t i = 0; i < frames && left() > 0; ++i) {
      const auto address = take<std::uint64_t>();
      // Markers have the highest values (they are negative as signed numbers).
      if (address < static_cast<std::uint64_t>(PERF_CONTEXT_MAX)) chain.push_back(address);
    }
    return chain;
  }
  void skip(std::size_t bytes) { at_ += bytes < left() ? bytes : left(); }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] const unsigned char* at() const { return at_; }
  /// Returns the text at the current position.
  [[nodiscard]] std::string text() const {
    const auto* start = reinterpret_cast<const char*>(at_);
    return {start, ::strnlen(start, left())};
  }

 private:
  const unsigned char* at_;
  const unsigned char* end_;
};

/// The content of a record about a task, other than a sample: PERF_RECORD_MMAP, _MMAP2, _COMM, _FORK, _EXIT, _READ or
/// _SWITCH.
struct PerfTaskRecord {
  std::uint32_t type = 0;
  std::uint16_t misc = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t id = 0;  ///< identifier of the event
  pid_t pid = 0;
  pid_t tid = 0;
  pid_t parent = 0;         ///< only for a fork or exit: the parent process
  std::uint64_t value = 0;  ///< only for a read: the value that was read
  std::string name;         ///< only for COMM and MMAP2: the name
  // Fields that only MMAP2 has:
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t device = 0;  ///< device in the form of fstat(2)
  std::uint64_t inode = 0;
  std::uint32_t protection = 0;  ///< PROT_…
  std::uint32_t flags = 0;       ///< MAP_…

  /// Whether a COMM record means that the task executed another program. If not, the task only changed its name.
  [[nodiscard]] bool is_exec() const { return (misc & PERF_RECORD_MISC_COMM_EXEC) != 0; }
};

/// Parses a record, and returns nothing for records of other types. The event must have sample_id_all, with
/// PERF_SAMPLE_TID, _TIME and _IDENTIFIER, and none of the other fields that sample_id_all appends to records.
std::optional<PerfTaskRecord> parse_task_record(const perf_event_header& header, PerfRecordReader reader);

/// The ring buffer of a perf event, mapped into this process. Source: perf_event_open(2), "MMAP layout".
class PerfBuffer {
 public:
  /// `bytes` must be a power of two of pages. Throws std::system_error if the buffer is unavailable.
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

  /// Calls visit(header, body of the record as a PerfRecordReader) for each record since the last call, and frees the
  /// record's space. Reports of lost records are not passed to `visit`: lost() counts these losses.
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
        reader.take<std::uint64_t>();  // event identifier
        lost_ += reader.take<std::uint64_t>();
      } else {
        visit(header, reader);
      }
      tail += header.size;
    }
    __atomic_store_n(&page_->data_tail, tail, __ATOMIC_RELEASE);
  }
  /// Returns the number of records that were lost because they were not read in time. The kernel reports losses with
  /// the next record.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  void copy(void* target, std::uint64_t from, std::size_t bytes) const;

  perf_event_mmap_page* page_;
  std::size_t bytes_;
  std::vector<unsigned char> record_;
  std::uint64_t lost_ = 0;
};

/// Returns the errno with which perf_event_open(2) is denied to this process for any arguments, or 0 if the call is not
/// denied. The test call uses flags that no kernel knows, which the kernel refuses with EINVAL. Any other errno comes
/// from a seccomp filter or sandbox in front of the kernel, as in containers. Allocates nothing.
int perf_denial();
/// Returns a description of the denial of perf_event_open(2), or "" if the call is not denied.
std::string why_perf_denied();

/// Returns the remedy for the denial of perf_event_open(2).
inline constexpr const char* kPermitPerf =
    "permit the call, as with docker run --cap-add PERFMON or --security-opt seccomp=unconfined, or run zerotax "
    "outside";

/// Returns the error of a perf event that could not be opened. `what` is, for example, "the kernel does not permit
/// sampling", and `error` is the errno. `paranoid` is the highest kernel.perf_event_paranoid at which an ordinary user
/// may have the event, or -1 if only root may. The error names the cause: a filter, the setting, a limit or a missing
/// feature.
MachineError perf_refusal(const std::string& what, int error, int paranoid);

/// The user-mode registers and the top of the user-mode stack, from a perf sample (PERF_SAMPLE_REGS_USER,
/// PERF_SAMPLE_STACK_USER).
struct UserStack {
  Registers registers{};
  std::vector<unsigned char> stack;  ///< bytes from the stack pointer upwards
};

/// Returns the value for perf_event_attr::sample_regs_user.
std::uint64_t user_register_mask();

/// Takes registers and stack from a sample. Returns false if the sampled thread has no user mode (a thread of the
/// kernel).
bool take_user_stack(PerfRecordReader& reader, UserStack& to);

/// Counts the processor cycles of the calling thread, in user and kernel mode, by a hardware counter
/// (perf_event_open(2)). Many virtual machines have no such counter. Allocates nothing.
class CycleCounter {
 public:
  CycleCounter();

  /// Returns why there is no counter, or "" if there is one.
  [[nodiscard]] const char* reason() const { return reason_; }
  /// Returns the cycles so far. Returns nothing if there is no counter, or if it did not run all the time.
  [[nodiscard]] std::optional<std::int64_t> read() const;

 private:
  UniqueFd fd_;
  const char* reason_ = "";
};

}  // namespace zerotax
