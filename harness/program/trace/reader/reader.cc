#include <cstdio>
#include <exception>
#include <memory>

#include "trace/ctf_trace.h"
#include "zerotax/trace_reader.h"

/// The reader that zerotax_reader_open returns.
struct zerotax_reader {
  explicit zerotax_reader(const char* folder) : trace(folder), events(trace) {}
  zerotax::trace::CtfTrace trace;
  zerotax::trace::CtfEvents events;
  const zerotax::trace::CtfType* type = nullptr;
  std::string process;
  pid_t process_pid = 0;  ///< PID of the process that process_name names
};

namespace {

using zerotax::trace::CtfField;

std::uint32_t kind_of(CtfField::Kind kind) {
  switch (kind) {
    case CtfField::Kind::kUnsigned:
      return ZEROTAX_READER_UNSIGNED;
    case CtfField::Kind::kSigned:
      return ZEROTAX_READER_SIGNED;
    case CtfField::Kind::kFloat:
      return ZEROTAX_READER_FLOAT;
    case CtfField::Kind::kText:
      return ZEROTAX_READER_TEXT;
  }
  return 0;
}

}  // namespace

extern "C" zerotax_reader* zerotax_reader_open(const char* folder, char* problem, std::size_t problem_bytes) {
  try {
    return std::make_unique<zerotax_reader>(folder == nullptr ? "" : folder).release();
  } catch (const std::exception& failure) {
    if (problem != nullptr && problem_bytes > 0) std::snprintf(problem, problem_bytes, "%s", failure.what());
    return nullptr;
  }
}

extern "C" int zerotax_reader_next(zerotax_reader* reader, zerotax_reader_event* event) {
  const zerotax::trace::CtfEvent* next = reader->events.next();
  reader->type = next == nullptr ? nullptr : next->type;
  if (next == nullptr) return 0;
  if (reader->process_pid != next->pid) {
    reader->process = reader->trace.process_of(*next);
    reader->process_pid = next->pid;
  }
  const auto& began = reader->trace.processes()[next->stream->process].metadata;
  const std::int64_t since = next->monotonic_ns - static_cast<std::int64_t>(began.begin_monotonic_ns);
  *event = {next->type->name.c_str(),
            next->type,
            reader->process.c_str(),
            next->pid,
            next->tid,
            next->monotonic_ns,
            static_cast<std::int64_t>(began.begin_realtime_ns) + since,
            next->discarded_before,
            next->bytes,
            next->type->bytes,
            static_cast<std::uint32_t>(next->type->fields.size())};
  return 1;
}

extern "C" int zerotax_reader_describe(const zerotax_reader* reader, std::uint32_t number,
                                       zerotax_reader_field* field) {
  if (reader->type == nullptr || number >= reader->type->fields.size()) return 0;
  const CtfField& found = reader->type->fields[number];
  *field = {found.name.c_str(), kind_of(found.kind), found.bytes, found.count, found.offset, found.array ? 1U : 0U};
  return 1;
}

extern "C" std::uint64_t zerotax_reader_discarded(const zerotax_reader* reader) { return reader->trace.discarded(); }

extern "C" const char* zerotax_reader_problem(const zerotax_reader* reader, std::size_t number) {
  const auto& problems = reader->trace.problems();
  return number < problems.size() ? problems[number].c_str() : nullptr;
}

extern "C" void zerotax_reader_close(zerotax_reader* reader) { std::unique_ptr<zerotax_reader>(reader).reset(); }
