#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/size.h"
#include "base/units.h"
#include "cli/common_options.h"
#include "cli/measure_options.h"
#include "cli/subcommand.h"
#include "clients/clients.h"
#include "clients/document.h"
#include "clients/table.h"
#include "files/output_file.h"
#include "files/output_paths.h"
#include "os/print.h"
#include "run/allocators.h"
#include "run/debian_library.h"
#include "run/experiment.h"
#include "run/interrupt.h"
#include "run/make_plan.h"
#include "run/receive_points.h"
#include "run/session.h"

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
  for (const Allocator& allocator : plan.allocators) check_loads_here(allocator.preload);
  for (const std::uint64_t size : sizes) {
    add_points(plan, {{"recv_buffer"}, {size}, {0.0}, {"main"}}, receive_repeats(size));
  }
  return {std::move(plan), std::nullopt, Subcommand::command_line};
}

/// Clients of one size together, allocators interleaved, nothing beside them. Ends early when interrupted.
std::vector<ClientResult> run_clients(const Plan& plan, const std::vector<Client>& clients,
                                      const ClientRunner& runner) {
  std::vector<ClientResult> results;
  std::vector<Item> items;
  for (std::size_t first = 0; first < plan.points.size(); first += plan.allocators.size()) {
    for (const Client& client : clients) {
      for (std::size_t i = first; i < first + plan.allocators.size(); ++i) {
        const Allocator& allocator = plan.allocators[plan.points[i].allocator];
        const std::uint64_t size = plan.points[i].size_bytes;
        Item& item = items.emplace_back();
        item.label = fmt::format("{} under {}, {}", client.name, allocator.name, format_size(size));
        item.measure = [&, size](const Say&) { results.push_back(runner.run(allocator, client, size)); };
      }
    }
  }
  static_cast<void>(Experiment("running clients").run(items));
  return results;
}

ExitStatus run(const Options& options) {
  const std::vector<Client> clients = chosen_clients(options.clients);
  const std::string& file = options.measure.json;
  check_outputs({{"--json", file}}, library_inputs(options.measure.allocators));
  // Bad arguments are reported before Python's modules are looked for, which takes seconds.
  Session session = make_session(options.measure, sizes_of(options.measure));
  const auto timeout = std::chrono::duration<double>(options.measure.timeout_s);
  const ClientRunner runner(std::chrono::duration_cast<std::chrono::milliseconds>(timeout));
  const int signal = session.run();
  Clients document = clients_of(session.json());
  document.clients = clients;
  if (signal == 0) document.results = run_clients(session.plan(), clients, runner);
  if (interrupted() != 0) document.state = "interrupted";
  const std::vector<ClientResult>& results = document.results;
  const std::vector<Point>& points = session.points();
  if (!file.empty()) write_file(file, json_text(clients_json(document)));
  if (file != "-") print_lines(stdout, clients_table(clients, points, results));
  if (interrupted() != 0) say_interrupted();
  const bool healthy =
      std::all_of(points.begin(), points.end(), [](const Point& point) { return is_healthy(point); }) &&
      std::all_of(results.begin(), results.end(), [](const ClientResult& one) { return is_healthy(one.status); });
  return healthy ? ExitStatus::kDone : ExitStatus::kFinding;
}

const Subcommand command("clients", Wing::kAllocator,
                         "run Python TLS clients under each allocator, beside the case recv_buffer", kExamples,
                         [](Arguments& arguments) -> std::function<ExitStatus()> {
                           const auto options = std::make_shared<Options>();
                           options->measure.add_allocators(arguments);
                           arguments
                               .option("--client", options->clients,
                                       "client to run (repeatable; default: all that this machine has)")
                               .completed_by(client_names)
                               .shown_as("CLIENT")
                               .repeatable();
                           add_sizes(arguments, options->measure.sizes, "10MB, 100MB and 1000MiB");
                           add_json(arguments, options->measure.json);
                           return [options] { return run(*options); };
                         });

}  // namespace
}  // namespace zerotax::clients
