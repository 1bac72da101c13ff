#include "runtime/matchmaking/matchmaker.hpp"

#include "messages/limits.hpp"
#include "runtime/numbers.hpp"

#include "runtime/safeguards.hpp"
#include <stdexcept>
#include <utility>

namespace potluck {

// Every transition. What is not listed changes nothing.
const matchmaker::transition matchmaker::table[] = {
    {state::idle, event::begin, &matchmaker::invite_all},
    {state::idle, event::invite, &matchmaker::consider},
    {state::idle, event::start, &matchmaker::refuse_start},

    {state::leading, event::frozen, &matchmaker::keep_own},
    {state::leading, event::answer, &matchmaker::keep_answer},
    {state::leading, event::lost, &matchmaker::count_absent},
    {state::leading, event::expired, &matchmaker::close_now},
    {state::leading, event::invite, &matchmaker::consider},
    {state::leading, event::start, &matchmaker::refuse_start},
    {state::leading, event::forgotten, &matchmaker::forget_gradient},

    {state::freezing, event::frozen, &matchmaker::answer_leader},
    {state::freezing, event::invite, &matchmaker::consider},
    {state::freezing, event::start, &matchmaker::refuse_start},
    {state::freezing, event::cancel, &matchmaker::obey_cancel},
    {state::freezing, event::lost, &matchmaker::leader_gone},
    {state::freezing, event::expired, &matchmaker::give_up},
    {state::freezing, event::forgotten, &matchmaker::forget_gradient},

    {state::answered, event::start, &matchmaker::check_contract},
    {state::answered, event::invite, &matchmaker::consider},
    {state::answered, event::cancel, &matchmaker::obey_cancel},
    {state::answered, event::lost, &matchmaker::leader_gone},
    {state::answered, event::expired, &matchmaker::give_up},
    {state::answered, event::forgotten, &matchmaker::forget_gradient},

    {state::busy, event::invite, &matchmaker::decline_busy},
    {state::busy, event::answer, &matchmaker::pass_refusal},
    {state::busy, event::start, &matchmaker::refuse_start},
    {state::busy, event::finished, &matchmaker::rest},
};

matchmaker::matchmaker(matchmaker_settings settings)
    : settings_{std::move(settings)} {
}

void matchmaker::hold(std::uint64_t step, const digest& state) {
  step_ = step;
  held_ = state;
}

void matchmaker::measure(double upload, double download,
                         std::vector<slow_pair> slow_pairs) {
  upload_ = upload;
  download_ = download;
  slow_pairs_ = std::move(slow_pairs);
  if (slow_pairs_.size() > max_slow_pairs)
    slow_pairs_.resize(max_slow_pairs);
}

matchmaker::actions matchmaker::begin(const group_id& group,
                                      const std::vector<invitee>& invitees) {
  if (state_ != state::idle)
    throw std::logic_error{"A peer leads one group at a time."};
  return happen(settings_.self.id, begun{group, invitees});
}

matchmaker::actions matchmaker::frozen(std::uint64_t samples, double loss_sum) {
  return happen(settings_.self.id, froze{samples, loss_sum});
}

matchmaker::actions matchmaker::receive(const peer_id& from,
                                        const matchmaking_message& what) {
  return happen(from, std::visit([](const auto& x) { return input{x}; }, what));
}

matchmaker::actions matchmaker::lost(const peer_id& peer) {
  return happen(peer, gone{});
}

matchmaker::actions matchmaker::expired() {
  return happen(settings_.self.id, patience_over{});
}

matchmaker::actions matchmaker::finished() {
  return happen(settings_.self.id, round_over{});
}

matchmaker::actions matchmaker::forgotten() {
  return happen(settings_.self.id, owner_gone{});
}

matchmaker::actions matchmaker::happen(const peer_id& from, input what) {
  for (const auto& x : table)
    if (x.in == state_ && static_cast<std::size_t>(x.on) == what.index()) {
      (this->*x.run)(from, what);
      break;
    }
  actions result;
  result.swap(out_);
  return result;
}

// ---- following --------------------------------------------------------------

void matchmaker::consider(const peer_id& from, const input& what) {
  const auto& x = std::get<group_invite>(what);
  bool trains = settings_.role == role::trainer;
  if (trains && x.step != step_ + 1) {
    decline(from, x.group,
            "at step " + std::to_string(step_ + 1) + ", not "
                + std::to_string(x.step));
    return;
  }
  if (trains && x.state != held_) {
    decline(from, x.group,
            "another state before step " + std::to_string(x.step));
    return;
  }
  if (state_ != state::idle) {
    const auto& current
        = state_ == state::leading ? settings_.self.id : leader_;
    if (order_.before(current, from)) {
      decline(from, x.group,
              state_ == state::leading ? "leading a group itself"
                                       : "following " + short_name(current));
      if (state_ == state::leading)
        remind(from);
      return;
    }
    if (state_ == state::leading)
      cancel_invitations("following " + short_name(from));
    else if (from != leader_)
      decline(leader_, group_, "following " + short_name(from));
  }
  group_ = x.group;
  leader_ = from;
  group_step_ = x.step;
  state_ = state::freezing;
  // Said for every group, so that the owner knows whom the gradient is frozen
  // for; one that is frozen already serves this leader as well.
  out_.emplace_back(freeze_gradient{group_});
  if (own_)
    answer_leader(from, what);
}

void matchmaker::answer_leader(const peer_id&, const input& what) {
  if (auto* x = std::get_if<froze>(&what))
    own_ = *x;
  state_ = state::answered;
  answer_ = own_answer();
  out_.emplace_back(send_to_peer{leader_, answer_});
}

void matchmaker::check_contract(const peer_id& from, const input& what) {
  const auto& contract = std::get<group_start>(what).contract;
  if (from != leader_ || contract.group != group_) {
    refuse_start(from, what);
    return;
  }
  auto problem = problem_with(from, contract);
  if (!problem.empty()) {
    decline(from, group_, problem);
    release(problem, from);
    return;
  }
  state_ = state::busy;
  out_.emplace_back(start_round{contract});
}

void matchmaker::refuse_start(const peer_id& from, const input& what) {
  const auto& group = std::get<group_start>(what).contract.group;
  if (state_ != state::busy || group != group_)
    decline(from, group, "no longer waiting for this group");
}

void matchmaker::obey_cancel(const peer_id& from, const input& what) {
  const auto& x = std::get<group_cancel>(what);
  if (from == leader_ && x.group == group_)
    release("the leader cancelled: " + x.reason);
}

void matchmaker::leader_gone(const peer_id& from, const input&) {
  if (from == leader_)
    release("the leader is gone");
}

void matchmaker::give_up(const peer_id&, const input&) {
  decline(leader_, group_, "waited too long");
  release("the leader did not start in time");
}

void matchmaker::forget_gradient(const peer_id&, const input&) {
  const std::string reason = "its gradient is gone";
  if (state_ == state::leading)
    cancel_invitations(reason);
  else
    decline(leader_, group_, reason);
  release(reason);
}

void matchmaker::decline_busy(const peer_id& from, const input& what) {
  decline(from, std::get<group_invite>(what).group, "busy averaging");
}

void matchmaker::rest(const peer_id&, const input&) {
  state_ = state::idle;
  group_ = {};
  leader_ = {};
  own_.reset();
  invited_.clear();
}

void matchmaker::release(const std::string& reason, const peer_id& refused) {
  out_.emplace_back(release_gradient{group_, reason, refused});
  rest({}, round_over{});
}

void matchmaker::decline(const peer_id& to, const group_id& group,
                         std::string reason) {
  group_answer x;
  x.group = group;
  x.reason = std::move(reason);
  out_.emplace_back(send_to_peer{to, std::move(x)});
}

void matchmaker::avoid(std::vector<peer_id> whom) {
  avoid_ = std::move(whom);
  if (avoid_.size() > max_avoided)
    avoid_.resize(max_avoided);
}

group_answer matchmaker::own_answer() const {
  return {group_,  true,      {},     own_->samples, own_->loss_sum,
          upload_, download_, avoid_, slow_pairs_};
}

std::string matchmaker::misquoted(const group_member& mine,
                                  const group_contract& in) const {
  if (mine.role != settings_.role)
    return "its role is " + to_string(settings_.role) + " here and "
           + to_string(mine.role) + " there";
  if (mine.samples != answer_.samples)
    return "its samples are " + std::to_string(answer_.samples) + " here and "
           + std::to_string(mine.samples) + " there";
  auto differ = [](const char* what, double here, double there) {
    return what + readable(here, 17) + " here and " + readable(there, 17)
           + " there";
  };
  if (mine.loss_sum != answer_.loss_sum)
    return differ("its loss is ", answer_.loss_sum, mine.loss_sum);
  // Nobody's lines are believed: then all plan equal shares.
  if (!quotes_lines(in))
    return {};
  if (mine.upload_bytes_per_second != answer_.upload_bytes_per_second)
    return differ("its upload in bytes/s is ", answer_.upload_bytes_per_second,
                  mine.upload_bytes_per_second);
  if (mine.download_bytes_per_second != answer_.download_bytes_per_second)
    return differ("its download in bytes/s is ",
                  answer_.download_bytes_per_second,
                  mine.download_bytes_per_second);
  if (!(mine.slow_pairs == answer_.slow_pairs))
    return "its slow pairs are others here and there";
  return {};
}

std::string matchmaker::problem_with(const peer_id& from,
                                     const group_contract& x) const {
  if (x.step != group_step_)
    return "the contract is for another step";
  if (settings_.gradient_values != 0
      && (x.gradient_values != settings_.gradient_values
          || x.chunk_values != chunk_values_of(x)))
    return "the contract cuts another gradient";
  if (x.members.empty() || x.members.front().who.id != from
      || x.members.front().role != role::trainer)
    return "the contract does not begin with its leader";
  const group_member* mine = nullptr;
  std::uint64_t samples = 0;
  for (std::size_t i = 0; i < x.members.size(); ++i) {
    const auto& m = x.members[i];
    if (m.role != role::trainer && m.role != role::auxiliary)
      return "the contract lists a peer that does not average";
    // Sorted as make_contract does, which also excludes repeated ids.
    if (i >= 1 && m.who.id == from)
      return "the contract lists a member twice";
    if (i >= 2) {
      const auto& before = x.members[i - 1];
      if (m.role < before.role
          || (m.role == before.role && !(before.who.id < m.who.id)))
        return "the contract's members are out of order";
    }
    if (m.samples > UINT64_MAX - samples)
      return "the contract's samples overflow";
    samples += m.samples;
    if (m.who.id == settings_.self.id)
      mine = &m;
  }
  if (!mine)
    return "the contract does not list this peer";
  if (auto lie = misquoted(*mine, x); !lie.empty())
    return "the contract does not say of this peer what it answered: " + lie;
  const auto least = least_of(samples);
  if (samples < least && guarded(safeguard::target_batch))
    return "the contract counts fewer samples than the target batch";
  if (x.least_samples != least)
    return "the contract would count another batch than the target";
  group_contract bare = x;
  bare.plan = {};
  if (settings_.plan(bare) != x.plan)
    // Both planned from this very contract.
    return "the leader's share plan differs from this peer's; use the same "
           "version of Potluck everywhere";
  return {};
}

bool quotes_lines(const group_contract& x) {
  return std::any_of(x.members.begin(), x.members.end(), [](auto& m) {
    return m.upload_bytes_per_second != 0 || m.download_bytes_per_second != 0;
  });
}

std::string to_string(matchmaker::state x) {
  switch (x) {
    case matchmaker::state::idle:
      return "idle";
    case matchmaker::state::leading:
      return "leading";
    case matchmaker::state::freezing:
      return "freezing";
    case matchmaker::state::answered:
      return "answered";
    case matchmaker::state::busy:
      return "busy";
  }
  return "unknown";
}

} // namespace potluck
