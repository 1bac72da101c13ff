#include "runtime/artifacts/own_artifacts.hpp"

#include "runtime/manifest/run_key.hpp"

namespace potluck {

namespace {

failure of(const std::string& name, const std::string& file,
           const std::string& problem) {
  return failure{"artifact " + name + "=" + file + ": " + problem};
}

} // namespace

expected<bool> add_own_artifact(own_artifacts& to, const std::string& text) {
  const auto middle = text.find('=');
  if (middle == std::string::npos)
    return failure{"'" + text
                   + "' is no artifact; write NAME=FILE, for instance "
                     "model=model.pt"};
  const auto name = text.substr(0, middle);
  auto file = text.substr(middle + 1);
  if (auto read = artifact_folder::describe(name, file); !read)
    return of(name, file, read.error());
  if (!to.emplace(name, std::move(file)).second)
    return failure{"artifact " + name + " is there twice"};
  if (to.size() > max_artifacts)
    return failure{"a run has at most " + std::to_string(max_artifacts)
                   + " artifacts"};
  return true;
}

expected<charter> with_own_artifacts(const charter& draft,
                                     const own_artifacts& files,
                                     const artifact_folder& folder) {
  std::map<std::string, artifact> all;
  for (const auto& x : artifacts_of(draft))
    if (files.count(x.name) == 0) {
      if (auto here = folder.find(draft, x.name); !here)
        return failure{here.error()};
      all[x.name] = x;
    }
  for (const auto& [name, file] : files) {
    auto taken = folder.take(name, file);
    if (!taken)
      return of(name, file, taken.error());
    all[name] = std::move(*taken);
  }
  artifact_list list;
  for (auto& [name, x] : all)
    list.push_back(std::move(x));
  if (auto sound = read_artifacts_text(to_artifacts_text(list)); !sound)
    return failure{sound.error()};
  return with_artifacts(draft, list);
}

expected<bool> take_own_artifacts(const charter& agreed,
                                  const own_artifacts& files,
                                  const artifact_folder& folder) {
  const auto run = "run '" + shown_run(agreed.settings().run) + "'";
  for (const auto& [name, file] : files) {
    const auto wanted = artifact_of(agreed, name);
    if (!wanted)
      return of(name, file,
                run + " has no artifact of that name; leave it out");
    const auto here = artifact_folder::describe(name, file);
    if (!here)
      return of(name, file, here.error());
    if (here->content != wanted->content)
      return of(name, file,
                "it has the SHA-256 " + to_string(here->content)
                    + " and that of " + run + " " + to_string(wanted->content)
                    + "; leave it out, and others are asked for it");
    if (auto taken = folder.take(name, file); !taken)
      return of(name, file, taken.error());
  }
  return true;
}

} // namespace potluck
