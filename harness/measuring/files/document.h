#pragma once

#include <string>

#include "base/json.h"

namespace zerotax {

/// Reads a file of the schema zerotax.NAME/1 and checks it against all of results/schema/NAME.schema.json, so that its
/// users can rely on that. Throws UsageError, with `remedy`, for what is not a regular file, not JSON, of another
/// schema, or damaged: the file, the place in it, and what is wrong there.
Json read_document(const std::string& path, const std::string& name, const std::string& remedy);

/// The same for what was read already. `where` names it: a file, or a line of one.
void check_document(const Json& document, const std::string& where, const std::string& name, const std::string& remedy);

/// {benchmark: {measure: {"value": number}}}: the format of Bencher, which leaves no room for a name of ours.
bool is_bencher_metrics(const Json& document);

}  // namespace zerotax
