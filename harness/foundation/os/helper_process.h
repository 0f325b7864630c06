#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/unique_fd.h"

namespace zerotax {

/// A message between two processes: a sequence of numbers and texts.
class MessageWriter {
 public:
  MessageWriter& number(std::uint64_t value);
  MessageWriter& text(std::string_view value);
  /// Appends all parts of another message.
  MessageWriter& all(const MessageWriter& other);
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads the parts of a message. After the first missing part, all numbers are 0 and all texts are empty.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}
  /// Reads an answer. If there is no answer, all parts are missing.
  explicit MessageReader(const std::optional<std::string>& answer)
      : rest_(answer ? std::string_view(*answer) : std::string_view()) {}

  std::uint64_t number();
  std::string_view text();
  /// The number of parts that follow, each of at least `each` bytes. The number never exceeds what the message can
  /// hold.
  std::size_t count(std::size_t each);
  /// Whether no part was missing so far.
  [[nodiscard]] bool intact() const { return intact_; }

 private:
  std::string_view rest_;
  bool intact_ = true;
};

/// One end of a pair of connected sockets that preserve message boundaries (SOCK_SEQPACKET).
class MessageSocket {
 public:
  /// Maximum size of a message that is sent or received: the kernel's default buffer holds 208 KiB.
  static constexpr std::size_t kMostBytes = std::size_t{192} * 1024;

  MessageSocket() = default;
  explicit MessageSocket(UniqueFd fd) : fd_(std::move(fd)) {}

  /// Sends a message, with a descriptor unless that is -1. Returns whether the kernel accepted the message.
  bool send(std::string_view bytes, int descriptor = -1);
  /// The next message, which is valid until the next call. Nothing if the other end is closed, or the message is too
  /// long. `descriptor` receives the descriptor that came with the message; if it is nullptr, the kernel closes that
  /// descriptor.
  std::optional<std::string_view> receive(UniqueFd* descriptor);
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  std::vector<char> buffer_;
};

/// A program of ours that serves the one that started it, and never outlives it. It is started with an empty
/// environment and no descriptor but its standard ones, so that nothing that is preloaded or configured here reaches
/// it; it must end when its standard input ends. Allocates nothing. Not for several threads.
class HelperProcess {
 public:
  HelperProcess() = default;
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;
  ~HelperProcess() { stop(); }

  /// Starts `program` with one argument, and reads its greeting: text up to an empty line, on its standard output,
  /// within ten seconds. Returns nullptr, or why it failed. Its standard error is ours.
  const char* start(const char* program, const char* argument);
  /// Ends it and waits for its end; without effect if it does not run.
  void stop();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// What it said, with a terminating zero.
  [[nodiscard]] const char* greeting() const { return &greeting_[0]; }

  /// Called by the helper itself, first thing: it is killed when the thread that started it ends, however that
  /// happens, and ends when its standard input does.
  static void end_with_parent();

 private:
  const char* read_greeting(int fd);

  pid_t pid_ = -1;
  UniqueFd lifeline_;  ///< its standard input
  char greeting_[4096] = {};
};

/// Writes the path of a file that is given relative to the folder of this program. False if the path does not fit.
bool path_beside_this_program(const char* name, char* path, std::size_t bytes);

}  // namespace zerotax
