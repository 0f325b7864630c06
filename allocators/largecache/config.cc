#include "largecache/config.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "largecache/adaptive/pressure.h"
#include "largecache/message.h"
#include "largecache/ring.h"

namespace zerotax::largecache {
namespace {

struct Knob {
  const char* name;
  std::size_t Settings::*field;
  bool is_size;  // whether the value may have a suffix
  std::size_t least;
  std::size_t most;
};

// Largest accepted size. A difference of pointers can express it. glibc refuses larger requests, too.
constexpr std::size_t kMostBytes = PTRDIFF_MAX;

constexpr Knob kKnobs[] = {
    {"LARGECACHE_THRESHOLD", &Settings::threshold, true, 4096, kMostBytes},
    {"LARGECACHE_ENTRIES", &Settings::entries, false, 0, Ring::kMaxEntries},
    {"LARGECACHE_ENTRY_LIMIT", &Settings::entry_limit, true, 0, kMostBytes},
    {"LARGECACHE_RESERVE", &Settings::reserve_limit, true, 0, kMostBytes},
    {"LARGECACHE_MEMORY", &Settings::memory_limit, true, 0, kMostBytes},
    {"LARGECACHE_POPULATE", &Settings::populate_limit, true, 0, kMostBytes},
    {"LARGECACHE_DECAY_MS", &Settings::decay_ms, false, 0, 3'600'000},
};

struct Suffix {
  std::string_view text;
  unsigned shift;
};
constexpr Suffix kSuffixes[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};

// Parses a value without strtoul, which accepts blanks, signs and a locale's digits, and sets errno.
bool parse(std::string_view text, const Knob& knob, std::size_t& value) {
  unsigned shift = 0;
  for (const Suffix& suffix : kSuffixes) {
    if (knob.is_size && text.ends_with(suffix.text)) {
      shift = suffix.shift;
      text.remove_suffix(suffix.text.size());
      break;
    }
  }
  if (text.empty()) return false;
  std::size_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    if (__builtin_mul_overflow(number, std::size_t{10}, &number)) return false;
    if (__builtin_add_overflow(number, static_cast<std::size_t>(c - '0'), &number)) return false;
  }
  if (__builtin_mul_overflow(number, std::size_t{1} << shift, &number)) return false;
  if (number < knob.least || number > knob.most) return false;
  value = number;
  return true;
}

void complain(const Knob& knob, const char* text, std::size_t kept) {
  Message message;
  message.add_text(knob.name).add_text("=").add_text(text).add_text(" is unusable; give ");
  message.add_text(knob.is_size ? "bytes, or a number with KiB, MiB or GiB, from " : "a number from ");
  message.add_number(knob.least).add_text(" to ").add_number(knob.most);
  message.add_text("; keeping the default, ").add_number(kept).print();
}

void complain_of_policy(const char* name) {
  Message message;
  message.add_text("LARGECACHE_POLICY=").add_text(name).add_text(" is unusable; give ").add_text(kPolicies[0]->name);
  for (const Policy* const* policy = kPolicies + 1; *policy != nullptr; ++policy) {
    message.add_text(policy[1] == nullptr ? " or " : ", ").add_text((*policy)->name);
  }
  message.add_text("; keeping the default, ").add_text(kPolicies[0]->name).print();
}

}  // namespace

Settings read_settings(Lookup lookup, std::size_t physical_memory) {
  Settings settings;
  settings.policy = kPolicies[0];
  if (const char* name = lookup("LARGECACHE_POLICY")) {
    const Policy* const wanted = find_policy(name);
    if (wanted != nullptr) {
      settings.policy = wanted;
    } else {
      complain_of_policy(name);
    }
  }
  settings.policy->set_defaults(settings, physical_memory);
  for (const Knob& knob : kKnobs) {
    const char* text = lookup(knob.name);
    std::size_t& value = settings.*knob.field;
    if (text != nullptr && !parse(text, knob, value)) complain(knob, text, value);
  }
  return settings;
}

bool settings_from_environment(Settings& settings) {
  // The dynamic linker calls malloc before libc's initializer has set environ. getenv finds nothing at that time, and
  // the user's knobs would be lost silently.
  const bool ready = environ != nullptr;
  settings = read_settings(
      ready ? [](const char* name) -> const char* { return std::getenv(name); }
            : [](const char*) -> const char* { return nullptr; },
      physical_memory_bytes());
  if (settings.policy->bounded_by_peak) {
    settings.memory_limit = std::min<std::size_t>(settings.memory_limit, Pressure().group_limit() / 4);
  }
  return ready;
}

std::size_t physical_memory_bytes() {
  // Uses sysinfo(2), because sysconf reads /proc/meminfo through stdio in older C libraries, and stdio allocates.
  struct sysinfo info = {};
  if (sysinfo(&info) != 0) return 0;
  return static_cast<std::size_t>(info.totalram) * info.mem_unit;
}

}  // namespace zerotax::largecache
