"""The peer of text_to_h5.py: create_pretraining_data.py's semantics in plain Python, with Hugging Face's tokenizers for the text and
h5py for the file. It tokenizes in batches (one call of the Rust library per article), and otherwise uses lists, as the published
scripts do, with numpy only for the final arrays.

    python_text_to_h5.py TEXT VOCABULARY OUTPUT [SEQUENCE_LENGTH MAX_PREDICTIONS DUPLICATE_FACTOR]
"""
import os
import random
import sys

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import h5py
import numpy
import tokenizers

SHORT_SEQUENCE_PROBABILITY, MASKED_LM_PROBABILITY, SEED = 0.1, 0.15, 12345


def read_documents(text, tokenizer):
    """Returns token ids: a list of sentences per article."""
    documents, sentences = [], []

    def close():
        if sentences:
            encodings = tokenizer.encode_batch_fast(sentences, add_special_tokens=False)
            document = [ids for ids in (encoding.ids for encoding in encodings) if ids]
            if document:
                documents.append(document)
            sentences.clear()

    with open(text, encoding="utf-8") as lines:
        for line in lines:
            line = line.strip()
            if line:
                sentences.append(line)
            else:
                close()
    close()
    return documents


def truncate(a, b, most, rng):
    while len(a) + len(b) > most:
        longer = a if len(a) > len(b) else b
        if rng.random() < 0.5:
            del longer[0]
        else:
            longer.pop()


def pairs_of(documents, index, sequence_length, rng):
    """Yields (a, b, is_random_next)."""
    document = documents[index]
    most = sequence_length - 3
    target = rng.randint(2, most) if rng.random() < SHORT_SEQUENCE_PROBABILITY else most
    collected, length, i = [], 0, 0
    while i < len(document):
        collected.append(document[i])
        length += len(document[i])
        if i == len(document) - 1 or length >= target:
            a_end = rng.randint(1, len(collected) - 1) if len(collected) >= 2 else 1
            a = [token for sentence in collected[:a_end] for token in sentence]
            b, is_random_next = [], len(collected) == 1 or rng.random() < 0.5
            if is_random_next:
                for _ in range(10):
                    other = rng.randint(0, len(documents) - 1)
                    if other != index:
                        break
                is_random_next = other != index
                for sentence in documents[other][rng.randint(0, len(documents[other]) - 1):]:
                    b.extend(sentence)
                    if len(b) >= target - len(a):
                        break
                i -= len(collected) - a_end
            else:
                for sentence in collected[a_end:]:
                    b.extend(sentence)
            truncate(a, b, most, rng)
            yield a, b, is_random_next
            collected, length = [], 0
        i += 1


def mask(tokens, special, vocabulary_size, max_predictions, rng):
    """Masks `tokens` in place; returns [(position, label), ...]."""
    cls, sep, mask_id = special
    candidates = [i for i, token in enumerate(tokens) if token != cls and token != sep]
    rng.shuffle(candidates)
    wanted = min(max_predictions, max(1, round(len(tokens) * MASKED_LM_PROBABILITY)))
    masked = []
    for position in candidates[:wanted]:
        masked.append((position, tokens[position]))
        if rng.random() < 0.8:
            tokens[position] = mask_id
        elif rng.random() >= 0.5:
            tokens[position] = rng.randint(0, vocabulary_size - 1)
    return sorted(masked)


def write(output, samples, sequence_length, max_predictions):
    rows = len(samples)
    arrays = {"input_ids": numpy.zeros((rows, sequence_length), "int32"), "input_mask": numpy.zeros((rows, sequence_length), "int8"),
              "segment_ids": numpy.zeros((rows, sequence_length), "int8"),
              "masked_lm_positions": numpy.zeros((rows, max_predictions), "int32"),
              "masked_lm_ids": numpy.zeros((rows, max_predictions), "int32"),
              "next_sentence_labels": numpy.zeros(rows, "int8")}
    for row, (tokens, first_segment, masked, is_random_next) in enumerate(samples):
        arrays["input_ids"][row, :len(tokens)] = tokens
        arrays["input_mask"][row, :len(tokens)] = 1
        arrays["segment_ids"][row, first_segment:len(tokens)] = 1
        arrays["masked_lm_positions"][row, :len(masked)] = [position for position, _ in masked]
        arrays["masked_lm_ids"][row, :len(masked)] = [label for _, label in masked]
        arrays["next_sentence_labels"][row] = is_random_next
    with h5py.File(output, "w") as file:
        for name, values in arrays.items():
            file.create_dataset(name, data=values, compression="gzip")


def main(text, vocabulary, output, sequence_length=128, max_predictions=20, duplicate_factor=5):
    sequence_length, max_predictions, duplicate_factor = int(sequence_length), int(max_predictions), int(duplicate_factor)
    tokenizer = tokenizers.BertWordPieceTokenizer(vocabulary, lowercase=True)._tokenizer
    special = [tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]", "[MASK]")]
    cls, sep, _ = special
    rng = random.Random(SEED)
    documents = read_documents(text, tokenizer)
    rng.shuffle(documents)
    samples = []
    for _ in range(duplicate_factor):
        for index in range(len(documents)):
            for a, b, is_random_next in pairs_of(documents, index, sequence_length, rng):
                tokens = [cls, *a, sep, *b, sep]
                masked = mask(tokens, special, tokenizer.get_vocab_size(), max_predictions, rng)
                samples.append((tokens, len(a) + 2, masked, is_random_next))
    rng.shuffle(samples)
    write(output, samples, sequence_length, max_predictions)


if __name__ == "__main__":
    main(*sys.argv[1:])
