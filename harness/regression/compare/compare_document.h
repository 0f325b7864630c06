#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "compare/along.h"
#include "compare/comparison.h"

namespace zerotax::compare {

// The documents of comparisons, of points and along an axis.

using Figure = Measured<std::int64_t>;
inline constexpr Limit kThreads = one_of("main|worker");
inline constexpr Limit kCosts = one_of("calloc|total");

struct RatioInterval {
  RESULT("interval", "An interval of a ratio; both ends are part of it.");
  FIELD(double, low, "Lower end of the ratio's interval.", above(0));
  FIELD(double, high, "Upper end of the ratio's interval.", above(0));
};

struct TimeEntry {
  RESULT("time", "Comparison of times over all pairs of processes.");
  FIELD(std::string, verdict, "The verdict on time alone.", one_of("same|faster|slower|ambiguous"));
  FIELD(double, ratio, "Hodges-Lehmann estimate of NEW over OLD.", above(0));
  FIELD(double, band, "The noise band. A ratio between the inverse of this value and this value is not a difference.",
        least(1));
  FIELD(double, p, "Exact two-sided p-value of Wilcoxon's signed-rank test.", most(1));
  FIELD(double, adjusted_p, "The p-value, adjusted for all points by Holm's method.", most(1));
  FIELD(double, level, "Confidence level of `interval`.", most(1));
  FIELD(Measured<RatioInterval>, interval, "Confidence interval of the ratio, corrected for the number of points.");
  FIELD(Measured<RatioInterval>, interval_95, "Confidence interval of the ratio of this point alone, at 95 %.");
};

struct WorkEntry {
  RESULT("compared work", "A metric that is compared exactly.");
  FIELD(std::string, figure, "The count of one operation in the steady state: bytes, minor faults, or system calls.",
        one_of("zeroed_bytes|redundant_zeroed_bytes|faults|syscalls"));
  FIELD_AS("old", Figure, before,
           "Value for OLD. n/a if the metric was not measured, or if its value differed between processes.");
  FIELD_AS("new", Figure, after,
           "Value for NEW. n/a if the metric was not measured, or if its value differed between processes.");
  FIELD(std::string, change, "The change from OLD to NEW that every process shows.", one_of("more|less|none proven"));
  FIELD(bool, decides, "Whether the difference is large enough to decide a verdict.");
};

struct SideEntry {
  RESULT("compared side", "The measurements of OLD or NEW at a point.");
  FIELD(std::string, allocator, "Name of the allocator.", kMayBeEmpty);
  FIELD(Measured<double>, ns,
        "Time of an operation in nanoseconds: the median over the processes, or the time of the single process in"
        " a stored run.");
  FIELD(Work, work, "The metrics of every process.");
  FIELD(std::vector<std::string>, modes,
        "Each kind of call in words, with its number of calls. Absent if all calls of this side are alike.",
        kAbsentIfEmpty);
};

struct PairEntry {
  RESULT("pair", "Times of a pair of processes.");
  FIELD(double, old_ns, "Median time of one operation of OLD, in nanoseconds.", above(0));
  FIELD(double, new_ns, "Median time of one operation of NEW, in nanoseconds.", above(0));
  FIELD(std::string, first, "The process that ran first, chosen at random.", one_of("old|new"));
};

struct PointEntry {
  RESULT("point", "A point of the comparison.");
  FIELD(std::string, label, "The name of the point in tables.");
  FIELD_AS("case", std::string, case_name, "Name of the case.");
  FIELD(std::uint64_t, size_bytes, "Bytes requested from calloc.", least(1));
  FIELD(double, touch, "Fraction of the pages that the program writes.", most(1));
  FIELD(std::string, thread, "The thread that calls the allocator.", kThreads);
  FIELD(CompareKind, verdict, "The verdict on the point (docs/compare.md).");
  FIELD(std::string, reason, "The reason for the verdict, in words.");
  FIELD(std::vector<WorkEntry>, work, "Metrics that are compared exactly; empty if the point is INVALID.");
  FIELD(Measured<TimeEntry>, time, "Comparison of times over all pairs of processes.");
  FIELD(Measured<std::string>, change,
        "Relative change of the time, NEW / OLD - 1. For runs that were made separately, the change comes from the "
        "medians alone, and decides no verdict.");
  FIELD(Measured<std::string>, change_interval, "The 95 % interval of the change.");
  FIELD_AS("old", SideEntry, before, "Measurements of OLD at the point.");
  FIELD_AS("new", SideEntry, after, "Measurements of NEW at the point.");
  FIELD(std::vector<PairEntry>, pairs, "Every pair of processes, in the order in which they were measured.");
};

struct ThingEntry {
  RESULT("side", "One side of the comparison, OLD or NEW.");
  FIELD(std::string, label, "The allocator or the run, in one line.");
  FIELD(Json, what, "An allocator, or the path of a run as given on the command line.", with(R"({"anyOf": [
    {"$ref": "run.schema.json#/$defs/allocator"},
    {"type": "object", "additionalProperties": false, "required": ["file"],
     "properties": {"file": {"description": "Path of a run.", "type": "string", "minLength": 1}}}]})"));
  ENVIRONMENT_FIELD();
  Json environment;
};

