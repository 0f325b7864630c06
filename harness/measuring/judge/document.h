#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "judge/judgement.h"
#include "judge/projects.h"
#include "judge/rule.h"
#include "judge/signature.h"

namespace zerotax {

/// Reads the object of allocators/<name>/upstream.json.
Project read_project(const Json& upstream);

struct ShownInEntry {
  RESULT("shown in", "The figure of the page that shows a finding.");
  FIELD(std::string, figure, "A figure of the page.", one_of("time|faults|bytes|heat"));
  MEMBER(columns,
         "The columns that the figure shows, each by its name in the page's URL; empty for the figure's first column.");
  std::map<std::string, std::string> columns;
};

struct EvidenceEntry {
  RESULT("evidence", "A point that shows a finding.");
  MEMBER_AS("case", case_name, "Name of the case, as in the point.");
  std::string case_name;
  FIELD(std::uint64_t, size_bytes, "Bytes requested from calloc.", least(1));
  FIELD(double, touch, "Fraction of the pages that the program writes.", most(1));
  FIELD(std::string, thread, "The thread that calls the allocator.", one_of("main|worker"));
  FIELD(NamedMetrics, figures,
        "The metrics that show the finding, by name, as in a point: counts, bytes, and nanoseconds, as medians of the "
        "steady state. first_NAME is the metric of the process's first operation.");
  FIELD(std::string, text, "The metrics in words; empty if there are no metrics.", kMayBeEmpty, kLater);
};

struct KnobEntry {
  RESULT("knob", "A setting that, according to a source, avoids a finding.");
  FIELD(Settings, env, "Environment variables of the setting.");
  FIELD(Measured<NamedMetrics>, effect,
        "Metrics measured with this setting at the size in the finding's `id`, and `avoids`: whether the setting "
        "removes the finding. The reason if the setting was not tried.");
  FIELD(std::string, text, "The effect of the setting, in words.", kLater);
};

struct FindingEntry {
  RESULT("finding", "One kind of needless work by an allocator, with all points that show this work.");
  FIELD(std::string, id,
        "Name of the finding, which does not depend on the other sizes that were measured; for example "
        "'mimalloc-redundant-fresh-100MiB'.",
        form(R"(^[^ ]+-[^ ]+-[0-9.]+([KMG]iB|B)?$)"));
  FIELD(std::string, rule, "The rule that found the finding (docs/findings.md).", form("^[a-z]+(-[a-z]+)*$"));
  FIELD(std::string, meaning, "Meaning of the rule, in one line.", kLater);
  FIELD(std::string, allocator, "Name of the allocator, as in its points.");
  FIELD(Measured<std::string>, version, "Version of the allocator, as in its points.");
  MEMBER(env, "The allocator's configuration.", kMayBeEmpty);
  std::map<std::string, std::string> env;
  FIELD(Severity, severity, "Severity of the finding, by the rule in docs/findings.md.");
  FIELD(std::string, title, "The finding in one line, with ratio and size.");
  FIELD(std::string, sentence, "The finding in one sentence.");
  FIELD(std::string, sizes, "The range of sizes that show the finding, as text.", kLater);
  FIELD(ShownInEntry, shown_in, "The figure of the page that shows the finding.", kLater);
  FIELD(std::vector<EvidenceEntry>, evidence, "The points that show the finding.", least_items(1));
  FIELD(std::vector<KnobEntry>, knobs, "Settings that, according to their sources, avoid the finding.");
  FIELD(KnownRemedies, remedies, "Known ways to avoid the finding: versions first, then settings.", kLater);
  FIELD(std::string, remedy,
        "The remedies in sentences, with code between backticks, or a sentence saying that no remedy is known.",
        kLater);
};

/// Makes the entry of a setting from its effect.
KnobEntry knob_entry(const Settings& env, const Measured<NamedMetrics>& effect);

/// Makes the entry of one finding whose knobs were not tried yet.
FindingEntry finding_entry(const AllocatorFindings& subject, const Finding& finding);

}  // namespace zerotax
