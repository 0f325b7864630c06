#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"

namespace zerotax::prove {

/// The promise of a function about the bytes of its result (process/rows.h).
enum class Promise : std::uint8_t { kNone, kZero, kKeep, kGrown, kGrownUsable, kGrownUnwritten, kGrownInPlace };
ENUM_WORDS(Promise, "none", "zero", "keep", "grown", "grown_usable", "grown_unwritten", "grown_in_place")

/// A function under test. A record names a function by the function's index in the list.
struct Function {
  std::string symbol;
  std::vector<std::string> arguments;  ///< words of process/rows.h, such as "n" and "p"
  Promise promise = Promise::kNone;
  std::string release;  ///< symbol of the function that frees the blocks
  std::vector<std::string> release_arguments;
  bool is_declared = false;  ///< whether headers of the C library declare the function

  [[nodiscard]] bool has_argument(const char* word) const;
};

/// Returns the parts of a text between the separators. A separator at the end adds no part.
std::vector<std::string> split(const std::string& text, char between);

/// Returns the standard functions, followed by the functions in the lines of `api` (process/rows.h). Throws UsageError
/// for an invalid line; `where` names the text's file.
std::vector<Function> functions_of(const std::string& api, const std::string& where);

}  // namespace zerotax::prove
