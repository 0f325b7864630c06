#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "os/perf_buffer.h"
#include "os/unique_fd.h"

namespace zerotax {

/// Something that the kernel saw in a process that is sampled.
struct PerfEvent {
  enum class Kind {
    kSample,  ///< a look at a running thread
    kMap,     ///< executable memory was mapped
    kFork,    ///< `pid` was forked from `parent`
    kExec,    ///< another program: all mappings are new
  };
  Kind kind = Kind::kSample;
  std::uint64_t time_ns = 0;  ///< CLOCK_MONOTONIC
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint32_t parent = 0;  ///< kFork

  // kSample
  std::vector<std::uint64_t> kernel;  ///< kernel addresses, innermost first; empty in user mode, or if not permitted
  std::array<std::uint64_t, 17> registers{};  ///< of user mode, in DWARF's order for x86-64: rax, rdx, …, rip
  std::vector<unsigned char> stack;           ///< of user mode, from rsp upwards
  bool has_user = false;                      ///< registers and stack are there

  // kMap, kExec
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::string name;  ///< path of the file, or what the kernel calls it; kExec: the program's short name
};

/// Samples, by the software event cpu-clock, of every program that the calling thread starts from now on, and of all
/// that those start: each running thread is looked at `hz` times a second of its own CPU time. perf_event_open(2);
/// needs no privilege for user mode (perf_event_paranoid up to 2), and sees the kernel where it may.
class PerfSampler {
 public:
  /// `stack_bytes`: copied of the user's stack with each sample; a multiple of 8, below 64 KiB. Throws MachineError if
  /// the kernel offers or permits no sampling.
  PerfSampler(unsigned hz, std::uint32_t stack_bytes);
  PerfSampler(const PerfSampler&) = delete;
  PerfSampler& operator=(const PerfSampler&) = delete;

  /// Whether samples in kernel mode are taken; if not, kernel time is missing.
  [[nodiscard]] bool sees_kernel() const { return sees_kernel_; }
  /// Adds what has happened since the last call, in no order between CPUs. One thread at a time.
  void read(std::vector<PerfEvent>& events);
  /// Samples that were lost because nobody read them in time.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  struct Buffer {
    UniqueFd fd;
    PerfBuffer events;
  };

  bool open(unsigned hz, std::uint32_t stack_bytes, bool kernel, int& error);
  void parse(const perf_event_header& header, PerfRecordReader reader, std::vector<PerfEvent>& events);

  std::vector<Buffer> buffers_;
  bool sees_kernel_ = false;
  std::uint64_t lost_ = 0;
};

}  // namespace zerotax
