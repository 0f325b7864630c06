#pragma once

#include <string>

#include "base/json.h"

namespace zerotax {

/// Reads a file of the schema zerotax.NAME/1 and checks it completely against results/schema/NAME.schema.json, so that
/// callers need not check it. Throws UsageError, with `remedy`, if the file is not regular, not JSON, of another
/// schema, or damaged. The error names the file, the place in it, and the defect.
Json read_document(const std::string& path, const std::string& name, const std::string& remedy);

/// Makes the same checks as read_document, for a document that was already read. `where` names the document's file, or
/// a line of a file.
void check_document(const Json& document, const std::string& where, const std::string& name, const std::string& remedy);

/// Returns the first fields of a document of this schema: the schema's name and zerotax's version.
Json new_document(const std::string& schema);

/// Turns a result that has a table of fields into a document.
template <typename Result>
Json document_of(const Result& result) {
  Json json = new_document(Result::kDocument);
  json.update(Json(result));
  return json;
}

/// Whether the document is in Bencher's format, {benchmark: {measure: {"value": number}}}. The format has no field that
/// could name zerotax.
bool is_bencher_metrics(const Json& document);

}  // namespace zerotax
