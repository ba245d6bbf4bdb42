// Work that takes long, beside an interpreter that stays alive: the work runs on a thread of its own, this one lets others run, hears Ctrl-C and tells
// of progress.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace python {

// Ends with what `work` returns. `glance` is called with the interpreter's lock every 50 ms; where it throws (Ctrl-C does), `stop` is set, the work ends soon, and
// the error goes on. `work` must not touch Python.
template <class Result>
Result wait_for(const std::function<Result()>& work, std::atomic<bool>& stop, const std::function<void()>& glance) {
  std::mutex mutex;
  std::condition_variable ended;
  std::optional<Result> result;
  std::exception_ptr failure, interruption;
  bool is_over = false;
  const nanobind::gil_scoped_release others_run;
  std::jthread thread([&] {
    try {
      result.emplace(work());
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    is_over = true;
    ended.notify_all();
  });
  for (std::unique_lock lock(mutex); !ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return is_over; });) {
    if (interruption) continue;
    lock.unlock();
    try {
      const nanobind::gil_scoped_acquire held;
      if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
      glance();
    } catch (...) {
      interruption = std::current_exception();
      stop = true;
    }
    lock.lock();
  }
  thread.join();
  if (interruption) std::rethrow_exception(interruption);
  if (failure) std::rethrow_exception(failure);
  return std::move(*result);
}

}  // namespace python
