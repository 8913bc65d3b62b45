#pragma once
// Network namespaces as hosts: each with its own addresses and its own end of a link whose bytes are counted.

#include <string>
#include <vector>

#include "support/command.h"
#include "support/skip.h"

namespace bertpretrain::testing {

/// Two hosts joined by one link, 10.77.0.1 and 10.77.0.2, for as long as the object lives.
class TwoHosts {
public:
    TwoHosts();
    TwoHosts(const TwoHosts&) = delete;
    TwoHosts& operator=(const TwoHosts&) = delete;
    ~TwoHosts();

    /// Whether this system lets us have them; else why_not().
    bool exist() const { return why_not_.empty(); }
    const std::string& why_not() const { return why_not_; }

    static std::string address(int host) { return host == 0 ? "10.77.0.1" : "10.77.0.2"; }
    /// `command` as it is run on a host (0 or 1).
    std::string on(int host, const std::string& command) const;
    /// Bytes that a host's interface has sent so far, packet headers included.
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
