#include "profile/document.h"

namespace zerotax::profile {

ZEROTAX_FIELDS_WRITTEN(Sampled, pid, name, path, parent_pid, parent_name, load_address, build_id, launched, ended,
                       running)
ZEROTAX_FIELDS_WRITTEN(SamplingMethod, event, hz, samples_of, kernel, kernel_names, looks, blocked)
ZEROTAX_FIELDS_WRITTEN(Unseen, share, cpu_s, seen_s, user_share, why, remedy)
ZEROTAX_FIELDS_WRITTEN(Category, category, samples, at_most, while_zeroing, while_filling,
                       while_in_memset_of_unknown_value)
ZEROTAX_FIELDS_WRITTEN(Function, function, module, samples)
ZEROTAX_FIELDS_WRITTEN(Call, function, module, samples, children, offset, address, places)
ZEROTAX_FIELDS_WRITTEN(PageFaults, taken, samples, sampled, tree)
ZEROTAX_FIELDS_WRITTEN(Thread, pid, tid, name, samples, tree)
ZEROTAX_FIELDS_WRITTEN(Profile, schema, zerotax_version, started, environment, command, exit_status, process, method,
                       wall_s, user_s, system_s, samples, accounted, lost, lost_share, unseen, script_names, categories,
                       top_of_stack, tree, page_faults, threads)

Json profile_json(const Profile& profile) { return profile; }

Json categories_json(const std::vector<Category>& categories) { return categories; }

}  // namespace zerotax::profile
