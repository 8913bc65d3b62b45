"""Made-up inputs for models whose own data is not at hand: texts with one [MASK], and shards of samples."""

import random
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from h5_file import write_h5

# A human antibody's heavy chain (germline IGHV3-23), and the beginning of a light chain (IGKV1-39).
CHAINS = ("EVQLLESGGGLVQPGGSLRLSCAASGFTFSSYAMSWVRQAPGKGLEWVSAISGSGGSTYYADSVKGRFTISRDNSKNTLYLQMNSLRAEDTAVYYCAK",
          "DIQMTQSPSSLSASVGDRVTITCRASQSISSYLNWYQQKPGKAPKLLIYAASSLQSGVPSRFSGSGSGTDFTLTISSLQPEDFATYYCQQSYSTP")
REACTIONS = ("C C ( = O ) O . O C C", "c 1 c c c c c 1 Br . O B ( O ) c 1 c c c c c 1", "C N . Cl C ( = O ) c 1 c c c c c 1")
CHOICES = {"antiberty": [" ".join(chain) for chain in CHAINS], "rxnfp": REACTIONS}


def masked_texts(model, count):
    """Returns [(text with one [MASK], the word that it replaces)]: a sequence with one word in ten replaced by another."""
    chance = random.Random(f"{model} 1")
    words_of_all = sorted({word for text in CHOICES[model] for word in text.split()})
    texts = []
    for number in range(count):
        words = [chance.choice(words_of_all) if chance.random() < 0.1 else word for word in CHOICES[model][number % len(CHOICES[model])].split()]
        place = chance.randrange(len(words))
        texts.append((" ".join(words[:place] + ["[MASK]"] + words[place + 1:]), words[place]))
    return texts


class Chain:
    """Random sequences in which each token is followed by one of three: a model can learn them."""

    def __init__(self, tokens, seed):
        self.chance = random.Random(seed)
        self.next = {token: self.chance.sample(tokens, 3) for token in tokens}
        self.tokens = tokens

    def sequence(self, length, start=None):
        token = start if start is not None else self.chance.choice(self.tokens)
        result = []
        for _ in range(length):
            result.append(token)
            token = self.chance.choices(self.next[token], weights=(8, 1, 1))[0]
        return result, token


def write_shard(file, rows, chain, special, length=64, most_masked=8):
    """Writes samples of two segments, the second of which goes on after the first or is another sequence.
    `special` is {"[CLS]": id, "[SEP]": id, "[MASK]": id}."""
    chance = chain.chance
    names = ("input_ids", "input_mask", "segment_ids", "masked_lm_positions", "masked_lm_ids", "next_sentence_labels")
    columns = {name: [] for name in names}
    for _ in range(rows):
        first_length = chance.randrange(8, length - 3 - 8)
        first, after = chain.sequence(first_length)
        is_random = chance.random() < 0.5
        second_length = chance.randrange(8, length - 3 - first_length + 1)
        second, _ = chain.sequence(second_length, None if is_random else after)
        ids = [special["[CLS]"]] + first + [special["[SEP]"]] + second + [special["[SEP]"]]
        own = [i for i in range(1, len(ids) - 1) if i != first_length + 1]
        masked = sorted(chance.sample(own, min(most_masked, max(1, len(own) // 7))))
        labels = [ids[i] for i in masked]
        for i in masked:
            ids[i] = special["[MASK]"] if chance.random() < 0.8 else chance.choice(chain.tokens)
        padding, unused = length - len(ids), most_masked - len(masked)
        columns["input_ids"].append(ids + [0] * padding)
        columns["input_mask"].append([1] * len(ids) + [0] * padding)
        columns["segment_ids"].append([0] * (first_length + 2) + [1] * (second_length + 1) + [0] * padding)
        columns["masked_lm_positions"].append(masked + [0] * unused)
        columns["masked_lm_ids"].append(labels + [0] * unused)
        columns["next_sentence_labels"].append(int(is_random))
    kinds = {"input_ids": "i", "masked_lm_positions": "i", "masked_lm_ids": "i"}
    write_h5(file, {name: (kinds.get(name, "b"), values) for name, values in columns.items()})


def special_ids(vocabulary):
    tokens = vocabulary.read_text(encoding="utf-8").split("\n")
    return {token: tokens.index(token) for token in ("[CLS]", "[SEP]", "[MASK]")}
