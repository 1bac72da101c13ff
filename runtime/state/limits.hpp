/// Downloads of the training state: how much, how many, how long.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace potluck::limits {

using namespace std::chrono_literals;

/// A contributor asks others for a mean when the one before it in the chain has
/// not listed it in this time since it was heard of.
constexpr auto chain_patience = 3s;
/// Bytes a piece of a state or a mean has at least: its head is a hundredth of
/// it.
constexpr std::uint32_t least_piece_bytes = 16u << 10;
/// And at most, if these are not too many: behind it a gradient waits for half
/// a second on a 1 Mbit/s line.
constexpr std::uint32_t usual_piece_bytes = 64u << 10;
/// On their way from a donor whose line nobody knows yet, and at least.
constexpr std::uint64_t least_bytes_in_flight = 2 * usual_piece_bytes;
/// With so many pieces there is no reason for smaller ones: the last in a chain
/// (runtime/ways/cells) of 16 waits a sixteenth longer than the first.
constexpr std::uint32_t pieces_passed_on = 256;
/// Donors that are asked for the list of a mean's pieces while somebody else
/// sends them: of thousands of contributors each, at the same time.
constexpr std::size_t lists_wanted = 3;
/// Pieces are larger where there would be more: their digests travel in one
/// frame, and a manifest's worth is checked for every mean.
constexpr std::uint32_t pieces_wanted = 8192;
/// Joiners that a donor serves at once. Others ask elsewhere or wait: a line
/// that is cut into more parts makes all of them slow.
constexpr std::size_t joiners_served = 4;
/// Those that only miss a mean, as all contributors do after every step, while
/// the means of all fit into `joiner_bytes_in_flight`.
constexpr std::size_t contributors_served = 1024;
/// Means that one may have at once as fast as the line goes, and peers of which
/// is remembered which mean they had so.
constexpr std::uint64_t means_granted = 4;
constexpr std::size_t grants_known = 4096;
/// Sent to one joiner and not yet there: the bandwidth-delay product of
/// 300 Mbit/s over 100 ms, and what a donor's send queue may hold for it.
constexpr std::uint64_t joiner_bytes_in_flight = 4u << 20;
/// The same through a hub: half a second at the rate of a circuit, so that a
/// letter to the joiner waits less than a second behind pieces.
constexpr std::uint64_t relayed_bytes_in_flight = 128u << 10;
/// And so many that are told only what a donor has, and get no pieces: what is
/// kept of each is small, but anybody can ask.
constexpr std::size_t listeners_served = 1024;
/// The part of a stated upload that joiners get; the rest is for training, to
/// which those belong who only miss a mean.
constexpr double joiners_upload_share = 0.5;
/// A joiner that says nothing for so long is served no more. It repeats its
/// request `joiner_sign_of_life` after the last.
constexpr auto joiner_silence = 30s;
constexpr auto joiner_sign_of_life = 10s;
/// Whose place brings it nothing for so long makes room for somebody else: a
/// piece of 64 KiB over a 64 kbit/s line takes that.
constexpr auto place_patience = 10s;
/// And who has had one for so long: 70 MB through a hub.
constexpr auto place_life = 300s;
/// Told to a joiner that is one too many.
constexpr auto busy_retry = 1s;
/// So long a peer that has trained waits for donors that are all busy, or say
/// so.
constexpr auto busy_patience = 30s;
/// Versions that a donor keeps for joiners that are still fetching them: three
/// times the model's size each.
constexpr std::size_t snapshots_kept = 2;
/// A joiner may ask for a version of so many steps ahead.
constexpr std::uint64_t steps_ahead = 1024;
/// Means kept when nobody is joining, for members that missed a verdict, and
/// the bytes that they may have. The last one is kept in any case, unless there
/// was nobody else.
constexpr std::size_t means_kept = 4;
constexpr std::uint64_t means_kept_bytes = std::uint64_t{16} << 20;
/// Means kept for joiners under way, in bytes and steps: a model of 12 million
/// parameters for 22 steps, one of 100,000 for 2,700; however large it is, one
/// more than `means_of_a_state`. Who needs older ones starts again at a newer
/// version.
constexpr std::uint64_t journal_bytes = std::uint64_t{1} << 30;
constexpr std::size_t journal_steps = 4096;
/// Means that a joiner holds before its state is complete. Beyond, it starts
/// again at a newer version: applying them would take longer than fetching it.
constexpr std::uint64_t joiner_mean_bytes = std::uint64_t{2} << 30;
constexpr std::size_t joiner_means = 4096;
/// Of these, such that a donor names and fewer than half of those that serve:
/// seconds of the shortest steps, by which other donors' lines may be slower.
constexpr std::size_t means_of_one_donor = 256;
/// Means that are as many bytes as the state itself: who missed no more steps
/// fetches these instead.
constexpr std::uint64_t means_of_a_state = 3;
/// A hub keeps the version that it has while somebody fetches it, until it is
/// so many steps old: what follows it is then four times the state.
constexpr std::uint64_t means_of_a_shelf = 4 * means_of_a_state;
/// What fewer than one in so many report a hub fetches for nobody.
constexpr std::size_t newcomers_a_member = 4;
/// Joiners that a hub serves at once: in flight are 128 MiB at most.
constexpr std::size_t shelf_joiners = 32;
/// Nobody fetches the version from a hub: so long it is kept for the next one,
/// which costs members as much as any joiner does.
constexpr auto shelf_patience = 30s;
/// Donors that a joiner uses at once: enough for a majority and for most lines.
constexpr std::size_t donors_at_once = 8;
/// Between two looks at a download, for deadlines of a second or more: answers
/// are looked at when they come.
constexpr auto fetch_interval = 200ms;
/// Floor and cap of a piece's deadline, around what was observed of its donor.
/// The floor lets a loaded machine stall a moment; at the cap even a 64 kbit/s
/// line has brought a piece.
constexpr auto piece_floor = 1s;
constexpr auto piece_cap = 10s;
/// For a donor's manifest, which costs it a copy of its state.
constexpr auto manifest_patience = 10s;
/// Without anybody that serves the version: then it is put aside and a newer
/// one is looked for.
constexpr auto donorless_patience = 5s;
/// A version put aside is asked for again within this time; later nobody has
/// it, and its memory is needed.
constexpr auto parked_life = 120s;
/// Whoever sent something wrong is not believed about the run's state either.
constexpr auto distrust = 60s;
/// Between two `state_progress` events.
constexpr auto fetch_report_interval = 5s;

} // namespace potluck::limits
