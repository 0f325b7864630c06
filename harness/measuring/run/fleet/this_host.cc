#include "run/fleet/work.h"

namespace zerotax::fleet {

bool ThisHost::run(const Work& work, const std::set<std::string>& missing, const OnResult& on_result) {
  std::vector<Item> items;
  for (Item& item : work.items()) {
    if (missing.contains(item.key)) items.push_back(std::move(item));
  }
  const auto on_finished = [&](const Item& item) { on_result(item.key, item.result(), ""); };
  return Experiment(work.title(), {side_by_side_, work.is_timed(), on_finished}).run(items);
}

}  // namespace zerotax::fleet
