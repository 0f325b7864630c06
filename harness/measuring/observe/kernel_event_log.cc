#include "observe/kernel_event_log.h"

#include <fmt/format.h>
#include <zerotax/recorder.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/nearest.h"
#include "os/clock.h"
#include "os/page.h"
#include "os/perf_streams.h"

// Each event begins with the IDs of its process and thread, so that readers can attribute it (trace/ctf_events.cc).
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

constexpr std::uint32_t kMostBytes = 64;
/// Maximum number of fields that the recorder describes for a type (recorder/src/types.cc).
constexpr std::size_t kMostFields = 64;

bool is_number(std::size_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

/// Suggests a known name. The given name may lack the subsystem.
std::string meant(const std::string& name, const std::vector<std::string>& known) {
  const auto ends =
      std::find_if(known.begin(), known.end(), [&](const std::string& each) { return each.ends_with(":" + name); });
  return ends == known.end() ? did_you_mean(name, known) : fmt::format("did you mean {}? ", *ends);
}

template <std::size_t N>
void put_text(char (&field)[N], const std::string& text) {
  std::memcpy(&field[0], text.data(), std::min(text.size(), N));
}

template <typename Event>
void record_at(std::uint64_t time_ns, const Event& event) {
  zerotax_record_at(zerotax_type_of(&event), &event, zerotax_bytes_of(&event), time_ns);
}

}  // namespace

KernelEventType::KernelEventType(const KernelEventKind& kind) : is_switch_(!kind.tracepoint) {
  add("pid", ZEROTAX_KIND_SIGNED, sizeof(pid_t), 1, false);
  add("tid", ZEROTAX_KIND_SIGNED, sizeof(pid_t), 1, false);
  if (is_switch_) {
    add("out", ZEROTAX_KIND_UNSIGNED, 1, 1, false);
    add("preempted", ZEROTAX_KIND_UNSIGNED, 1, 1, false);
  } else {
    // The fields are added in the kernel's order.
    std::vector<std::pair<std::string, TraceEvent::Field>> all(kind.tracepoint->fields.begin(),
                                                               kind.tracepoint->fields.end());
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& one, const auto& other) { return one.second.offset < other.second.offset; });
    for (const auto& [name, field] : all) {
      if (!name.starts_with("common_")) add(name, field);
    }
  }
  const zerotax_field& last = fields_.back();
  bytes_.resize(last.offset + std::size_t{last.bytes} * last.count);
  names_.push_back(is_switch_ ? "kernel_switch" : kind.name);
  type_ = {0, names_.back().c_str(), fields_.data(), static_cast<std::uint32_t>(fields_.size()),
           static_cast<std::uint32_t>(bytes_.size())};
}

/// Adds a field after the last one, aligned to the size of an element, as readers expect.
void KernelEventType::add(const std::string& name, std::uint32_t kind, std::uint32_t bytes, std::uint32_t count,
                          bool array) {
  std::uint32_t offset = 0;
  if (!fields_.empty()) offset = fields_.back().offset + fields_.back().bytes * fields_.back().count;
  names_.push_back(name);
  fields_.push_back({names_.back().c_str(), kind, bytes, count, (offset + bytes - 1) / bytes * bytes, array ? 1U : 0U});
}

void KernelEventType::add(const std::string& name, const TraceEvent::Field& field) {
  const std::string known = name == "pid" || name == "tid" ? "event_" + name : name;
  const bool located = field.type.starts_with("__data_loc ");
  const bool from_end = field.type.starts_with("__rel_loc ");
  const bool is_text = field.type == "char" || field.type.ends_with(" char[]");
  const std::uint32_t number = field.is_signed ? ZEROTAX_KIND_SIGNED : ZEROTAX_KIND_UNSIGNED;
  const auto bytes = static_cast<std::uint32_t>(field.bytes);
  if (fields_.size() == kMostFields || field.bytes == 0 || ((located || from_end) && (!is_text || bytes != 4))) {
    left_out_.push_back(name);
    return;
  }
  if (located || from_end) {
    add(known, ZEROTAX_KIND_TEXT, 1, kMostBytes, true);
  } else if (field.count > 1 && is_text) {
    add(known, ZEROTAX_KIND_TEXT, 1, std::min(bytes, kMostBytes), true);
  } else if (field.count > 1 && is_number(field.bytes / field.count)) {
    const auto each = static_cast<std::uint32_t>(field.bytes / field.count);
    add(known, number, each, std::min(bytes, kMostBytes) / each, true);
  } else if (is_number(field.bytes)) {
    add(known, number, bytes, 1, false);
  } else {
    add(known, ZEROTAX_KIND_UNSIGNED, 1, std::min(bytes, kMostBytes), true);
  }
  sources_.push_back({fields_.size() - 1,
                      located    ? Where::kLocated
                      : from_end ? Where::kLocatedFromEnd
                                 : Where::kInPlace,
                      field});
}

