#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "judge/rule.h"

namespace zerotax {

// What is known of an allocator's project: allocators/<name>/upstream.json, whose keys are the names of these fields
// (results/schema/upstream.schema.json describes them).

/// Something that is known of findings.
struct ProjectEntry {
  std::vector<std::string> findings;  ///< their names
  std::optional<std::uint64_t> from_bytes;
  std::optional<std::uint64_t> below_bytes;
  std::string words;
  std::string mark;

  /// Whether it is about a finding, and about all of its sizes.
  [[nodiscard]] bool is_about(const Finding& finding) const;
  [[nodiscard]] bool covers(const Finding& finding) const;
};

struct ProjectKnob : ProjectEntry {
  Settings env;
  std::optional<std::string> since;
};

struct ProjectIssue : ProjectEntry {
  std::string id;
  std::string url;
  std::string state;
  std::optional<std::vector<std::string>> fixed_in;
};

struct Diagnostics {
  Settings env;
  std::string words;
};

struct Project {
  std::string name;
  std::string project;
  std::string tracker;
  std::string form;
  std::optional<std::string> component;
  std::optional<std::string> deliberate;
  std::optional<Diagnostics> diagnostics;
  std::vector<ProjectKnob> knobs;
  std::vector<ProjectEntry> causes;
  std::vector<ProjectIssue> duplicates;
  std::optional<std::vector<std::string>> debian;  ///< names of its packages: a release of Debian has one of them
};

/// The files by the allocator's name: built in, so that an installed zerotax needs no such folder.
const std::map<std::string, std::string>& embedded_upstreams();

/// nullptr if nothing is known. `allocator` is the name it was measured under.
const Project* project_of(const std::string& allocator);

/// The unchanged file, with the parts that `zerotax advise` reads.
const Json* upstream_of(const std::string& allocator);

/// The entries of a list of an allocator's project that are about a finding.
template <typename Entry>
std::vector<Entry> entries_about(const std::string& allocator, std::vector<Entry> Project::*list,
                                 const Finding& finding) {
  const Project* project = project_of(allocator);
  if (project == nullptr) return {};
  std::vector<Entry> entries = project->*list;
  std::erase_if(entries, [&](const Entry& entry) { return !entry.is_about(finding); });
  return entries;
}

/// Whether dotted version numbers `one` < `other`, part by part; a part's letters count for nothing.
bool is_older(const std::string& one, const std::string& other);
/// Whether a version lacks a setting that came with `since`. An unknown version (a build ID) may have the setting.
bool lacks(const std::string& version, const std::optional<std::string>& since);

/// The version of the same major series in which a known report's cause is gone, if `version` is older than that; of
/// another series, the oldest such version that is newer.
std::optional<std::string> fixed_later(const ProjectIssue& duplicate, const std::string& version);

/// A known way to avoid a finding: a version in which its cause is gone, or a setting. The fields of the other kind are
/// absent.
struct KnownRemedy {
  std::string kind;  ///< "version", "setting"
  std::optional<std::string> version;
  std::optional<std::string> id;  ///< the project's report of the fix; `url` is its address
  std::optional<std::string> url;
  std::optional<Settings> env;
  std::optional<std::string> line;  ///< the text before a command in a shell
  std::optional<bool> confirmed;
  std::string text;             ///< a sentence, with `code` in backticks
  std::optional<bool> in_part;  ///< for several findings: some of them, or some of their sizes, stay
  bool operator==(const KnownRemedy&) const = default;
};
using KnownRemedies = std::vector<KnownRemedy>;

/// The remedies of one finding, from its project's data: versions first, then settings. Empty if none is known.
KnownRemedies remedies_of(const AllocatorFindings& subject, const Finding& finding);

/// The remedies of several findings of an allocator, each once.
KnownRemedies united_remedies(const AllocatorFindings& subject, const std::vector<Finding>& findings);

/// Remedies in one sentence each: "Use mimalloc 2.2.7 or later (microsoft/mimalloc#1104)." Without remedies, the
/// sentence says that none is known.
std::string remedies_sentence(const KnownRemedies& remedies);

/// Remedies in the short form for tables: "mimalloc 2.2.7 or later, or `MIMALLOC_DISALLOW_ARENA_ALLOC=1`"; "nothing
/// that is known". `allocator`: its name.
std::string remedies_line(const std::string& allocator, const KnownRemedies& remedies);

}  // namespace zerotax
