#include "control.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "format/control_file.h"
#include "lock.h"
#include "process.h"
#include "say.h"
#include "zerotax/recorder.h"

namespace zerotax::recorder {
namespace {

ControlFile* control = nullptr;
char control_path[PATH_MAX];
pthread_t server;

template <std::size_t N>
void copy_text(char (&to)[N], const char* from) {
  std::snprintf(to, N, "%s", from);
}

/// Terminates a text in the file, whose writer is not trusted. Returns nullptr if the text is empty.
template <std::size_t N>
const char* ended(char (&text)[N]) {
  text[N - 1] = '\0';
  return text[0] == '\0' ? nullptr : text;
}

void describe(ControlFile& file) {
  ::pthread_mutex_lock(&process.start_stop_lock);
  const bool triggered = process.triggered.load() != 0;
  const ControlRecording recording = process.on.load() ? ControlRecording::kOn
                                     : triggered       ? ControlRecording::kTriggered
                                                       : ControlRecording::kOff;
  file.recording = static_cast<std::uint32_t>(recording);
  const Settings& settings = process.settings;
  copy_text(file.current.folder, process.folder);
  copy_text(file.current.events, settings.events);
  copy_text(file.current.until, settings.until);
  file.current.buffer_bytes = settings.buffer_bytes;
  file.current.mode = settings.mode;
  file.current.drain = settings.drain;
  file.current.monotonic = counts_tsc(process.clock) ? 0 : 1;
  file.lost = zerotax_trace_lost();
  ::pthread_mutex_unlock(&process.start_stop_lock);
}

ControlResult start_as_wanted(ControlFile& file) {
  static ControlOptions wanted;  // copied, because a client may change the file meanwhile
  wanted = file.wanted;
  zerotax_trace_options options{};
  options.directory = ended(wanted.folder);
  options.events = ended(wanted.events);
  options.until = ended(wanted.until);
  options.buffer_bytes = wanted.buffer_bytes;
  options.mode = wanted.mode;
  options.drain = wanted.drain;
  options.monotonic = wanted.monotonic;
  static char message[sizeof file.message];
  message[0] = '\0';
  say_into(message, sizeof message);
  const int failure = zerotax_trace_start(&options);
  say_into(nullptr, 0);
  copy_text(file.message, message[0] == '\0' && failure != 0 ? std::strerror(failure) : message);
  if (failure == EALREADY) return ControlResult::kAlreadyRecording;
  return failure == 0 ? ControlResult::kDone : ControlResult::kFailed;
}

ControlResult act(ControlFile& file) {
  switch (static_cast<ControlAction>(file.action)) {
    case ControlAction::kStatus:
      return ControlResult::kDone;
    case ControlAction::kStart:
      return start_as_wanted(file);
    case ControlAction::kStop:
      if (!process.on.load() && process.triggered.load() == 0) return ControlResult::kNotRecording;
      zerotax_trace_stop();
      return ControlResult::kDone;
  }
  copy_text(file.message, "the request comes from another version of zerotax");
  return ControlResult::kFailed;
}

void* serve(void* /*nothing*/) {
  ControlFile& file = *control;
  for (;;) {
    std::uint32_t state = state_of(file).load();
    if (state == state_word(ControlState::kClosed)) return nullptr;
    if (state != state_word(ControlState::kRequested)) {
      wait_while(file, state, nullptr);
      continue;
    }
    // The client may withdraw the request at this moment.
    if (!state_of(file).compare_exchange_strong(state, state_word(ControlState::kTaken))) continue;
    file.message[0] = '\0';
    file.result = static_cast<std::uint32_t>(act(file));
    describe(file);
    answers_of(file).fetch_add(1);
    std::uint32_t taken = state_word(ControlState::kTaken);
    state_of(file).compare_exchange_strong(taken, state_word(ControlState::kAnswered));
    wake(file);
  }
}

/// Returns the 22nd field of /proc/self/stat, or 0 if it cannot be read.
std::uint64_t read_start_time() {
  char text[1024] = "";
  const int file = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = ::read(file, text, sizeof text - 1);
  ::close(file);
  // The name, in parentheses, may contain any character.
  const char* at = length > 0 ? std::strrchr(text, ')') : nullptr;
  for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
  return at == nullptr ? 0 : std::strtoull(at, nullptr, 10);
}

int make_control_file(const char* folder) {
  if (::mkdir(folder, 0700) != 0 && errno != EEXIST) return errno;
  char* absolute = folder[0] == '/' ? nullptr : ::realpath(".", nullptr);
  const char* base = absolute == nullptr ? "" : absolute;
  const int length = std::snprintf(control_path, sizeof control_path, "%s%s%s/%s%d", base,
                                   absolute == nullptr ? "" : "/", folder, kControlPrefix, ::getpid());
  std::free(absolute);
  if (length >= PATH_MAX) return ENAMETOOLONG;
  ::unlink(control_path);  // a file left by a killed program, or by this process before an exec
  // Any process that may write to the file can name any folder that the program may write to. By default, only
  // processes of the program's own user may write to the file.
  const int file = ::open(control_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return errno;
  int failure = ::posix_fallocate(file, 0, sizeof(ControlFile));
  void* memory = MAP_FAILED;
  if (failure == 0) {
    memory = ::mmap(nullptr, sizeof(ControlFile), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) failure = errno;
  }
  ::close(file);
  if (failure != 0) {
    ::unlink(control_path);
    return failure;
  }
  ::madvise(memory, sizeof(ControlFile), MADV_DONTFORK);
  control = static_cast<ControlFile*>(memory);
  control->bytes = sizeof(ControlFile);
  control->started = read_start_time();
  // The magic is written last, because a client checks it first.
  std::uint64_t magic = 0;
  static_assert(sizeof magic == sizeof control->magic && offsetof(ControlFile, magic) == 0, "one aligned word");
  std::memcpy(&magic, kControlMagic, sizeof magic);
  std::atomic_ref<std::uint64_t>(*static_cast<std::uint64_t*>(memory)).store(magic, std::memory_order_release);
  return 0;
}

void drop_control_file() {
  ::unlink(control_path);
  ::munmap(control, sizeof(ControlFile));
  control = nullptr;
}

}  // namespace

void begin_control() {
  // A program with more rights than its caller must ignore the caller's environment.
  const char* folder = ::secure_getenv(kControlVariable);
  if (folder == nullptr || *folder == '\0' || control != nullptr) return;
  // A forked child must recognize that it is a child, even if nothing has been recorded yet.
  int failure = mark_process();
  if (failure == 0) failure = make_control_file(folder);
  if (failure == 0) {
    const SignalBlock block;  // the new thread inherits this mask, in which all signals are blocked
    failure = ::pthread_create(&server, nullptr, serve, nullptr);
    if (failure == 0) ::pthread_setname_np(server, "zerotax-control");
    if (failure != 0) drop_control_file();
  }
  if (failure != 0) {
    say("this process cannot be controlled by zerotax trace: '%s': %s; name another folder in %s", folder,
        std::strerror(failure), kControlVariable);
  }
}

void end_control() {
  if (!is_marked() || control == nullptr) return;
  // A request that is already being handled is answered first. The count `answers` shows this to the client, even if
  // the client only sees kClosed.
  std::uint32_t state = state_of(*control).load();
  while (state == state_word(ControlState::kTaken) ||
         !state_of(*control).compare_exchange_weak(state, state_word(ControlState::kClosed))) {
    if (state == state_word(ControlState::kTaken)) wait_while(*control, state, nullptr);
    state = state_of(*control).load();
  }
  wake(*control);
  ::pthread_join(server, nullptr);
  drop_control_file();
}

void forget_control() { control = nullptr; }

}  // namespace zerotax::recorder
