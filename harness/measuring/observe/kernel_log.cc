#include "observe/kernel_log.h"

#include <fmt/format.h>
#include <zerotax/recorder.h>

#include <cstring>

#include "base/error.h"
#include "os/page.h"

// The first two fields are whose event it is: a reader takes it for one of that thread (trace/ctf_events.cc).
ZEROTAX_EVENT(kernel_page_fault, (int32_t, pid), (int32_t, tid), (char, kind, 12), (uint64_t, address),
              (uint64_t, instruction), (uint64_t, duration_ns))
ZEROTAX_EVENT(kernel_page_fault_seen, (int32_t, pid), (int32_t, tid), (char, kind, 12), (uint64_t, address),
              (uint64_t, instruction))
ZEROTAX_EVENT(kernel_page_allocation, (int32_t, pid), (int32_t, tid), (uint64_t, bytes), (uint8_t, zeroed))
ZEROTAX_EVENT(kernel_fork, (int32_t, pid), (int32_t, tid), (int32_t, child))
ZEROTAX_EVENT(kernel_exec, (int32_t, pid), (int32_t, tid), (char, name, 16))
ZEROTAX_EVENT(kernel_exit, (int32_t, pid), (int32_t, tid))

namespace zerotax {
namespace {

template <std::size_t N>
void put_text(char (&field)[N], const std::string& text) {
  std::memcpy(&field[0], text.data(), std::min(text.size(), N));
}

template <typename Event>
void record_at(std::uint64_t time_ns, const Event& event) {
  zerotax_record_at(zerotax_type_of(&event), &event, zerotax_bytes_of(&event), time_ns);
}

}  // namespace

KernelLog::KernelLog(const std::string& folder) {
  // One that the environment asked for is of a program that is traced, not of us.
  zerotax_trace_stop();
  zerotax_trace_options options{};
  options.directory = folder.c_str();
  options.buffer_bytes = std::size_t{16} << 20;
  options.monotonic = 1;
  if (const int error = zerotax_trace_start(&options)) {
    throw MachineError(fmt::format("the kernel's events cannot be written into {} ({})", folder, std::strerror(error)),
                       "name another folder with -o, or leave out --kernel");
  }
}

KernelLog::~KernelLog() { zerotax_trace_stop(); }

void KernelLog::add(const Fault& fault, FaultClass kind) {
  if (fault.end_ns <= fault.begin_ns) {
    kernel_page_fault_seen event{fault.pid, fault.tid, {}, fault.address, fault.instruction};
    put_text(event.kind, fault_class_name(kind));
    return record_at(fault.begin_ns, event);
  }
  kernel_page_fault event{fault.pid, fault.tid, {}, fault.address, fault.instruction, fault.end_ns - fault.begin_ns};
  put_text(event.kind, fault_class_name(kind));
  record_at(fault.end_ns, event);
}

void KernelLog::add(const FaultEvent& event) {
  switch (event.kind) {
    case FaultEvent::Kind::kFork:
      return record_at(event.time_ns, kernel_fork{event.parent, event.parent, event.pid});
    case FaultEvent::Kind::kExec: {
      kernel_exec exec{event.pid, event.tid, {}};
      put_text(exec.name, event.name);
      return record_at(event.time_ns, exec);
    }
    case FaultEvent::Kind::kExit:
      return record_at(event.time_ns, kernel_exit{event.pid, event.tid});
    case FaultEvent::Kind::kAllocation: {
      if (!event.movable) return;
      const auto zeroed = static_cast<std::uint8_t>(event.zeroed ? 1 : 0);
      return record_at(event.time_ns, kernel_page_allocation{event.pid, event.tid,
                                                             std::uint64_t{page_bytes()} << event.order, zeroed});
    }
    case FaultEvent::Kind::kBegin:
    case FaultEvent::Kind::kEnd:
    case FaultEvent::Kind::kFault:
    case FaultEvent::Kind::kStack:
    case FaultEvent::Kind::kMap:
    case FaultEvent::Kind::kName:
    case FaultEvent::Kind::kThreadExit:
      break;
  }
}

}  // namespace zerotax
