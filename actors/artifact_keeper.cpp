#include "actors/artifact_keeper.hpp"

#include <algorithm>
#include <cmath>

#include "actors/behavior.hpp"
#include "actors/guest_list.hpp"
#include "runtime/artifacts/limits.hpp"
#include "runtime/manifest/run_key.hpp"
#include "runtime/numbers.hpp"
#include "runtime/state/limits.hpp"

namespace potluck {

namespace {

std::uint64_t bytes_of(const artifact_list& all) {
  std::uint64_t result = 0;
  for (const auto& x : all)
    result += x.bytes;
  return result;
}

std::string megabytes(std::uint64_t bytes) {
  return readable(std::ceil(static_cast<double>(bytes) / 1e4) / 100, 6) + " MB";
}

/// Why what the run has cannot lie here; empty when it can.
std::string problem_with_room(const artifact_keeper_config& how,
                              const artifact_list& all) {
  const auto run = "run '" + shown_run(how.agreed.settings().run) + "'";
  const auto bytes = bytes_of(all);
  if (bytes > how.most)
    return "the artifacts of " + run + " are " + megabytes(bytes)
           + ", and max-artifacts allows " + megabytes(how.most)
           + "; give it at least that to take part";
  if (how.folder.path().empty())
    return run
           + " has artifacts, and there is no folder for them; set "
             "identity-dir to one";
  return {};
}

} // namespace

void artifact_keeper_state::init(artifact_keeper_actor::pointer self,
                                 artifact_keeper_config config) {
  self_ = self;
  config_ = std::move(config);
  all_ = artifacts_of(config_.agreed);
  wanted_ = config_.trains;
  thread_ = std::make_unique<worker>(config_.mode);
  serving_budget::bounds give{
      config_.trains ? limits::joiners_served : limits::shelf_joiners,
      limits::joiner_bytes_in_flight,
      limits::artifacts_upload_share * config_.upload_bytes_per_second,
      limits::joiner_silence, 0};
  donor_.emplace(give, [folder = config_.folder, bend = config_.bend](
                           const artifact& of, std::uint32_t piece,
                           const sha256_digest& sum) {
    auto bytes = folder.read(of, piece, sum);
    if (bend)
      bend(bytes);
    return bytes;
  });
}

// ---- what happens -----------------------------------------------------------

void artifact_keeper_state::on(const artifact_keeper_handles& w) {
  const bool first = !wired_.supervisor;
  wired_ = w;
  if (first)
    look_at_folder();
}

void artifact_keeper_state::on(const letter& x) {
  if (auto piece = std::get_if<artifact_piece>(&x.content)) {
    if (fetch_)
      carry_out(fetch_->read(x.from, *piece, x.body, now()));
    return;
  }
  auto wish = std::get_if<artifact_request>(&x.content);
  if (!wish)
    return; // Sessions deliver nothing else here.
  carry_out(donor_->read(x.from, *wish, now()));
  if (config_.is_hub && !wish->over && !std::exchange(wanted_, true))
    begin_fetch();
}

void artifact_keeper_state::on(const peer_joined& x) {
  if (x.role != role::trainer && x.role != role::auxiliary)
    return;
  donor_->reach(x.who.id, x.relayed, x.who.where.host);
  peers_.insert(x.who.id);
  if (fetch_)
    carry_out(fetch_->met(x.who.id, now()));
}

void artifact_keeper_state::on(const peer_left& x) {
  peers_.erase(x.id);
  carry_out(donor_->lost(x.id, now()));
  if (fetch_)
    carry_out(fetch_->lost(x.id, now()));
}

// ---- what is here -----------------------------------------------------------

void artifact_keeper_state::post(std::function<expected<bool>()> job) {
  thread_->post([job = std::move(job),
                 outbox = caf::actor_cast<artifact_keeper_actor>(self_)] {
    try {
      if (auto done = job(); !done)
        caf::anon_send(outbox, work_failed{done.error()});
    } catch (const std::exception& e) {
      caf::anon_send(outbox, work_failed{e.what()});
    }
  });
}

void artifact_keeper_state::look_at_folder() {
  if (config_.trains)
    if (auto problem = problem_with_room(config_, all_); !problem.empty())
      return on(work_failed{problem});
  post([how = config_, all = all_,
        outbox
        = caf::actor_cast<artifact_keeper_actor>(self_)]() -> expected<bool> {
    if (auto taken = take_own_artifacts(how.agreed, how.own, how.folder);
        !taken)
      return taken;
    artifacts_looked_at news;
    std::set<sha256_digest> keep;
    for (const auto& x : all) {
      keep.insert(x.content);
      if (!how.folder.has(x.content))
        continue;
      auto sums = how.folder.check(x, short_name(how.self));
      if (sums)
        news.here[x.name] = std::move(*sums);
      else
        news.damaged.push_back(sums.error());
    }
    if (news.here.size() < all.size())
      how.folder.make_room(keep, bytes_of(all), how.most);
    caf::anon_send(outbox, std::move(news));
    return true;
  });
}

void artifact_keeper_state::on(const artifacts_looked_at& x) {
  looked_ = true;
  for (const auto& sentence : x.damaged)
    say_fault("artifact damaged", sentence + "; it is fetched again");
  for (const auto& it : all_)
    if (const auto found = x.here.find(it.name); found != x.here.end())
      donor_->offers(it, found->second);
    else
      missing_.push_back(it);
  tell_if_all_here();
  begin_fetch();
}

void artifact_keeper_state::tell_if_all_here() {
  if (missing_.empty())
    self_->send(wired_.supervisor, artifacts_here{});
}

void artifact_keeper_state::begin_fetch() {
  if (!wanted_ || !looked_ || missing_.empty() || gave_up_
      || !problem_with_room(config_, all_).empty())
    return;
  if (config_.trains)
    self_->send(wired_.observer,
                event{"notice",
                      {{"message", "Before this peer trains it fetches the "
                                   "run's artifacts, "
                                       + megabytes(bytes_of(missing_))
                                       + ", from others."}}});
  began_ = now();
  next_event_ = began_ + limits::fetch_report_interval;
  fetch_.emplace(config_.self,
                 artifact_fetch::bounds{{limits::joiner_bytes_in_flight,
                                         limits::piece_floor, limits::piece_cap,
                                         limits::least_bytes_in_flight},
                                        limits::donors_at_once},
                 missing_);
  carry_out(fetch_->look(now()));
  for (const auto& id : peers_)
    carry_out(fetch_->met(id, now()));
}

void artifact_keeper_state::on(const pieces_looked_at& x) {
  if (fetch_)
    carry_out(fetch_->found(x.of, x.sound, now()));
}

void artifact_keeper_state::on(const artifact_finished& x) {
  donor_->offers(x.of, x.sums);
  const std::chrono::duration<double> took = now() - began_;
  self_->send(wired_.observer, event{"artifact",
                                     {{"name", x.of.name},
                                      {"bytes", x.of.bytes},
                                      {"seconds", took.count()}}});
  missing_.erase(
      std::remove_if(missing_.begin(), missing_.end(),
                     [&](auto& y) { return y.content == x.of.content; }),
      missing_.end());
  if (missing_.empty())
    fetch_.reset();
  tell_if_all_here();
}

void artifact_keeper_state::on(const work_failed& x) {
  if (std::exchange(gave_up_, true))
    return;
  fetch_.reset();
  if (!config_.trains)
    return say_fault("artifacts not kept", x.sentence);
  auto sentence = x.sentence + ".";
  sentence.front() = static_cast<char>(std::toupper(sentence.front()));
  self_->send(wired_.observer, peer_over{sentence, true});
}

void artifact_keeper_state::on(const deadline_passed& x) {
  if (!alarm_.rings(x))
    return;
  carry_out(donor_->look(now()));
  if (fetch_)
    carry_out(fetch_->look(now()));
  show_progress();
}

// ---- what is to be done -----------------------------------------------------

void artifact_keeper_state::carry_out(artifact_actions xs) {
  for (auto& x : xs)
    std::visit([this](auto& y) { carry_out(y); }, x);
}

void artifact_keeper_state::carry_out(state_letter& x) {
  potluck::post(self_, wired_.letters,
                parcel{x.to, std::move(x.content), std::move(x.body)});
}

void artifact_keeper_state::carry_out(look_again& x) {
  alarm_.set(self_, x.at);
}

void artifact_keeper_state::carry_out(look_for_pieces& x) {
  post([x, parts = parts_, folder = config_.folder,
        owner = short_name(config_.self),
        outbox
        = caf::actor_cast<artifact_keeper_actor>(self_)]() -> expected<bool> {
    auto opened = partial_artifact::open(folder, x.of, owner);
    if (!opened)
      return failure{opened.error()};
    caf::anon_send(outbox,
                   pieces_looked_at{x.of, opened->sound_pieces(x.sums)});
    parts->emplace(x.of.content, std::move(*opened));
    return true;
  });
}

void artifact_keeper_state::carry_out(keep_piece& x) {
  post([x, parts = parts_]() -> expected<bool> {
    auto written = parts->at(x.of.content).write(x.piece, x.bytes);
    if (!written)
      return failure{"artifact " + x.of.name + ": " + written.error()
                     + "; free " + megabytes(x.of.bytes)
                     + " there, or set identity-dir to another folder"};
    return true;
  });
}

void artifact_keeper_state::carry_out(finish_artifact& x) {
  post([x, parts = parts_, folder = config_.folder,
        outbox
        = caf::actor_cast<artifact_keeper_actor>(self_)]() -> expected<bool> {
    auto finished = parts->at(x.of.content).finish();
    parts->erase(x.of.content);
    if (!finished)
      return failure{"artifact " + x.of.name + ": " + finished.error()};
    auto sums = folder.check(x.of, "");
    if (!sums)
      return failure{sums.error()
                     + ", though each of its pieces is what the run says; its "
                       "organiser has to create the run anew"};
    caf::anon_send(outbox, artifact_finished{x.of, std::move(*sums)});
    return true;
  });
}

void artifact_keeper_state::carry_out(fetch_fault& x) {
  self_->send(wired_.observer, fault_news(x.peer, "wrong artifact", x.what));
}

void artifact_keeper_state::say_fault(const std::string& what,
                                      const std::string& detail) {
  self_->send(wired_.observer, fault_news(what, detail));
}

void artifact_keeper_state::show_progress() {
  if (!fetch_)
    return;
  const auto percent = 100 * static_cast<double>(fetch_->bytes_here())
                       / static_cast<double>(fetch_->bytes_wanted());
  const auto donors = fetch_->donors();
  if (now() >= next_event_) {
    next_event_ = now() + limits::fetch_report_interval;
    self_->send(wired_.observer, event{"artifact_progress",
                                       {{"percent", percent},
                                        {"bytes", fetch_->bytes_here()},
                                        {"donors", std::uint64_t{donors}}}});
  }
  if (!config_.shows_status || !config_.trains)
    return;
  run_status status;
  status.steps = config_.agreed.settings().steps;
  status.peers = static_cast<std::uint32_t>(peers_.size()) + 1;
  status.trouble = "fetching artifacts: " + readable(std::floor(percent))
                   + "% of " + megabytes(fetch_->bytes_wanted()) + ", "
                   + (donors == 0 ? "nobody here has them yet"
                                  : "from " + std::to_string(donors)
                                        + (donors == 1 ? " peer" : " peers"));
  self_->send(wired_.observer, std::move(status));
}

artifact_keeper_actor::behavior_type artifact_keeper(
    artifact_keeper_actor::stateful_pointer<artifact_keeper_state> self,
    artifact_keeper_config config) {
  return behave<artifact_keeper_actor, artifact_keeper_state>(
      self, std::move(config));
}

} // namespace potluck
