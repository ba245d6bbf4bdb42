#include "sim/calibration/fitted_constants.h"

namespace sim {
namespace {

using Stack = SoftwareStack;
constexpr FittedConstant<Stack> kOfStacks[kStackConstants] = {
    {"matrix_share", "", 0.75, 1.1, [](const Stack& s) { return s.matrix_share; }, [](Stack& s, double x) { s.matrix_share = x; }, false,
     true},
    {"network_share", "", 0.4, 1.2, [](const Stack& s) { return s.network_share; }, [](Stack& s, double x) { s.network_share = x; }, false,
     true},
    {"overlap_slowdown", "", 0, 0.6, [](const Stack& s) { return s.overlap_slowdown; }, [](Stack& s, double x) { s.overlap_slowdown = x; },
     true},
    {"host_per_kernel", "us", 2e-6, 14e-6, [](const Stack& s) { return s.host_per_kernel.count(); },
     [](Stack& s, double x) { s.host_per_kernel = Seconds(x); }},
    {"pipeline_sync", "ms", 0, 1e-3, [](const Stack& s) { return s.pipeline_sync.count(); },
     [](Stack& s, double x) { s.pipeline_sync = Seconds(x); }},
    {"step_overhead", "ms", 0, 60e-3, [](const Stack& s) { return s.step_overhead.count(); },
     [](Stack& s, double x) { s.step_overhead = Seconds(x); }},
    {"host_per_module", "us", 0, 5e-3, [](const Stack& s) { return s.host_per_module.count(); },
     [](Stack& s, double x) { s.host_per_module = Seconds(x); }, true, false, false},
    {"host_per_experts", "ms", 0, 20e-3, [](const Stack& s) { return s.host_per_experts.count(); },
     [](Stack& s, double x) { s.host_per_experts = Seconds(x); }, true, false, false},
};

using Traits = KernelTraits;
constexpr FittedConstant<Traits> kOfParts[kPartConstants] = {
    {"matrix_share", "", 0.5, 0.95, [](const Traits& p) { return p.matrix_share; }, [](Traits& p, double x) { p.matrix_share = x; }, false,
     true},
    {"fp8_share", "", 0.35, 0.8, [](const Traits& p) { return p.fp8_share; }, [](Traits& p, double x) { p.fp8_share = x; }, false, true},
    {"single_share", "", 0.6, 1.1, [](const Traits& p) { return p.single_share; }, [](Traits& p, double x) { p.single_share = x; }, false,
     true},
    {"convolution_share", "", 0.5, 1.1, [](const Traits& p) { return p.convolution_share; },
     [](Traits& p, double x) { p.convolution_share = x; }, false, true},
    {"network_share", "", 0.5, 1.0, [](const Traits& p) { return p.network_share; }, [](Traits& p, double x) { p.network_share = x; },
     false, true},
};

}  // namespace

std::span<const FittedConstant<SoftwareStack>> stack_constants() { return kOfStacks; }
std::span<const FittedConstant<KernelTraits>> part_constants() { return kOfParts; }

}  // namespace sim
