#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "judge/rule.h"

namespace zerotax {

// The parts of allocators/<name>/upstream.json that findings and reports read. record/remedies.h reads the other parts.

inline constexpr Limit kFindingName = form("^[a-z]+(-[a-z]+)*$");
inline constexpr Limit kVersionNumber = form(R"(^[0-9]+(\.[0-9]+)*$)");

/// A known fact about findings, with the sizes that it applies to.
struct ProjectEntry {
  RESULT("entry", "A known fact about findings.");
  FIELD(std::vector<std::string>, findings,
        "Names of the findings that the entry applies to: a rule and the part that distinguishes its findings; for "
        "example 'redundant-fresh-first'.",
        kFindingName, least_items(1));
  FIELD(std::optional<std::uint64_t>, from_bytes, "Smallest size that the entry applies to, in bytes.");
  FIELD(std::optional<std::uint64_t>, below_bytes, "Smallest size that the entry no longer applies to, in bytes.");
  FIELD(std::string, words, "Description: the effect of a setting, the code of a cause, or the text of a report.");
  FIELD(std::string, mark, "Source of the entry. S: read in the source or tracker. M: measured. unconfirmed: neither.",
        one_of("S|M|unconfirmed"));

  /// Whether the entry applies to a finding (is_about), and whether it applies to all of the finding's sizes (covers).
  [[nodiscard]] bool is_about(const Finding& finding) const;
  [[nodiscard]] bool covers(const Finding& finding) const;
};

struct ProjectKnob : ProjectEntry {
  RESULT("knob", "A setting that, according to `source`, avoids findings. zerotax report tries the setting.");
  FIELD(Settings, env, "Environment variables of the setting.");
  BASE_FIELDS(ProjectEntry);
  FIELD(std::optional<std::string>, since, "First version of the allocator that has the setting.", kVersionNumber);
};

struct ProjectIssue : ProjectEntry {
  RESULT("duplicate", "An existing report in the project's tracker.");
  FIELD(std::string, id, "Name of the report; for example 'microsoft/mimalloc#1104'.");
  FIELD(std::string, url, "URL of the report.", form("^https://"));
  BASE_FIELDS(ProjectEntry);
  FIELD(std::string, state, "State of the report: open, closed without a change, or fixed.",
        one_of("open|closed|fixed"));
  FIELD(std::optional<std::vector<std::string>>, fixed_in, "First versions with the fix, one for each series.",
        kVersionNumber, least_items(1));
};

struct Diagnostics {
  RESULT("diagnostics", "Diagnostic output of the allocator that the project requests in reports.");
  FIELD(Settings, env, "Environment variables that make the allocator print the output.");
  FIELD(std::string, words, "Description of the output.", kMayBeEmpty);
};

struct Project {
  RESULT("project", "Facts about an allocator's project.");
  FIELD(std::string, name, "Name of the allocator, as in its folder's name.");
  FIELD(std::string, project, "Name of the project, owner/name where it is on GitHub.");
  FIELD(std::string, tracker, "URL to which reports are sent; 'none' if there is no tracker.",
        zerotax::form("^(https://.*|none)$"));
  FIELD(std::string, form,
        "Form that the project requires for reports, a file in harness/allocator/report/forms; 'none' if nothing is "
        "reported.",
        one_of("github|bugzilla|onetbb|none"));
  FIELD(std::optional<std::string>, component, "Component in the project's tracker.", kMayBeEmpty);
  FIELD(std::optional<std::string>, labels, "Labels in the project's tracker.", kMayBeEmpty);
  FIELD(std::optional<std::string>, deliberate, "The reason why nothing is reported: the behavior is intended.",
        kMayBeEmpty);
  FIELD(std::optional<std::vector<std::string>>, debian,
        "Names of the allocator's packages in Debian's releases, newest first; a release has at most one of them."
        " zerotax history --debian measures these packages.",
        zerotax::form("^[a-z0-9][a-z0-9.+-]+$"), least_items(1));
  FIELD(std::optional<Diagnostics>, diagnostics,
        "Diagnostic output of the allocator that the project requests in reports.");
  FIELD(std::vector<ProjectKnob>, knobs,
        "Settings that, according to their sources, avoid findings. zerotax report tries the settings.");
  FIELD(std::vector<ProjectEntry>, causes,
        "Causes in the source: function, file, version, and the behavior of the code.");
  FIELD(std::vector<ProjectIssue>, duplicates, "Existing reports in the project's tracker.");
};

/// The contents of the files allocators/<name>/upstream.json, by the allocator's name. The contents are built in, so an
/// installed zerotax does not need the folder.
const std::map<std::string, std::string>& embedded_upstreams();

/// Returns nullptr if nothing is known. `allocator` is the name under which the allocator was measured.
const Project* project_of(const std::string& allocator);

/// The complete file, including the parts that `zerotax advise` reads.
const Json* upstream_of(const std::string& allocator);

/// Returns the entries about a finding in one list of an allocator's project.
template <typename Entry>
std::vector<Entry> entries_about(const std::string& allocator, std::vector<Entry> Project::*list,
                                 const Finding& finding) {
  const Project* project = project_of(allocator);
  if (project == nullptr) return {};
  std::vector<Entry> entries = project->*list;
  std::erase_if(entries, [&](const Entry& entry) { return !entry.is_about(finding); });
  return entries;
}

/// Whether the version `one` is older than `other`. Compares the dotted numbers part by part, and ignores letters.
bool is_older(const std::string& one, const std::string& other);
/// Whether a version lacks a setting that came with `since`. An unknown version (a build ID) may have the setting.
bool lacks(const std::string& version, const std::optional<std::string>& since);

/// Returns the version with the fix of a known report, if `version` is older. The fix in the same major series is
/// preferred; if that series has no fix, the oldest later version with a fix is returned.
std::optional<std::string> fixed_later(const ProjectIssue& duplicate, const std::string& version);

/// A known way to avoid a finding: a version without its cause, or a setting. Only the fields of one of these kinds are
/// present.
struct KnownRemedy {
  RESULT("remedy", "A known way to avoid a finding.");
  FIELD(std::string, kind, "Kind of the remedy: a later version of the allocator, or a setting.",
        one_of("version|setting"));
  FIELD(std::optional<std::string>, version,
        "The oldest version without the finding's cause, in the same major series if there is one.");
  FIELD(std::optional<std::string>, id, "Name of the project's report about the fix.");
  FIELD(std::optional<std::string>, url, "URL of the project's report.");
  FIELD(std::optional<Settings>, env, "Environment variables of the setting.");
  FIELD(std::optional<std::string>, line, "The setting in the form of a shell assignment before a command.");
  FIELD(std::optional<bool>, confirmed,
        "Whether the setting's effect was measured, or read in the allocator's source.");
  FIELD(std::string, text, "The remedy in a sentence, with code between backticks.");
  FIELD(std::optional<bool>, in_part,
        "For a remedy of several findings: whether some of the findings, or some of their sizes, remain with the "
        "remedy.");
  bool operator==(const KnownRemedy&) const = default;
};
using KnownRemedies = std::vector<KnownRemedy>;

/// The remedies of one finding, from its project's data: versions first, then settings. Empty if no remedy is known.
KnownRemedies remedies_of(const AllocatorFindings& subject, const Finding& finding);

/// The remedies of several findings of an allocator, without repetition.
KnownRemedies united_remedies(const AllocatorFindings& subject, const std::vector<Finding>& findings);

/// Remedies in one sentence each: "Use mimalloc 2.2.7 or later (microsoft/mimalloc#1104)." Without remedies, the
/// sentence says that no remedy is known.
std::string remedies_sentence(const KnownRemedies& remedies);

/// Remedies in the short form for tables, such as "mimalloc 2.2.7 or later, or `MIMALLOC_DISALLOW_ARENA_ALLOC=1`", or
/// "nothing that is known". `allocator` is the name of the allocator.
std::string remedies_line(const std::string& allocator, const KnownRemedies& remedies);

}  // namespace zerotax
