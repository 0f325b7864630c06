#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "clients/clients.h"
#include "point/point_document.h"
#include "point/typed_point.h"

namespace zerotax::clients {
namespace {

ClientResult result(const std::string& allocator, const std::string& client, double mb_per_s) {
  ClientResult made;
  made.allocator = allocator;
  made.client = client;
  made.size_bytes = 1'000'000;
  made.status = PointStatus::kOk;
  made.mb_per_s = mb_per_s;
  made.cpu_s_per_gb = 2.0;
  made.faults_per_mb = NotAvailable{"not counted"};
  return made;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(ClientsAnswer, OfTheReferenceRunFitsOneScreen) {
  std::ifstream file(ZEROTAX_SOURCE_DIR "/results/reference/clients.json");
  const Clients clients = read_clients(Json::parse(file));
  const std::string text = answer_text(clients_answer(clients, typed_points(clients.points)));
  EXPECT_LE(lines_of(text), kAnswerLines) << text;
  for (const char* part : {" MB/s into buffers of ", " times as much).", "lowest under", "Where: under ",
                           "zerotax run --case", "The case in C++ receives ", "One run of each client"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(ClientsAnswer, HasTheLargestDifferenceFirst) {
  Clients clients;
  clients.state = Completion::kComplete;
  clients.results = {result("glibc", "a", 100), result("jemalloc", "a", 90), result("glibc", "b", 10),
                     result("jemalloc", "b", 40)};
  const Answer answer = clients_answer(clients, {});
  EXPECT_EQ(answer.headline,
            "b receives 10 MB/s into buffers of 1 MB under glibc, and 40 MB/s under jemalloc (4.0 times as much).");
  EXPECT_EQ(
      answer.where,
      "under glibc, b takes 2 s of CPU time per GB and n/a page faults per MB; under jemalloc, 2 s of CPU time per "
      "GB and n/a page faults per MB.");
}

TEST(ClientsAnswer, OfOneAllocatorHasTheLowestRate) {
  Clients clients;
  clients.state = Completion::kComplete;
  clients.results = {result("glibc", "a", 100), result("glibc", "b", 10)};
  const Answer answer = clients_answer(clients, {});
  EXPECT_EQ(answer.headline, "b receives 10 MB/s into buffers of 1 MB under glibc, the lowest rate.");
  EXPECT_EQ(answer.table->rows(), 2U);
}

TEST(ClientsAnswer, SaysOnceWhyClientsAreMissing) {
  Clients clients;
  clients.state = Completion::kInterrupted;
  for (const char* allocator : {"glibc", "jemalloc"}) {
    ClientResult& made = clients.results.emplace_back(result(allocator, "a", 1));
    made.status = PointStatus::kSkipped;
    made.reason.emplace("no python3 has cffi");
    made.mb_per_s = NotAvailable{"skipped"};
  }
  const Answer answer = clients_answer(clients, {});
  EXPECT_EQ(answer.headline, "No client was measured. First: no python3 has cffi.");
  EXPECT_EQ(answer.warnings, (std::vector<std::string>{"The run was interrupted, so clients are missing.",
                                                       "a was skipped: no python3 has cffi."}));
}

}  // namespace
}  // namespace zerotax::clients
