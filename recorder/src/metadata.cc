#include "metadata.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "format/packet.h"
#include "process.h"
#include "say.h"
#include "types.h"

namespace zerotax::recorder {
namespace {

/// Reads the rest of a file without its line end, limited to bytes that may appear in a quoted TSDL string.
void read_line(const char* path, char* text, std::size_t room) {
  std::memset(text, 0, room);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const ssize_t length = ::read(file, text, room - 1);
  ::close(file);
  text[std::max<ssize_t>(length, 0)] = '\0';
  text[std::strcspn(text, "\n")] = '\0';
  for (char* c = text; *c != '\0'; ++c) {
    if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\') *c = '?';
  }
}

void format_uuid(const std::uint8_t* uuid, char* text) {
  for (int i = 0; i < 16; ++i) {
    text += std::sprintf(text, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
  }
}

constexpr const char* kHead = R"(/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 32; signed = false; } := uint32_t;
typealias integer { size = 64; align = 64; signed = false; } := uint64_t;

trace {
  major = 1;
  minor = 8;
  uuid = "%s";
  byte_order = le;
  packet.header := struct {
    uint32_t magic;
    uint8_t uuid[16];
    uint32_t stream_id;
  };
};

env {
  hostname = "%s";
  tracer_name = "zerotax-recorder";
  procname = "%s";
  vpid = %d;
  mode = "%s";
  records_without_stream = %20llu;
  clock_source = "%s";
  calibration_begin_ticks = %20llu;
  calibration_begin_monotonic_ns = %20llu;
  calibration_begin_realtime_ns = %20llu;
  calibration_end_ticks = %20llu;
  calibration_end_monotonic_ns = %20llu;
};

clock {
  name = "zerotax";
  uuid = "%s";
  description = "%s";
  freq = %20llu;
  offset_s = %20lld;
  offset = %20llu;
  absolute = true;
};

typealias integer { size = 64; align = 64; signed = false; map = clock.zerotax.value; } := uint64_clock_t;
typealias integer { size = 48; align = 64; signed = false; map = clock.zerotax.value; } := uint48_clock_t;

stream {
  id = 0;
  packet.context := struct {
    uint64_clock_t timestamp_begin;
    uint64_clock_t timestamp_end;
    uint64_t content_size;
    uint64_t packet_size;
    uint64_t packet_seq_num;
    uint64_t events_discarded;
    uint32_t pid;
    uint32_t tid;
  };
  event.header := struct {
    uint48_clock_t timestamp;
    integer { size = 16; align = 16; signed = false; } id;
  } align(64);
};
)";

int write_all(int file, const char* text, std::size_t length) {
  while (length > 0) {
    const ssize_t written = ::write(file, text, length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text += written;
    length -= static_cast<std::size_t>(written);
  }
  return 0;
}

/// Names in the header. The names are read when the process begins its trace, so that the header keeps its length.
struct Names {
  char uuid[40];
  char boot[64];
  char host[256];
  char program[64];
} names;

void read_names() {
  format_uuid(process.uuid, names.uuid);
  // Processes of one boot share the same clock.
  read_line("/proc/sys/kernel/random/boot_id", names.boot, sizeof names.boot);
  if (std::strlen(names.boot) != 36) std::memcpy(names.boot, names.uuid, sizeof names.uuid);
  read_line("/proc/sys/kernel/hostname", names.host, sizeof names.host);
  read_line("/proc/self/comm", names.program, sizeof names.program);
}

/// Formats the header. The length is constant within a trace, because the header is overwritten in place.
int format_head(char* text, std::size_t room) {
  const Clock& clock = process.clock;
  std::int64_t seconds = 0;
  std::uint64_t ticks = 0;
  unix_offset(clock, seconds, ticks);
  const auto wide = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  return std::snprintf(text, room, kHead, names.uuid, names.host, names.program, ::getpid(),
                       process.settings.mode == ZEROTAX_TRACE_OVERWRITE ? "overwrite" : "lost",
                       wide(process.lost.load() + process.untold.load()), clock.tsc ? "tsc" : "monotonic",
                       wide(clock.begin.ticks), wide(clock.begin.monotonic_ns), wide(clock.begin.realtime_ns),
                       wide(clock.end.ticks), wide(clock.end.monotonic_ns), names.boot,
                       clock.tsc ? "time stamp counter, calibrated against CLOCK_MONOTONIC" : "CLOCK_MONOTONIC",
                       wide(frequency(clock)), static_cast<long long>(seconds), wide(ticks));
}

/// Writes text into the metadata with one system call, so that the file is complete at any moment. Reports any error.
int write_into(int flags, const char* text, std::size_t length) {
  static char path[PATH_MAX];  // static, because a handler's stack may be small; registry_lock is held
  std::snprintf(path, sizeof path, "%.4000s/metadata", process.folder);
  const int file = ::open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
  int failure = file < 0 ? errno : 0;
  if (failure == 0) failure = write_all(file, text, length);
  if (file >= 0) ::close(file);
  if (failure != 0 && first_time(Trouble::kMetadata)) {
    say("'%s' cannot be written: %s; the trace lacks everything after this error", path, std::strerror(failure));
  }
  return failure;
}

int write_head(int flags) {
  static char head[4096];  // static, because a handler's stack may be small
  return write_into(flags, head, static_cast<std::size_t>(format_head(head, sizeof head)));
}

}  // namespace

int begin_metadata() {
  read_names();
  const int failure = write_head(O_CREAT | O_EXCL);
  return failure != 0 || types_text_bytes() == 0 ? failure : write_into(O_APPEND, types_text(), types_text_bytes());
}

int update_metadata() { return write_head(0); }

std::uint64_t register_type(zerotax_type& type) {
  if (const std::uint64_t known = __atomic_load_n(&type.word, __ATOMIC_ACQUIRE); known != 0) return known;
  const std::size_t before = types_text_bytes();
  const std::uint64_t number = add_type(type);
  if (number == 0) return 0;
  if (const std::size_t more = types_text_bytes() - before; more != 0 && process.folder[0] != '\0') {
    write_into(O_APPEND, types_text() + before, more);
  }
  const std::uint64_t word = number << kTickBits;
  if (!is_trigger(number)) __atomic_store_n(&type.word, word, __ATOMIC_RELEASE);
  return word;
}

}  // namespace zerotax::recorder
