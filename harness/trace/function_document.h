#pragma once

#include <string>

#include "base/json.h"
#include "trace/ctf_trace.h"
#include "trace/function_filter.h"

namespace zerotax::trace {

/// Which part of a trace's function calls is wanted.
struct FunctionQuery {
  FunctionFilter filter;
  bool tree = false;
  unsigned depth = 0;  ///< of the tree; 0: all of it
};

/// The functions of a trace, those with the most time of their own first, and its call tree: the object of
/// "zerotax.functions/1" (results/schema/functions.schema.json). Throws UsageError if a filter matches nothing.
Json functions_json(CtfTrace& trace, const std::string& folder, FunctionQuery& query);

/// The table for the terminal, or the tree if there is one, from that object.
std::string functions_text(const Json& json);

}  // namespace zerotax::trace
