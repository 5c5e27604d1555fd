#include "server/security/bulk_tickets.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <set>
#include <string>

namespace vicinity {
namespace {

using Socket = BulkTickets::Socket;
using Time = BulkTickets::Time;

class TicketsTest {
 protected:
  std::string Issue(const std::string& peer, Socket socket = Socket::kTcp) {
    const auto ticket = tickets_.Issue({peer, {}}, socket, now_);
    REQUIRE(ticket.has_value());
    return *ticket;
  }
  // Whose it is; empty: nobody's.
  std::string Redeem(const std::string& ticket, Socket socket = Socket::kTcp) {
    const auto bearer = tickets_.Redeem(ticket, socket, now_);
    return bearer.has_value() ? bearer->peer : "";
  }

  Time now_ = Time() + std::chrono::hours(1);
  BulkTickets tickets_{{"name", 7510}};
};

TEST_CASE_METHOD(TicketsTest, "a ticket is good once, for whoever it was given to", "[tickets]") {
  const std::string first = Issue("a");
  const std::string second = Issue("b", Socket::kUnix);
  CHECK(Redeem(second, Socket::kUnix) == "b");
  CHECK(Redeem(first) == "a");
  CHECK(tickets_.refused() == 0);
  CHECK(Redeem(first).empty());
  CHECK(Redeem(second, Socket::kUnix).empty());
  CHECK(tickets_.refused() == 2);
}

TEST_CASE_METHOD(TicketsTest, "a ticket is good for ten seconds", "[tickets]") {
  const std::string early = Issue("a");
  const std::string late = Issue("b");
  now_ += BulkTickets::kValid - std::chrono::milliseconds(1);
  CHECK(Redeem(early) == "a");
  now_ += std::chrono::milliseconds(1);
  CHECK(Redeem(late).empty());
}

TEST_CASE_METHOD(TicketsTest, "a ticket is good on one kind of socket", "[tickets]") {
  CHECK(Redeem(Issue("a", Socket::kUnix), Socket::kTcp).empty());
  CHECK(Redeem(Issue("a", Socket::kTcp), Socket::kUnix).empty());
}

TEST_CASE_METHOD(TicketsTest, "what nobody has given is no ticket", "[tickets]") {
  const std::string ticket = Issue("a");
  for (size_t bit = 0; bit < 8 * ticket.size(); ++bit) {
    std::string guess = ticket;
    guess[bit / 8] = static_cast<char>(guess[bit / 8] ^ (1 << bit % 8));
    CHECK(Redeem(guess).empty());
  }
  CHECK(Redeem("").empty());
  CHECK(Redeem(ticket + "x").empty());
  CHECK(Redeem(ticket.substr(0, 31)).empty());
  CHECK(Redeem(ticket) == "a");
}

TEST_CASE_METHOD(TicketsTest, "no two tickets are the same", "[tickets]") {
  std::set<std::string> secrets;
  for (int i = 0; i < 1000; ++i) secrets.insert(Issue("a").substr(8));
  CHECK(secrets.size() == 1000);
}

TEST_CASE_METHOD(TicketsTest, "of too many the oldest give way", "[tickets]") {
  const std::string oldest = Issue("oldest");
  std::string newest;
  for (size_t i = 0; i < BulkTickets::kMostAtOnce; ++i) newest = Issue("newest");
  CHECK(Redeem(oldest).empty());
  CHECK(Redeem(newest) == "newest");
}

}  // namespace
}  // namespace vicinity
