/* The library libzerotax-trace: reads traces of the zerotax recorder, including those that a crash left incomplete.
 *
 *   for (const auto& event : zerotax::TraceReader("trace"))            // C++20
 *     if (event.type() == "request_done") total += event.integer("bytes");
 *
 * In C: zerotax_reader_open, zerotax_reader_next, zerotax_reader_describe, zerotax_reader_close. In Python:
 * zerotax_trace.
 */
#ifndef ZEROTAX_TRACE_READER_H
#define ZEROTAX_TRACE_READER_H

// NOLINTBEGIN(modernize-deprecated-headers): C includes this, too
#include <stddef.h>
#include <stdint.h>
// NOLINTEND(modernize-deprecated-headers)

#ifdef __cplusplus
extern "C" {
#endif

#define ZEROTAX_READER_PUBLIC_ __attribute__((visibility("default")))

struct zerotax_reader;

/* An event, in the order of time over all processes and threads. `type` and `layout` are valid until the reader is
 * closed, all other pointers until the next event is read. */
struct zerotax_reader_event {
  const char* type;    /* name of the type, as defined */
  const void* layout;  /* the same pointer for all events with the same layout of fields */
  const char* process; /* short name of the process, or its PID if that process recorded no event itself */
  int32_t pid;         /* process that recorded the event; for a kernel event, process that caused it */
  int32_t tid;
  int64_t monotonic_ns;      /* CLOCK_MONOTONIC */
  int64_t realtime_ns;       /* CLOCK_REALTIME; later changes of that clock during the process have no effect */
  uint64_t discarded_before; /* number of records of the thread that were discarded since its previous event */
  const void* data;          /* the fields, each at its offset */
  uint32_t data_bytes;
  uint32_t field_count;
};

enum zerotax_reader_kind {
  ZEROTAX_READER_UNSIGNED = 1,
  ZEROTAX_READER_SIGNED = 2,
  ZEROTAX_READER_FLOAT = 3,
  ZEROTAX_READER_TEXT = 4, /* text, which ends at its first 0 or after its count of bytes */
};

/* A field of an event. */
struct zerotax_reader_field {
  const char* name;
  uint32_t kind;
  uint32_t bytes;  /* size of an element: 1, 2, 4 or 8 */
  uint32_t count;  /* number of elements */
  uint32_t offset; /* offset in the event's data */
  uint32_t is_array;
};

/* Opens a trace: the folder that ZEROTAX_TRACE_DIR named, or one process's folder in it. Returns NULL if the folder has
 * no trace, and writes the reason into `problem`, which has `problem_bytes` bytes and may be NULL. */
ZEROTAX_READER_PUBLIC_ struct zerotax_reader* zerotax_reader_open(const char* folder, char* problem,
                                                                  size_t problem_bytes);

/* Reads the next event. Returns 1, or 0 at the end. */
ZEROTAX_READER_PUBLIC_ int zerotax_reader_next(struct zerotax_reader* reader, struct zerotax_reader_event* event);

/* Describes a field of the event that was read last. Returns 1, or 0 if the event has no field of this number. */
ZEROTAX_READER_PUBLIC_ int zerotax_reader_describe(const struct zerotax_reader* reader, uint32_t number,
                                                   struct zerotax_reader_field* field);

/* Returns the number of discarded records of all threads. */
ZEROTAX_READER_PUBLIC_ uint64_t zerotax_reader_discarded(const struct zerotax_reader* reader);

/* Returns a line about a part of the trace that could not be read, or NULL after the last line. All lines are known
   once the last event has been read. */
ZEROTAX_READER_PUBLIC_ const char* zerotax_reader_problem(const struct zerotax_reader* reader, size_t number);

ZEROTAX_READER_PUBLIC_ void zerotax_reader_close(struct zerotax_reader* reader);

#ifdef __cplusplus
}

#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace zerotax {

