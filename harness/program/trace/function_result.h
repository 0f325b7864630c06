#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trace/function_filter.h"
#include "trace/function_verdict.h"
#include "trace/result.h"

namespace zerotax::trace {

/// Which part of a trace's function calls is wanted.
struct FunctionQuery {
  FunctionFilter filter;
  bool tree = false;
  unsigned depth = 0;  ///< of the tree; 0: all of it
};

struct FunctionTimes {
  pid_t pid = 0;
  NamedFrame frame;
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;
  std::uint64_t unfinished = 0;
};

struct FunctionRow : FunctionTimes {
  RESULT("function row");
  MEMBER(pid, "PID of the process.", least(1));
  MEMBER(frame, "Which function.");
  MEMBER(calls, "Calls that ended.");
  MEMBER(total_ns,
         "Time in the function and everything it called, in ns; of recursive calls, only the outermost counts.");
  MEMBER(self_ns, "Time in the function itself, without the instrumented functions that it called, in ns.");
  FIELD(Measured<std::uint64_t>, min_ns, "Shortest call, in ns.");
  FIELD(Measured<std::uint64_t>, median_ns, "Median call, in ns, to within 1 %.");
  FIELD(Measured<std::uint64_t>, p90_ns, "90th percentile of the calls, in ns, to within 1 %.");
  FIELD(Measured<std::uint64_t>, p99_ns, "99th percentile of the calls, in ns, to within 1 %.");
  FIELD(Measured<std::uint64_t>, max_ns, "Longest call, in ns.");
  FIELD(Measured<double>, mean_ns, "Mean of the calls, in ns.");
  FIELD(Measured<double>, variance_ns2, "Variance of the calls (of the sample: divided by n - 1), in ns squared.");
  FIELD(Measured<double>, stddev_ns, "Its square root, in ns.");
  FIELD(std::uint64_t, left_without_exit,
        "Calls that were left by a jump, or in another way without an exit of their own.");
  MEMBER(unfinished, "Calls, not counted above, that had not ended when the trace did, or when records were lost.");
};

struct PathRow : FunctionTimes {
  RESULT("path row");
  MEMBER(pid, "PID of the process.", least(1));
  FIELD(unsigned, depth, "Callers of the function in this path.");
  FIELD(OrNull<std::size_t>, parent, "Row of its caller, from 0; null if it has none.");
  MEMBER(frame, "Which function.");
  MEMBER(calls, "Calls by this path that ended.");
  MEMBER(total_ns, "Time of these calls with everything they called, in ns.");
  MEMBER(self_ns, "Time of these calls without the instrumented functions that they called, in ns.");
  MEMBER(unfinished,
         "Calls by this path, not counted above, that had not ended when the trace did, or when records were lost.");
};

struct Functions : Source {
  RESULT("zerotax trace functions", "What zerotax trace functions --json writes: function calls in a trace.");
  static constexpr const char* kDocument = "zerotax.functions/1";
  MEMBER(folder, "The trace, as given on the command line.");
  FIELD(Filters, filters, "Which functions are listed, by names that may have * and ?; an empty list filters nothing.");
  MEMBER(discarded, "Records that were not kept; if there are any, the counts are too low.");
  MEMBER(problems, "Parts of the files that could not be read, one line each; everything else is included.",
         form(R"(\S)"));
  FIELD(std::uint64_t, exits_without_entry, "Function exits whose entry is not in the trace.");
  FIELD(std::vector<FunctionRow>, functions, "Functions of each process, those with the most own time first.");
  FIELD(Measured<std::vector<PathRow>>, tree,
        "The call tree (--tree): a row for each path of callers, behind its parent, the longest total time first; "
        "threads of a process are merged.");
};

struct DiffFigures {
  RESULT("diff figures", "A function in one trace.");
  FIELD(std::uint64_t, calls, "Calls that ended.");
  FIELD(std::uint64_t, total_ns,
        "Time in the function and everything it called, in ns; of recursive calls, only the outermost counts.");
  FIELD(std::uint64_t, self_ns, "Time in the function itself, in ns.");
  FIELD(Measured<double>, self_mean_ns, "The same, of one call on average, in ns.");
  FIELD(Measured<double>, self_stddev_ns, "Standard deviation of it (of the sample), in ns.");
  FIELD(std::uint64_t, unfinished, "Calls, not counted above, that had not ended when the trace did.");
};

struct DiffRow : FunctionVerdict {
  RESULT("diff row");
  FIELD(std::string, function, "Demangled name; an address where no symbol is known.");
  FIELD(Measured<std::string>, object, "File name of its program or library.");
  FIELD(Measured<DiffFigures>, before, "In the earlier trace.");
  FIELD(Measured<DiffFigures>, after, "In the later trace.");
  FIELD(std::int64_t, calls_change, "Calls that ended: after minus before.", kAnySign);
  MEMBER(self_change_ns, "Self time: after minus before, in ns.", kAnySign);
  MEMBER(noise_ns,
         "What that change must exceed: three standard deviations of a sum of so many calls, with the variance of both "
         "traces, in ns; n/a with fewer than 10 calls in one of them.");
  MEMBER(verdict,
         "What became of it. grew, shrank: self time changed by more than a tenth, and by more than noise_ns. unclear: "
         "why says what is missing.");
  MEMBER(why, "Why it is unclear; null otherwise.", form(R"(\S)"));
};

struct FunctionDiff {
  RESULT("zerotax trace functions --diff",
         "What zerotax trace functions --diff BEFORE AFTER --json writes: what became of each function from one trace "
         "to another.");
  static constexpr const char* kDocument = "zerotax.functions_diff/1";
  FIELD(Source, before, "The earlier trace.");
  FIELD(Source, after, "The later trace.");
  FIELD(Filters, filters, "Which functions are listed, by names that may have * and ?; an empty list filters nothing.");
  FIELD(Direction, verdict,
        "more: a function appeared, grew or has more calls; less: none did, and one vanished, shrank or has fewer "
        "calls; same: neither.");
  FIELD(std::vector<DiffRow>, functions,
        "Every function of either trace, by name and file, the largest change of self time first. Its processes are "
        "summed.");
};

/// The functions of a trace, those with the most time of their own first, and its call tree. Throws UsageError if a
/// filter matches nothing.
Functions functions_of(CtfTrace& trace, FunctionQuery& query);

/// The table for the terminal, or the tree if there is one.
std::string functions_text(const Functions& functions);

/// What became of each function from one trace to another, by name and file, and the verdict. Throws UsageError if a
/// filter matches nothing in either.
FunctionDiff diff_functions(CtfTrace& before, CtfTrace& after, FunctionFilter& filter);

std::string function_diff_text(const FunctionDiff& diff);

}  // namespace zerotax::trace
