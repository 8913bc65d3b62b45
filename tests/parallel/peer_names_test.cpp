#include "parallel/peer_names.h"

#include "parallel/listening_socket.h"
#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("a message that names a socket is about the rank that has it") {
    const PeerNames peers({"host-a\n10.0.0.1 500 501", "host-b\n10.0.0.2 500 7\n127.0.0.1 30", "host-b\n10.0.0.2 71"});
    CHECK(peers.find("[/gloo/pair.cc:547] Connection closed by peer [10.0.0.2]:7") == "rank 1 on host-b");
    CHECK(peers.find("Read error [::ffff:10.0.0.2]:71: Connection reset by peer") == "rank 2 on host-b");
    CHECK(peers.find("Read error [10.0.0.1]:500: reset") == "rank 0 on host-a");
    CHECK(peers.name(2) == "rank 2 on host-b");
}

TEST_CASE("a message without a known socket, or with one of several ranks, names no rank") {
    const PeerNames peers({"host-a\n127.0.0.1 500", "host-b\n127.0.0.1 500"});
    for (const char* message :
         {"Timed out waiting 1000ms", "[10.0.0.9]:500 closed", "[127.0.0.1]:500 closed", "[127.0.0.1]:", "]:5", ""})
        CHECK(peers.find(message).empty());
}

TEST_CASE("a rank lists its own sockets") {
    const ListeningSocket socket("127.0.0.1", 0, false);
    CHECK(own_sockets().find("\n127.0.0.1 ") != std::string::npos);
}
