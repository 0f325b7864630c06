#pragma once

#include "record/calls/result.h"

namespace zerotax::record {

void to_json(Json& json, const CallsCounts& counts);
void from_json(const Json& json, CallsCounts& counts);

/// The object of "zerotax.calls/1" (results/schema/calls.schema.json).
Json calls_about_json(const CallsAbout& about);
CallsAbout read_calls_about(const Json& json);

}  // namespace zerotax::record
