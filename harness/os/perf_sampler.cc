#include "os/perf_sampler.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/error.h"
#include "os/page.h"

namespace zerotax {
namespace {

/// What an ordinary user may lock for perf is 516 KiB a CPU (perf_event_mlock_kb).
constexpr std::size_t kBufferBytes = std::size_t{512} << 10;

// Bits of sample_regs_user, from arch/x86/include/uapi/asm/perf_regs.h, in DWARF's order of registers (System V ABI,
// AMD64 supplement, figure 3.36).
constexpr unsigned kRegisterBits[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};

constexpr std::uint64_t register_mask() {
  std::uint64_t mask = 0;
  for (const unsigned bit : kRegisterBits) mask |= std::uint64_t{1} << bit;
  return mask;
}

/// Reads a record's fields one after the other; past its end, zeros.
class Reader {
 public:
  Reader(const unsigned char* data, std::size_t bytes) : at_(data), end_(data + bytes) {}

  template <typename T>
  T take() {
    T value{};
    if (static_cast<std::size_t>(end_ - at_) < sizeof value) {
      at_ = end_;
      return value;
    }
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  const unsigned char* take_bytes(std::size_t bytes) {
    if (static_cast<std::size_t>(end_ - at_) < bytes) bytes = static_cast<std::size_t>(end_ - at_);
    const unsigned char* start = at_;
    at_ += bytes;
    return start;
  }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  std::string take_text() {
    const std::size_t length = ::strnlen(reinterpret_cast<const char*>(at_), left());
    std::string text(reinterpret_cast<const char*>(at_), length);
    take_bytes((length + 8) & ~std::size_t{7});  // padded to 8 with its terminator
    return text;
  }

 private:
  const unsigned char* at_;
  const unsigned char* end_;
};

void parse_sample(Reader reader, PerfEvent& event) {
  reader.take<std::uint64_t>();  // the address: the first of a chain, too
  event.pid = reader.take<std::uint32_t>();
  event.tid = reader.take<std::uint32_t>();
  event.time_ns = reader.take<std::uint64_t>();
  const auto frames = reader.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < frames && reader.left() > 0; ++i) {
    const auto address = reader.take<std::uint64_t>();
    // Marks between the parts of a chain are "negative".
    if (address < static_cast<std::uint64_t>(PERF_CONTEXT_MAX)) event.kernel.push_back(address);
  }
  if (reader.take<std::uint64_t>() == PERF_SAMPLE_REGS_ABI_NONE) return;
  std::uint64_t by_bit[64]{};
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((register_mask() >> bit & 1) != 0) by_bit[bit] = reader.take<std::uint64_t>();
  }
  for (std::size_t i = 0; i < std::size(kRegisterBits); ++i) event.registers[i] = by_bit[kRegisterBits[i]];
  const auto room = reader.take<std::uint64_t>();
  const unsigned char* stack = reader.take_bytes(room);
  const auto used = room > 0 ? reader.take<std::uint64_t>() : 0;
  if (used <= room) event.stack.assign(stack, stack + used);
  event.has_user = true;
}

}  // namespace

PerfSampler::PerfSampler(unsigned hz, std::uint32_t stack_bytes) {
  int error = 0;
  sees_kernel_ = open(hz, stack_bytes, true, error);
  if (sees_kernel_ || open(hz, stack_bytes, false, error)) return;
  close();
  if (error == ENOSYS || error == ENOENT || error == EOPNOTSUPP) {
    throw MachineError("this kernel has no perf events", "use one that is built with CONFIG_PERF_EVENTS");
  }
  throw MachineError(fmt::format("the kernel permits no sampling ({})", std::strerror(error)),
                     "have root run: sysctl kernel.perf_event_paranoid=2 (1 shows the kernel's part, too)");
}

PerfSampler::~PerfSampler() { close(); }

void PerfSampler::close() {
  for (const Buffer& buffer : buffers_) ::munmap(buffer.memory, kPageBytes + kBufferBytes);
  buffers_.clear();
}

bool PerfSampler::open(unsigned hz, std::uint32_t stack_bytes, bool kernel, int& error) {
  close();
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
      if (errno == ENODEV) continue;  // a CPU that is switched off
      error = errno;
      return false;
    }
    void* memory = ::mmap(nullptr, kPageBytes + kBufferBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (memory == MAP_FAILED) {
      error = errno;
      return false;
    }
    buffers_.push_back({std::move(fd), memory});
  }
  return !buffers_.empty();
}

void PerfSampler::read(std::vector<PerfEvent>& events) {
  std::vector<unsigned char> record;
  for (const Buffer& buffer : buffers_) {
    auto* page = static_cast<perf_event_mmap_page*>(buffer.memory);
    const unsigned char* data = static_cast<const unsigned char*>(buffer.memory) + kPageBytes;
    const std::uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    std::uint64_t tail = page->data_tail;
    while (tail < head) {
      const auto copy = [&](void* target, std::uint64_t from, std::size_t bytes) {
        const std::size_t start = from % kBufferBytes;
        const std::size_t first = std::min(bytes, kBufferBytes - start);
        std::memcpy(target, data + start, first);
        std::memcpy(static_cast<unsigned char*>(target) + first, data, bytes - first);
      };
      perf_event_header header{};
      copy(&header, tail, sizeof header);
      if (header.size < sizeof header) break;
      record.resize(header.size);
      copy(record.data(), tail, header.size);
      parse(record.data(), record.size(), events);
      tail += header.size;
    }
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
  }
}

void PerfSampler::parse(const unsigned char* record, std::size_t bytes, std::vector<PerfEvent>& events) {
  perf_event_header header{};
  std::memcpy(&header, record, sizeof header);
  Reader reader(record + sizeof header, bytes - sizeof header);
  PerfEvent event;
  // What every record but a sample ends with: pid, tid, time.
  Reader last(record + bytes - 16, 16);
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
      reader.take_bytes(24);  // device, inode, generation
      reader.take_bytes(8);   // protection, flags
      event.name = reader.take_text();
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
      event.name = reader.take_text();
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
