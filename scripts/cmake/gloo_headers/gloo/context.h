#pragma once
// The torch wheel ships c10d's ProcessGroupGloo.hpp and the library behind it, but not Gloo's own headers, which that file
// includes. These declare what it names and no more; objects of these types are only ever made inside the library.

#include <chrono>
#include <memory>

namespace gloo {

namespace transport {
class Device;
class UnboundBuffer;
}  // namespace transport

class Context {
public:
    void setTimeout(std::chrono::milliseconds timeout);
};

}  // namespace gloo
