#include <gtest/gtest.h>

#include "clients/clients.h"
#include "round_trips.h"

namespace zerotax::clients {
namespace {

TEST(ClientsDocument, OfEveryCommittedRunComesBackByteForByte) {
  expect_round_trips("zerotax.clients/1", [](const Json& json) { return clients_json(read_clients(json)); });
}

TEST(ClientsDocument, WithoutRatesSaysWhyInEachOfThem) {
  Clients clients{};
  ClientResult& result = clients.results.emplace_back();
  result.set(NotAvailable{"skipped: no python3 has cffi"});
  const ClientResult read = read_clients(clients_json(clients)).results.front();
  EXPECT_EQ(read.versions.why(), "skipped: no python3 has cffi");
  EXPECT_EQ(read.ops, read.received_bytes);
  EXPECT_EQ(read.max_resident_bytes.why(), "skipped: no python3 has cffi");
}

TEST(ClientsDocument, OfALineThatIsNoneThereAreNoRates) {
  EXPECT_FALSE(rates_from_line("Traceback"));
  EXPECT_FALSE(rates_from_line("{}"));
  const auto rates = rates_from_line(
      R"({"versions": {}, "ops": 2, "received_bytes": 2000000, "wall_s": 0.5, "cpu_s": 1, "faults": 8, )"
      R"("max_resident_bytes": 9})");
  ASSERT_TRUE(rates);
  EXPECT_EQ(rates->mb_per_s, 4);
  EXPECT_EQ(rates->faults_per_mb, 4);
}

}  // namespace
}  // namespace zerotax::clients
