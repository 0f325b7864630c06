#pragma once

#include <string>
#include <string_view>

namespace zerotax {

/// The meaning of a word: colour shows nothing else.
enum class Tone { kWorse, kBetter, kDoubtful };

/// Colours words by what they say, or leaves them alone.
class Palette {
 public:
  /// Leaves every word alone: what stands in a file or a pipe.
  Palette() = default;
  explicit Palette(bool coloured) : coloured_(coloured) {}

  /// The word in red, green or yellow and bold (ECMA-48: SGR), which a terminal shows as wide as before: pad it first.
  /// Blanks around it stay outside.
  [[nodiscard]] std::string operator()(Tone tone, std::string_view word) const;
  /// A text whose lines are made already, with the first place of the word coloured.
  [[nodiscard]] std::string first_in(std::string text, Tone tone, std::string_view word) const;

 private:
  bool coloured_ = false;
};

}  // namespace zerotax
