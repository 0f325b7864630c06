#pragma once

#include <string>
#include <vector>

#include "judge/finding.h"

namespace zerotax {

/// A known way to avoid a finding: a version in which its cause is gone, or a setting. The other's fields are absent.
struct KnownRemedy {
  std::string kind;  ///< "version", "setting"
  std::optional<std::string> version;
  std::optional<std::string> id;  ///< the project's report that says so, and its address
  std::optional<std::string> url;
  std::optional<Settings> env;
  std::optional<std::string> line;  ///< what stands before a command in a shell
  std::optional<bool> confirmed;
  std::string text;             ///< a sentence, with `code` in backticks
  std::optional<bool> in_part;  ///< of several findings: it leaves any of them, or any of their sizes, as they are
  bool operator==(const KnownRemedy&) const = default;
};
using KnownRemedies = std::vector<KnownRemedy>;

/// Of one finding, from its project's data: versions first, then settings. Empty if nothing is known.
KnownRemedies remedies_of(const AllocatorFindings& subject, const Finding& finding);

/// The same of several findings of an allocator, each once.
KnownRemedies united_remedies(const AllocatorFindings& subject, const std::vector<Finding>& findings);

/// Remedies in one sentence each: "Use mimalloc 2.2.7 or later (microsoft/mimalloc#1104)." If there are none, that none
/// is known.
std::string remedies_sentence(const KnownRemedies& remedies);

/// Remedies as short as a table wants them: "mimalloc 2.2.7 or later, or `MIMALLOC_DISALLOW_ARENA_ALLOC=1`"; "nothing
/// that is known". `allocator`: its name.
std::string remedies_line(const std::string& allocator, const KnownRemedies& remedies);

}  // namespace zerotax
