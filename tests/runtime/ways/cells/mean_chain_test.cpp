#include "runtime/ways/cells/mean_chain.hpp"

#include <doctest/doctest.h>

#include <set>

#include "runtime/random.hpp"

using namespace potluck;

namespace {

constexpr double sponsors_upload = 1e6;
constexpr std::uint64_t large = 1'000'000;

progress_report somebody(std::uint16_t number, double upload = 1e6) {
  progress_report x;
  x.id.bytes[2] = 1; // None is empty.
  x.id.bytes[0] = static_cast<std::uint8_t>(number >> 8);
  x.id.bytes[1] = static_cast<std::uint8_t>(number);
  x.where = {"10.0.0.1", static_cast<std::uint16_t>(1000 + number)};
  x.upload_bytes_per_second = upload;
  return x;
}

/// Lengths of the chains, if they are chains: each has one beginning and one
/// end, and neighbours agree.
std::multiset<std::size_t>
lengths(const std::map<peer_id, chain_place>& places) {
  std::multiset<std::size_t> result;
  std::set<peer_id> seen;
  for (auto& [id, place] : places) {
    if (!place.nearer.id.empty())
      continue;
    std::size_t length = 1;
    REQUIRE(seen.insert(id).second);
    for (auto at = id; !places.at(at).farther.empty(); ++length) {
      auto next = places.at(at).farther;
      CHECK(places.at(next).nearer.id == at);
      CHECK(places.at(next).nearer.where.port != 0);
      REQUIRE(seen.insert(next).second);
      at = next;
    }
    result.insert(length);
  }
  CHECK(seen.size() == places.size());
  return result;
}

} // namespace

TEST_CASE("contributors stand in chains of about equal length") {
  for (std::uint16_t count : {1, 2, 15, 16, 17, 33, 200})
    for (std::uint64_t bytes : {300'000, 1'000'000, 20'000'000}) {
      CAPTURE(count);
      CAPTURE(bytes);
      std::vector<progress_report> all;
      for (std::uint16_t i = 0; i < count; ++i)
        all.push_back(somebody(i));
      auto found = lengths(mean_chains(all, bytes, sponsors_upload));
      CHECK(found.size()
            == chains_for(count, static_cast<double>(bytes) / sponsors_upload));
      CHECK(*found.rbegin() <= limits::chain_length);
      CHECK(*found.rbegin() - *found.begin() <= 1);
    }
}

TEST_CASE("a long mean goes through few chains, a short one through more") {
  CHECK(chains_for(0, 1) == 1);
  CHECK(chains_for(1, 1) == 1);
  CHECK(chains_for(16, 4) == 1);
  CHECK(chains_for(32, 40) == 1);
  CHECK(chains_for(33, 40) == 2);
  // 0.3 s for each chain, 0.1 s for each of the longest: 0.6 + 0.8 s.
  CHECK(chains_for(16, 0.3) == 2);
  CHECK(chains_for(16, 0.001) == 16);
}

TEST_CASE("slow uplinks stand where few wait for them") {
  std::vector<progress_report> all;
  for (std::uint16_t i = 0; i < 12; ++i)
    all.push_back(somebody(i, i % 3 == 0 ? 50e3 : 800e3 + 10e3 * i));
  auto places = mean_chains(all, large, sponsors_upload);
  for (auto& x : all) {
    auto farther = places.at(x.id).farther;
    if (x.upload_bytes_per_second == 50e3 && !farther.empty())
      CHECK(farther.bytes[1] % 3 == 0);
  }
  // What they measure changes all the time: nobody moves for a tenth.
  for (auto& x : all)
    x.upload_bytes_per_second *= 1.1;
  CHECK(mean_chains(all, large, sponsors_upload) == places);
}

TEST_CASE("no chains where the sponsor is soon done alone, or who knows") {
  std::vector<progress_report> all{somebody(1), somebody(2), somebody(3)};
  CHECK(mean_chains(all, 10'000, sponsors_upload).empty());
  CHECK(mean_chains(all, large, 0).empty());
  CHECK(mean_chains(all, large, sponsors_upload).size() == 3);
}

TEST_CASE("who cannot be dialled is in no chain") {
  std::vector<progress_report> all{somebody(1), somebody(2), somebody(3)};
  all[1].where.port = 0;
  auto places = mean_chains(all, large, sponsors_upload);
  CHECK(places.size() == 2);
  CHECK(places.count(all[1].id) == 0);
  CHECK(lengths(places) == std::multiset<std::size_t>{2});
}
