#include "types.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "format/packet.h"
#include "process.h"
#include "say.h"
#include "selection.h"

namespace zerotax::recorder {
namespace {

constexpr std::size_t kTextRoom = std::size_t{16} << 20;  // only the written part takes memory
constexpr std::uint64_t kMostTypes = 65535;
constexpr std::size_t kMostFields = 64;

/// The text of one type: all that follows the type's ID.
class Body {
 public:
  void clear() {
    length_ = 0;
    overflow_ = false;
  }
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start
    const int more = std::vsnprintf(text_ + length_, sizeof text_ - length_, format, arguments);
    va_end(arguments);
    length_ += static_cast<std::size_t>(more);
    if (length_ >= sizeof text_) {
      length_ = 0;
      overflow_ = true;
    }
  }
  [[nodiscard]] const char* text() const { return text_; }
  [[nodiscard]] std::size_t length() const { return length_; }
  [[nodiscard]] bool overflow() const { return overflow_; }

 private:
  char text_[16384];
  std::size_t length_ = 0;
  bool overflow_ = false;
};

struct Entry {
  std::uint32_t text = 0;
  std::uint32_t length = 0;
  std::atomic<std::uint32_t> record_bytes{0};
  std::atomic<bool> skipped{false};
  std::atomic<bool> trigger{false};
};

char* text = nullptr;
std::size_t text_bytes = 0;
Entry* entries = nullptr;
std::uint64_t count = 0;

bool make_room() {
  if (text != nullptr) return true;
  void* room = ::mmap(nullptr, kTextRoom + (kMostTypes + 1) * sizeof(Entry), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  text = static_cast<char*>(room);
  entries = reinterpret_cast<Entry*>(text + kTextRoom);
  return true;
}

bool is_made_of(const char* name, const char* characters) {
  return name != nullptr && *name != '\0' && std::strlen(name) < 256 &&
         std::strspn(name, characters) == std::strlen(name);
}

bool is_identifier(const char* name) {
  return is_made_of(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/// A kernel event has the name of its tracepoint: "sched:sched_switch".
bool is_type_name(const char* name) {
  return is_made_of(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:");
}

void judge(Entry& entry, const char* name) {
  const bool trigger = is_listed(process.settings.until, name);
  entry.trigger.store(trigger, std::memory_order_relaxed);
  entry.skipped.store(!trigger && !is_wanted(process.settings.events, name), std::memory_order_relaxed);
}

/// Adds a field. `end` is the end of the previous field. Returns false if the field's name, size or offset cannot be
/// described. The offset must be the next multiple of the field's alignment, at or after `end`.
bool add_field(Body& body, const zerotax_field& field, std::uint32_t& end) {
  const std::uint32_t bytes = field.bytes;
  if (!is_identifier(field.name) || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) || field.count == 0 ||
      field.offset != (end + bytes - 1) / bytes * bytes) {
    return false;
  }
  end = field.offset + bytes * field.count;
  const unsigned bits = bytes * 8;
  // The underscore keeps any name from being a keyword of TSDL. Readers remove the underscore.
  if (field.kind == ZEROTAX_KIND_FLOAT && bytes >= 4) {
    body.add("    floating_point { exp_dig = %d; mant_dig = %d; align = %u; } _%s", bytes == 4 ? 8 : 11,
             bytes == 4 ? 24 : 53, bits, field.name);
  } else if (field.kind == ZEROTAX_KIND_TEXT && field.is_array != 0) {
    body.add("    integer { size = 8; align = 8; signed = false; encoding = UTF8; } _%s", field.name);
  } else if (field.kind == ZEROTAX_KIND_SIGNED || field.kind == ZEROTAX_KIND_UNSIGNED ||
             field.kind == ZEROTAX_KIND_TEXT) {
    body.add("    integer { size = %u; align = %u; signed = %s; } _%s", bits, bits,
             field.kind == ZEROTAX_KIND_UNSIGNED ? "false" : "true", field.name);
  } else {
    return false;
  }
  if (field.is_array != 0) body.add("[%u]", field.count);
  body.add(";\n");
  return true;
}

bool describe(Body& body, const zerotax_type& type) {
  if (!is_type_name(type.name) || type.field_count > kMostFields) return false;
  body.add("  name = \"%s\";\n  stream_id = 0;\n  fields := struct {\n", type.name);
  std::uint32_t end = 0;
  for (std::uint32_t i = 0; i < type.field_count; ++i) {
    if (!add_field(body, type.fields[i], end)) return false;
  }
  body.add("  } align(64);\n};\n");
  return end == type.bytes && !body.overflow();
}

}  // namespace

std::uint64_t add_type(const zerotax_type& type) {
  // Static, because a handler's stack may be small; registry_lock is held.
  static Body body;
  body.clear();
  if (!describe(body, type)) {
    if (first_time(Trouble::kType)) {
      say("the event '%s' cannot be described in a trace: its records are lost; define it with ZEROTAX_EVENT, unpacked",
          is_type_name(type.name) ? type.name : "?");
    }
    return 0;
  }
  if (!make_room()) return 0;
  for (std::uint64_t number = 1; number <= count; ++number) {
    const Entry& entry = entries[number];
    if (entry.length == body.length() && std::memcmp(text + entry.text, body.text(), body.length()) == 0) return number;
  }
  if (count == kMostTypes || text_bytes + body.length() + 64 > kTextRoom) {
    if (first_time(Trouble::kType)) say("there are too many types of events: records of '%s' are lost", type.name);
    return 0;
  }
  Entry& entry = entries[count + 1];
  text_bytes += static_cast<std::size_t>(
      std::snprintf(text + text_bytes, 64, "\nevent {\n  id = %llu;\n", static_cast<unsigned long long>(count) + 1));
  entry.text = static_cast<std::uint32_t>(text_bytes);
  entry.length = static_cast<std::uint32_t>(body.length());
  std::memcpy(text + text_bytes, body.text(), body.length());
  text_bytes += body.length();
  judge(entry, type.name);
  entry.record_bytes.store(static_cast<std::uint32_t>(padded(8 + std::uint64_t{type.bytes})),
                           std::memory_order_release);
  return ++count;
}

std::uint64_t record_bytes(std::uint64_t number) {
  return entries == nullptr || number > kMostTypes ? 0 : entries[number].record_bytes.load(std::memory_order_acquire);
}

bool is_skipped(std::uint64_t number) {
  return entries != nullptr && number <= kMostTypes && entries[number].skipped.load(std::memory_order_relaxed);
}

bool is_trigger(std::uint64_t number) {
  return entries != nullptr && number <= kMostTypes && entries[number].trigger.load(std::memory_order_relaxed);
}

bool judge_types() {
  constexpr const char* kBefore = "  name = \"";  // the beginning of the text that describe() writes
  bool any = false;
  for (std::uint64_t number = 1; number <= count; ++number) {
    Entry& entry = entries[number];
    const char* const begin = text + entry.text + std::strlen(kBefore);
    char name[256] = "";
    std::memcpy(name, begin, std::strcspn(begin, "\""));  // shorter than 256, as is_identifier() ensures
    judge(entry, name);
    any = any || entry.trigger.load(std::memory_order_relaxed);
  }
  return any;
}

const char* types_text() { return text == nullptr ? "" : text; }

std::size_t types_text_bytes() { return text_bytes; }

}  // namespace zerotax::recorder
