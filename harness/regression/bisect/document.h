#pragma once

#include <string>

#include "base/fields.h"
#include "baseline/baseline.h"
#include "bisect/bisect.h"
#include "bisect/history.h"
#include "bisect/table.h"

namespace zerotax::bisect {

struct CommitEntry {
  RESULT("commit", "A version.");
  FIELD(Measured<std::string>, commit, "Full name of the commit; n/a for a package of Debian.",
        form("^[0-9a-f]{40}([0-9a-f]{24})?$"));
  FIELD(Measured<std::string>, tag, "The tag by which the version was requested.");
  FIELD(std::string, date, "Time of the commit, in the author's time zone (ISO 8601).", kMayBeEmpty);
  FIELD(std::string, author, "Name and email address of the author.", kMayBeEmpty);
  FIELD(std::string, subject, "First line of the commit message.", kMayBeEmpty);
  FIELD(std::string, name, "Name of the version in this document: its tag, or the first ten digits of the commit.");
  FIELD(std::string, package, "The package of Debian, in the form for --allocator NAME=WORD. Absent for a commit.",
        kAbsentIfEmpty, form("^deb:[a-z]+/[a-z0-9.+-]+$"));
};

struct AnsweredCommit : CommitEntry {
  RESULT("version", "A version and its answer.");
  BASE_FIELDS(CommitEntry);
  FIELD(Answer::Kind, answer,
        "Whether the version is as expected; skipped if it could not be measured, or was not tested.");
  FIELD(std::string, value, "The measured value, or the reason why nothing was measured.", kMayBeEmpty);
};

struct BuildEntry {
  RESULT("build", "The build of a version.");
  FIELD(Build::State, state, "Outcome of the build.");
  FIELD(double, seconds, "Duration of the build, in seconds.");
  FIELD(bool, earlier, "Whether an earlier run built the version.");
  FIELD(std::string, log, "Path of a file with the whole output of the commands.");
};

struct VersionEntry : CommitEntry {
  RESULT("measured version", "A version of a history.");
  BASE_FIELDS(CommitEntry);
  FIELD(Version::State, state, "The state in which building and measuring the version ended.");
  FIELD(std::string, state_words, "The state, in words.");
  FIELD(std::string, reason, "The reason why the version was not measured. Absent if the version was measured.",
        kAbsentIfEmpty);
  FIELD(Measured<BuildEntry>, build, "The build of the version.");
  FIELD(std::string, sentence, "The changes of the version, or the reason why the version was not measured.");
  FIELD(bool, changed, "Whether the version differs from the version that was measured before it.");
  FIELD(std::optional<std::string>, compared_with,
        "Name of the version that was measured before this version. Absent for the first version.", kMayBeEmpty);
  FIELD(std::optional<Difference>, difference, "Differences from the version that was measured before.");
  FIELD(std::optional<bool>, measured_earlier,
        "Whether an earlier run measured the version. Absent if the version was not measured.");
  FIELD(std::string, host,
        "Host of a fleet that built and measured the version, by its name in environments. Absent from a history "
        "on one host.",
        kAbsentIfEmpty);
  FIELD(std::optional<std::vector<thresholds::Piece>>, pieces,
        "The behavior of calloc by size, in the steady state on the main thread, if the program writes nothing to the "
        "blocks. All sizes of the range if thresholds were searched, otherwise the measured sizes. Absent if the "
        "version was not measured.");
  FIELD(std::optional<JsonOf<baseline::BaselineEntry>>, baseline,
        "All measurements of the version. Absent for a program, and if the version was not measured.",
        as_in("baseline.schema.json#/$defs/zerotax_baseline"));
  FIELD(std::optional<baseline::Program>, program,
        "The metrics of the version's command. Absent for an allocator, and if the version was not measured.",
        as_in("baseline.schema.json#/$defs/program"));
};

/// The keys with which every document of these commands begins.
struct DocumentBegin {
  std::string schema;
  std::string zerotax_version;
  std::string started;
  Json environment;
  RESULT("begin");
  VERSION_FIELD();
  FIELD(Completion, state, "interrupted: a signal arrived before everything was measured.");
  STARTED_FIELD();
  FIELD(std::vector<std::string>, command, "The command line, as a list of words.", kMayBeEmpty);
  MEMBER(environment,
         "The machine and kernel. For a history on several hosts, the machine and kernel on which the differing "
         "versions were measured again.",
         as_in("run.schema.json#/properties/environment"));
  FIELD(std::string, repository, "The folder of --repo, or Debian if its packages were measured.");
  FIELD(Recipe, recipe, "The recipe by which each version was built.");
  FIELD(std::string, program, "Name of the recorded command. Absent if an allocator was measured.", kAbsentIfEmpty);
  FIELD(std::string, allocator, "Name of the allocator. Absent if a program was measured.", kAbsentIfEmpty);
};
inline constexpr const char* kOfEither = R"({"oneOf": [{"required": ["allocator"]}, {"required": ["program"]}]})";

struct SearchedSizes {
  RESULT("searched sizes", "Sizes between which thresholds were searched.");
  FIELD(std::uint64_t, from_bytes, "The smallest size searched, in bytes.");
  FIELD(std::uint64_t, to_bytes, "The largest size searched, in bytes.");
};

using EnvironmentsByHost = std::map<std::string, Environment>;

struct HistoryDocument : DocumentBegin {
  RESULT("zerotax history",
         "Versions of a project, and the changes of each, as written by `zerotax history --json FILE`, and to "
         "history.json by --out.");
  static constexpr const char* kMore = kOfEither;
  SCHEMA_FIELD("zerotax.history/1");
  BASE_FIELDS(DocumentBegin);
  FIELD(EnvironmentsByHost, environments,
        "The environment of each host of a history on several hosts, by its name in the versions.", kAbsentIfEmpty,
        as_in("run.schema.json#/properties/environments"));
  FIELD(std::string, selection, "The requested versions: tags and patterns, a range, or packages.", kMayBeEmpty);
  FIELD(Grid, grid, "The measurements of each version.");
  FIELD(std::optional<SearchedSizes>, range,
        "Sizes between which thresholds were searched. Absent if there was no search.");
  FIELD(Json, words, "The meanings of the words in `pieces`; for a program, the display names of its metrics.",
        with(R"({"type": "object", "additionalProperties": {"type": "string"}})"));
  FIELD(std::string, title, "Title of the figure.");
  FIELD(std::string, sentence, "The result in one sentence.");
  FIELD(std::vector<std::string>, notes, "Notes that are needed to read the table and the figure, a sentence each.");
  FIELD(std::vector<VersionEntry>, versions, "The versions, oldest first.");
};

struct QuestionEntry {
  RESULT("question", "The question that each version answers.");
  FIELD(std::string, text, "The expectation as text, or 'as' followed by the name of the good version.");
  FIELD(double, timeout_s, "Time limit of one point, or of one run of the command, in seconds.");
  FIELD(std::optional<baseline::PointIdentity>, place,
        "The point at which the expectation was measured. Absent if the expectation does not apply to a single point.");
  FIELD(Grid, grid,
        "The measurements of the found commit and of the commit before it; without an expectation, the measurements of "
        "each version.");
};

struct FindingEntry {
  RESULT("finding", "A finding that the commit added or ended.");
  FIELD(std::string, name, "The finding's rule, and the detail that separates findings with the same rule.");
  FIELD(std::string, title, "The title of the finding, in one line.");
  FIELD(std::string, sentence, "The finding in one sentence.");
};

struct FoundCommit : AnsweredCommit {
  RESULT("commit that was found", "The commit at which the answer changes.");
  BASE_FIELDS(AnsweredCommit);
  FIELD(std::string, diffstat,
        "The files that the commit changed, as git shows them: the first 40, and the totals. If a merge brought the "
        "change, the files of `origin`.",
        kMayBeEmpty);
  FIELD(AnsweredCommit, before, "The commit before the found commit.");
  FIELD(Measured<std::string>, library, "Path of the library that was built from the commit.");
  FIELD(Measured<std::string>, version, "Version, as reported by the library.");
  FIELD(Measured<Difference>, difference, "All changes of metrics and thresholds that the commit made.");
  FIELD(std::vector<FindingEntry>, findings,
        "Findings that only the commit has; for a fix, findings that only the commit before it has.");
};

struct MergeEntry {
  RESULT("merge", "A merge at which the answer changes.");
  FIELD(std::string, commit, "Full name of the merge.", form("^[0-9a-f]{40}([0-9a-f]{24})?$"));
  FIELD(std::vector<AnsweredCommit>, parents, "Parents of the merge and their answers, the first parent first.",
        least_items(2));
  FIELD(std::string, sentence, "The reason why the answer changes at the merge.");
};

struct BisectDocument : DocumentBegin {
  RESULT("zerotax bisect",
         "The commit that changed an allocator or a program, for worse or better, as written by `zerotax bisect "
         "--json FILE`.");
  static constexpr const char* kMore = kOfEither;
  SCHEMA_FIELD("zerotax.bisect/1");
  BASE_FIELDS(DocumentBegin);
  FIELD(QuestionEntry, question, "The question that each version answers.");
  FIELD(AnsweredCommit, good, "The version that --good names, which is as expected.");
  FIELD(AnsweredCommit, bad, "The version that --bad names, which is not as expected.");
  FIELD(std::size_t, between, "Number of first parents after the older version, up to the newer version.", least(1));
  FIELD(std::vector<AnsweredCommit>, steps, "The versions that git selected, in this order, and parents of merges.");
  FIELD(std::string, sentence, "The result in one sentence.");
  FIELD(Measured<FoundCommit>, first_bad,
        "The first commit on the line of first parents that is not as expected, if the bad version is newer.");
  FIELD(Measured<FoundCommit>, first_good,
        "The first commit that is as expected, which is the fix, if the good version is newer.");
  FIELD(std::vector<MergeEntry>, merges,
        "If a merge was found, the merge, followed by the merges within the merged line.");
  FIELD(Measured<AnsweredCommit>, origin, "The commit in the merged line that made the change.");
  FIELD(std::vector<AnsweredCommit>, candidates,
        "If the commit was not found, the candidates: one of these commits made the change.");
};

HistoryDocument history_document(const HistoryRequest& request, const History& history);

/// `outcome` is nullptr if no commit was found.
BisectDocument bisect_document(const BisectRequest& request, const Bisection& found, const BisectOutcome* outcome);

// The functions below convert data that is kept for later runs, or passed between processes.
// from_json throws a Json exception or std::invalid_argument for JSON that to_json has not made. A damaged file counts
// as missing. For an unknown word, the first word of the enum is used.

/// {"allocator", "build", "library", "beside"}. The file of a recipe contains the same object
/// (results/schema/recipe.schema.json).
void to_json(Json& json, const Recipe& recipe);
void from_json(const Json& json, Recipe& recipe);
/// The settings on which the measured values depend, without the time limit.
void to_json(Json& json, const Grid& grid);
void from_json(const Json& json, Grid& grid);
/// The paths of the build's library and log are valid in the process that made the build.
void to_json(Json& json, const Build& build);
void from_json(const Json& json, Build& build);
void to_json(Json& json, const Measurement& measurement);
void from_json(const Json& json, Measurement& measurement);
/// The version, without the name of its commit.
void to_json(Json& json, const Version& version);
void from_json(const Json& json, Version& version);
void to_json(Json& json, const VersionPlan& plan);
void from_json(const Json& json, VersionPlan& plan);

/// Returns a key of everything that affects a build. The recipe's name is not part of the key, because with --build the
/// name is that of the repository's folder, which may differ between clones.
std::string key_of(const Recipe& recipe);
/// Returns a key of everything that affects deterministic metrics, except the library. `probe` is a hash of the probe.
std::string key_of(const Grid& grid, std::uint64_t probe);

}  // namespace zerotax::bisect
