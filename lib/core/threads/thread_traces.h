#pragma once
// Stack traces of all threads of this process.

#include <string>

namespace bertpretrain {

/// Installs a SIGURG handler that records the receiving thread's stack. Call it once, before thread_traces().
void prepare_thread_traces();

/// Returns each thread's id, name and stack frames, innermost first: module, function (if exported; C++ names demangled) and
/// offset in the module (for addr2line). Marks a thread that does not answer within 0.3 s because it is blocked in the kernel.
/// After 10 s the remaining threads are listed without frames. Use it only before the process ends: the signal interrupts system
/// calls of all threads.
std::string thread_traces();

}  // namespace bertpretrain
