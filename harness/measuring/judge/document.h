#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "judge/judgement.h"
#include "judge/projects.h"
#include "judge/rule.h"
#include "judge/signature.h"

namespace zerotax {

void to_json(Json& json, const Settings& settings);
void from_json(const Json& json, Settings& settings);
void to_json(Json& json, const KnownRemedy& remedy);
void to_json(Json& json, Answer answer);
void to_json(Json& json, const SizeSpan& span);
void to_json(Json& json, const RedundantCalls& calls);
void to_json(Json& json, const Signature& signature);
void from_json(const Json& json, Signature& signature);

/// Of the object of allocators/<name>/upstream.json.
Project read_project(const Json& upstream);

/// {NAME: value or {"na": why}}.
Json metrics_json(const NamedMetrics& metrics);

/// A setting with what it changed, and that in words.
Json knob_json(const Settings& env, const Measured<NamedMetrics>& effect);

/// One finding as in "zerotax.findings/1", its knobs not tried yet.
Json finding_json(const AllocatorFindings& subject, const Finding& finding);

}  // namespace zerotax
