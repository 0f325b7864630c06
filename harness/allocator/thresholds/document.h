#pragma once

#include "thresholds/map.h"
#include "thresholds/session.h"

namespace zerotax::thresholds {

// The keys of results/schema/thresholds.schema.json.

/// {"status", "fresh": {…}, "reuse": {…}}, or {"status", "refilling": {…}}. from_json throws a Json exception for any
/// other JSON.
void to_json(Json& json, const Signature& signature);
void from_json(const Json& json, Signature& signature);

/// {"from_bytes", "to_bytes", "word"}.
void to_json(Json& json, const Piece& piece);
void from_json(const Json& json, Piece& piece);

/// The object of "zerotax.thresholds/1": the lanes that were searched, with their map if they are of kPlainCase.
Json thresholds_json(const Thresholds& thresholds);

/// From such an object, which keeps to its schema, of this version or an earlier one. The map is not read but made
/// again.
Thresholds read_thresholds(const Json& json);

/// Takes over what an earlier search of the same range found in a lane, from the object that thresholds_json made.
/// Nothing happens if the lane is not in it, or belongs to another case or version of the allocator. Throws UsageError
/// if it is not such an object; `file` is for the message.
void take_over(const Json& earlier, ThresholdLane& lane, const std::string& case_name, const std::string& file);

/// What a task of a fleet needs to search the lanes of a session, and such a session. session_of_job throws a Json
/// exception for other JSON; `file` is for messages.
Json lanes_json(const Plan& plan, const ThresholdAxes& axes);
ThresholdSession session_of_job(const Json& json, const std::string& file);

}  // namespace zerotax::thresholds
