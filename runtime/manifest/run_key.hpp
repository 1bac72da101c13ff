/// Which run is meant, as one word: what peers compare when they meet, what the
/// DHT's keys and requests for the charter are made of.
///
/// In a trial it is the run's name, which anybody may give to another run.
/// Where an organiser created the run it is NAME@ID, with the id of the
/// manifest in 64 hex digits, so that two runs of one name are two. Pure.
#pragma once

#include <string>

#include "messages/ids.hpp"

namespace potluck {

/// The SHA-256 of a manifest's head: see `manifest`.
using run_id = identifier<struct run_id_tag, 32>;

/// Bytes of a name that an organiser gives.
constexpr std::size_t max_run_name = 64;
/// Bytes of a key.
constexpr std::size_t max_run_key = max_run_name + 1 + 2 * run_id::size;

/// Why an organiser may not call a run so, for a person; empty: it may. A name
/// is 1 to 64 letters, digits, dots, dashes and underscores of ASCII, of which
/// the first is a letter or digit: it becomes a file's name, and nothing in it
/// looks like something else.
std::string problem_with_run_name(const std::string& name);

std::string run_key(const std::string& name, const run_id& id);

/// The id within a key; empty when it is that of a trial.
run_id id_in(const std::string& key);
/// The name within a key.
std::string name_in(const std::string& key);

/// For a person: "poems", or "poems (3f2a91c0)".
std::string shown_run(const std::string& key);
/// For the names of files about this run: "poems", or "poems-3f2a91c05be80d17".
std::string run_file_name(const std::string& key);

} // namespace potluck
