#include "settings.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "say.h"
#include "selection.h"

namespace zerotax::recorder {
namespace {

constexpr std::size_t kLeastBuffer = std::size_t{64} << 10;
constexpr std::size_t kMostBuffer = std::size_t{4} << 30;

int wrong(const char* name, const char* value, const char* remedy) {
  say("%s is '%s': %s", name, value, remedy);
  return EINVAL;
}

/// Stores the index of the word that the variable contains. Stores nothing if the variable is not set.
int read_word(const char* name, const char* const* words, int count, int& chosen) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return 0;
  char all[64] = "";
  for (int i = 0; i < count; ++i) {
    if (std::strcmp(value, words[i]) == 0) {
      chosen = i + 1;
      return 0;
    }
    std::snprintf(all + std::strlen(all), sizeof all - std::strlen(all), "%s%s", i == 0 ? "give " : " or ", words[i]);
  }
  return wrong(name, value, all);
}

/// Reads a size such as "4194304", "64KiB", "8MiB" or "1GiB".
int read_bytes(const char* name, std::size_t& bytes) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return 0;
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = std::strtoull(value, &end, 10);
  constexpr struct {
    const char* name;
    unsigned shift;
  } kUnits[] = {{"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
  for (const auto& unit : kUnits) {
    if (end == value || *value == '-' || errno != 0 || std::strcmp(end, unit.name) != 0) continue;
    if (number > kMostBuffer >> unit.shift) break;
    bytes = static_cast<std::size_t>(number) << unit.shift;
    return 0;
  }
  return wrong(name, value, "give bytes, or a number with KiB, MiB or GiB, from 64KiB to 4GiB");
}

/// Reads a list of event names from the option if it is set, otherwise from the variable.
int read_names(const char* name, const char* option, char* names, std::size_t room) {
  const char* value = option != nullptr ? option : std::getenv(name);
  if (value == nullptr) return 0;
  if (!is_name_list(value))
    return wrong(name, value, "give names of events, separated by commas; * and ? are wildcards");
  if (std::strlen(value) >= room) return wrong(name, "a long list", "give a shorter one");
  std::memcpy(names, value, std::strlen(value) + 1);
  return 0;
}

/// Applies the defaults that `until` implies for mode and drain.
void keep_what_preceded(Settings& settings, bool mode_given, bool drain_given) {
  if (settings.until[0] == '\0') return;
  if (!mode_given) settings.mode = ZEROTAX_TRACE_OVERWRITE;
  if (!drain_given) settings.drain = ZEROTAX_TRACE_DRAIN_OFF;
}

}  // namespace

int read_settings(const zerotax_trace_options* options, Settings& settings) {
  static const char* const kModes[] = {"lost", "overwrite"};
  static const char* const kDrains[] = {"thread", "self", "off"};
  static const char* const kClocks[] = {"tsc", "monotonic"};
  int clock = 0;
  int mode = 0;
  int drain = 0;
  if (read_word("ZEROTAX_TRACE_MODE", kModes, 2, mode) != 0 ||
      read_word("ZEROTAX_TRACE_DRAIN", kDrains, 3, drain) != 0 ||
      read_word("ZEROTAX_TRACE_CLOCK", kClocks, 2, clock) != 0 ||
      read_bytes("ZEROTAX_TRACE_BUFFER", settings.buffer_bytes) != 0 ||
      read_names("ZEROTAX_TRACE_EVENTS", options == nullptr ? nullptr : options->events, settings.events,
                 sizeof settings.events) != 0 ||
      read_names("ZEROTAX_TRACE_UNTIL", options == nullptr ? nullptr : options->until, settings.until,
                 sizeof settings.until) != 0) {
    return EINVAL;
  }
  settings.monotonic = clock == 2;
  const char* directory = std::getenv("ZEROTAX_TRACE_DIR");
  if (options != nullptr) {
    if (options->directory != nullptr) directory = options->directory;
    if (options->buffer_bytes != 0) settings.buffer_bytes = options->buffer_bytes;
    if (options->mode != 0) mode = options->mode;
    if (options->drain != 0) drain = options->drain;
    if (options->monotonic != 0) settings.monotonic = options->monotonic > 0;
  }
  if (mode != 0) settings.mode = mode;
  if (drain != 0) settings.drain = drain;
  keep_what_preceded(settings, mode != 0, drain != 0);
  if (directory == nullptr || *directory == '\0') {
    say("no folder for the trace is given: set ZEROTAX_TRACE_DIR, or the option directory");
    return EINVAL;
  }
  if (settings.buffer_bytes < kLeastBuffer || settings.buffer_bytes > kMostBuffer || settings.mode < 1 ||
      settings.mode > 2 || settings.drain < 1 || settings.drain > 3) {
    say("an option of zerotax_trace_start is out of range: recorder.h has the ranges");
    return EINVAL;
  }
  // The path is made absolute, because the program may change its working directory. The path must leave room for file
  // names.
  char* absolute = directory[0] == '/' ? nullptr : ::realpath(".", nullptr);
  const int length = absolute == nullptr ? std::snprintf(settings.directory, PATH_MAX, "%s", directory)
                                         : std::snprintf(settings.directory, PATH_MAX, "%s/%s", absolute, directory);
  std::free(absolute);
  return length < PATH_MAX - 128 ? 0 : wrong("ZEROTAX_TRACE_DIR", "a long path", "give a shorter one");
}

void take_over(const Settings& from, Settings& to) {
  std::memcpy(to.directory, from.directory, sizeof to.directory);
  to.buffer_bytes = from.buffer_bytes;
  to.monotonic = from.monotonic;
  std::memcpy(to.until, from.until, sizeof to.until);
  std::memcpy(to.events, from.events, sizeof to.events);
  __atomic_store_n(&to.mode, from.mode, __ATOMIC_RELAXED);
  set_drain(to, from.drain);
}

}  // namespace zerotax::recorder