struct ShuffledAlarms {
  RESULT("shuffled", "Comparisons in which OLD and NEW are exchanged at random within the measured pairs.");
  FIELD(std::size_t, comparisons, "Number of exchanged comparisons.", least(1));
  FIELD(double, share, "Share of these comparisons with any point FASTER or SLOWER.", most(1));
};
struct SelfTest {
  RESULT("self test", "Whole comparisons of OLD with itself.");
  FIELD(std::size_t, comparisons, "Number of comparisons made.");
  FIELD(std::size_t, alarms, "Number of these comparisons with any point FASTER or SLOWER.");
};
struct FalseAlarms {
  RESULT("false alarms", "Rates at which a comparison of equals shows a difference.");
  MEMBER(shuffled, "Rate of differences when OLD and NEW are exchanged at random within the measured pairs.");
  MEMBER(self_test,
         "Rate of differences in whole comparisons of OLD with itself, which benchmark-compare-alarms makes.");
  Measured<ShuffledAlarms> shuffled{NotAvailable{"there are no pairs of processes"}};
  Measured<SelfTest> self_test{NotAvailable{"benchmark-compare-alarms counts them"}};
};

struct KindCounts {
  RESULT("verdict counts", "Number of points for each verdict.");
  FIELD_AS("SAME", std::size_t, same, "Number of points with the verdict SAME.");
  FIELD_AS("FASTER", std::size_t, faster, "Number of points with the verdict FASTER.");
  FIELD_AS("SLOWER", std::size_t, slower, "Number of points with the verdict SLOWER.");
  FIELD_AS("AMBIGUOUS", std::size_t, ambiguous, "Number of points with the verdict AMBIGUOUS.");
  FIELD_AS("INVALID", std::size_t, invalid, "Number of points that cannot be compared.");
};

