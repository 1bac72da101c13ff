/// What the machine tells matchmaking and people, put together from what its
/// parts know. Pure functions.
#pragma once

#include <chrono>

#include "messages/progress.hpp"
#include "runtime/progress/progress_tracker.hpp"
#include "runtime/step/actions.hpp"
#include "runtime/step/company.hpp"
#include "runtime/step/helpers.hpp"
#include "runtime/step/round_watch.hpp"
#include "runtime/step/stages.hpp"
#include "runtime/ways/way.hpp"

namespace potluck {

/// What others see a peer do that is in this stage. @param computes A batch of
/// the next step is under way.
phase phase_in(stage x, bool computes);

/// That a step takes by the speeds that are reported; 0: unknown.
std::chrono::milliseconds computing_time(const progress_tracker& tracker,
                                         std::uint64_t target_batch,
                                         time_point now);

/// How to lead a group of these, and of auxiliaries that help.
/// @param needed Of the auxiliaries: nobody else can average.
/// @param patience That a round is given.
lead_group invitation(way& how, const outlook& at, const way::reports& partners,
                      helpers& auxiliaries, bool needed, const doubts& doubted,
                      std::chrono::milliseconds patience,
                      std::uint64_t target_batch);

/// What matchmaking needs to judge invitations.
/// @param open A group may have this peer. @param parameters Of the model.
matchmaking_facts facts_of(way& how, const outlook& at, const doubts& doubted,
                           const leader_order& order, bool open,
                           std::uint64_t parameters);

/// What a person sees at a glance. @param steps Of the run.
run_status status_of(const outlook& at, const round_watch::result& last,
                     std::uint64_t steps);

/// How a peer takes part where that is not as usual, for the live line; else
/// empty. @param group_size Members that average together at most.
std::string part_of(const progress_report& own, std::size_t group_size,
                    bool rests);

/// Members that hand in gradients of others which have too few lines to average
/// themselves, and of how many: "peer 1a2b3c4d of 2". Empty: no gradient is
/// relayed for want of lines; those that a full group has no room for are not.
std::string relayed_through(const way& how, const outlook& at,
                            const group_contract& contract,
                            std::size_t group_size);

} // namespace potluck
