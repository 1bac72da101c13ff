#include "runtime/organiser/amendment_book.hpp"

#include <algorithm>

#include "messages/limits.hpp"
#include "runtime/manifest/byte_reader.hpp"

namespace potluck {

namespace {

constexpr char magic[] = "PLKAMEND";
constexpr std::size_t magic_bytes = 8;

} // namespace

amendment_book::outcome amendment_book::take(const std::string& bytes) {
  if (std::find(bytes_.begin(), bytes_.end(), bytes) != bytes_.end())
    return {verdict::known, {}};
  auto read = read_amendment_of(run_, signers_, bytes);
  if (read.is == read_amendment::verdict::newer)
    return {verdict::newer, read.sentence};
  if (read.is == read_amendment::verdict::wrong)
    return {verdict::wrong, read.sentence};
  // Others of the organisers may have signed the same.
  if (read.what.number <= latest()
      && unsigned_part(signers_, bytes)
             == unsigned_part(
                 signers_,
                 bytes_[static_cast<std::size_t>(read.what.number - 1)]))
    return {verdict::known, {}};
  if (read.what.number <= latest())
    return {verdict::contradicts,
            "is a second amendment " + std::to_string(read.what.number)
                + " by the organiser; the first one holds"};
  if (read.what.number > latest() + 1)
    return {verdict::gap, "is amendment " + std::to_string(read.what.number)
                              + ", and " + std::to_string(latest() + 1)
                              + " is not here"};
  if (all_.size() >= most)
    return {verdict::newer, "is one too many: a run has at most "
                                + std::to_string(most) + " amendments"};
  all_.push_back(std::move(read.what));
  bytes_.push_back(bytes);
  return {verdict::accepted, {}};
}

std::vector<signed_amendment>
amendment_book::after(std::uint64_t number) const {
  std::vector<signed_amendment> result;
  for (auto i = number; i < latest() && result.size() < max_amendments; ++i)
    result.push_back({bytes_[static_cast<std::size_t>(i)]});
  return result;
}

std::string amendment_book::to_bytes() const {
  std::string result(magic, magic_bytes);
  for (const auto& x : bytes_) {
    append_little_endian(result, static_cast<std::uint16_t>(x.size()));
    result += x;
  }
  return result;
}

std::string amendment_book::read(const std::string& bytes) {
  byte_reader all{bytes};
  if (all.bytes(magic_bytes) != std::string_view(magic, magic_bytes))
    return "holds no amendments";
  while (!all.done()) {
    const std::string one{all.bytes(all.integer<std::uint16_t>())};
    if (all.lacks())
      return "is cut short";
    const auto outcome = take(one);
    if (outcome.is != verdict::accepted)
      return "holds what " + outcome.sentence;
  }
  return "";
}

} // namespace potluck
