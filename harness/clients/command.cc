#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/size.h"
#include "base/units.h"
#include "cli/common_options.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "clients/clients.h"
#include "clients/table.h"
#include "core/interrupt.h"
#include "core/output_file.h"
#include "core/output_paths.h"
#include "core/point_json.h"
#include "core/progress.h"
#include "core/receive_points.h"
#include "core/session.h"

namespace zerotax::clients {
namespace {

constexpr const char* kExamples =
    "  zerotax clients\n"
    "  zerotax clients --size 100MB --allocator glibc --allocator mine=./libmine.so --json clients.json\n"
    "  zerotax clients --client cffi_1_9 --client requests_2016 --allocator glibc --size 10MB --size 1GB\n";

struct Options {
  MeasureOptions measure;
  std::vector<std::string> clients;
};

/// Throws UsageError for an invalid size.
std::vector<std::uint64_t> sizes_of(const MeasureOptions& options) {
  std::vector<std::uint64_t> sizes;
  for (const std::string& size : options.sizes) sizes.push_back(parse_size(size));
  if (sizes.empty()) sizes = {10'000'000, 100'000'000, 1000 * kMiB};
  check_axes({{"recv_buffer"}, sizes, {}, {}});
  return sizes;
}

/// The case in C++ at the same sizes, to compare with the clients.
Session make_session(const MeasureOptions& options, const std::vector<std::uint64_t>& sizes) {
  Plan plan;
  plan.timeout_s = options.timeout_s;
  plan.allocators = resolve_allocators(options.allocators, options.env);
  for (const std::uint64_t size : sizes) {
    add_points(plan, {{"recv_buffer"}, {size}, {0.0}, {"main"}}, receive_repeats(size));
  }
  return {std::move(plan), std::nullopt, Subcommand::command_line};
}

/// Clients of one size together, allocators interleaved, nothing beside them. Ends early when interrupted.
std::vector<ClientResult> run_clients(const Plan& plan, const std::vector<Client>& clients,
                                      const ClientRunner& runner) {
  std::vector<ClientResult> results;
  Progress progress("running clients", plan.points.size() * clients.size(),
                    static_cast<double>(plan.points.size() * clients.size()));
  for (std::size_t first = 0; first < plan.points.size(); first += plan.allocators.size()) {
    for (const Client& client : clients) {
      for (std::size_t i = first; i < first + plan.allocators.size(); ++i) {
        const Allocator& allocator = plan.allocators[plan.points[i].allocator];
        progress.show(
            fmt::format("{} under {}, {}", client.name, allocator.name, format_size(plan.points[i].size_bytes)));
        ClientResult result = runner.run(allocator, client, plan.points[i].size_bytes);
        if (interrupted() != 0) return results;
        results.push_back(std::move(result));
        progress.advance(1);
      }
    }
  }
  return results;
}

ExitStatus run(const Options& options) {
  options.measure.check();
  const std::vector<Client> clients = chosen_clients(options.clients);
  const std::string& file = options.measure.json;
  check_outputs({{"--json", file}}, library_inputs(options.measure.allocators));
  // Bad arguments are reported before Python's modules are looked for, which takes seconds.
  Session session = make_session(options.measure, sizes_of(options.measure));
  const auto timeout = std::chrono::duration<double>(options.measure.timeout_s);
  const ClientRunner runner(std::chrono::duration_cast<std::chrono::milliseconds>(timeout), stop_requested);
  const int signal = session.run();
  const std::vector<ClientResult> results =
      signal == 0 ? run_clients(session.plan(), clients, runner) : std::vector<ClientResult>();
  const std::vector<Point> points = typed_points(session.points());
  if (!file.empty()) write_file(file, json_text(clients_json(session.json(), clients, results, interrupted() == 0)));
  if (file != "-") fmt::print("{}", clients_table(clients, points, results));
  if (interrupted() != 0) fmt::print(stderr, "zerotax: interrupted: showing only what was finished\n");
  const bool healthy =
      std::all_of(points.begin(), points.end(), [](const Point& point) { return is_healthy(point); }) &&
      std::all_of(results.begin(), results.end(), [](const ClientResult& one) { return is_healthy(one.status); });
  return healthy ? ExitStatus::kDone : ExitStatus::kFinding;
}

const Subcommand command("clients", "run Python TLS clients under each allocator, beside the case recv_buffer",
                         kExamples, [](Arguments& arguments) -> std::function<ExitStatus()> {
                           const auto options = std::make_shared<Options>();
                           options->measure.add_allocators(arguments);
                           arguments
                               .option("--client", options->clients,
                                       "client to run (repeatable; default: all that this machine has)")
                               .completed_by([] {
                                 std::vector<std::string> names;
                                 for (const Client& client : all_clients()) names.push_back(client.name);
                                 return names;
                               })
                               .shown_as("CLIENT")
                               .repeatable();
                           add_sizes(arguments, options->measure.sizes, "10MB, 100MB and 1000MiB");
                           add_json(arguments, options->measure.json);
                           return [options] { return run(*options); };
                         });

}  // namespace
}  // namespace zerotax::clients
