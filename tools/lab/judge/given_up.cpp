#include "tools/lab/judge/given_up.hpp"

namespace potluck {

namespace {

using what = life_history::what;

/// By `lives[who]` at its entry `i`, an island. `lost`: what others gave up.
std::vector<held_step> before_island(const std::vector<life_history>& lives,
                                     std::size_t who, std::size_t i,
                                     const std::set<held_step>& lost) {
  const auto& life = lives[who];
  std::set<held_step> shared;
  for (std::size_t other = 0; other < lives.size(); ++other)
    if (other != who && lives[other].ids.count(life.entries[i].donor) > 0)
      for (const auto& x : lives[other].entries)
        if (x.kind == what::step && lost.count(x.held) == 0)
          shared.insert(x.held);
  std::vector<held_step> result;
  while (i-- > 0) {
    const auto& x = life.entries[i];
    if (x.kind != what::step)
      continue;
    if (shared.count(x.held) > 0)
      break;
    result.push_back(x.held);
  }
  return result;
}

/// Taken alone, and replaced by a download at the entry `i`.
std::vector<held_step> before_download(const life_history& life,
                                       std::size_t i) {
  std::vector<held_step> result;
  while (i-- > 0 && life.entries[i].kind != what::download) {
    const auto& x = life.entries[i];
    if (x.kind == what::step && !x.alone)
      break;
    if (x.kind == what::step)
      result.push_back(x.held);
  }
  return result;
}

} // namespace

void life_history::note(const event& x) {
  held_step held{count_of(x, "step"), text_of(x, "digest")};
  if (x.name == "step")
    entries.push_back({what::step, held, count_of(x, "peers") == 1, {}});
  else if (x.name == "island")
    entries.push_back({what::island, {}, false, text_of(x, "donor")});
  else if (x.name == "state_download")
    entries.push_back({what::download, held, false, {}});
  else if (x.name == "finished")
    entries.push_back({what::finish, held, false, {}});
  else if (x.name == "listening")
    ids.insert(text_of(x, "peer"));
}

std::set<held_step> given_up(const std::vector<life_history>& lives) {
  std::set<held_step> lost;
  // A peer that gives steps up for those of another, which had held the same
  // ones and gave them up before, is found once that is known.
  for (std::size_t known = 1; known != lost.size();) {
    known = lost.size();
    for (std::size_t who = 0; who < lives.size(); ++who)
      for (std::size_t i = 0; i < lives[who].entries.size(); ++i) {
        std::vector<held_step> found;
        if (lives[who].entries[i].kind == what::island)
          found = before_island(lives, who, i, lost);
        else if (lives[who].entries[i].kind == what::download)
          found = before_download(lives[who], i);
        lost.insert(found.begin(), found.end());
      }
  }
  return lost;
}

} // namespace potluck
