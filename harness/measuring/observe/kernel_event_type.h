#pragma once

#include <zerotax/recorder.h>

#include <deque>
#include <string>
#include <vector>

#include "os/kernel_events.h"

namespace zerotax {

/// A kind of kernel event as a type of event of the recorder: the fields pid and tid, of the thread that it is of, and
/// then those of the tracepoint, each as the kernel's format describes it. A field that would be a second pid or tid is
/// called event_pid or event_tid. Switches are "kernel_switch". Text whose length varies is cut at 64 bytes.
class KernelEventType {
 public:
  explicit KernelEventType(const KernelEventKind& kind);
  KernelEventType(const KernelEventType&) = delete;
  KernelEventType& operator=(const KernelEventType&) = delete;

  /// Records one into the trace that is running. From one thread, in the order of time.
  void record(const KernelEvent& event);

  /// The recorder's description of it.
  [[nodiscard]] const std::vector<zerotax_field>& fields() const { return fields_; }
  /// Fields of the kernel that a trace cannot hold.
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }
  /// The bytes of an event, as `fields` describes them.
  const std::vector<unsigned char>& bytes_of(const KernelEvent& event);

 private:
  enum class Where { kInPlace, kLocated, kLocatedFromEnd };
  struct Source {
    std::size_t field;  ///< of fields_
    Where where;
    TraceEvent::Field from;
  };

  void add(const std::string& name, std::uint32_t kind, std::uint32_t bytes, std::uint32_t count, bool array);
  void add(const std::string& name, const TraceEvent::Field& field);
  template <typename T>
  void put(std::size_t field, T value);
  void put_from(const Source& source, const std::vector<unsigned char>& raw);

  bool is_switch_;
  std::deque<std::string> names_;
  std::vector<zerotax_field> fields_;
  std::vector<Source> sources_;
  std::vector<std::string> left_out_;
  std::vector<unsigned char> bytes_;
  zerotax_type type_{};
};

}  // namespace zerotax
