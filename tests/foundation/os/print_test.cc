#include "os/print.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

#include "base/table.h"

namespace zerotax {
namespace {

/// Returns the text that `write` has written to a file.
template <typename Write>
std::string written_by(const Write& write) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  write(file.get());
  std::rewind(file.get());
  std::string text(1000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  return text;
}

TEST(PrintLines, LetsLinesAndOurColorsThroughAlone) {
  const std::string worse = Palette(true)(Tone::kWorse, "worse");
  const std::string text = worse + "\n\x1b[2J\x1b]0;x\x07 \xff\n::error::x\n";
  EXPECT_EQ(written_by([&](std::FILE* to) { print_lines(to, text); }),
            worse + "\n\\x1b[2J\\x1b]0;x\\x07 \\xff\n\\x3a:error::x\n");
}

TEST(PrintText, MakesValuesPrintableAndLeavesItsOwnText) {
  const std::string name = "a\nb";
  EXPECT_EQ(written_by([&](std::FILE* to) { print_text(to, "{}:\n{} {:>3}\n", name, "c\x1b", 7); }),
            "a\\nb:\nc\\x1b   7\n");
}

TEST(PrintLines, ThrowsWhereNothingCanBeWritten) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> full(std::fopen("/dev/full", "w"), std::fclose);
  std::setvbuf(full.get(), nullptr, _IONBF, 0);
  EXPECT_THROW(print_lines(full.get(), "x\n"), std::system_error);
  EXPECT_FALSE(try_to_print(full.get(), "x\n"));
}

}  // namespace
}  // namespace zerotax
