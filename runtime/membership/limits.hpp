/// Whom to dial and what to tell whom: how often, how many, how long.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two looks at who should be dialled or told something.
constexpr auto roster_interval = 100ms;
/// Between two looks for what can be closed.
constexpr auto tidying_interval = 1s;
/// Between two looks at whom to dial, when no news say that there is somebody:
/// and at least so long for each peer that is known: a ledger can hold
/// thousands.
constexpr auto dialling_interval = 1s;
constexpr auto dialling_pause_a_peer = 4ms;
/// Even with news, which hundreds of contributors have all the time.
constexpr auto dialling_rest_a_peer = 100us;
/// A host may have us see whether it can be dialled once in so long, and so
/// many hosts in that time: each costs a connection for as long as nobody
/// answers.
constexpr auto reach_pause = 2s;
constexpr std::size_t reach_tries = 16;
/// Likewise of hosts that a guest names: a peer asks a few others in five
/// minutes, so hardly ever two of them send the same one.
constexpr auto errand_pause = 60s;
constexpr std::size_t errand_tries = 16;
/// Guests that were sent somewhere and have not answered.
constexpr std::size_t errands_under_way = 64;
/// Between two publications of our report in the DHT, and look-ups of others'.
constexpr auto publish_interval = 2s;
/// The same while all whom the last look-up found are connected with us: they
/// hear us directly, and the DHT is for newcomers, who announce themselves. Of
/// 24 peers, looking up every 2 s alone fills a tenth of a 3 Mbit/s line.
constexpr auto acquainted_publish_interval = 5s;
/// What all peers' look-ups of a run cost grows with the square of the peers
/// (each answer names all), and who is connected with all of them learns
/// little: with 24 peers, 7 kB every 200 ms from those closest to the key are
/// a tenth of a 3 Mbit/s line. So a look-up follows the last one after so long
/// for every peer that we are connected with, but a minute at most.
constexpr auto look_up_pause_per_peer = 1s;
constexpr auto longest_look_up_pause = 60s;
/// The same before the run's charter is known: founding waits for look-ups.
constexpr auto joining_publish_interval = 300ms;
/// Life of a report in the DHT: survives a few lost publications.
constexpr auto report_life = 15s;
/// Nodes that it is stored at. A look-up asks the five closest, and half of
/// these ten hardly ever leave between two publications; with all twenty of a
/// bucket they would be 0.6 % of a 3 Mbit/s line among 24 peers.
constexpr std::uint32_t report_copies = 10;
/// A direct report older than this says nothing about now.
constexpr auto report_max_age = 15s;
/// So a report is said again after that, though there is no news.
constexpr auto report_again = 5s;
/// So many connected peers all hear every change of our report at once; more
/// would make everybody's reports, which grow with the square of the peers, a
/// burden on household lines.
constexpr std::size_t few_peers = 8;
/// Beyond, everybody hears at most so often (times the connected peers beyond
/// those): in a large group each gets about twenty reports a second, and all
/// members still hear each other well within `report_max_age`.
constexpr auto report_pause_per_peer = 50ms;
constexpr auto longest_report_round = 6s;
/// The same of who still fetches the state: nobody waits for its samples.
constexpr auto newcomers_report_pause = 2s;
/// The trainers that lead now or next hear at once: so many.
constexpr std::size_t leaders_told_at_once = 3;
/// Whom this peer does not work with hears no more of it a second, and saved
/// up: with tiny batches each would make a report, and nobody reads so many of
/// a stranger (runtime/strangers).
constexpr double reports_to_strangers = 200;
constexpr double reports_to_strangers_at_once = 200;
/// Dials begun at one look.
constexpr std::size_t dials_at_once = 16;
/// How long the addresses given by the user are tried before the peer gives
/// up: covers a bootstrap that is started a moment later.
constexpr auto first_contact_patience = 10s;
/// One of them has been dialled so often by then. Those who refuse at once are
/// after seven seconds; when nothing comes back it takes the longest, since it
/// may be our own line that is down for a moment.
constexpr unsigned first_contact_dials = 5;
constexpr auto longest_first_contact = 60s;
/// Between two reports of a member to its contributors, when nothing happens
/// that they have to know at once.
constexpr auto cell_news_pause = 30s;
/// So a contributor believes members for longer than `report_max_age`; that one
/// is gone it hears from the session.
constexpr auto members_report_life = 60s;
/// The same of a contributor to the member that is not its sponsor.
constexpr auto other_member_news_pause = 60s;
/// Trainers dialled before the run's charter is known: enough to learn it.
constexpr std::size_t trainers_asked = 4;
/// Records that each node names to a look-up of somebody who needs a few
/// members only: whoever comes, and contributors. The five nodes closest to a
/// run's key answer everybody, and all records of 128 members are 40 kB.
constexpr std::uint32_t records_of_few = 16;
/// Since a report named the run's charter, a newcomer does not publish its own:
/// thousands of them at one key would crowd the members out. Below
/// `report_life`, so that it is known before it could found the run anew.
constexpr auto charter_news = 10s;
/// A contributor closes connections that it does not need when they are older
/// than this; a look-up has used them by then.
constexpr auto surplus_age = 5s;
/// Hubs that a peer stays connected with when nobody can dial it: one may end.
constexpr std::size_t hubs_kept = 2;
/// A look-up is waited for so long before the roster begins another; and where
/// others are there, the cell waits so long for the first.
constexpr auto look_up_patience = 3s;

} // namespace potluck::limits
