#include "observe/kernel_event_type.h"

#include <algorithm>
#include <cstring>

namespace zerotax {
namespace {

constexpr std::uint32_t kMostBytes = 64;
/// What the recorder describes of one type (recorder/src/types.cc).
constexpr std::size_t kMostFields = 64;

bool is_number(std::size_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

}  // namespace

KernelEventType::KernelEventType(const KernelEventKind& kind) : is_switch_(!kind.tracepoint) {
  add("pid", ZEROTAX_KIND_SIGNED, sizeof(pid_t), 1, false);
  add("tid", ZEROTAX_KIND_SIGNED, sizeof(pid_t), 1, false);
  if (is_switch_) {
    add("out", ZEROTAX_KIND_UNSIGNED, 1, 1, false);
    add("preempted", ZEROTAX_KIND_UNSIGNED, 1, 1, false);
  } else {
    // In the kernel's order.
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

/// Behind the last one, aligned to the size of an element, as readers lay it out.
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

/// What lies beyond the end of the data stays 0.
void KernelEventType::put_from(const Source& source, const std::vector<unsigned char>& raw) {
  const zerotax_field& field = fields_[source.field];
  std::size_t at = source.from.offset;
  std::size_t bytes = std::size_t{field.bytes} * field.count;
  if (source.where != Where::kInPlace) {
    // Documentation/trace/ftrace.rst: the offset in the lower 16 bits, the length in the upper ones.
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

}  // namespace zerotax
