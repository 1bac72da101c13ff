#include "tools/potluck/commands.hpp"

#include <iostream>

namespace potluck::tools {

const std::vector<command>& commands() {
  static const std::vector<command> all = [] {
    std::vector<command> result{
        demo_command(),   bootstrap_command(), join_command(), expert_command(),
        export_command(), eval_command(),      sim_command(),  chaos_command(),
        plan_command(),   bench_command()};
    for (auto& c : result)
      for (auto& other : result)
        if (other.spec.name != c.spec.name)
          c.spec.siblings.push_back(other.spec.name);
    return result;
  }();
  return all;
}

int complain(const std::string& sentence, int status) {
  std::cerr << "potluck: " << sentence << std::endl;
  return status;
}

} // namespace potluck::tools
