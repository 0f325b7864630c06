#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace zerotax::findings {

/// How much a finding matters (docs/findings.md says by which rule).
enum class Severity { kLow, kMedium, kHigh };

/// "low", "medium", "high", and back. Throws UsageError for another word.
std::string severity_word(Severity severity);
Severity parse_severity(std::string_view word);

/// From blocks of this many bytes on, a finding matters more.
inline constexpr std::uint64_t kBigBlock = 1 << 20;

/// What of the page shows a finding at its best.
struct ShownIn {
  const char* figure;       ///< "time", "faults", "bytes" or "heat"
  const char* column = "";  ///< by its name in the page's address; empty: the figure's first
};

/// One thing that an allocator does needlessly, with all the points that show it.
struct Finding {
  std::string rule;              ///< set by whoever applies the rule
  std::string name;              ///< its rule, and what distinguishes it within the rule, as in "redundant-fresh-first"
  std::uint64_t from_bytes = 0;  ///< smallest and largest measured size that show it
  std::uint64_t to_bytes = 0;    ///< both ends included
  std::uint64_t named_bytes = 0;  ///< the size in its id, which it keeps when other sizes are measured
  bool exact = false;             ///< named_bytes is the very byte at which it happens
  Severity severity = Severity::kLow;
  std::string title;                ///< one line, with ratio and size
  std::string sentence;             ///< one sentence in plain words
  std::optional<ShownIn> shown_in;  ///< nothing: what its rule says
  Json evidence = Json::array();    ///< {"case", "size_bytes", "touch", "thread", "figures"}, one for each point
};

/// "mimalloc-redundant-fresh-100MiB".
std::string finding_id(const std::string& allocator, const Finding& finding);

/// The size that names a range of sizes: the first of 100 MiB, 20 MiB, 1 MiB, 256 KiB, 64 KiB that lies in it, else its
/// largest; so that an id stays the same on another grid of sizes.
std::uint64_t named_size(std::uint64_t from_bytes, std::uint64_t to_bytes);

/// "100 MiB", or "20 MiB to 1 GiB".
std::string range_text(std::uint64_t from_bytes, std::uint64_t to_bytes);

}  // namespace zerotax::findings
