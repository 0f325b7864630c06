#include "cli/terminal_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lines.h"
#include "os/print.h"
#include "os/terminal.h"

namespace zerotax {
namespace {

std::string& chosen() {
  static std::string when = "auto";
  return when;
}

bool& full() {
  static bool wanted = false;
  return wanted;
}

}  // namespace

void add_colour_option(Arguments& arguments) {
  arguments.option("--color", chosen(), "color words")
      .shown_as("WHEN")
      .one_of({"auto", "always", "never"})
      .with_default()
      .common();
}

void add_full_option(Arguments& arguments) {
  arguments.flag("--full", full(), "print everything instead of one screen").common();
}

bool wants_full_text() { return full(); }

Palette palette_for(std::FILE* stream) {
  if (chosen() == "auto") return Palette(suits_colour(stream));
  return Palette(chosen() == "always");
}

Argument add_plot_option(Arguments& arguments, bool& plot, const std::string& what) {
  return arguments.flag("--plot", plot, fmt::format("also draw {} in the terminal", what));
}

PlotStyle plot_style() {
  constexpr std::size_t kNarrowest = 60;
  constexpr std::size_t kWidest = 160;  // longer lines are hard to follow
  return {std::clamp(terminal_columns(stdout), kNarrowest, kWidest), locale_is_utf8()};
}

void say_next(const std::string& command) {
  if (command.empty() || !is_terminal(stderr)) return;
  std::fflush(stdout);  // stdout may be the same terminal
  try_to_print(stderr, fmt::format("next: {}\n", one_line(command)));
}

}  // namespace zerotax
