#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "baseline/result.h"
#include "os/load.h"

namespace zerotax::baseline {

// The document of a check of allocators.

struct ChangeEntry {
  RESULT("change", "A metric, status or threshold that differs in every measurement.");
  FIELD(std::string, name,
        "Name of the metric or threshold. Each comparison with the same baseline uses the same name.");
  FIELD(std::string, line, "The name with the values before and now, as text.");
  FIELD(ChangeKind, kind, "Kind of the difference.");
  FIELD(std::optional<PointIdentity>, point, "The point that differs; null for a threshold.", kNullIfEmpty);
  FIELD(std::optional<std::uint64_t>, at_bytes,
        "For a threshold, the smallest size with the new behavior, in bytes; otherwise null.", kNullIfEmpty, least(1));
  FIELD(std::string, metric, "Key of the metric that differs; otherwise null.", kNullIfEmpty);
  FIELD(std::uint64_t, call, "The number of the early call, from 1; 0 for the steady state.");
  FIELD(Json, before,
        "The value in the baseline: a number, a word, the number of calls by name, or the changes at a threshold."
        " Null for a new threshold.");
  FIELD(Json, after,
        "The value in this check. Null for a threshold that is gone, and for a point that is no longer measured.");
  FIELD(Direction, direction,
        "Whether the change costs more or less than before; neither if the values are words that cannot be ordered.");
  FIELD(std::optional<SeenRange>, range,
        "The range of a metric that varied when the baseline was made. The new value lies outside of the range, "
        "and `before` is the nearest end of the range. Absent for all other changes.");
};

struct ExampleEntry {
  RESULT("example", "One metric of one point.");
  FIELD(PointIdentity, point, "The point.");
  FIELD(std::string, metric, "Key of the metric, or status.");
  FIELD(std::uint64_t, call, "The number of the early call, from 1; 0 for the steady state.");
  FIELD(Json, before, "The value in the baseline.");
  FIELD(Json, after, "The value in this check.");
  FIELD(std::string, words, "The values before and now, as text.");
};

struct GroupEntry {
  RESULT("group", "All changes with one cause, one direction and one scope.");
  FIELD(Cause, cause,
        "The cause of the changes, one of: calloc fails; calloc hands out dirty (not_zero) or misaligned memory; "
        "calloc zeroes fresh memory, reused memory that is zero, or bytes beyond the request; free zeroes its block; "
        "memory is returned and zeroed again; a threshold moved, is new, is gone or has another meaning; a point is no "
        "longer measured. Changes without a named cause are grouped as other zeroed bytes, faults, system calls or "
        "placement.");
  FIELD(Direction, direction,
        "Whether the changes cost more or less than before; neither if the values are words that cannot be ordered.");
  FIELD(std::string, title, "The cause as text, at most 60 columns.");
  FIELD(std::string, sentence, "One sentence that states the group's sizes and its example.");
  FIELD(bool, first_calls_only, "Whether only the first calls of a process changed.");
  FIELD(std::string, thread,
        "The only thread on which something changed, if the other thread was compared, too; otherwise null.",
        kNullIfEmpty, one_of("main|worker"));
  FIELD(std::optional<double>, touch,
        "The only fraction of written pages at which something changed, if other fractions were compared; otherwise "
        "null.",
        kNullIfEmpty, most(1));
  FIELD(std::vector<std::string>, cases, "Cases in which the points of the group changed.");
  FIELD(std::vector<ReviewRange>, ranges, "Ranges of changed sizes in the first of the group's cases, ascending.");
  FIELD(std::vector<ReviewThreshold>, thresholds, "Thresholds that belong to the group.");
  FIELD(std::optional<ExampleEntry>, example,
        "The metric that shows the change, at the point nearest to the size that names the ranges. Null if only "
        "thresholds show it.",
        kNullIfEmpty);
  FIELD(std::vector<std::size_t>, changes, "Indexes into `changes`, from 0. Each change belongs to exactly one group.",
        least_items(1), with(R"({"uniqueItems": true})"));
};

struct ComparedPointEntry : PointIdentity {
  RESULT("compared point", "A point that was compared, whether it changed or not.");
  BASE_FIELDS(PointIdentity);
  FIELD(std::string, verdict,
        "The direction of all changes of the point. `neither` if something changed, but not for better or worse.",
        one_of("same|better|worse|mixed|neither"));
  FIELD(Json, before, "Status and compared metrics of the point in the baseline.", with(R"({"type": "object"})"));
  FIELD(Json, after, "Status and compared metrics of the point in this check; n/a if the point is no longer measured.",
        with(R"({"type": "object"})"));
};

struct CheckedBaseline {
  RESULT("checked baseline", "The baseline with which an allocator is compared.");
  FIELD(std::string, file, "Path of the baseline.");
  FIELD(std::string, allocator, "Name of the allocator in the baseline.");
  FIELD(Measured<std::string>, version, "Version of the allocator.", as_in("point.schema.json#/properties/version"));
  FIELD(Variables, env, "Configuration of the allocator.", kMayBeEmpty);
  FIELD(BaselineConditions, measured_on, "The machine and kernel of the baseline.");
};

struct CheckEntry {
  RESULT("check", "One allocator compared with its baseline.");
  FIELD(Json, allocator, "The allocator that was measured.", as_in("run.schema.json#/$defs/allocator"));
  FIELD(std::string, label, "The allocator with its version, as text.");
  FIELD(CheckedBaseline, baseline, "The baseline with which the allocator is compared.");
  FIELD(BaselineConditions, measured_on, "The machine and kernel of this check.");
  FIELD(Verdict, verdict, kVerdictMeaning);
  FIELD(std::string, sentence, "The verdict in one sentence.");
  FIELD(std::vector<GroupEntry>, groups,
        "All changes by cause: worse, then better, then neither. Within each direction, the most severe come "
        "first.");
  FIELD(std::vector<ChangeEntry>, changes, "Every metric and threshold that differs from the baseline.");
  FIELD(std::vector<ComparedPointEntry>, points, "Every point that was compared.");
  FIELD(std::vector<NotCompared>, not_compared,
        "Parts of the baseline that this check does not compare, each with the reason.");
  FIELD(std::vector<std::string>, accepted_failures,
        "Points that fail now, and already failed in a baseline made with --allow-failing.");
  FIELD(std::vector<ConditionDifference>, conditions, "Differences between the machine of the baseline and this one.");
  FIELD(Load, load, "Load of the machine during the check.", as_in("run.schema.json#/$defs/load"));
  FIELD(std::vector<std::string>, notes,
        "One sentence for each setting that came from the baseline and not from the command line.");
  FIELD(std::string, accept, "The command that makes this measurement the new baseline.");
  FIELD(std::optional<prove::Proof>, proof, "The search for broken promises; absent without --prove.");
};

struct CheckDocument {
  RESULT("zerotax check",
         "Allocators compared with their baselines, as written by `zerotax check --json FILE`. The document "
         "contains every sentence that zerotax shows. JSON Schema cannot express that each change belongs to "
         "exactly one group.");
  static constexpr const char* kDocument = "zerotax.check/1";
  FIELD(Verdict, verdict, kVerdictMeaning);
  FIELD(std::string, sentence, kFirstLine);
  FIELD(bool, strict, "Whether an improvement also fails the check (--strict).");
  FIELD(bool, passed, kPassedMeaning);
  FIELD(std::vector<CheckEntry>, checks, "One check for each allocator.", least_items(1));
};

/// The document contains every sentence that the terminal or another output shows.
CheckDocument check_document(const AllocatorChecks& checks);

}  // namespace zerotax::baseline
