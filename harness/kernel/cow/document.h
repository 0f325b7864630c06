#pragma once

#include "cow/result.h"

namespace zerotax::cow {

/// The object of "zerotax.cow/1" (results/schema/cow.schema.json).
Json cow_json(const Cow& cow);

/// From such an object, which keeps to its schema, of this version or an earlier one.
Cow read_cow(const Json& json);

}  // namespace zerotax::cow
