#include "os/page_allocations.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace zerotax {
namespace {

/// A fork of 8 GiB allocates some 4,100 page tables; an event of it takes 64 bytes.
constexpr std::size_t kBufferBytes = std::size_t{8} << 20;
constexpr const char* kRemedy = "run it as root: tracepoints are root's";

[[noreturn]] void refuse(const char* why) {
  throw MachineError(fmt::format("the kernel's allocations cannot be watched ({})", why), kRemedy);
}

}  // namespace

PageAllocation page_allocation_of(const TraceEvent& event, const unsigned char* raw, std::size_t bytes) {
  // No part of the kernel's interface, but the same from Linux 4.x to 6.18: __GFP_ZERO (include/linux/gfp_types.h), and
  // MIGRATE_MOVABLE, the migratetype of pages of programs and files (include/linux/mmzone.h); page tables have 0.
  constexpr std::uint64_t kGfpZero = 0x100;
  constexpr std::uint64_t kMovable = 1;
  const auto value = [&](const char* field) { return event.value(field, raw, bytes); };
  return {static_cast<unsigned>(value("order")), (value("gfp_flags") & kGfpZero) != 0,
          value("migratetype") == kMovable};
}

PageAllocations::PageAllocations(pid_t tid) {
  const auto event = read_trace_event("kmem/mm_page_alloc");
  if (!event) refuse("no tracepoint kmem:mm_page_alloc");
  event_ = *event;
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_TRACEPOINT;
  attributes.config = event_.id;
  attributes.sample_period = 1;
  attributes.sample_type = PERF_SAMPLE_RAW;
  fd_ = UniqueFd(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!fd_) refuse(std::strerror(errno));
  try {
    buffer_.emplace(fd_.get(), kBufferBytes);
  } catch (const int error) {
    refuse(std::strerror(error));
  }
}

void PageAllocations::stop() { ::ioctl(fd_.get(), PERF_EVENT_IOC_DISABLE, 0); }

void PageAllocations::read(std::vector<PageAllocation>& allocations) {
  buffer_->read([&](const perf_event_header& header, PerfRecordReader reader) {
    if (header.type == PERF_RECORD_LOST) {
      reader.take<std::uint64_t>();
      lost_ += reader.take<std::uint64_t>();
    }
    if (header.type != PERF_RECORD_SAMPLE) return;
    const auto bytes = std::min<std::size_t>(reader.take<std::uint32_t>(), reader.left());
    allocations.push_back(page_allocation_of(event_, reader.at(), bytes));
  });
}

}  // namespace zerotax
