#include "advise/document.h"

#include "record/document.h"

namespace zerotax::advise {

void to_json(Json& json, Goal goal) { json = goal_name(goal); }
void from_json(const Json& json, Goal& goal) { goal = parse_goal(json); }
NLOHMANN_JSON_SERIALIZE_ENUM(Phase, {{Phase::kWarmUp, phase_name(Phase::kWarmUp)},
                                     {Phase::kScreen, phase_name(Phase::kScreen)},
                                     {Phase::kConfirm, phase_name(Phase::kConfirm)}})
NLOHMANN_JSON_SERIALIZE_ENUM(AdviceKind, {{AdviceKind::kRemedy, "remedy"},
                                          {AdviceKind::kNothingToGain, "nothing_to_gain"},
                                          {AdviceKind::kNothingHelps, "nothing_helps"},
                                          {AdviceKind::kUnknown, "unknown"}})
using End = Trial::End;
NLOHMANN_JSON_SERIALIZE_ENUM(End, {{End::kOk, "ok"},
                                   {End::kFailed, "failed"},
                                   {End::kMoreMemory, "more_memory"},
                                   {End::kChangedOutput, "changed_output"},
                                   {End::kStopped, "stopped"}})

ZEROTAX_FIELDS(Figures, cpu_s, wall_s, faults, peak_bytes)
ZEROTAX_FIELDS(RecordedCause, cause, cpu_ns, share_of_cpu)
ZEROTAX_FIELDS(RecordedZeroing, allocator_file, share_of_cpu, causes, kernel_zeroed_bytes, zeroed_bytes,
               by_hand_zeroed_bytes, refilled_bytes, kept_bytes, by_hand_at)
ZEROTAX_FIELDS(Program, words, input, ready, load)
ZEROTAX_FIELDS(Alternative, remedy, line, sentence)
ZEROTAX_FIELDS(Recommendation, kind, sentence, why, remedy, line, gains, costs, recorded, faster_still, without_preload)
ZEROTAX_FIELDS(Method, goal, alpha, band, memory_ratio, most_pairs, timeout_s, output_compared, seed, noise)
ZEROTAX_FIELDS(Present, allocator, version, figures)
ZEROTAX_FIELDS(Ratio, median, low, high)
ZEROTAX_FIELDS(Ratios, cpu, wall, faults, memory)
ZEROTAX_FIELDS(TriedRemedy, name, allocator, version, preload, env, line, words, costs, verdict, reason, heavy,
               confirmed, runs, ratios)
ZEROTAX_FIELDS(NotTried, name, why)
ZEROTAX_FIELDS(Pair, present, remedy)
ZEROTAX_FIELDS(ConfirmedRemedy, remedy, planned_pairs, pairs, alpha, confirmed, why_not, p)
ZEROTAX_FIELDS(RunOfRemedy, remedy, phase, round, end, figures)
ZEROTAX_FIELDS(AdviceResult, schema, zerotax_version, started, complete, command, environment, program, recommendation,
               method, present, recording, recording_after, startup_ms, remedies, not_tried, confirmations, runs)
ZEROTAX_FIELDS_WRITTEN(SelfTest, schema, zerotax_version, started, command, environment, goal, advices, recommended,
                       runs)

Json advise_json(const AdviceResult& advice) { return advice; }
AdviceResult read_advise(const Json& json) { return json.get<AdviceResult>(); }
Json self_test_json(const SelfTest& test) { return test; }

bool has_huge_pages(const Json& environment) { return text_field(environment, "thp", "never") != "never"; }

}  // namespace zerotax::advise
