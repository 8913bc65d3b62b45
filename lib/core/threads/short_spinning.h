#pragma once
// How long OpenMP's threads wait for work without giving up their core.

namespace bertpretrain {

/// Makes the threads of libgomp, which run libtorch's operations and its matmuls, sleep after some ten microseconds without work.
/// By default they spin for milliseconds, which takes the core from the thread that they wait for as soon as another process
/// needs one. libgomp reads GOMP_SPINCOUNT when it is loaded, so this replaces the process by itself with the variable set (about
/// 0.3 s). Does nothing where the variable or OMP_WAIT_POLICY is set, or where the process cannot be replaced. Call it before
/// there are threads or open files.
void shorten_spinning(char** argv);

}  // namespace bertpretrain
