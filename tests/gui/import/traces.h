// Traces by hand for the tests of this room.
#pragma once

#include <fmt/format.h>

#include <string>

namespace gui::test {

inline std::string slice(const std::string& name, const std::string& times, const std::string& more = "") {
  return R"({"ph": "X", "cat": "cpu_op", "name": ")" + name + R"(", "pid": 7, "tid": 8, )" + times + more + "}";
}

inline std::string document(const std::string& events) {
  return R"({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}, "traceEvents": [)" + events +
         R"(], "traceName": "x"})";
}

// A thread with two nested calls, a GPU stream with a kernel and a collective, and what is not drawn.
inline std::string smallTrace() {
  return document(R"({"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "python"}},
 {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}},
 {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7"}},
)" + slice("outer", R"("ts": 1000.500, "dur": 10.250)", R"x(, "args": {"note": "a \"quoted\" {brace}", "n": 3})x") +
                  ",\n" + slice("inner", R"("ts": "1002", "dur": 3)") + R"(,
 {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1003, "dur": 5, "args": {}},
 {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 7, "ts": 1008, "dur": 2},
 {"ph": "s", "id": 1, "pid": 7, "tid": 8, "ts": 1002, "cat": "ac2g", "name": "ac2g"},
 {"ph": "B", "name": "span", "pid": 7, "tid": 9, "ts": 1001}, {"ph": "E", "pid": 7, "tid": 9, "ts": 1006})");
}

}  // namespace gui::test
