#include "tools/potluck/front.hpp"

namespace potluck::tools {

const std::vector<command>& commands() {
  static const std::vector<command> all{
      one_of_all(demo_command()),       one_of_all(create_command()),
      one_of_all(amend_command()),      one_of_all(bootstrap_command()),
      one_of_all(authority_command()),  one_of_all(delegate_command()),
      one_of_all(join_command()),       one_of_all(dht_command()),
      one_of_all(doctor_command()),     one_of_all(expert_command()),
      one_of_all(checkpoint_command()), one_of_all(import_command()),
      one_of_all(export_command()),     one_of_all(eval_command()),
      one_of_all(sim_command()),        one_of_all(chaos_command()),
      one_of_all(plan_command()),       one_of_all(bench_command())};
  return all;
}

} // namespace potluck::tools
