#include "os/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

#include "os/clock.h"

namespace zerotax {
namespace {

/// Returns a variable's value, or "" if it is unset, because most programs treat the two alike.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::atomic<bool> asked_to_stop = false;
std::atomic<bool> must_redraw = false;

constexpr int kForScreens[] = {SIGTSTP, SIGCONT, SIGWINCH};
constexpr int kGated[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH};
/// Maximum time between the bytes of one key. A lone escape byte is the key Escape.
constexpr std::int64_t kOneKeyNs = 30'000'000;

void on_signal(int number) { (number == SIGTSTP ? asked_to_stop : must_redraw) = true; }

void handle() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int number : kForScreens) ::sigaction(number, &action, nullptr);
}

void write_terminal(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) throw std::system_error(errno, std::generic_category(), "the terminal");
    done += static_cast<std::size_t>(written);
  }
}

void secure(int fd, int flags) {
  if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) return;
  int opened = ::open("/dev/null", flags);
  // Without /dev/null, the descriptor refers to the root folder, which can be neither read nor written.
  if (opened < 0) opened = ::open("/", O_RDONLY | O_DIRECTORY);
  if (opened < 0 || opened == fd) return;
  ::dup2(opened, fd);
  ::close(opened);
}

}  // namespace

bool is_terminal(std::FILE* stream) { return ::isatty(::fileno(stream)) == 1; }

std::size_t terminal_columns(std::FILE* stream) {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

bool can_erase(std::FILE* stream) { return is_terminal(stream) && variable("TERM") != "dumb"; }

void erase_line(std::FILE* stream) { std::fputs("\r\x1b[K", stream); }

void erase_lines(std::FILE* stream, std::ptrdiff_t lines) {
  std::fputs(("\x1b[" + std::to_string(lines) + "A\x1b[J").c_str(), stream);
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string locale = variable(name);
    if (locale.empty()) continue;
    // Examples are "de_DE.UTF-8@euro" and "C.utf8".
    locale.erase(std::remove(locale.begin(), locale.end(), '-'), locale.end());
    for (char& each : locale) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    const std::size_t dot = locale.find('.');
    return dot != std::string::npos && locale.substr(dot + 1, locale.find('@') - dot - 1) == "utf8";
  }
  return false;
}

bool suits_colour(std::FILE* stream) {
  const std::string kind = variable("TERM");
  return is_terminal(stream) && !kind.empty() && kind != "dumb" && variable("NO_COLOR").empty();
}

bool suits_screen(std::FILE* stream) {
  const char* kind = std::getenv("TERM");
  return is_terminal(stream) && kind != nullptr && *kind != '\0' && std::string(kind) != "dumb";
}

SignalGate::SignalGate() {
  sigset_t gated;
  ::sigemptyset(&gated);
  for (const int number : kGated) ::sigaddset(&gated, number);
  ::pthread_sigmask(SIG_BLOCK, &gated, &before_);
}

SignalGate::~SignalGate() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool SignalGate::wait(std::int64_t until_ns, int fd) {
  const std::int64_t rest = std::max<std::int64_t>(until_ns - monotonic_ns(), 0);
  const timespec time{rest / 1'000'000'000, rest % 1'000'000'000};
  pollfd readable{fd, POLLIN, 0};
  return ::ppoll(&readable, 1, &time, &before_) > 0;
}

Screen::Screen() {
  keys_ = is_terminal(stdin) && ::tcgetattr(STDIN_FILENO, &before_) == 0;
  handle();
  enter();
}

Screen::~Screen() {
  try {
    leave();
  } catch (const std::system_error&) {
    // leave() throws if the terminal no longer exists.
  }
  for (const int number : kForScreens) ::signal(number, SIG_DFL);
}

void Screen::enter() {
  if (keys_) {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  // Selects xterm's alternate screen and hides the cursor (ctlseqs, DECSET 1049 and 25).
  write_terminal("\x1b[?1049h\x1b[?25l\x1b[2J");
}

void Screen::leave() {
  if (keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  write_terminal("\x1b[?25h\x1b[?1049l");
}

/// Stops this process, as Ctrl-Z stops any program, with the terminal restored.
void Screen::stop() {
  leave();
  ::signal(SIGTSTP, SIG_DFL);
  ::raise(SIGTSTP);
  sigset_t stop;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // the process stops here
  ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  handle();
}

std::size_t Screen::columns() const { return terminal_columns(stdout); }

std::size_t Screen::rows() const {
  constexpr std::size_t kUsual = 24;
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : kUsual;
}

void Screen::draw(const std::string& lines) {
  std::string text = "\x1b[H";
  for (const char each : lines) text += each == '\n' ? std::string("\x1b[K\r\n") : std::string(1, each);
  write_terminal(text + "\x1b[K\x1b[J");
}

/// Takes the key at the beginning of the typed bytes. Returns kNone if more bytes are needed.
int Screen::decode() {
  if (typed_.empty()) return key::kNone;
  const auto take = [&](std::size_t bytes, int what) {
    typed_.erase(0, bytes);
    return what;
  };
  const char first = typed_.front();
  if (first == '\r') return take(1, key::kEnter);
  if (first == '\b') return take(1, key::kErase);
  if (first != '\x1b') return take(1, static_cast<unsigned char>(first));
  if (typed_.size() == 1) return key::kNone;
  if (typed_[1] != '[' && typed_[1] != 'O') return take(1, key::kEscape);
  // A control sequence ends with a letter or ~ (ECMA-48).
  const auto is_last = [](char each) { return each >= '@' && each <= '~'; };
  const auto end = std::find_if(typed_.begin() + 2, typed_.end(), is_last);
  if (end == typed_.end()) return key::kNone;
  const char last = *end;
  typed_.erase(typed_.begin(), end + 1);
  return last == 'A' ? key::kUp : last == 'B' ? key::kDown : decode();
}

int Screen::next_key(std::int64_t until_ns) {
  for (;;) {
    if (asked_to_stop.exchange(false)) {
      stop();
      must_redraw = true;
    }
    if (must_redraw.exchange(false)) {
      enter();
      return key::kRedraw;
    }
    if (const int found = decode(); found != key::kNone) return found;
    const bool is_partial = !typed_.empty();
    const std::int64_t end = is_partial ? std::min(until_ns, monotonic_ns() + kOneKeyNs) : until_ns;
    if (!gate_.wait(end, keys_ ? STDIN_FILENO : -1)) {
      if (asked_to_stop || must_redraw) continue;
      if (!is_partial) return key::kNone;
      typed_.erase(0, 1);
      return key::kEscape;
    }
    std::array<char, 64> bytes;
    const ssize_t taken = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (taken <= 0) {
      keys_ = false;  // standard input has ended
      return key::kNone;
    }
    typed_.append(bytes.data(), static_cast<std::size_t>(taken));
  }
}

void secure_standard_streams() {
  secure(STDIN_FILENO, O_RDONLY);
  secure(STDOUT_FILENO, O_RDONLY);
  secure(STDERR_FILENO, O_WRONLY);
}

int flush_standard_output() {
  errno = 0;
  const bool earlier = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !earlier) return 0;
  return errno != 0 ? errno : EIO;
}

}  // namespace zerotax