struct CompareDocument {
  std::string schema = "zerotax.compare/1";
  RESULT("zerotax compare",
         "The changes from OLD to NEW, point by point, as written by zerotax compare OLD NEW --json. A ratio is the "
         "time of NEW divided by the time of OLD. Above 1, NEW is slower. JSON Schema cannot express that low <= "
         "high.");
  SCHEMA_FIELD("zerotax.compare/1");
  FIELD(Completion, state, "Whether everything was measured, or the comparison was stopped early.");
  FIELD(exchange::OutcomeKind, verdict,
        "The verdict on the whole comparison: worse if a point is SLOWER; otherwise better if a point is FASTER; "
        "otherwise same if a point is SAME; otherwise skipped.",
        one_of("worse|better|same|skipped"));
  FIELD(std::string, sentence, "Number of points with each verdict, as on the terminal.");
  FIELD(std::vector<std::string>, notes, "Notes that qualify the verdict, a sentence each.");
  FIELD(bool, measured,
        "Whether both sides were measured now, in pairs of processes; false if two stored runs were read.");
  FIELD_AS("old", ThingEntry, before, "The reference of the comparison.");
  FIELD_AS("new", ThingEntry, after, "The side that is compared with OLD.");
  FIELD(std::string, cost,
        "The compared time: the time of calloc, or the total time of calloc, of writing the pages and of free.",
        kCosts);
  FIELD(std::optional<unsigned>, pairs_per_point,
        "Pairs of processes planned at each point; null if stored runs were read.", least(1), kNullIfEmpty);
  FIELD(CompareMethod, method, "The method by which times are judged.");
  FIELD(FalseAlarms, false_alarms, "Rates at which a comparison of equals shows a difference.");
  FIELD(KindCounts, counts, "Number of points for each verdict.");
  FIELD(std::vector<PointEntry>, points, "The points, in the order of measurement or of OLD's file.");
  FIELD(std::vector<Json>, more, "Comparisons of OLD with each further run. Absent without further runs.",
        kAbsentIfEmpty, with(R"({"items": {"$ref": "#/$defs/zerotax_compare"}})"));
};

CompareDocument compare_document(const CompareReport& report);

struct BracketEntry {
  RESULT("bracket", "The nearest clear places on either side, or the clearest places if no place is clear.");
  FIELD(double, from, "The nearest place below the crossing.");
  FIELD(double, to, "The nearest place above the crossing.");
  FIELD(double, ratio_from, "Median ratio at the place below.", above(0));
  FIELD(double, ratio_to, "Median ratio at the place above.", above(0));
};

struct CrossingEntry {
  RESULT("crossing", "A place where the cheaper allocator changes.");
  FIELD(double, at, "The place where the ratio is 1, by interpolation.");
  FIELD(double, low, "Lower end of the confidence interval.");
  FIELD(double, high, "Upper end of the confidence interval.");
  FIELD(BracketEntry, bracket, "The places around the crossing.");
  FIELD(std::string, cheaper_below, "Name of the cheaper allocator below the crossing.", kNullIfEmpty);
  FIELD(std::string, cheaper_above, "Name of the cheaper allocator above the crossing.", kNullIfEmpty);
  FIELD(double, share, "Share of the resamples in which the crossing exists.", most(1));
  FIELD(bool, certain, "Whether the share is at least the level, and the crossing lies between clear places.");
  FIELD(bool, jump,
        "Whether the ratio more than doubles between the neighboring places. The interval is then the whole gap "
        "between them.");
};

struct StretchEntry {
  RESULT("stretch", "A range in which the same allocator is cheaper.");
  FIELD(double, from, "The previous crossing, or the beginning of the range.");
  FIELD(double, to, "The next crossing, or the end of the range.");
  FIELD(std::string, cheaper, "Name of the cheaper allocator; null if every ratio is 1.", kNullIfEmpty);
  FIELD(bool, clear, "Whether any place of the stretch is clear.");
  FIELD(double, ratio_from, "Median ratio at the first place of the stretch.", above(0));
  FIELD(double, ratio_to, "Median ratio at the last place of the stretch.", above(0));
  FIELD(double, ratio_min, "Smallest median ratio in the stretch.", above(0));
  FIELD(double, ratio_max, "Largest median ratio in the stretch.", above(0));
};

struct UnprovenEntry {
  RESULT("unproven", "Places where the other allocator may be cheaper.");
  FIELD(double, from, "First place where the other allocator may be cheaper.");
  FIELD(double, to, "Last place where the other allocator may be cheaper.");
  FIELD(std::string, cheaper, "Name of the allocator that may be cheaper.");
  FIELD(double, ratio, "Median ratio at the clearest place.", above(0));
  FIELD(double, share, "Share of the resamples in which the same allocator is cheaper at the clearest place.", most(1));
};

struct AlongPair {
  RESULT("pair along an axis", "Times of a pair of processes.");
  FIELD(double, a_ns, "Median cost of a steady operation of A, in nanoseconds.", above(0));
  FIELD(double, b_ns, "Median cost of a steady operation of B, in nanoseconds.", above(0));
  FIELD(std::string, first, "The allocator that ran first.", one_of("a|b"));
};

struct MedianRatio {
  RESULT("median ratio", "Median ratio of the pairs, and its confidence interval by bootstrap.");
  FIELD(double, median, "Median ratio of the pairs.", above(0));
  FIELD(double, low, "Lower end of the ratio's confidence interval.", above(0));
  FIELD(double, high, "Upper end of the ratio's confidence interval.", above(0));
};

struct PlaceEntry {
  RESULT("measured place", "Measurements at one place on the axis.");
  FIELD(std::uint64_t, size_bytes, "Size of the block, in bytes.", least(1));
  FIELD(double, touch, "Fraction of the block's pages that the program writes, from 0 to 1.", most(1));
  FIELD(unsigned, pass, "Number of the refinement pass that added the place, from 1; 0 for a place of the first grid.");
  FIELD(std::string, left_out, "The reason why the place is unusable; null for a usable place.", kNullIfEmpty);
  FIELD(std::vector<AlongPair>, pairs, "The pairs of processes, in the order in which they were measured.");
  FIELD(Measured<MedianRatio>, ratio, "Median ratio of the pairs.");
  FIELD(bool, clear, "Whether the median differs from 1 by more than the noise, corrected for the number of places.");
};

struct AlongDocument {
  std::string schema = "zerotax.crossover/1";
  RESULT("zerotax compare --along",
         "The places on an axis where the cheaper of two allocators changes, and the pairs of processes that show the "
         "change. Written by zerotax compare A B --along AXIS --json. A ratio is the cost of A divided by the cost of "
         "B. Below 1, A is cheaper. A place is a size in bytes, or a fraction of written pages. JSON Schema cannot "
         "express that low <= high, nor that there is one more stretch than there are crossings.");
  static constexpr const char* kMore = R"({"allOf": [
    {"if": {"properties": {"by": {"const": "size"}}},
     "then": {"properties": {"size_bytes": {"type": "null"}, "touch": {"type": "number"}}},
     "else": {"properties": {"size_bytes": {"type": "integer"}, "touch": {"type": "null"}}}},
    {"if": {"properties": {"verdict": {"const": "crossings"}}},
     "then": {"properties": {"crossings": {"minItems": 1}}},
     "else": {"properties": {"crossings": {"maxItems": 0}}}}]})";
  SCHEMA_FIELD("zerotax.crossover/1");
  FIELD(Completion, state, "Whether every pair was measured, or the run was stopped early.");
  ENVIRONMENT_FIELD();
  Json environment;
  FIELD(Json, a, "The first allocator.", as_in("run.schema.json#/$defs/allocator"));
  FIELD(Json, b, "The second allocator.", as_in("run.schema.json#/$defs/allocator"));
  FIELD(std::string, by,
        "The axis, which determines the unit of every place: bytes for size, and a fraction from 0 to 1 for "
        "touch.",
        one_of("size|touch"));
  FIELD(std::optional<std::uint64_t>, size_bytes, "Size of every block, in bytes; null if the size varies.", least(1),
        kNullIfEmpty);
  FIELD(std::optional<double>, touch, "Fraction of the pages that the program writes; null if the fraction varies.",
        most(1), kNullIfEmpty);
  FIELD(std::string, thread, "The thread that calls the allocator.", kThreads);
  FIELD(std::string, cost,
        "The compared time: the time of calloc, or the total time of calloc, of writing the pages and of free.",
        kCosts);
  FIELD(unsigned, pairs_per_point, "Number of pairs of processes at each place.", least(3));
  FIELD(std::size_t, resamples, "Number of bootstrap resamples.", least(1));
  FIELD(std::uint64_t, seed, "Seed of the bootstrap, which is always the same.");
  FIELD(double, level, "Confidence level of the intervals, 0 to 1.", most(1));
  FIELD(std::string, verdict, "Whether there are crossings; not measured means that fewer than two places are left.",
        one_of("crossings|none in range|not measured"));
  FIELD(std::vector<CrossingEntry>, crossings, "Places where the cheaper allocator changes, ascending.");
  FIELD(std::vector<StretchEntry>, stretches,
        "The ranges between crossings, ascending: one more than there are crossings, or none if nothing was "
        "measured.");
  FIELD(std::vector<UnprovenEntry>, unproven,
        "Neighboring places inside a stretch where the other allocator was cheaper, but not clearly enough.");
  FIELD(std::vector<PlaceEntry>, points, "Every place that was measured, ascending.");
};

AlongDocument along_document(const Along& along, const Json& environment);

}  // namespace zerotax::compare
