#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "findings/document.h"

namespace zerotax::findings {

/// What is known to avoid a finding, from its project's data (upstream_of): versions in which its cause is gone, first,
/// then settings. Each is {"kind": "version", "version", "id", "url", "text"} or {"kind": "setting", "env", "line",
/// "confirmed", "text"}; `line` is what stands before a command in a shell. Empty if nothing is known.
Json remedies_of(const AllocatorFindings& subject, const Finding& finding);

/// The same of several findings of an allocator, each once. "in_part" is true of one that leaves any of them, or any of
/// their sizes, as they are.
Json united_remedies(const AllocatorFindings& subject, const std::vector<Finding>& findings);

/// Remedies in one sentence each, with `code` in backticks: "Use mimalloc 2.2.7 or later (microsoft/mimalloc#1104)." If
/// there are none, that none is known.
std::string remedies_sentence(const Json& remedies);

/// Remedies as short as a table wants them: "mimalloc 2.2.7 or later, or `MIMALLOC_DISALLOW_ARENA_ALLOC=1`"; "nothing
/// that is known". `allocator`: its name.
std::string remedies_line(const std::string& allocator, const Json& remedies);

}  // namespace zerotax::findings
