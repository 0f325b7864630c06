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

/// The columns of the stream's terminal; 80 if it is not a terminal, or its width is unknown.
std::size_t terminal_columns(std::FILE* stream);

/// Whether erase_line and erase_lines work: the stream is a terminal, and TERM does not call it dumb.
bool can_erase(std::FILE* stream);

/// Moves the cursor to the beginning of its line, and clears the line (ECMA-48: EL).
void erase_line(std::FILE* stream);

/// Moves the cursor up by `lines`, and clears everything below (ECMA-48: CUU, ED).
void erase_lines(std::FILE* stream, std::ptrdiff_t lines);

/// Whether the locale of the environment writes UTF-8: the first of LC_ALL, LC_CTYPE and LANG that is set and not empty
/// decides (POSIX, "Internationalization Variables").
bool locale_is_utf8();

/// Whether colour suits the stream: it is a terminal, TERM names one that is not "dumb", and NO_COLOR is unset or empty
/// (https://no-color.org).
bool suits_colour(std::FILE* stream);

/// Whether whole screens can be drawn there: it is a terminal, and TERM names one that is not "dumb".
bool suits_screen(std::FILE* stream);

/// Keys that are not characters.
namespace key {
inline constexpr int kNone = -1;
inline constexpr int kEnter = '\n';
inline constexpr int kEscape = 27;
inline constexpr int kErase = 127;
inline constexpr int kUp = 1000;
inline constexpr int kDown = 1001;
/// Nothing was typed, but the screen must be drawn again: its size changed, or we were stopped meanwhile.
inline constexpr int kRedraw = 1002;
}  // namespace key

/// Signals wait until somebody waits for keys or for time: nothing is half done or half drawn when one is handled. One
/// at a time in a process.
class SignalGate {
 public:
  SignalGate();
  ~SignalGate();
  SignalGate(const SignalGate&) = delete;
  SignalGate& operator=(const SignalGate&) = delete;

  /// Until CLOCK_MONOTONIC reaches `until_ns`, a signal came (poll(2) says EINTR), or `fd` can be read (-1: no such).
  /// True if it can be read.
  bool wait(std::int64_t until_ns, int fd = -1);

 private:
  sigset_t before_{};
};

/// A terminal of whole screens: standard output shows them, and standard input, if it is that terminal, gives single
/// keys. What was on the screen comes back at the end, when Ctrl-Z stops us, and after any signal that asks for an end.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Whether there are keys.
  [[nodiscard]] bool keys() const { return keys_; }
  [[nodiscard]] std::size_t columns() const;
  [[nodiscard]] std::size_t rows() const;
  /// In place, at once; what was there before and is not overwritten vanishes. Lines without line breaks.
  void draw(const std::string& lines);
  /// The next key: a character, or one of `key`; kNone when the time has come.
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

/// Opens /dev/null for each of the descriptors 0 to 2 that is closed, so that no file of ours gets its number: for
/// reading only as standard output, so that printing there fails and is reported (as in GNU coreutils); for writing
/// as standard error, where nothing more can be reported. To be called before anything else opens a file.
void secure_standard_streams();

/// Writes out what is buffered for standard output. Returns 0, or the errno of the first write to it that failed.
int flush_standard_output();

}  // namespace zerotax
