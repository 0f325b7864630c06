#include "os/perf_event.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "os/page.h"

namespace zerotax {
namespace {

constexpr unsigned kPerfmon = 38;  // CAP_PERFMON, since Linux 5.8
constexpr const char* kParanoid = "/proc/sys/kernel/perf_event_paranoid";

std::optional<int> paranoid_level() {
  int level = 0;
  return std::ifstream(kParanoid) >> level ? std::optional(level) : std::nullopt;
}

/// Returns a row of /proc/self/status as a number in a base, or 0 if it is missing.
std::uint64_t status_row(const std::string& name, int base) {
  std::ifstream status("/proc/self/status");
  for (std::string row; std::getline(status, row);) {
    if (row.starts_with(name + ":")) return std::strtoull(row.c_str() + name.size() + 1, nullptr, base);
  }
  return 0;
}

/// Whether this process may use perf events without limits. Debian and Ubuntu have levels above 2, at which CAP_PERFMON
/// has no effect.
bool is_privileged(int level) {
  const std::uint64_t capabilities = status_row("CapEff", 16);
  return (capabilities >> CAP_SYS_ADMIN & 1) != 0 || ((capabilities >> kPerfmon & 1) != 0 && level <= 2);
}

constexpr std::uint64_t mask_of_registers() {
  std::uint64_t mask = 0;
  for (const unsigned bit : kRegisterBits) mask |= std::uint64_t{1} << bit;
  return mask;
}
constexpr std::uint64_t kRegisterMask = mask_of_registers();

UniqueFd perf_event_open(perf_event_attr& attributes, int thread, int cpu, unsigned long flags) {
  attributes.size = sizeof attributes;
  return UniqueFd(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, thread, cpu, -1, flags)));
}

}  // namespace

UniqueFd open_perf_event(perf_event_attr& attributes, pid_t thread, int cpu, const PerfScope& scope) {
  const bool in_cgroup = thread == -1 && scope.cgroup >= 0;
  return perf_event_open(attributes, in_cgroup ? scope.cgroup : thread, cpu,
                         PERF_FLAG_FD_CLOEXEC | (in_cgroup ? PERF_FLAG_PID_CGROUP : 0UL));
}

std::optional<PerfTaskRecord> parse_task_record(const perf_event_header& header, PerfRecordReader reader) {
  constexpr std::size_t kTrailerBytes = 24;  // bytes of pid, tid, time, identifier
  if (reader.left() < kTrailerBytes) return {};
  PerfRecordReader last = reader;
  last.skip(reader.left() - kTrailerBytes);
  PerfTaskRecord record;
  record.type = header.type;
  record.misc = header.misc;
  record.pid = last.take<pid_t>();
  record.tid = last.take<pid_t>();
  record.time_ns = last.take<std::uint64_t>();
  record.id = last.take<std::uint64_t>();
  if (header.type == PERF_RECORD_SWITCH) return record;
  record.pid = reader.take<pid_t>();
  if (header.type == PERF_RECORD_FORK || header.type == PERF_RECORD_EXIT) record.parent = reader.take<pid_t>();
  record.tid = reader.take<pid_t>();
  switch (header.type) {
    case PERF_RECORD_MMAP2: {
      record.begin = reader.take<std::uint64_t>();
      record.end = record.begin + reader.take<std::uint64_t>();
      record.file_offset = reader.take<std::uint64_t>();
      const auto major = reader.take<std::uint32_t>();
      record.device = makedev(major, reader.take<std::uint32_t>());
      record.inode = reader.take<std::uint64_t>();
      reader.skip(8);  // inode generation
      record.protection = reader.take<std::uint32_t>();
      record.flags = reader.take<std::uint32_t>();
      record.name = reader.text();
      break;
    }
    case PERF_RECORD_COMM:
      record.name = reader.text();
      break;
    case PERF_RECORD_READ:
      record.value = reader.take<std::uint64_t>();
      break;
    case PERF_RECORD_MMAP:
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      break;
    default:
      return {};
  }
  return record;
}

PerfBuffer::PerfBuffer(int fd, std::size_t bytes) : bytes_(bytes) {
  void* memory = ::mmap(nullptr, page_bytes() + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) throw refused();
  page_ = static_cast<perf_event_mmap_page*>(memory);
}

PerfBuffer::~PerfBuffer() {
  if (page_ != nullptr) ::munmap(page_, page_bytes() + bytes_);
}

