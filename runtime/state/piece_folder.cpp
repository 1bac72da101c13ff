#include "runtime/state/piece_folder.hpp"

#include <filesystem>
#include <fstream>
#include <vector>

#include "messages/framing.hpp"

namespace potluck {

namespace fs = std::filesystem;

expected<std::shared_ptr<piece_folder>>
piece_folder::open(const std::string& path, std::uint64_t most) {
  std::error_code problem;
  fs::create_directories(path, problem);
  std::shared_ptr<piece_folder> result{new piece_folder{path, most}};
  std::vector<fs::path> strange;
  for (fs::directory_iterator i{path, problem}, end; !problem && i != end;
       i.increment(problem)) {
    const auto name = parse_id<digest>(i->path().filename().string());
    const auto size = i->is_regular_file(problem) ? i->file_size(problem) : 0;
    if (name && size > 0 && size <= max_body_bytes
        && result->bytes_ + size <= most)
      result->note(*name, size);
    else
      strange.push_back(i->path());
  }
  if (problem)
    return failure{"cannot keep pieces in " + path + ": " + problem.message()};
  for (auto& x : strange)
    fs::remove(x, problem);
  return result;
}

std::string piece_folder::place_of(const digest& name) const {
  return path_ + "/" + to_string(name);
}

void piece_folder::note(const digest& name, std::uint64_t size) {
  bytes_ += size;
  files_[name] = {size, used_.insert(used_.end(), name)};
}

void piece_folder::drop(const digest& name) {
  const auto gone = files_.extract(name);
  if (gone.empty())
    return;
  bytes_ -= gone.mapped().size;
  used_.erase(gone.mapped().turn);
  std::error_code ignored;
  fs::remove(place_of(name), ignored);
}

bool piece_folder::put(const digest& name, const shared_bytes& piece) {
  if (has(name))
    return true;
  if (piece.size > most_)
    return false;
  while (bytes_ + piece.size > most_)
    drop(digest{used_.front()});
  const auto beside = path_ + "/partial";
  std::ofstream out{beside, std::ios::binary | std::ios::trunc};
  out.write(reinterpret_cast<const char*>(piece.data),
            static_cast<std::streamsize>(piece.size));
  out.close();
  std::error_code problem;
  if (out)
    fs::rename(beside, place_of(name), problem);
  if (!out || problem) {
    fs::remove(beside, problem);
    return false;
  }
  note(name, piece.size);
  return true;
}

shared_bytes piece_folder::get(const digest& name) {
  const auto found = files_.find(name);
  if (found == files_.end())
    return {};
  auto bytes = std::make_shared<std::vector<std::uint8_t>>(found->second.size);
  std::ifstream in{place_of(name), std::ios::binary};
  in.read(reinterpret_cast<char*>(bytes->data()),
          static_cast<std::streamsize>(bytes->size()));
  if (!in || digest_of(bytes->data(), bytes->size()) != name) {
    drop(name);
    return {};
  }
  used_.splice(used_.end(), used_, found->second.turn);
  return {bytes, bytes->data(), bytes->size()};
}

} // namespace potluck
