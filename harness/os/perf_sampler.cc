#include "os/perf_sampler.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/error.h"

namespace zerotax {
namespace {

// Bits of sample_regs_user, from arch/x86/include/uapi/asm/perf_regs.h, in DWARF's order of registers (System V ABI,
// AMD64 supplement, figure 3.36).
constexpr unsigned kRegisterBits[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};

constexpr std::uint64_t register_mask() {
  std::uint64_t mask = 0;
  for (const unsigned bit : kRegisterBits) mask |= std::uint64_t{1} << bit;
  return mask;
}

void parse_sample(PerfRecordReader reader, PerfEvent& event) {
  reader.take<std::uint64_t>();  // the address: the first of a chain, too
  event.pid = reader.take<std::uint32_t>();
  event.tid = reader.take<std::uint32_t>();
  event.time_ns = reader.take<std::uint64_t>();
  event.kernel = reader.take_chain();
  if (reader.take<std::uint64_t>() == PERF_SAMPLE_REGS_ABI_NONE) return;
  std::uint64_t by_bit[64]{};
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((register_mask() >> bit & 1) != 0) by_bit[bit] = reader.take<std::uint64_t>();
  }
  for (std::size_t i = 0; i < std::size(kRegisterBits); ++i) event.registers[i] = by_bit[kRegisterBits[i]];
  const auto room = reader.take<std::uint64_t>();
  const unsigned char* stack = reader.at();
  reader.skip(room);
  const auto used = room > 0 ? reader.take<std::uint64_t>() : 0;
  if (used <= room) event.stack.assign(stack, stack + used);
  event.has_user = true;
}

}  // namespace

PerfSampler::PerfSampler(unsigned hz, std::uint32_t stack_bytes) {
  int error = 0;
  sees_kernel_ = open(hz, stack_bytes, true, error);
  if (sees_kernel_ || open(hz, stack_bytes, false, error)) return;
  if (error == ENOSYS || error == ENOENT || error == EOPNOTSUPP) {
    throw MachineError("this kernel has no perf events", "use one built with CONFIG_PERF_EVENTS");
  }
  throw MachineError(fmt::format("the kernel does not permit sampling ({})", std::strerror(error)),
                     "have root run: sysctl kernel.perf_event_paranoid=2 (1 also shows kernel time)");
}

bool PerfSampler::open(unsigned hz, std::uint32_t stack_bytes, bool kernel, int& error) {
  buffers_.clear();
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.freq = 1;
  attributes.sample_freq = hz;
  attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
                           PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attributes.sample_regs_user = register_mask();
  attributes.sample_stack_user = stack_bytes;
  attributes.sample_id_all = 1;
  attributes.exclude_callchain_user = 1;  // it follows frame pointers, which most libraries do not keep
  attributes.exclude_kernel = kernel ? 0 : 1;
  attributes.exclude_hv = 1;
  attributes.mmap = 1;
  attributes.mmap2 = 1;
  attributes.comm = 1;
  attributes.comm_exec = 1;
  attributes.task = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  // Not us, but what we start, from its exec on.
  attributes.disabled = 1;
  attributes.inherit = 1;
  attributes.enable_on_exec = 1;
  // A buffer that is inherited must belong to one CPU.
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  for (long cpu = 0; cpu < cpus; ++cpu) {
    UniqueFd fd(static_cast<int>(
        ::syscall(SYS_perf_event_open, &attributes, 0, static_cast<int>(cpu), -1, PERF_FLAG_FD_CLOEXEC)));
    if (!fd) {
      if (errno == ENODEV) continue;  // an offline CPU
      error = errno;
      return false;
    }
    try {
      PerfBuffer events(fd.get(), kUserPerfBufferBytes);
      buffers_.push_back({std::move(fd), std::move(events)});
    } catch (const int refusal) {
      error = refusal;
      return false;
    }
  }
  return !buffers_.empty();
}

void PerfSampler::read(std::vector<PerfEvent>& events) {
  for (Buffer& buffer : buffers_) {
    buffer.events.read(
        [&](const perf_event_header& header, PerfRecordReader reader) { parse(header, reader, events); });
  }
}

void PerfSampler::parse(const perf_event_header& header, PerfRecordReader reader, std::vector<PerfEvent>& events) {
  if (reader.left() < 16) return;
  PerfEvent event;
  // What every record but a sample ends with: pid, tid, time.
  PerfRecordReader last = reader;
  last.skip(reader.left() - 16);
  last.take<std::uint64_t>();
  event.time_ns = last.take<std::uint64_t>();
  switch (header.type) {
    case PERF_RECORD_SAMPLE:
      parse_sample(reader, event);
      break;
    case PERF_RECORD_MMAP2:
      event.kind = PerfEvent::Kind::kMap;
      event.pid = reader.take<std::uint32_t>();
      event.tid = reader.take<std::uint32_t>();
      event.begin = reader.take<std::uint64_t>();
      event.end = event.begin + reader.take<std::uint64_t>();
      event.file_offset = reader.take<std::uint64_t>();
      reader.skip(24);  // device, inode, generation
      reader.skip(8);   // protection, flags
      event.name = reader.text();
      break;
    case PERF_RECORD_FORK:
      event.kind = PerfEvent::Kind::kFork;
      event.pid = reader.take<std::uint32_t>();
      event.parent = reader.take<std::uint32_t>();
      event.tid = reader.take<std::uint32_t>();
      if (event.pid == event.parent) return;  // a thread
      break;
    case PERF_RECORD_COMM:
      if ((header.misc & PERF_RECORD_MISC_COMM_EXEC) == 0) return;
      event.kind = PerfEvent::Kind::kExec;
      event.pid = reader.take<std::uint32_t>();
      event.tid = reader.take<std::uint32_t>();
      event.name = reader.text();
      break;
    case PERF_RECORD_LOST:
      reader.take<std::uint64_t>();
      lost_ += reader.take<std::uint64_t>();
      return;
    default:
      return;
  }
  events.push_back(std::move(event));
}

}  // namespace zerotax
