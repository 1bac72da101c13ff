#include "runtime/membership/run_lookup.hpp"

#include <algorithm>
#include <utility>

#include "messages/codec.hpp"
#include "runtime/dht/record_rules.hpp"
#include "runtime/membership/limits.hpp"

namespace potluck {

bool run_lookup::publishes(const situation& x, time_point now) const {
  if (x.mine.contributes)
    return false;
  if (x.decided || own_ != role::trainer || x.mine.phase == phase::founding)
    return true;
  return looked_up_
         && (!charter_heard_at_
             || now - *charter_heard_at_ > limits::charter_news);
}

run_lookup::turn run_lookup::take_turn(const situation& x, time_point now) {
  turn result;
  duration rest = limits::publish_interval;
  if (x.mine.charter.empty())
    rest = limits::joining_publish_interval;
  else if (acquainted_)
    rest = limits::acquainted_publish_interval;
  next_publication_ = now + rest;
  constexpr auto life = std::chrono::milliseconds{limits::report_life};
  if (publishes(x, now))
    result.publish = dht_record{key_, subkey_of(self_), encode_progress(x.mine),
                                static_cast<std::uint32_t>(life.count()),
                                record_kind::progress};
  const auto since = now - last_;
  if (since < pause(x) || (looking_up_ && since < limits::look_up_patience))
    return result;
  last_ = now;
  looking_up_ = true;
  asked_for_ = records_wanted(x);
  result.look_up
      = question{key_, {}, asked_for_, !charter_heard_at_ || acquainted_};
  for (const auto& [id, g] : x.guests.all())
    if (g.heard) // They go on telling us, sooner than the DHT would.
      result.look_up->known.push_back(subkey_of(id));
  return result;
}

std::uint32_t run_lookup::records_wanted(const situation& x) const {
  // To found a run all have to be known; whether there is one shows at once.
  if (looked_up_ && !charter_heard_at_)
    return 0;
  const auto few = own_ == role::trainer && (!x.decided || x.few);
  return few ? limits::records_of_few : records_of_many;
}

duration run_lookup::pause(const situation& x) const {
  if (x.mine.charter.empty())
    return duration::zero();
  return acquainted_ ? std::min<duration>(x.guests.all().size()
                                              * limits::look_up_pause_per_peer,
                                          limits::longest_look_up_pause)
                     : std::min<duration>(x.guests.all().size()
                                              * meeting_pause_per_peer,
                                          longest_meeting_pause);
}

void run_lookup::start_over() {
  next_publication_ = {};
  last_ = {};
  looking_up_ = false;
  acquainted_ = false;
}

run_lookup::finding run_lookup::found(const std::vector<dht_record>& records,
                                      std::uint32_t stored,
                                      std::uint32_t answers, bool heard_anybody,
                                      time_point now) {
  looking_up_ = false;
  finding result;
  result.whole = asked_for_ == 0 || records.size() < asked_for_;
  stored_ = result.whole ? 0 : stored;
  acquainted_
      = result.whole && (!records.empty() || (answers > 0 && heard_anybody));
  result.first = !looked_up_ && answers > 0;
  if (result.first) {
    looked_up_ = true;
    next_publication_ = now; // Of this peer, if there is no run yet.
  }
  for (auto& record : records) {
    auto report = decode_progress(record.value);
    if (!report || report->id == self_
        || record.subkey != subkey_of(report->id))
      continue; // Nobody speaks for somebody else.
    auto left = std::chrono::milliseconds{record.lives_ms};
    auto age = std::max<duration>(limits::report_life - left, duration::zero());
    result.reports.push_back({std::move(*report), age});
  }
  return result;
}

} // namespace potluck
