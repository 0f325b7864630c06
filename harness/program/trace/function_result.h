#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trace/function_filter.h"
#include "trace/function_verdict.h"
#include "trace/result.h"

namespace zerotax::trace {

/// Selects the function calls of a trace to list.
struct FunctionQuery {
  FunctionFilter filter;
  bool tree = false;
  unsigned depth = 0;  ///< levels of the tree; 0 for all
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
  MEMBER(frame, "The function that was called.");
  MEMBER(calls, "Number of calls that ended.");
  MEMBER(total_ns,
         "Time in the function and in all functions that it called, in ns; of recursive calls, only the outermost"
         " counts.");
  MEMBER(self_ns, "Time in the function itself, without the instrumented functions that it called, in ns.");
  FIELD(Measured<std::uint64_t>, min_ns, "Time of the shortest call, in ns.");
  FIELD(Measured<std::uint64_t>, median_ns, "Median time of a call, in ns, to within 1 %.");
  FIELD(Measured<std::uint64_t>, p90_ns, "90th percentile of the calls' times, in ns, to within 1 %.");
  FIELD(Measured<std::uint64_t>, p99_ns, "99th percentile of the calls' times, in ns, to within 1 %.");
  FIELD(Measured<std::uint64_t>, max_ns, "Time of the longest call, in ns.");
  FIELD(Measured<double>, mean_ns, "Mean time of a call, in ns.");
  FIELD(Measured<double>, variance_ns2,
        "Variance of the calls' times (of the sample, divided by n - 1), in ns squared.");
  FIELD(Measured<double>, stddev_ns, "Standard deviation of the calls' times, in ns.");
  FIELD(std::uint64_t, left_without_exit, "Number of calls that ended by a jump, or otherwise without an exit event.");
  MEMBER(unfinished, "Number of calls still open when the trace ended or records were lost; not part of calls.");
};

struct PathRow : FunctionTimes {
  RESULT("path row");
  MEMBER(pid, "PID of the process.", least(1));
  FIELD(unsigned, depth, "Number of callers in this path.");
  FIELD(OrNull<std::size_t>, parent, "Row of the caller (the first row is 0); null if there is no caller.");
  MEMBER(frame, "The function that was called.");
  MEMBER(calls, "Number of calls by this path that ended.");
  MEMBER(total_ns, "Time of these calls with all functions that they called, in ns.");
  MEMBER(self_ns, "Time of these calls without the instrumented functions that they called, in ns.");
  MEMBER(unfinished,
         "Number of calls by this path still open when the trace ended or records were lost; not part of calls.");
};

struct Functions : Source {
  RESULT("zerotax trace functions", "Function calls in a trace, as zerotax trace functions --json writes them.");
  static constexpr const char* kDocument = "zerotax.functions/1";
  MEMBER(folder, "The trace, as given on the command line.");
  FIELD(Filters, filters,
        "The selected functions, by names that may contain * and ?; an empty list selects all functions.");
  MEMBER(discarded, "Number of discarded records; if it is not 0, the counts are too low.");
  MEMBER(problems, "Parts of the files that could not be read, one line each; everything else is included.",
         form(R"(\S)"));
  FIELD(std::uint64_t, exits_without_entry, "Number of function exits whose entry is not in the trace.");
  FIELD(std::vector<FunctionRow>, functions,
        "Functions of each process; the functions with the most self time come first.");
  FIELD(Measured<std::vector<PathRow>>, tree,
        "The call tree (--tree), with a row for each path of callers. Each row follows its parent; among "
        "siblings, paths with the longest total time come first. Threads of a process are merged.");
};

struct DiffFigures {
  RESULT("diff figures", "Calls and times of a function in one trace.");
  FIELD(std::uint64_t, calls, "Number of calls that ended.");
  FIELD(std::uint64_t, total_ns,
        "Time in the function and in all functions that it called, in ns; of recursive calls, only the outermost "
        "counts.");
  FIELD(std::uint64_t, self_ns, "Time in the function itself, in ns.");
  FIELD(Measured<double>, self_mean_ns, "Mean self time of one call, in ns.");
  FIELD(Measured<double>, self_stddev_ns, "Standard deviation of self_mean_ns (of the sample), in ns.");
  FIELD(std::uint64_t, unfinished, "Number of calls still open when the trace ended; not part of calls.");
};

struct DiffRow : FunctionVerdict {
  RESULT("diff row");
  FIELD(std::string, function, "Demangled name, or an address if no symbol is known.");
  FIELD(Measured<std::string>, object, "File name of the program or library that contains the function.");
  FIELD(Measured<DiffFigures>, before, "The function in the earlier trace.");
  FIELD(Measured<DiffFigures>, after, "The function in the later trace.");
  FIELD(std::int64_t, calls_change, "Change of the number of ended calls: after minus before.", kAnySign);
  MEMBER(self_change_ns, "Change of the self time: after minus before, in ns.", kAnySign);
  MEMBER(noise_ns,
         "Limit that the change of self time must exceed, in ns: three standard deviations of the sum of the "
         "calls. The variances of both traces are used. n/a if a trace has fewer than 10 calls.");
  MEMBER(verdict,
         "The change. grew, shrank: self time changed by more than a tenth and by more than noise_ns. unclear: data is "
         "missing; `why` names it.");
  MEMBER(why, "Reason why the change is unclear; null otherwise.", form(R"(\S)"));
};

struct FunctionDiff {
  RESULT("zerotax trace functions --diff",
         "The change of each function from one trace to another, as zerotax trace functions --diff BEFORE AFTER "
         "--json writes it.");
  static constexpr const char* kDocument = "zerotax.functions_diff/1";
  FIELD(Source, before, "The earlier trace.");
  FIELD(Source, after, "The later trace.");
  FIELD(Filters, filters,
        "The selected functions, by names that may contain * and ?; an empty list selects all functions.");
  FIELD(Direction, verdict,
        "The verdict. more: a function appeared, grew or has more calls. less: a function vanished, shrank or has "
        "fewer calls, and the verdict is not more. same: all other cases.");
  FIELD(std::vector<DiffRow>, functions,
        "Every function of either trace, by name and file, summed over processes. Functions with the largest "
        "change of self time come first.");
};

/// Returns the functions of a trace and the call tree. Functions with the most self time come first. Throws UsageError
/// if a pattern matches no function.
Functions functions_of(CtfTrace& trace, FunctionQuery& query);

/// Formats the call tree for the terminal, or the table of functions if there is no tree.
std::string functions_text(const Functions& functions);

/// Returns the change of each function between two traces, by name and file, and the verdict. Throws UsageError if a
/// pattern matches no function of either trace.
FunctionDiff diff_functions(CtfTrace& before, CtfTrace& after, FunctionFilter& filter);

std::string function_diff_text(const FunctionDiff& diff);

}  // namespace zerotax::trace
