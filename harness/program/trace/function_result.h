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

// The fields below are the keys of results/schema/functions.schema.json and functions_diff.schema.json, which describe
// them.

struct FunctionTimes {
  pid_t pid = 0;
  NamedFrame frame;
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;
  std::uint64_t unfinished = 0;
};

struct FunctionRow : FunctionTimes {
  Measured<std::uint64_t> min_ns;
  Measured<std::uint64_t> median_ns;
  Measured<std::uint64_t> p90_ns;
  Measured<std::uint64_t> p99_ns;
  Measured<std::uint64_t> max_ns;
  Measured<double> mean_ns;
  Measured<double> variance_ns2;
  Measured<double> stddev_ns;
  std::uint64_t left_without_exit = 0;
};

struct PathRow : FunctionTimes {
  unsigned depth = 0;
  OrNull<std::size_t> parent;
};

struct Functions : Source {
  Filters filters;
  std::uint64_t exits_without_entry = 0;
  std::vector<FunctionRow> functions;
  Measured<std::vector<PathRow>> tree;
};

struct DiffFigures {
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;
  Measured<double> self_mean_ns;
  Measured<double> self_stddev_ns;
  std::uint64_t unfinished = 0;
};

struct DiffRow : FunctionVerdict {
  std::string function;
  Measured<std::string> object;
  Measured<DiffFigures> before;
  Measured<DiffFigures> after;
  std::int64_t calls_change = 0;
};

struct FunctionDiff {
  Source before;
  Source after;
  Filters filters;
  Direction verdict = Direction::kSame;
  std::vector<DiffRow> functions;
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
