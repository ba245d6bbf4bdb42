#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda_runtime.h"

// Bounds of the section that __shared__ names; the linker makes them. Weak: a program whose kernels share nothing has none.
extern "C" __attribute__((weak)) unsigned char __start_emulated_shared[], __stop_emulated_shared[];

namespace emulation {
namespace {

constexpr std::size_t kStackBytes = std::size_t{64} << 10;

enum class State { Ready, AtBlockBarrier, AtWarpBarrier, Done };

// Made once and used by block after block: only its very first start goes through ucontext, which calls the kernel at every switch.
struct Fiber {
  ucontext_t start;
  jmp_buf registers;
  std::unique_ptr<unsigned char[]> stack{new unsigned char[kStackBytes]};
  bool is_started = false;
  State state = State::Ready;
  unsigned lanes = 0;       // named at the warp barrier
  std::uint64_t given = 0;  // to a shuffle
};

enum class Order { Forward, Backward, Mixed };
Order order_of_threads() {
  const char* wanted = std::getenv("EMULATED_ORDER");
  return wanted == nullptr || wanted[0] == 'f' ? Order::Forward : wanted[0] == 'b' ? Order::Backward : Order::Mixed;
}

const Order order = order_of_threads();
std::vector<Fiber> fibers;
std::vector<unsigned> warp_turns, lane_turns;
unsigned threads = 0, current = 0;
jmp_buf scheduler;
const std::function<void()>* body = nullptr;

void yield(State state) {
  Fiber& fiber = fibers[current];
  fiber.state = state;
  if (_setjmp(fiber.registers) == 0) _longjmp(scheduler, 1);
}

void run_threads() {
  for (;;) {
    (*body)();
    yield(State::Done);
  }
}

void resume(Fiber& fiber) {
  if (_setjmp(scheduler) != 0) return;
  if (fiber.is_started) _longjmp(fiber.registers, 1);
  fiber.is_started = true;
  getcontext(&fiber.start);
  fiber.start.uc_stack = {.ss_sp = fiber.stack.get(), .ss_flags = 0, .ss_size = kStackBytes};
  makecontext(&fiber.start, run_threads, 0);
  setcontext(&fiber.start);
}

std::vector<unsigned> turns_of(unsigned count) {
  std::vector<unsigned> result(count);
  std::iota(result.begin(), result.end(), 0U);
  if (order == Order::Backward) std::reverse(result.begin(), result.end());
  if (order == Order::Mixed)
    std::sort(result.begin(), result.end(), [](unsigned a, unsigned b) { return a * 40503U % 65521U < b * 40503U % 65521U; });
  return result;
}

bool all(State state) {
  return std::all_of(fibers.begin(), fibers.begin() + threads,
                     [&](const Fiber& fiber) { return fiber.state == state || fiber.state == State::Done; });
}

// Lets go the lanes that `lane` waits with, if all of them are there and name the same.
bool release_lanes(unsigned warp, unsigned lane) {
  const unsigned first = warp * warpSize, lanes = fibers[first + lane].lanes;
  for (unsigned i = 0; i < warpSize; ++i) {
    if ((lanes >> i & 1U) == 0) continue;
    if (first + i >= threads || fibers[first + i].state != State::AtWarpBarrier || fibers[first + i].lanes != lanes) return false;
  }
  for (unsigned i = 0; i < warpSize; ++i)
    if ((lanes >> i & 1U) != 0) fibers[first + i].state = State::Ready;
  return true;
}

bool release_warp(unsigned warp) {
  bool released = false;
  for (unsigned lane = 0; lane < warpSize && warp * warpSize + lane < threads; ++lane)
    if (fibers[warp * warpSize + lane].state == State::AtWarpBarrier && release_lanes(warp, lane)) released = true;
  return released;
}

void release_block() {
  if (!all(State::AtBlockBarrier)) {
    fibers.clear();  // they stand amid a kernel
    throw std::logic_error("threads of block " + std::to_string(blockIdx.x) + " wait for each other: not all reach the same barrier");
  }
  for (unsigned i = 0; i < threads; ++i)
    if (fibers[i].state == State::AtBlockBarrier) fibers[i].state = State::Ready;
}

// As far as it comes without the other warps.
void run_warp(unsigned warp) {
  do {
    for (const unsigned lane : lane_turns) {
      const unsigned i = warp * warpSize + lane;
      if (i >= threads || fibers[i].state != State::Ready) continue;
      current = i;
      threadIdx = {.x = i, .y = 0, .z = 0};
      resume(fibers[i]);
    }
  } while (release_warp(warp));
}

void run_block() {
  if (__start_emulated_shared != nullptr) std::fill(__start_emulated_shared, __stop_emulated_shared, static_cast<unsigned char>(0xff));
  for (unsigned i = 0; i < threads; ++i) fibers[i].state = State::Ready;
  for (;;) {
    for (const unsigned warp : warp_turns) run_warp(warp);
    if (all(State::Done)) return;
    release_block();
  }
}

}  // namespace

void wait_for_block() { yield(State::AtBlockBarrier); }

void wait_for_warp(unsigned lanes) {
  fibers[current].lanes = lanes;
  yield(State::AtWarpBarrier);
}

std::uint64_t exchange(unsigned lanes, std::uint64_t mine, unsigned source) {
  fibers[current].given = mine;
  wait_for_warp(lanes);
  const std::uint64_t result = fibers[current / warpSize * warpSize + source].given;
  wait_for_warp(lanes);
  return result;
}

void run_grid(dim3 grid, dim3 block, const std::function<void()>& thread) {
  threads = block.x;
  warp_turns = turns_of((threads + warpSize - 1) / warpSize);
  lane_turns = turns_of(warpSize);
  if (fibers.size() < threads) fibers.resize(threads);
  body = &thread;
  gridDim = grid;
  blockDim = block;
  for (unsigned i = 0; i < grid.x; ++i) {
    blockIdx = {.x = i, .y = 0, .z = 0};
    run_block();
  }
}

}  // namespace emulation

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
