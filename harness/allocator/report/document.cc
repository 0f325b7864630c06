#include "report/document.h"

namespace zerotax::report {
namespace {

template <typename T>
NamedMetric named(const char* name, const Measured<T>& value) {
  if (!value) return {name, NotAvailable{value.why()}};
  return {name, {*value}};
}

Measured<NamedMetrics> metrics_of(const Measured<KnobEffect>& effect) {
  if (!effect) return NotAvailable{effect.why()};
  NamedMetrics metrics{
      named("redundant_zeroed_bytes", effect->redundant_zeroed_bytes), named("calloc_faults", effect->calloc_faults),
      named("operation_faults", effect->operation_faults), named("operation_ns", effect->operation_ns)};
  if (effect->avoids) metrics.push_back({"avoids", {*effect->avoids}});
  return metrics;
}

FindingEntry finding_with_effects(const ReportData& data) {
  FindingEntry entry = finding_entry(data.subject, data.finding);
  entry.knobs.clear();
  for (const KnobTrial& trial : data.knobs) entry.knobs.push_back(knob_entry(trial.knob.env, metrics_of(trial.effect)));
  return entry;
}

}  // namespace

Json report_json(const ReportData& data) {
  const Project* project = project_of(data.subject.allocator);
  ReportDocument document{.zerotax_version = ZEROTAX_VERSION,
                          .started = data.started,
                          .environment = data.environment,
                          .compiler = data.compiler,
                          .finding = finding_with_effects(data),
                          .size_bytes = data.size_bytes,
                          .without_knobs = metrics_of(data.without),
                          .project = known_if(project != nullptr, project == nullptr ? "" : project->project,
                                              "the allocator's project is unknown"),
                          .thresholds = data.thresholds,
                          .reproducer = {.how = data.how, .shown = data.shown, .control = data.control},
                          .profile = data.profile};
  if (const auto fix = known_fix(data)) document.fixed_in.emplace(fix->version);
  for (const auto& cause : causes_of(data)) document.causes.push_back({cause.words, cause.mark});
  for (const auto& each : entries_about(data.subject.allocator, &Project::duplicates, data.finding)) {
    document.duplicates.push_back({each.id, each.url, each.state});
  }
  return document;
}

}  // namespace zerotax::report
