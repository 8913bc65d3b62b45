"""Deduplicates a JSONL file with datasketch, as its documentation shows: MinHashLSH with 22 bands of 8 rows, then the exact Jaccard
value of each candidate, as `bertpretrain_data deduplicate` computes it.

    deduplicate_datasketch.py IN.jsonl OUT.txt PAIRS.txt"""
import json
import re
import sys

from datasketch import MinHash, MinHashLSH

WORDS, THRESHOLD = 5, 0.8
words = re.compile(r"[^\W_]+")


def shingles(text):
    found = words.findall(text.lower())
    return {" ".join(found[i:i + WORDS]) for i in range(max(1, len(found) - WORDS + 1))}


def main():
    source, kept, pairs = sys.argv[1:]
    index = MinHashLSH(num_perm=176, params=(22, 8))
    sets = {}
    with open(source, encoding="utf-8") as lines, open(kept, "w", encoding="utf-8") as out, open(pairs, "w") as found:
        for number, line in enumerate(lines):
            text = json.loads(line)["text"]
            mine = shingles(text)
            signature = MinHash(num_perm=176)
            signature.update_batch([shingle.encode() for shingle in mine])
            similar = [other for other in index.query(signature)
                       if len(mine & sets[other]) >= THRESHOLD * len(mine | sets[other])]
            index.insert(number, signature)
            sets[number] = mine
            found.writelines(f"{other} {number}\n" for other in similar)
            if not similar:
                out.write(text + "\n\n")


if __name__ == "__main__":
    main()