void PerfBuffer::copy(void* target, std::uint64_t from, std::size_t bytes) const {
  const auto* data = reinterpret_cast<const unsigned char*>(page_) + page_bytes();
  const std::size_t start = from % bytes_;
  const std::size_t first = std::min(bytes, bytes_ - start);
  std::memcpy(target, data + start, first);
  std::memcpy(static_cast<unsigned char*>(target) + first, data, bytes - first);
}

int perf_denial() {
  perf_event_attr attributes{};
  // A kernel refuses these flags with EINVAL. A sandbox that ignores flags may return a descriptor, so it does not deny
  // the call either.
  return perf_event_open(attributes, 0, -1, ~0UL) || errno == EINVAL ? 0 : errno;
}

std::string why_perf_denied() {
  const int error = perf_denial();
  if (error == 0) return "";
  if (error == ENOSYS && !paranoid_level()) return "this kernel has no perf events";
  constexpr std::uint64_t kFiltered = 2;  // SECCOMP_MODE_FILTER
  return fmt::format("{} denies perf_event_open ({}), whatever kernel.perf_event_paranoid is",
                     status_row("Seccomp", 10) == kFiltered ? "a seccomp filter of this process, as containers have,"
                                                            : "a sandbox between this process and the kernel",
                     std::strerror(error));
}

MachineError perf_refusal(const std::string& what, int error, int paranoid) {
  if (error == EMFILE || error == ENFILE) {
    return {fmt::format("{}: too many files are open ({})", what, std::strerror(error)),
            "raise the limit of open files (ulimit -n)"};
  }
  const std::string denied = why_perf_denied();
  const auto level = paranoid_level();
  if (!denied.empty()) {
    return {fmt::format("{}: {}", what, denied), level ? kPermitPerf : "use a kernel built with CONFIG_PERF_EVENTS"};
  }
  if (error == ENOSYS || error == ENOENT || error == EOPNOTSUPP) {
    return {fmt::format("{}: this kernel has no such event ({})", what, std::strerror(error)),
            "use a kernel built with CONFIG_PERF_EVENTS"};
  }
  const std::string refused = fmt::format("{} ({})", what, std::strerror(error));
  if (error != EACCES && error != EPERM) return {refused, "see `zerotax doctor`"};
  const bool privileged = is_privileged(level.value_or(0));
  if (!privileged && paranoid < 0) return {refused + ": only root may", "run zerotax as root"};
  if (!privileged && level && *level > paranoid) {
    return {fmt::format("{}: kernel.perf_event_paranoid is {}", refused, *level),
            fmt::format("run zerotax as root, or have root run: sysctl kernel.perf_event_paranoid={}", paranoid)};
  }
  return {fmt::format("{}: kernel.perf_event_paranoid permits the call, so a security module denies it, or the process "
                      "belongs to another user",
                      refused),
          "run zerotax as root, outside of any container"};
}

std::uint64_t user_register_mask() { return kRegisterMask; }

bool take_user_stack(PerfRecordReader& reader, UserStack& to) {
  if (reader.take<std::uint64_t>() == PERF_SAMPLE_REGS_ABI_NONE) return false;
  std::uint64_t by_bit[64]{};
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((kRegisterMask >> bit & 1) != 0) by_bit[bit] = reader.take<std::uint64_t>();
  }
  for (std::size_t i = 0; i < std::size(kRegisterBits); ++i) to.registers[i] = by_bit[kRegisterBits[i]];
  const auto room = reader.take<std::uint64_t>();
  const unsigned char* stack = reader.at();
  reader.skip(room);
  const auto used = room > 0 ? reader.take<std::uint64_t>() : 0;
  if (used <= room) to.stack.assign(stack, stack + used);
  return true;
}

CycleCounter::CycleCounter() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_CPU_CYCLES;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  fd_ = open_perf_event(attributes, 0, -1);
  if (fd_) return;
  const bool denied = errno == EACCES || errno == EPERM;
  reason_ = perf_denial() != 0 ? "a seccomp filter or sandbox, as containers have, denies perf_event_open"
            : denied ? "counting cycles of the kernel is not permitted (kernel.perf_event_paranoid must be 1 or less)"
                     : "this machine has no hardware counter of cycles (a virtual machine without a PMU has none)";
}

std::optional<std::int64_t> CycleCounter::read() const {
  std::uint64_t values[3]{};  // count, time enabled, time running
  if (!fd_ || ::read(fd_.get(), &values[0], sizeof values) != sizeof values || values[1] != values[2]) return {};
  return static_cast<std::int64_t>(values[0]);
}

}  // namespace zerotax
