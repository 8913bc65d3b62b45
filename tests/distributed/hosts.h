#pragma once
// Network namespaces that act as hosts, each with its own address and its own end of a link whose bytes are counted.

#include <string>
#include <vector>

#include "support/command.h"
#include "support/skip.h"

namespace bertpretrain::testing {

/// Two hosts, 10.77.0.1 and 10.77.0.2, connected by one link, for the lifetime of this object.
class TwoHosts {
public:
    TwoHosts();
    TwoHosts(const TwoHosts&) = delete;
    TwoHosts& operator=(const TwoHosts&) = delete;
    ~TwoHosts();

    /// Whether this system allows network namespaces; else why_not() gives the reason.
    bool exist() const { return why_not_.empty(); }
    const std::string& why_not() const { return why_not_; }

    static std::string address(int host) { return host == 0 ? "10.77.0.1" : "10.77.0.2"; }
    /// Returns the command line that runs `command` on a host (0 or 1).
    std::string on(int host, const std::string& command) const;
    /// Returns the bytes that a host's interface has sent so far, including packet headers.
    double bytes_sent(int host) const;
    void cut() const;

private:
    std::string name_[2];
    std::string why_not_;
};

}  // namespace bertpretrain::testing

/// Skips the test where network namespaces are not permitted.
#define NEEDS_HOSTS(hosts) \
    if (!(hosts).exist()) SKIP_TEST(bertpretrain::testing::skip::no_hosts, (hosts).why_not())
