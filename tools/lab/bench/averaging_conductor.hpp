/// Takes the conductor's place in a member of `bench averaging`: begins the
/// next round when all have ended the last one.
#pragma once

#include <map>
#include <memory>
#include <ostream>
#include <string>

#include "tools/lab/bench/averaging_member.hpp"

namespace potluck::bench {

constexpr auto run_name = "bench";

/// What `take_part` needs to know in the end.
struct member_outcome {
  std::string problem;
};

struct member_start {
  averaging_member_config config;
  peer_id self;
  std::ostream* out = nullptr;
  std::shared_ptr<member_outcome> result;
};

class member_state {
public:
  void init(conductor_actor::pointer self, member_start start);

  void on(const conductor_handles& x);
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const report_heard& x);
  void on(const freeze_wanted& x);
  void on(const group_formed& x);
  void on(const group_dissolved& x);
  void on(const round_over& x);
  void on(const line_measured& x);
  void on(const tick&);
  template <class Other>
  void on(const Other&) {
  }

private:
  void announce();
  void lead_if_all_are_ready();
  std::string problem_with(const round_over& x) const;
  void end_if_all_have();
  void end(const std::string& problem);
  void say(const event& x);

  conductor_actor::pointer self_ = nullptr;
  averaging_member_config config_;
  peer_id id_;
  std::ostream* out_ = nullptr;
  std::shared_ptr<member_outcome> result_;
  conductor_handles wired_;
  std::shared_ptr<std::vector<float>> gradient_;
  line_measured line_;
  double predicted_ = 0; ///< Seconds of the round, by its plan.
  std::map<peer_id, contact> companions_;
  std::map<peer_id, std::uint64_t> done_; ///< Rounds, as reported.
  std::uint64_t round_ = 0;               ///< Done.
  bool ready_said_ = false;
  bool leading_ = false;
  double cpu_before_ = 0;
  double cpu_after_ = 0; ///< The last round.
  std::uint64_t idle_bytes_ = 0;
  digest mean_;
};

conductor_actor::behavior_type
member(conductor_actor::stateful_pointer<member_state> self,
       member_start start);

} // namespace potluck::bench
