#include "cli/colour.h"

#include "os/terminal.h"

namespace zerotax {
namespace {

std::string& chosen() {
  static std::string when = "auto";
  return when;
}

}  // namespace

void add_colour_option(Arguments& arguments) {
  arguments.option("--color", chosen(), "color words")
      .shown_as("WHEN")
      .one_of({"auto", "always", "never"})
      .with_default()
      .common();
}

Palette palette_for(std::FILE* stream) {
  if (chosen() == "auto") return Palette(suits_colour(stream));
  return Palette(chosen() == "always");
}

}  // namespace zerotax
