#include "server/security/bulk_tickets.h"

#include <openssl/crypto.h>
#include <sys/random.h>

#include <cstring>
#include <utility>

namespace vicinity {
namespace {

constexpr size_t kNumberBytes = sizeof(uint64_t);
constexpr size_t kSecretBytes = BulkTickets::kTicketBytes - kNumberBytes;

}  // namespace

std::optional<std::string> BulkTickets::Issue(Bearer bearer, Socket socket, Time now) {
  Entry entry;
  entry.secret.resize(kSecretBytes);
  if (getrandom(entry.secret.data(), kSecretBytes, 0) != static_cast<ssize_t>(kSecretBytes)) {
    return std::nullopt;
  }
  entry.bearer = std::move(bearer);
  entry.socket = socket;
  entry.until = now + kValid;
  MutexLock lock(&mu_);
  Forget(now);
  const uint64_t number = next_++;
  std::string ticket(kNumberBytes, '\0');
  std::memcpy(ticket.data(), &number, kNumberBytes);
  ticket += entry.secret;
  entries_.emplace(number, std::move(entry));
  in_order_.push_back(number);
  return ticket;
}

std::optional<BulkTickets::Bearer> BulkTickets::Redeem(absl::string_view ticket, Socket socket,
                                                       Time now) {
  MutexLock lock(&mu_);
  uint64_t number = 0;
  if (ticket.size() == kTicketBytes) std::memcpy(&number, ticket.data(), kNumberBytes);
  const auto found = entries_.find(number);
  // Compared in a time that does not tell how much of it was right.
  const bool is_right =
      found != entries_.end() && found->second.until > now && found->second.socket == socket &&
      CRYPTO_memcmp(found->second.secret.data(), ticket.data() + kNumberBytes, kSecretBytes) == 0;
  if (!is_right) {
    refused_.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  Bearer bearer = std::move(found->second.bearer);
  entries_.erase(found);
  return bearer;
}

// Of those that are over, and of the oldest where there are too many.
void BulkTickets::Forget(Time now) {
  while (!in_order_.empty()) {
    const auto oldest = entries_.find(in_order_.front());
    const bool is_used = oldest == entries_.end();
    if (!is_used && oldest->second.until > now && in_order_.size() < kMostAtOnce) return;
    if (!is_used) entries_.erase(oldest);
    in_order_.pop_front();
  }
}

}  // namespace vicinity
