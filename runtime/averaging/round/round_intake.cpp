#include "runtime/averaging/round/round_intake.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

round_intake::round_intake(std::size_t least_bytes)
    : least_bytes_{least_bytes} {
}

void round_intake::begin(const group_id& group, std::vector<peer_id> members,
                         std::size_t self, std::shared_ptr<mean_places> means,
                         std::function<void()> all_placed) {
  close();
  if (means)
    means->open(self, least_bytes_);
  std::lock_guard<std::mutex> guard{mutex_};
  group_ = group;
  members_ = std::move(members);
  means_ = std::move(means);
  all_placed_ = std::move(all_placed);
  taken_.clear();
  last_taken_ = {};
}

void round_intake::expect_parts(std::uint32_t chunk,
                                std::weak_ptr<chunk_sum> where,
                                reducer_line line) {
  std::lock_guard<std::mutex> guard{mutex_};
  if (!members_.empty())
    parts_[chunk] = {std::move(where), std::move(line)};
}

std::vector<round_intake::taken> round_intake::news() {
  std::lock_guard<std::mutex> guard{mutex_};
  return std::exchange(taken_, {});
}

time_point round_intake::last_taken() const {
  std::lock_guard<std::mutex> guard{mutex_};
  return last_taken_;
}

void round_intake::close() {
  std::lock_guard<std::mutex> guard{mutex_};
  members_.clear();
  parts_.clear();
  all_placed_ = nullptr;
  if (auto means = std::exchange(means_, nullptr))
    means->close();
}

bool round_intake::take(const peer_id& from, const message& content,
                        const shared_bytes& body, time_point now) {
  std::lock_guard<std::mutex> guard{mutex_};
  const auto found = std::find(members_.begin(), members_.end(), from);
  if (found == members_.end())
    return false;
  const auto member = static_cast<std::size_t>(found - members_.begin());
  const auto* part = std::get_if<chunk_part>(&content);
  const auto* mean = std::get_if<chunk_mean>(&content);
  return (part && take(member, *part, body, now))
         || (mean && take(member, *mean, body, now));
}

void round_intake::note(taken x) {
  last_taken_ = std::max(last_taken_, x.at);
  taken_.push_back(std::move(x));
}

bool round_intake::take(std::size_t member, const chunk_part& part,
                        const shared_bytes& body, time_point now) {
  const auto place = parts_.find(part.chunk);
  if (part.group != group_ || place == parts_.end())
    return false;
  const auto sum = place->second.where.lock();
  if (!sum)
    return false; // Its reducer has ended.
  const auto news = sum->offer(member, part, body);
  if (news.worth_telling())
    place->second.line(member, news);
  if (news.counted)
    note({member, part, body.size, now});
  return true;
}

bool round_intake::take(std::size_t member, const chunk_mean& mean,
                        const shared_bytes& body, time_point now) {
  if (mean.group != group_ || !means_
      || means_->take(member, mean, body) != mean_places::verdict::placed)
    return false;
  note({member, mean, body.size, now});
  if (means_->none_open())
    all_placed_();
  return true;
}

} // namespace potluck
