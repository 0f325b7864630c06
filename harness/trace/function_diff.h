#pragma once

#include <string>

#include "base/json.h"
#include "trace/ctf_trace.h"
#include "trace/function_filter.h"

namespace zerotax::trace {

/// A trace to compare, and the folder it was read from.
struct DiffSide {
  CtfTrace& trace;
  std::string folder;
};

/// What became of each function from one trace to another, by name and file: the object of "zerotax.functions_diff/1"
/// (results/schema/functions_diff.schema.json), with the verdict. Throws UsageError if a filter matches nothing in
/// either.
Json function_diff_json(const DiffSide& before, const DiffSide& after, FunctionFilter& filter);

/// The table for the terminal, from that object.
std::string function_diff_text(const Json& json);

}  // namespace zerotax::trace
