#pragma once
// Where every thread of this process stands.

#include <string>

namespace bertpretrain {

/// Takes SIGURG (which nobody misses) for the question to a thread where it stands. Once, before thread_traces().
void prepare_thread_traces();

/// Of each thread its number, name and frames, innermost first: module, function (where exported; C++ names readable), address in
/// the module (for addr2line). A thread that does not answer within a moment, because it waits inside the kernel, is said to.
/// For the end of a process: the signal interrupts system calls of all threads.
std::string thread_traces();

}  // namespace bertpretrain
