#include "trace/document.h"

namespace zerotax::trace {
namespace {

template <typename Result>
Json document(const Result& result) {
  Json json{{"schema", Result::kDocument}, {"zerotax_version", ZEROTAX_VERSION}};
  json.update(Json(result));
  return json;
}

}  // namespace

Json summary_json(const Summary& summary) { return document(summary); }
Json functions_json(const Functions& functions) { return document(functions); }
Json function_diff_json(const FunctionDiff& diff) { return document(diff); }
Json control_json(const Control& control) { return document(control); }
Json event_list_json(const EventList& events) { return document(events); }

}  // namespace zerotax::trace
