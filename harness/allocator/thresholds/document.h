#pragma once

#include "base/fields.h"
#include "judge/rule.h"
#include "thresholds/map.h"
#include "thresholds/session.h"

namespace zerotax::thresholds {

struct LaneEntry {
  RESULT("lane", "One search: an allocator in one configuration, with one thread and one fraction of written pages.");
  FIELD(std::string, allocator, "Name of the allocator, as given to --allocator.");
  FIELD(Measured<std::string>, version, "Version of the allocator, or the reason why it is unknown.");
  MEMBER(env, "Environment variables that configure the allocator; empty for its defaults.", kMayBeEmpty);
  std::map<std::string, std::string> env;
  FIELD(double, touch, "Fraction of the pages that the program writes between calloc and free, from 0 to 1.",
        as_in("point.schema.json#/properties/touch"));
  FIELD(std::string, thread, "The thread that calls the allocator.", as_in("point.schema.json#/properties/thread"));
  FIELD(std::uint64_t, from_bytes, "Smallest size probed, in bytes.", least(1), MeasuredThreshold::kMostBytes);
  FIELD(std::uint64_t, to_bytes, "Largest size probed, in bytes.", least(1), MeasuredThreshold::kMostBytes);
  FIELD(Signature, at_from, "Behavior at the size from_bytes.");
  FIELD(std::size_t, probes, "Number of probes. Each probe is a process that examines one size.", least(1));
  FIELD(std::size_t, grid, "Number of probes made on the coarse grid, before any bisection.", least(1));
  FIELD(std::vector<std::uint64_t>, noisy_bytes, "Sizes that behaved differently when probed again, in bytes.",
        least(1), MeasuredThreshold::kMostBytes);
  FIELD(
      std::string, failure,
      "The first size at which the allocator ended its process, hung, or violated a guarantee of calloc, and the kind "
      "of failure. Present only if the search failed. In this case, the thresholds of this lane describe failures.",
      kAbsentIfEmpty);
  FIELD(std::string, host, "Host that searched the lane, by its name in environments; absent in a search on one host.",
        kAbsentIfEmpty);
  FIELD(std::string, name, "Name of the allocator in figures, with its settings in brackets.", kAbsentIfEmpty);
  FIELD(std::vector<Piece>, pieces,
        "Behavior of later calls to calloc, from the smallest size to the largest. Neighboring pieces differ.",
        least_items(1), kAbsentIfEmpty);
  FIELD(std::optional<bool>, like_main,
        "Whether the lane is of a worker thread, with the same pieces and thresholds as the lane of the main thread.");
};

/// The lanes that were searched, with a map for kPlainCase.
struct ThresholdsDocument : DocumentHead {
  RESULT("zerotax thresholds",
         "Sizes at which allocators change behavior: the document of zerotax thresholds --json, and thresholds.json of "
         "a results folder. JSON Schema cannot express that the thresholds of a lane ascend, or that `below` and "
         "`above` differ. JSON Schema also cannot express that each threshold begins with the final behavior of the "
         "previous one, or with a more complete description of it.");
  SCHEMA_FIELD("zerotax.thresholds/1");
  MEMBER_AS("case", case_name, "Name of the case that all probes run; calloc_loop if absent.",
            one_of("calloc_loop|refill_loop"), kAbsentIfEmpty);
  std::string case_name;
  VERSION_FIELD();
  STARTED_FIELD();
  ENVIRONMENT_FIELD();
  FIELD(std::vector<MeasuredThreshold>, thresholds,
        "Every threshold found, in the order of the lanes, and by ascending size in each lane.");
  FIELD(std::vector<LaneEntry>, lanes,
        "The searches, each from its smallest size to its largest. Interrupted searches are left out.");
  FIELD(std::size_t, probes, "Number of probes over all lanes. Each probe is a process that examines one size.");
  FIELD(Json, words, "Description of each word that `pieces` uses.", with(R"({
    "type": "object",
    "propertyNames": {"$ref": "#/$defs/piece/properties/word"},
    "additionalProperties": {"type": "string", "minLength": 1}
  })"),
        kAbsentIfEmpty);
  FIELD(std::string, title, "Headline of the map, in one line without a full stop.", kAbsentIfEmpty);
  FIELD(std::string, sentence, "The number of thresholds and the number of searches, in a sentence.", kAbsentIfEmpty);
  FIELD(std::optional<std::vector<std::string>>, notes, "Unreliable and missing parts of the map, one sentence each.");
  FIELD(Json, environments, "Environments of a search on several hosts, by the hosts' names in the lanes.",
        as_in("run.schema.json#/properties/environments"), kAbsentIfEmpty);
};

/// Returns the object of "zerotax.thresholds/1".
Json thresholds_json(const Thresholds& thresholds);

/// Reads a thresholds object of this or an earlier version. The object must conform to its schema. The object's map is
/// not read, but computed again.
Thresholds read_thresholds(const Json& json);

/// Copies the findings of an earlier search to a lane of the same range. `earlier` is an object from thresholds_json().
/// Does nothing if the object lacks the lane, or has the lane for another case or version of the allocator. Throws
/// UsageError if the object is invalid; `file` is the object's name in the message.
void take_over(const Json& earlier, ThresholdLane& lane, const std::string& case_name, const std::string& file);

/// lanes_json() returns the data with which a task of a fleet searches the lanes of a session. From this data,
/// session_of_job() creates the session. Throws a Json exception if the data is invalid; `file` is the name of the data
/// in messages.
Json lanes_json(const Plan& plan, const ThresholdAxes& axes);
ThresholdSession session_of_job(const Json& json, const std::string& file);

}  // namespace zerotax::thresholds
