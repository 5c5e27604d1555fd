#include "server/connections/newcomers.h"

#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace vicinity {
namespace {

Newcomer From(const std::string& machine, int fd) {
  Newcomer newcomer;
  newcomer.fd = fd;
  newcomer.peer.machine = machine;
  return newcomer;
}

std::vector<int> All(Newcomers* newcomers) {
  std::vector<int> fds;
  while (const std::optional<Newcomer> next = newcomers->Next()) fds.push_back(next->fd);
  return fds;
}

TEST_CASE("machines take turns, and each one's come in order", "[newcomers]") {
  Newcomers newcomers(100);
  for (int fd = 1; fd <= 4; ++fd) newcomers.Add(From("crowd", fd));
  newcomers.Add(From("a", 10));
  newcomers.Add(From("b", 20));
  newcomers.Add(From("a", 11));
  CHECK_FALSE(newcomers.empty());
  CHECK(All(&newcomers) == std::vector<int>{1, 10, 20, 2, 11, 3, 4});
  CHECK(newcomers.empty());
  newcomers.Add(From("a", 12));
  CHECK(All(&newcomers) == std::vector<int>{12});
}

TEST_CASE("where there are too many the oldest of the largest crowd goes", "[newcomers]") {
  Newcomers newcomers(3);
  CHECK_FALSE(newcomers.Add(From("honest", 10)).has_value());
  for (const int fd : {1, 2}) CHECK_FALSE(newcomers.Add(From("crowd", fd)).has_value());
  for (const int fd : {3, 4, 5}) CHECK(newcomers.Add(From("crowd", fd))->fd == fd - 2);
  CHECK(All(&newcomers) == std::vector<int>{10, 4, 5});
}

TEST_CASE("of as many machines as there is room for one has to go", "[newcomers]") {
  Newcomers newcomers(2);
  newcomers.Add(From("a", 1));
  newcomers.Add(From("b", 2));
  const std::optional<Newcomer> gone = newcomers.Add(From("c", 3));
  REQUIRE(gone.has_value());
  std::set<int> fds = {gone->fd};
  for (const int fd : All(&newcomers)) fds.insert(fd);
  CHECK(fds == std::set<int>{1, 2, 3});
}

}  // namespace
}  // namespace vicinity
