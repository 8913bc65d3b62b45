#pragma once
// Groups of documents that are duplicates of each other, directly or through others (union-find).

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace bertpretrain {

/// Thread-safe. The clusters do not depend on the order in which pairs are united. Takes 4 bytes per document.
class Clusters {
public:
    explicit Clusters(std::size_t documents);

    void unite(std::uint32_t a, std::uint32_t b);
    /// Returns the first document of the cluster that holds `document`.
    std::uint32_t first_of(std::uint32_t document);
    bool are_united(std::uint32_t a, std::uint32_t b);

private:
    std::uint32_t find(std::uint32_t document);

    std::mutex guard_;
    std::vector<std::uint32_t> earlier_;  ///< a document of the same cluster that is not later
};

}  // namespace bertpretrain
