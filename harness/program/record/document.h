#pragma once

#include <string>
#include <vector>

#include "record/result.h"

namespace zerotax::record {

NLOHMANN_JSON_SERIALIZE_ENUM(SiteKind, {{SiteKind::kOther, "malloc"},
                                        {SiteKind::kCalloc, "calloc"},
                                        {SiteKind::kRealloc, "realloc"},
                                        {SiteKind::kByHand, "by_hand"},
                                        {SiteKind::kFree, "free"},
                                        {SiteKind::kPurge, "purge"},
                                        {SiteKind::kProgram, "program"},
                                        {SiteKind::kCleared, "by_program"},
                                        {SiteKind::kFault, "fault"}})

/// The object "zerotax.record/1" (results/schema/record.schema.json).
Json record_json(const Record& record);
Record read_record(const Json& json);

void to_json(Json& json, Cause cause);
void from_json(const Json& json, Cause& cause);

}  // namespace zerotax::record
