#include "runtime/step/catching_up.hpp"

namespace potluck {

fetch_state catching_up::begin(const std::vector<progress_report>& donors,
                               const progress_report& own, const digest& held,
                               bool alone, bool next_step, time_point now) {
  began_ = now;
  before_ = held;
  from_ = own;
  uncounted_batch_ = false;
  fetch_state order;
  order.goal.step = donors.front().step;
  order.goal.alone = alone;
  if (!alone && !next_step)
    order.goal.state = donors.front().state;
  order.goal.own_step = own.step;
  order.goal.own_state = held;
  for (auto& x : donors)
    order.goal.donors.push_back(x.id);
  donors_ = order.goal.donors;
  return order;
}

catching_up::outcome catching_up::failed(const digest& held, bool put_aside,
                                         bool lied, time_point now) {
  next_ = lied ? now : now + limits::fetch_backoff;
  if (held != before_)
    return outcome::partly;
  if (!put_aside && !lied)
    next_ += limits::fetch_backoff_share * (now - began_);
  return uncounted_batch_ ? outcome::uncounted : outcome::in_vain;
}

event catching_up::news(const fetch_result& x, const digest& held,
                        std::uint64_t step) const {
  return {"state_download",
          {{"donor", x.donor.empty() ? std::string{} : short_name(x.donor)},
           {"step", step},
           {"bytes", x.bytes},
           {"seconds", x.seconds},
           {"digest", to_string(held)},
           {"samples_lost", from_.samples},
           {"donors", std::uint64_t{x.donors}},
           {"means", x.means},
           {"whole", x.whole_state}}};
}

event catching_up::news_of_part(const digest& held, std::uint64_t step,
                                time_point now) const {
  fetch_result part;
  part.seconds = std::chrono::duration<double>(now - began_).count();
  return news(part, held, step);
}

} // namespace potluck
