#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "findings/summary.h"
#include "judge/document.h"

namespace zerotax::findings {

struct Limits {
  RESULT("limits", "Limits used in the judgments.");
  FIELD(double, much_of_block, "Minimum share of a block that counts as zeroed.");
  FIELD(double, little_of_block,
        "Maximum share of a block that counts as next to nothing. 'Every page' means all pages except this share.",
        kLater);
  FIELD(double, slow_ratio,
        "Minimum ratio of a slow call's time to the time of the fastest allocator. A slow call also takes at least "
        "`slow_ns`.");
  FIELD(double, slow_ns,
        "Minimum time of a slow call, in nanoseconds. A slow call also has at least the ratio `slow_ratio`.");
  FIELD(double, level_ratio, "Ratio below which two times count as about equal.");
  FIELD(std::uint64_t, worker_bytes,
        "Maximum difference in bytes between a worker thread and the main thread that counts as none.");
};

struct Words {
  RESULT("words", "Meaning of words in the sentences.");
  FIELD(std::string, redundant, "Meaning of the word 'needlessly' in the sentences.");
  FIELD(std::string, slow, "Meaning of the word 'slow' in the sentences.");
};

struct RangesEntry {
  RESULT("ranges", "Sizes at which a property holds.");
  FIELD(std::string, word,
        "Sizes at which the property holds: 'always' (every size), 'some' or 'never'. 'unknown' if the property is "
        "known for no size. Not 'always' if the property is unknown for a size.",
        one_of("always|some|never|unknown"));
  FIELD(bool, complete, "Whether the property is known for every size.");
  FIELD(std::vector<SizeSpan>, ranges,
        "Ranges of neighboring measured sizes at which the property holds, ascending. A size at which the "
        "property is unknown ends a range.");
  FIELD(std::vector<std::uint64_t>, unknown, "Sizes for which the property is unknown.", least(1));
  FIELD(std::string, text, "The ranges as text.");
};

struct Sizes {
  RESULT("sizes", "Sizes in bytes, ascending.");
  FIELD(std::vector<std::uint64_t>, measured, "Sizes whose redundant bytes are known.", least(1));
  FIELD(std::vector<std::uint64_t>, unknown, "Sizes whose redundant bytes are unknown.", least(1));
  FIELD(std::vector<std::uint64_t>, failed,
        "Sizes whose point has no result, so that the redundant bytes are unknown, too.", least(1));
};

struct FreeRanges {
  RESULT("free", "Zeroing by free, independent of what the program wrote to the block.");
  FIELD(RangesEntry, clears, "Sizes at which free writes zeros over at least half of the block.");
  FIELD(RangesEntry, needlessly, "Sizes at which at least half of the block was already zero when free zeroed it.");
};

struct Avoid {
  RESULT("avoid", "Ways to avoid needless zeroing.");
  FIELD(KnownRemedies, remedies, "Remedies: versions first, then settings.");
  FIELD(std::string, text, "Short form of the remedies for tables, with code between backticks.");
};

struct Worst {
  RESULT("worst", "Worst case of an allocator.");
  FIELD(std::uint64_t, size_bytes,
        "Size with the largest ratio to the fastest. If no other allocator was measured, the size of the longest "
        "calls that write zeros needlessly.",
        least(1));
  FIELD(Measured<double>, ns, "Median nanoseconds of one calloc.");
  FIELD(Measured<std::size_t>, fastest, "Id of the fastest allocator at that size.");
  FIELD(Measured<double>, fastest_ns, "Median nanoseconds of one calloc of the fastest allocator, at least 1.");
  FIELD(Measured<double>, ratio, "Ratio of the time to the time of the fastest allocator.", least(1));
  FIELD(std::string, text, "The worst case, in words.", kMayBeEmpty);
};

struct Worker {
  RESULT("worker", "Comparison of a worker thread with the main thread, at each fraction of written pages.");
  FIELD(std::string, word,
        "Comparison of the redundant bytes of the worker thread with those of the main thread. 'same' means equal up "
        "to a page.",
        one_of("same|differs|not measured"));
  FIELD(std::size_t, points, "Number of points measured on both threads.");
  FIELD(std::vector<std::uint64_t>, bytes_differ_at, "Sizes at which the two threads differ.", least(1));
};

struct HeadlineCell {
  RESULT("cell", "A cell of the headline's table.");
  FIELD(std::uint64_t, size_bytes, "Bytes requested from calloc.", least(1));
  FIELD(std::string, time, "Time of one calloc. If calls differ, the times of the two most frequent kinds.");
  FIELD(std::string, redundant,
        "Share of the block that is zeroed needlessly, or share of the calls that zero needlessly.");
};

struct AllocatorEntry {
  RESULT("allocator",
         "Verdicts on one allocator in one configuration. Unless a description differs, the verdicts are about "
         "calloc_loop on the main thread, if the program writes nothing to the blocks.");
  FIELD(std::size_t, id, "Index of the allocator in this list, by which rows and sentences refer to the allocator.");
  FIELD(std::string, allocator, "Name of the allocator, as in its points.");
  FIELD(Measured<std::string>, version, "Version of the allocator.");
  MEMBER(env, "The allocator's configuration: environment variables by name.", kMayBeEmpty);
  std::map<std::string, std::string> env;
  FIELD(std::string, preload, "Path of the preloaded library; empty if the allocator is linked into the probe.",
        kMayBeEmpty);
  FIELD(std::string, label, "Unique name of the allocator in sentences and tables.");
  FIELD(std::string, name, "Unique name of the allocator in figures: the label without the version.", kLater);
  FIELD(Sizes, sizes, "Sizes of the allocator's points.");
  FIELD(RangesEntry, redundant, "Sizes at which all or some later calls write zeros needlessly.");
  FIELD(RangesEntry, redundant_first, "Sizes at which the first call of a process writes zeros needlessly.");
  MEMBER_AS("free", in_free, "Zeroing by free.");
  FreeRanges in_free;
  FIELD(RangesEntry, returns,
        "Sizes at which memory is returned to the kernel (by munmap, madvise or brk) and refilled, if every page is "
        "written. Refilled means that page faults populate at least half of the block again.");
  FIELD(RangesEntry, slow, "Sizes at which one calloc is slow, by `limits`.");
  FIELD(Measured<Worst>, worst, "The allocator's worst case.");
  FIELD(OrNull<Avoid>, avoid,
        "Ways to avoid the allocator's needless zeroing, from the data on the allocator's project; null without "
        "needless zeroing, or if it is unknown whether calls zero needlessly.",
        kLater);
  FIELD(Worker, worker, "Comparison of a worker thread with the main thread.");
  FIELD(std::vector<HeadlineCell>, headline, "Cells of the table: one for 100 MiB, and one for 1000 MiB.");
};

struct CallsEntry {
  RESULT("call", "Later calls of one kind that write zeros needlessly.");
  FIELD(RedundantKind, kind,
        "fresh: over memory that the kernel provided for this call. reuse: over a block that was allocated "
        "before.");
  FIELD(std::uint64_t, ops, "Number of later calls of this kind.");
  FIELD(std::uint64_t, of_ops, "Number of all later calls. If all calls are alike, `ops` and this number are 1.");
  FIELD(std::uint64_t, redundant_bytes, "Bytes that each of these calls zeroes needlessly.");
  FIELD(Measured<double>, calloc_ns, "Time of one of these calls, in nanoseconds.");
};

struct PointRow {
  static constexpr bool kIsRow = true;
  static constexpr std::ptrdiff_t kKeys = 5;
  RESULT("row", "Values of `key`, followed by the values of `columns`.");
  FIELD(std::size_t, allocator, "Id of the allocator.");
  MEMBER_AS("case", case_name, "Name of the case.");
  std::string case_name;
  FIELD(std::uint64_t, size_bytes, "Bytes requested from calloc.", least(1));
  FIELD(double, touch, "Fraction of the pages that the program writes.", most(1));
  FIELD(std::string, thread, "The thread that calls the allocator.", one_of("main|worker"));
  FIELD(PointStatus, status, "Status of the point.");
  FIELD(std::string, redundant, "Whether all, some or none of the later calls write zeros needlessly.",
        one_of("yes|some|no|unknown"));
  FIELD(Measured<double>, redundant_share, "Redundant bytes as a share of the block (lower median).", most(1));
  FIELD(YesNo, redundant_first, "Whether the first call of the process writes zeros needlessly.");
  FIELD(YesNo, slow, "Whether one calloc is slow, by `limits`.");
  FIELD(Measured<double>, ratio_to_fastest,
        "Ratio of the time of one calloc to the time of the fastest allocator for the same case, size, touch and "
        "thread.",
        least(1));
  FIELD(Measured<double>, operation_ns, "Nanoseconds of calloc, touching and free together, as a sum of medians.");
  FIELD(Measured<std::uint64_t>, operation_faults, "Minor page faults of calloc, touching and free.");
  FIELD(std::vector<CallsEntry>, calls, "Kinds of later calls that write zeros needlessly, most frequent first.");
  FIELD(Measured<double>, zeroed_share,
        "Zeroed bytes of calloc as a share of the block (lower median); 1 if calloc zeroes beyond the block. In files "
        "of the first version of this format, rows end with `calls`.",
        most(1), kLater);
};

struct PointRows {
  RESULT("points", "One row for each point of the run: the values of `key`, then the values of `columns`.");
  FIELD(std::vector<std::string>, key, "Names of the values that identify a row.",
        one_of("allocator|case|size_bytes|touch|thread"), least_items(5));
  FIELD(std::vector<std::string>, columns, "Names of the other values of a row.",
        one_of("status|redundant|redundant_share|redundant_first|slow|ratio_to_fastest|operation_ns|operation_faults|"
               "calls|zeroed_share"),
        least_items(9));
  FIELD(std::vector<PointRow>, rows, "Rows in the order of the run.");
};

struct UnlikeCalls {
  RESULT("unlike calls", "A point whose calls differ, so that its metrics are medians over different kinds.");
  FIELD(std::size_t, row, "Index of the point among the rows of `points`, from 0.");
  FIELD(std::vector<std::string>, kinds,
        "A line for each kind of call in the audit, then for each kind in the timing pass, most frequent first.",
        least_items(2));
};

struct Failure {
  RESULT("failure", "A point whose status is not ok.");
  FIELD(std::size_t, allocator, "Id of the allocator.");
  MEMBER_AS("case", case_name, "Name of the case, as in the point.");
  std::string case_name;
  FIELD(std::uint64_t, size_bytes, "Bytes requested from calloc.", least(1));
  FIELD(double, touch, "Fraction of the pages that the program writes.", most(1));
  FIELD(std::string, thread, "The thread that calls the allocator.", one_of("main|worker"));
  FIELD(PointStatus, status, "Status of the point.", one_of("not_zero|misaligned|crashed|timeout|failed|skipped"));
  FIELD(std::string, reason, "The reason for the status.");
};

struct SummaryDocument {
  RESULT("zerotax summary",
         "All verdicts on the points of a run, and all sentences of its summary: the document of zerotax findings RUN "
         "--summary --json, and summary.json of a results folder. Terminal, figures and page show these verdicts "
         "without judging again.");
  FIELD(std::string, schema, "Name and version of this format.", one_of("zerotax.summary/1"));
  FIELD(SummaryRun, run, "The run that the summary judges.");
  FIELD(Limits, limits, "Limits used in the judgments.");
  FIELD(Words, words, "Meaning of words in the sentences.");
  FIELD(std::vector<AllocatorEntry>, allocators,
        "One entry for each allocator and configuration, in order of appearance.");
  FIELD(std::vector<std::size_t>, ranking,
        "Ids of the allocators: allocators that zero needlessly come first. Within both groups, the slowest allocator "
        "relative to the fastest comes first.",
        kLater);
  FIELD(std::vector<SummarySentence>, sentences, "Sentences of the summary in their order.");
  FIELD(PointRows, points, "Verdicts on the points of the run.");
  FIELD(Json, touches, "The bytes that the program writes, as text for each fraction of written pages.",
        with(R"({"type": "object", "additionalProperties": {"type": "string", "minLength": 1}})"));
  FIELD(std::vector<UnlikeCalls>, unlike_calls,
        "Points at which the calls of one process differ from each other. Absent in earlier summaries.", kLater);
  FIELD(std::optional<Json>, figures,
        "Titles of figures, by file name. Only in earlier summaries, because plots/ now writes the titles.",
        with(R"({"type": "object"})"));
  FIELD(std::vector<Failure>, failures, "Points whose status is not ok.");
};

SummaryDocument summary_document(const Summary& summary);

}  // namespace zerotax::findings
