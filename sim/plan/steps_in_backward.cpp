// Where weights may be stepped inside the backward: what nothing else of a step waits for, or adds to.
#include <fmt/format.h>

#include "sim/plan/rules.h"

namespace sim {

// A unit's gradients are gone before the next unit's are there: nothing may add to them, or ask for all of them.
void check_steps_in_backward(const ParallelPlan& plan, Rules& rules) {
  const auto needs = [&](bool holds, const std::string& problem, const char* remedy) {
    rules.must(!plan.optimizer_in_backward || holds, "/optimizer_in_backward", problem, remedy);
  };
  const DeviceMesh& mesh = plan.mesh;
  needs(plan.num_pieces() == 1,
        fmt::format("steps a unit behind its backward, and {} backwards of a step add to its gradients", plan.num_pieces()),
        "use one microbatch a step (a larger microbatch, a smaller batch), or leave it out");
  needs(plan.training.gradient_clip == 0,
        fmt::format("steps a unit when its own gradients are there, and clipping to {} needs the norm of all", plan.training.gradient_clip),
        "use gradient_clip=0, or leave it out");
  needs(plan.workload.precision.compute() != Precision::Fp16,
        "steps a unit when its own gradients are there, and in fp16 an infinity in another one would have to stop it",
        "use bf16, or leave it out");
  needs(plan.zero_stage == 0 || plan.zero_stage == 3,
        fmt::format("is lowered where a rank steps all that it has of a unit; stage {} gathers what others have stepped", plan.zero_stage),
        "use zero=0 or 3");
  needs(mesh.pipeline == 1 && plan.chunks == 1 && mesh.tensor == 1 && mesh.expert == 1 && !mesh.cuts_experts_apart(),
        "is lowered for data and context ranks alone", "use degree 1 of the others");
  needs(!plan.splits_backward(), "is lowered where a backward makes the gradients of weights with those of inputs", "use schedule=1f1b");
  needs(!plan.offload_optimizer, "is not lowered for an optimizer on the host", "leave offload_optimizer out");
  needs(!plan.crosses_steps(), "steps before a step ends, and here its end is put off into the next one", "leave one of both out");
  needs(!plan.workload.precision.gradient_codec(), "is not lowered beside codecs of gradients", "leave one of both out");
  needs(plan.workload.precision.scales() != ScaleRecipe::Delayed, "leaves no moment at which delayed scales are agreed on",
        "use fp8:tensorwise, or leave it out");
  needs(plan.persistence_threshold == 0, "is not lowered for small parameters that stay whole, whose owners send what they have stepped",
        "use persistence_threshold=0");
  needs(mesh.reshard == 1, fmt::format("is not lowered where {} neighbours keep weights that are stepped", mesh.reshard),
        "use reshard_ranks=1");
}

}  // namespace sim