/// The events of a trace, as a range that can be iterated only once. Throws std::runtime_error if there is no trace.
class TraceReader {
 public:
  class Event {
   public:
    [[nodiscard]] std::string_view type() const { return event_.type; }
    [[nodiscard]] std::string_view process() const { return event_.process; }
    [[nodiscard]] int pid() const { return event_.pid; }
    [[nodiscard]] int tid() const { return event_.tid; }
    [[nodiscard]] std::int64_t monotonic_ns() const { return event_.monotonic_ns; }
    [[nodiscard]] std::int64_t realtime_ns() const { return event_.realtime_ns; }
    [[nodiscard]] std::uint64_t discarded_before() const { return event_.discarded_before; }
    [[nodiscard]] std::vector<zerotax_reader_field> fields() const {
      std::vector<zerotax_reader_field> all(event_.field_count);
      for (std::uint32_t i = 0; i < event_.field_count; ++i) zerotax_reader_describe(reader_, i, &all[i]);
      return all;
    }
    [[nodiscard]] bool has(std::string_view field) const { return find(field).has_value(); }
    /// Returns the value of an integer field, or of one element of an integer array. An unsigned value of 8 bytes is
    /// returned as the signed number with the same bits. Throws std::out_of_range if the event has no such integer.
    [[nodiscard]] std::int64_t integer(std::string_view field, std::size_t element = 0) const {
      const zerotax_reader_field found = number(field, element);
      std::uint64_t value = 0;
      std::memcpy(&value, at(found, element), found.bytes);
      const unsigned unused = 64 - found.bytes * 8;
      if (found.kind != ZEROTAX_READER_SIGNED || unused == 0) return static_cast<std::int64_t>(value);
      return static_cast<std::int64_t>(value << unused) >> unused;
    }
    /// Returns the value of an integer or floating-point field as a double. Throws std::out_of_range if the event has
    /// no such number.
    [[nodiscard]] double real(std::string_view field, std::size_t element = 0) const {
      const zerotax_reader_field found = number(field, element);
      if (found.kind == ZEROTAX_READER_UNSIGNED)
        return static_cast<double>(static_cast<std::uint64_t>(integer(field, element)));
      if (found.kind != ZEROTAX_READER_FLOAT) return static_cast<double>(integer(field, element));
      if (found.bytes == sizeof(float)) {
        float value = 0;
        std::memcpy(&value, at(found, element), sizeof value);
        return static_cast<double>(value);
      }
      double value = 0;
      std::memcpy(&value, at(found, element), sizeof value);
      return value;
    }
    /// Returns a text up to its first 0. Throws std::out_of_range if the event has no such text.
    [[nodiscard]] std::string_view text(std::string_view field) const {
      const auto found = find(field);
      if (!found || found->kind != ZEROTAX_READER_TEXT) throw std::out_of_range(std::string(field) + " is no text");
      const char* begin = at(*found, 0);
      return {begin, ::strnlen(begin, found->count)};
    }

   private:
    friend class TraceReader;
    [[nodiscard]] std::optional<zerotax_reader_field> find(std::string_view name) const {
      zerotax_reader_field field{};
      for (std::uint32_t i = 0; zerotax_reader_describe(reader_, i, &field) != 0; ++i) {
        if (name == field.name) return field;
      }
      return std::nullopt;
    }
    [[nodiscard]] zerotax_reader_field number(std::string_view name, std::size_t element) const {
      const auto found = find(name);
      if (!found || found->kind == ZEROTAX_READER_TEXT || element >= found->count) {
        throw std::out_of_range(std::string(name) + " is no such number");
      }
      return *found;
    }
    [[nodiscard]] const char* at(const zerotax_reader_field& field, std::size_t element) const {
      return static_cast<const char*>(event_.data) + field.offset + element * field.bytes;
    }
    zerotax_reader* reader_ = nullptr;
    zerotax_reader_event event_{};
  };

  class Iterator {
   public:
    explicit Iterator(TraceReader& reader) : reader_(reader) { ++*this; }
    const Event& operator*() const { return reader_.event_; }
    Iterator& operator++() {
      at_end_ = zerotax_reader_next(reader_.reader_.get(), &reader_.event_.event_) == 0;
      return *this;
    }
    bool operator==(std::default_sentinel_t /*end*/) const { return at_end_; }

   private:
    TraceReader& reader_;
    bool at_end_ = false;
  };

  explicit TraceReader(const std::string& folder) {
    char problem[1024] = "";
    reader_.reset(zerotax_reader_open(folder.c_str(), &problem[0], sizeof problem));
    if (!reader_) throw std::runtime_error(&problem[0]);
    event_.reader_ = reader_.get();
  }

  [[nodiscard]] Iterator begin() { return Iterator(*this); }
  [[nodiscard]] static std::default_sentinel_t end() { return {}; }
  [[nodiscard]] std::uint64_t discarded() const { return zerotax_reader_discarded(reader_.get()); }
  /// Returns a line for each part of the trace that could not be read. All lines are known once the last event has been
  /// read.
  [[nodiscard]] std::vector<std::string> problems() const {
    std::vector<std::string> all;
    while (const char* problem = zerotax_reader_problem(reader_.get(), all.size())) all.emplace_back(problem);
    return all;
  }

 private:
  struct Close {
    void operator()(zerotax_reader* reader) const { zerotax_reader_close(reader); }
  };
  std::unique_ptr<zerotax_reader, Close> reader_;
  Event event_;
};

}  // namespace zerotax
#endif

#endif
