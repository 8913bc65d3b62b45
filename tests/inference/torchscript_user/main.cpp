// Uses an exported model from C++ with only torch. Reads token ids from standard input, one text per line; writes pooled vectors
// to standard output.
#include <torch/script.h>

#include <iostream>
#include <sstream>

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    torch::jit::Module bert = torch::jit::load(argv[1]);
    std::vector<torch::Tensor> texts, masks;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream numbers(line);
        std::vector<int64_t> ids;
        for (int64_t id = 0; numbers >> id;) ids.push_back(id);
        texts.push_back(torch::tensor(ids, torch::kLong));
        masks.push_back(torch::ones_like(texts.back()));
    }
    const torch::Tensor input_ids = torch::pad_sequence(texts, true);
    const torch::Tensor attention_mask = torch::pad_sequence(masks, true);
    const auto outputs = bert.forward({input_ids, attention_mask}).toTuple();
    const torch::Tensor pooled = outputs->elements()[1].toTensor();
    for (int64_t b = 0; b < pooled.size(0); ++b)
        for (int64_t i = 0; i < pooled.size(1); ++i)
            std::cout << pooled[b][i].item<float>() << (i + 1 < pooled.size(1) ? ' ' : '\n');
}
