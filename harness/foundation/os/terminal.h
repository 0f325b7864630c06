#pragma once

#include <termios.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace zerotax {

/// Whether the stream is a terminal.
bool is_terminal(std::FILE* stream);

/// Returns the columns of the stream's terminal, or 80 if it is not a terminal, or its width is unknown.
std::size_t terminal_columns(std::FILE* stream);

/// Whether erase_line and erase_lines work: the stream is a terminal, and TERM is not "dumb".
bool can_erase(std::FILE* stream);

/// Moves the cursor to the beginning of its line, and clears the line (ECMA-48: EL).
void erase_line(std::FILE* stream);

/// Moves the cursor up by `lines`, and clears everything below (ECMA-48: CUU, ED).
void erase_lines(std::FILE* stream, std::ptrdiff_t lines);

/// Whether the locale of the environment uses UTF-8. The first variable of LC_ALL, LC_CTYPE and LANG that is set and
/// not empty decides (POSIX, "Internationalization Variables").
bool locale_is_utf8();

/// Whether the stream should have color: it is a terminal, TERM is not "dumb", and NO_COLOR is unset or empty
/// (https://no-color.org).
bool suits_colour(std::FILE* stream);

/// Whether whole screens can be drawn on the stream: it is a terminal, and TERM is not "dumb".
bool suits_screen(std::FILE* stream);

/// Keys that are not characters.
namespace key {
inline constexpr int kNone = -1;
inline constexpr int kEnter = '\n';
inline constexpr int kEscape = 27;
inline constexpr int kErase = 127;
inline constexpr int kUp = 1000;
inline constexpr int kDown = 1001;
/// No key was typed, but the screen must be redrawn, because its size changed, or this process was stopped and
/// continued.
inline constexpr int kRedraw = 1002;
}  // namespace key

/// Blocks signals except while waiting for a key or a timeout, so that no signal interrupts an action or a drawing. At
/// most one object at a time may exist in a process.
class SignalGate {
 public:
  SignalGate();
  ~SignalGate();
  SignalGate(const SignalGate&) = delete;
  SignalGate& operator=(const SignalGate&) = delete;

  /// Waits until CLOCK_MONOTONIC reaches `until_ns`, a signal arrives (poll(2) returns EINTR), or `fd` is readable (-1
  /// for none). Returns true if `fd` is readable.
  bool wait(std::int64_t until_ns, int fd = -1);

 private:
  sigset_t before_{};
};

/// Full-screen display on standard output. Standard input, if it is the same terminal, provides single keys. The
/// previous contents of the terminal return at the end, when Ctrl-Z stops this process, and after any signal that
/// requests an end.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Whether keys can be read.
  [[nodiscard]] bool keys() const { return keys_; }
  [[nodiscard]] std::size_t columns() const;
  [[nodiscard]] std::size_t rows() const;
  /// Draws lines, separated by line breaks, over the previous screen, and clears the rest of the screen.
  void draw(const std::string& lines);
  /// Returns the next key, which is a character or one of `key`. Returns kNone at the time `until_ns`.
  int next_key(std::int64_t until_ns);

 private:
  void enter();
  void leave();
  void stop();
  int decode();

  SignalGate gate_;
  bool keys_ = false;
  termios before_{};
  std::string typed_;
};

/// Opens /dev/null for each closed descriptor from 0 to 2, so that no file of zerotax gets one of these numbers.
/// Standard output is opened read-only, so that printing fails and is reported (as in GNU coreutils). Standard error is
/// opened for writing, because its failure could not be reported. Call this function before any other code opens a
/// file.
void secure_standard_streams();

/// Writes out the buffer of standard output. Returns 0, or the errno of the first write to standard output that failed.
int flush_standard_output();

}  // namespace zerotax
