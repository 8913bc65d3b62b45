// Reads a whole shard: time_shard_reader FILE THREADS. Prints the seconds from opening it until all rows are in memory.

#include <chrono>
#include <cstdlib>
#include <iostream>

#include "core/output/guard.h"
#include "shards/shard_reader.h"

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    return bertpretrain::run_guarded([&] {
        const auto begin = std::chrono::steady_clock::now();
        const bertpretrain::ShardReader reader(argv[1]);
        const bertpretrain::ShardRows rows = reader.read(0, reader.rows(), std::strtoul(argv[2], nullptr, 10));
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        std::cout << taken.count() << "\n";
        return rows.input_ids_RS.empty() ? 1 : 0;
    });
}