template <typename T>
void KernelEventType::put(std::size_t field, T value) {
  std::memcpy(bytes_.data() + fields_[field].offset, &value, sizeof value);
}

/// Copies a field of an event. Bytes beyond the end of the data stay 0.
void KernelEventType::put_from(const Source& source, const std::vector<unsigned char>& raw) {
  const zerotax_field& field = fields_[source.field];
  std::size_t at = source.from.offset;
  std::size_t bytes = std::size_t{field.bytes} * field.count;
  if (source.where != Where::kInPlace) {
    // The lower 16 bits are the offset, the upper 16 bits the length (Documentation/trace/ftrace.rst).
    std::uint32_t location = 0;
    if (at + sizeof location > raw.size()) return;
    std::memcpy(&location, raw.data() + at, sizeof location);
    bytes = std::min<std::size_t>(bytes, location >> 16);
    at = (location & 0xffff) + (source.where == Where::kLocatedFromEnd ? at + sizeof location : 0);
  }
  if (at < raw.size()) std::memcpy(bytes_.data() + field.offset, raw.data() + at, std::min(bytes, raw.size() - at));
}

const std::vector<unsigned char>& KernelEventType::bytes_of(const KernelEvent& event) {
  std::fill(bytes_.begin(), bytes_.end(), static_cast<unsigned char>(0));
  put(0, event.pid);
  put(1, event.tid);
  if (is_switch_) {
    put<std::uint8_t>(2, event.out ? 1 : 0);
    put<std::uint8_t>(3, event.preempted ? 1 : 0);
  }
  for (const Source& source : sources_) put_from(source, event.raw);
  return bytes_;
}

void KernelEventType::record(const KernelEvent& event) {
  const std::vector<unsigned char>& bytes = bytes_of(event);
  zerotax_record_at(&type_, bytes.data(), bytes.size(), event.time_ns);
}

KernelEventLog::KernelEventLog(const std::vector<KernelEventKind>& kinds) : events_(kinds) {
  for (const KernelEventKind& kind : kinds) types_.push_back(std::make_unique<KernelEventType>(kind));
  thread_ = Worker([this] { work(); });
}

KernelEventLog::~KernelEventLog() {
  done_ = true;
  thread_.wait();
}

void KernelEventLog::finish() {
  done_ = true;
  thread_.join();
}

void KernelEventLog::work() {
  constexpr std::chrono::milliseconds kPause{10};
  std::uint64_t before = 0;
  while (!done_) {
    const auto now = static_cast<std::uint64_t>(monotonic_ns());
    const auto next = std::chrono::steady_clock::now() + kPause;
    events_.read(pending_);
    record_before(before);
    before = now;
    std::this_thread::sleep_until(next);
  }
  events_.read(pending_);
  record_before(UINT64_MAX);
}

void KernelEventLog::record_before(std::uint64_t time_ns) {
  apply_in_order(pending_, time_ns, [&](const KernelEvent& event) { types_[event.kind]->record(event); });
}

KernelEventKind kernel_event_kind(const std::string& name) {
  if (name == kSwitches.name) return {name, std::nullopt};
  const std::size_t colon = name.find(':');
  const bool is_tracepoint = colon != std::string::npos && name.find(':', colon + 1) == std::string::npos &&
                             name.find('/') == std::string::npos;
  if (is_tracepoint) {
    if (const auto found = find_tracepoint(name)) return *found;
  }
  const std::vector<std::string> known = trace_event_names();
  if (known.empty() && is_tracepoint) {
    throw MachineError(fmt::format("the tracepoint {} cannot be read", name),
                       "run zerotax as root, because only root may use tracepoints (zerotax trace events lists the "
                       "permitted events)");
  }
  throw UsageError(fmt::format("unknown event '{}'", name),
                   meant(name, known) + "zerotax trace events lists all events");
}

KernelLog::KernelLog(const std::string& folder) {
  // A trace that the environment requests is meant for the traced program, not for zerotax.
  zerotax_trace_stop();
  zerotax_trace_options options{};
  options.directory = folder.c_str();
  options.buffer_bytes = std::size_t{16} << 20;
  options.monotonic = 1;
  if (const int error = zerotax_trace_start(&options)) {
    throw MachineError(fmt::format("the kernel's events cannot be written into {} ({})", folder, std::strerror(error)),
                       "give another folder with -o, or omit --kernel");
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
    case FaultEvent::Kind::kTable:
    case FaultEvent::Kind::kEnd:
    case FaultEvent::Kind::kFault:
    case FaultEvent::Kind::kStack:
    case FaultEvent::Kind::kMap:
    case FaultEvent::Kind::kForkBegin:
    case FaultEvent::Kind::kForkEnd:
    case FaultEvent::Kind::kName:
    case FaultEvent::Kind::kThreadExit:
      break;
  }
}

}  // namespace zerotax
