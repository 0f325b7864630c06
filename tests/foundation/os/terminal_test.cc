#include "os/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace zerotax {
namespace {

/// A terminal with a number of columns.
class Terminal {
 public:
  explicit Terminal(unsigned short columns) : control_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    ::grantpt(control_);
    ::unlockpt(control_);
    stream_ = std::fopen(::ptsname(control_), "w");
    winsize size{};
    size.ws_col = columns;
    ::ioctl(control_, TIOCSWINSZ, &size);
  }
  ~Terminal() {
    std::fclose(stream_);
    ::close(control_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] std::FILE* stream() const { return stream_; }

 private:
  int control_;
  std::FILE* stream_;
};

TEST(Terminal, IsKnownWithItsColumns) {
  const Terminal wide(123);
  EXPECT_TRUE(is_terminal(wide.stream()));
  EXPECT_EQ(terminal_columns(wide.stream()), 123U);
  const Terminal silent(0);
  EXPECT_EQ(terminal_columns(silent.stream()), 80U);
  std::FILE* file = std::tmpfile();
  EXPECT_FALSE(is_terminal(file));
  EXPECT_EQ(terminal_columns(file), 80U);
  std::fclose(file);
}

TEST(Terminal, HasColourUnlessItIsDumbOrNobodyWantsIt) {
  const Terminal terminal(80);
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  EXPECT_TRUE(suits_colour(terminal.stream()));
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(suits_colour(terminal.stream())) << "empty is unset";
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(suits_colour(terminal.stream()));
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(suits_colour(terminal.stream()));
  ::unsetenv("TERM");
  EXPECT_FALSE(suits_colour(terminal.stream()));
  ::setenv("TERM", "xterm", 1);
  std::FILE* file = std::tmpfile();
  EXPECT_FALSE(suits_colour(file));
  std::fclose(file);
}

TEST(Locale, IsDecidedByTheFirstVariableThatIsNotEmpty) {
  ::unsetenv("LC_ALL");
  ::unsetenv("LC_CTYPE");
  ::unsetenv("LANG");
  EXPECT_FALSE(locale_is_utf8());
  ::setenv("LANG", "de_DE.UTF-8@euro", 1);
  EXPECT_TRUE(locale_is_utf8());
  ::setenv("LC_ALL", "", 1);
  EXPECT_TRUE(locale_is_utf8());
  ::setenv("LC_CTYPE", "C", 1);
  EXPECT_FALSE(locale_is_utf8());
  ::setenv("LC_ALL", "C.utf8", 1);
  EXPECT_TRUE(locale_is_utf8());
  ::setenv("LC_ALL", "de_DE.ISO-8859-1", 1);
  EXPECT_FALSE(locale_is_utf8());
}

}  // namespace
}  // namespace zerotax
