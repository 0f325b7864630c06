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
  /// Reads the number of parts that follow, each of at least `each` bytes. Returns at most the number of parts that fit
  /// in the rest of the message.
  std::size_t count(std::size_t each);
  /// Whether no part has been missing so far.
  [[nodiscard]] bool intact() const { return intact_; }

 private:
  std::string_view rest_;
  bool intact_ = true;
};

/// One end of a pair of connected sockets that preserve message boundaries (SOCK_SEQPACKET).
class MessageSocket {
 public:
  /// Maximum size of a sent or received message. The kernel's default buffer holds 208 KiB.
  static constexpr std::size_t kMostBytes = std::size_t{192} * 1024;

  MessageSocket() = default;
  explicit MessageSocket(UniqueFd fd) : fd_(std::move(fd)) {}

  /// Sends a message, together with `descriptor` unless it is -1. Returns whether the kernel accepted the message.
  bool send(std::string_view bytes, int descriptor = -1);
  /// Receives the next message, which is valid until the next call. Returns nothing if the other end is closed, or the
  /// message is too long. `descriptor` receives the descriptor that came with the message. If `descriptor` is nullptr,
  /// the kernel closes the descriptor that came with the message.
  std::optional<std::string_view> receive(UniqueFd* descriptor);
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  std::vector<char> buffer_;
};

/// A program of zerotax that serves this process and never outlives it. The program starts with an empty environment
/// and only its standard descriptors, so that nothing preloaded or configured here affects the program. The program
/// must end when its standard input ends. Allocates nothing. Not thread-safe.
class HelperProcess {
 public:
  HelperProcess() = default;
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;
  ~HelperProcess() { stop(); }

  /// Starts `program` with one argument, and reads its greeting within ten seconds. The greeting is text on its
  /// standard output, up to an empty line. Returns nullptr, or the reason for a failure. The program writes to our
  /// standard error.
  const char* start(const char* program, const char* argument);
  /// Ends the program and waits for its end. Has no effect if the program does not run.
  void stop();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Returns the greeting, terminated by a zero byte.
  [[nodiscard]] const char* greeting() const { return &greeting_[0]; }

  /// Makes the calling helper end with its parent. A helper calls this function before anything else. The helper is
  /// killed when the thread that started it ends, for whatever reason. The helper also ends when its standard input
  /// ends.
  static void end_with_parent();

 private:
  const char* read_greeting(int fd);

  pid_t pid_ = -1;
  UniqueFd lifeline_;  ///< the program's standard input
  char greeting_[4096] = {};
};

/// Writes the path of a file whose name is relative to the folder of this program. Returns false if the path does not
/// fit.
bool path_beside_this_program(const char* name, char* path, std::size_t bytes);

}  // namespace zerotax
