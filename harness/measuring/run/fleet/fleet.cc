#include "run/fleet/fleet.h"

#include "run/fleet/slurm_job.h"

namespace zerotax::fleet {

bool run(const Work& work, const std::set<std::string>& missing, const Place& place, const JobRequest& request,
         const OnResult& on_result) {
  if (missing.empty()) return true;
  if (place.slurm) return SlurmHosts(place, request).run(work, missing, on_result);
  return ThisHost().run(work, missing, on_result);
}

}  // namespace zerotax::fleet
