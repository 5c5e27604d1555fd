#!/usr/bin/env python3
"""WordNet 3.0 as a graph that `vicinity import` reads.

    deploy/wordnet.py OUTPUT_DIR [--wordnet DIR]

DIR holds data.{noun,verb,adj,adv}, as Debian's package wordnet-base installs them
(/usr/share/wordnet). OUTPUT_DIR receives wordnet.textproto, the description, and next to it:

    synsets.tsv     id and label of each synset; the order of the rows of features.npy
    features.npy    float32 [synsets, 256]
    edges/*.tsv     source and target id, one file for each relation
    train.txt, validation.txt, test.txt   ids

Nodes: one node type, `synset`. The part of speech is no node type: the classes (lexicographer
files) are each of one part of speech, so types would hand the model a part of the answer; and
all synsets have the same features and share one set of classes.
Ids: part of speech and byte offset, as n00001740. Satellite adjectives count as adjectives,
since they share a file and its offsets.
Edges: WordNet's pointers, each symbol a relation of its own. Semantic pointers (between synsets)
and lexical ones (between words of theirs) count alike, one edge a pointer. Every edge can also be
followed backwards, so that a synset hears from those that point at it: WordNet itself states most
pointers both ways (hypernym and hyponym, or similar_to twice); the few reverses that it leaves out
are added, to the relation itself where it is symmetric, else as rev_<relation>. The import's
add_reverse, which knows nothing of this, would store most edges twice.
Features: the words of lemmas and gloss, lower case, runs of letters and digits; each adds +1 or -1
at a place of 256 and the row is scaled to length 1. Place and sign come from the word's BLAKE2b
hash, so they are the same on every machine and in every run.
Label: the lexicographer file, 0 to 44. Split: 60 % train, 20 % validation, 20 % test by the
BLAKE2b hash of the id.

The standard library alone, and no part of the product: this turns one foreign text format into
files of the documented kinds, as a user would for a graph of their own.
"""

import argparse
import array
import collections
import hashlib
import math
import os
import re
import sys

DIMENSIONS = 256
NUM_CLASSES = 45

FILES = (("n", "data.noun"), ("v", "data.verb"), ("a", "data.adj"), ("r", "data.adv"))

# wninput(5WN), with names in place of symbols.
RELATIONS = {
    "!": "antonym",
    "@": "hypernym",
    "@i": "instance_hypernym",
    "~": "hyponym",
    "~i": "instance_hyponym",
    "#m": "member_holonym",
    "#s": "substance_holonym",
    "#p": "part_holonym",
    "%m": "member_meronym",
    "%s": "substance_meronym",
    "%p": "part_meronym",
    "=": "attribute",
    "+": "derivation",
    "*": "entailment",
    ">": "cause",
    "^": "also_see",
    "$": "verb_group",
    "&": "similar_to",
    "<": "participle_of",
    "\\": "pertains_to",
    ";c": "topic",
    "-c": "topic_member",
    ";r": "region",
    "-r": "region_member",
    ";u": "usage",
    "-u": "usage_member",
}

# Which relation states the reverse of which; a symmetric one is its own.
INVERSES = {
    "hypernym": "hyponym",
    "instance_hypernym": "instance_hyponym",
    "member_holonym": "member_meronym",
    "substance_holonym": "substance_meronym",
    "part_holonym": "part_meronym",
    "topic": "topic_member",
    "region": "region_member",
    "usage": "usage_member",
}
INVERSES.update({inverse: relation for relation, inverse in INVERSES.items()})
INVERSES.update({relation: relation for relation in (
    "antonym", "attribute", "derivation", "also_see", "verb_group", "similar_to")})

# What WordNet 3.0 holds. Another release is converted as well, after a warning.
EXPECTED = {
    "synsets": 117659,
    "nouns": 82115,
    "verbs": 13767,
    "adjectives": 18156,
    "adverbs": 3621,
    "edges": 377592,
    "kinds of edge": 26,
    "self-loops": 19,
    "largest degree": 1347,
}

Synset = collections.namedtuple("Synset", "id label lemmas gloss pointers")


def part_of_speech(letter):
    return "a" if letter == "s" else letter


def parse_line(pos, line):
    """One line of a data file; the layout is that of wndb(5WN)."""
    data, _, gloss = line.partition("|")
    fields = data.split()
    num_words = int(fields[3], 16)
    lemmas = fields[4:4 + 2 * num_words:2]
    at = 4 + 2 * num_words
    num_pointers = int(fields[at])
    pointers = []
    for i in range(num_pointers):
        symbol, offset, target_pos, _ = fields[at + 1 + 4 * i:at + 5 + 4 * i]
        pointers.append((symbol, part_of_speech(target_pos) + offset))
    return Synset(pos + fields[0], int(fields[1]), lemmas, gloss, pointers)


def read_synsets(folder):
    synsets = []
    for pos, name in FILES:
        path = os.path.join(folder, name)
        with open(path, encoding="latin-1") as lines:
            for number, line in enumerate(lines, 1):
                if line.startswith("  "):  # the licence
                    continue
                try:
                    synset = parse_line(pos, line)
                except (IndexError, ValueError) as error:
                    sys.exit(f"{path}:{number}: not a line of WordNet's data: {error}")
                if not 0 <= synset.label < NUM_CLASSES:
                    sys.exit(f"{path}:{number}: lexicographer file {synset.label} is not one of "
                             f"the {NUM_CLASSES}")
                synsets.append(synset)
    return synsets


def stable_hash(text):
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


WORD = re.compile(r"[a-z0-9]+")


class Hasher:
    """Words to signed places; remembers words, of which most come again."""

    def __init__(self):
        self._places = {}

    def place(self, word):
        found = self._places.get(word)
        if found is None:
            value = stable_hash(word)
            found = (value % DIMENSIONS, 1.0 if value >> 63 else -1.0)
            self._places[word] = found
        return found

    def row(self, text):
        row = array.array("f", bytes(4 * DIMENSIONS))
        for word in WORD.findall(text.lower()):
            index, sign = self.place(word)
            row[index] += sign
        # Zero where the signs of all words cancel, or where there are none.
        length = math.sqrt(sum(value * value for value in row if value))
        if length:
            for i, value in enumerate(row):
                if value:
                    row[i] = value / length
        return row


def write_features(path, synsets):
    shape = (len(synsets), DIMENSIONS)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"  # 10 bytes precede it; rows start at 64 x n
    hasher = Hasher()
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        for synset in synsets:
            row = hasher.row(" ".join(synset.lemmas) + " " + synset.gloss)
            if sys.byteorder == "big":
                row.byteswap()
            out.write(row.tobytes())


def split_of(synset_id):
    part = stable_hash("split " + synset_id) % 100
    return "train" if part < 60 else "validation" if part < 80 else "test"


def write_nodes(folder, synsets):
    with open(os.path.join(folder, "synsets.tsv"), "w", encoding="ascii") as out:
        for synset in synsets:
            out.write(f"{synset.id}\t{synset.label}\n")
    ids = {"train": [], "validation": [], "test": []}
    for synset in synsets:
        ids[split_of(synset.id)].append(synset.id)
    for split, members in ids.items():
        with open(os.path.join(folder, split + ".txt"), "w", encoding="ascii") as out:
            out.writelines(member + "\n" for member in members)
    return {split: len(members) for split, members in ids.items()}


def collect_edges(synsets):
    """The pairs of ids of each relation that occurs, in WordNet's order."""
    edges = {}
    known = {synset.id for synset in synsets}
    for synset in synsets:
        for symbol, target in synset.pointers:
            if symbol not in RELATIONS:
                sys.exit(f"{synset.id}: unknown pointer '{symbol}'")
            if target not in known:
                sys.exit(f"{synset.id}: pointer '{symbol}' to {target}, which does not exist")
            edges.setdefault(RELATIONS[symbol], []).append((synset.id, target))
    return edges


def missing_reverses(edges):
    """The reverses that no relation states yet, by the relation that they are to join."""
    added = {}
    for relation, pairs in edges.items():
        inverse = INVERSES.get(relation, "rev_" + relation)
        stated = collections.Counter(edges.get(inverse, ()))
        for source, target in pairs:
            if stated[target, source] > 0:
                stated[target, source] -= 1
            else:
                added.setdefault(inverse, []).append((target, source))
    return added


def write_edges(folder, edges):
    os.makedirs(os.path.join(folder, "edges"), exist_ok=True)
    for relation, pairs in edges.items():
        path = os.path.join(folder, "edges", relation + ".tsv")
        with open(path, "w", encoding="ascii") as out:
            out.writelines(f"{source}\t{target}\n" for source, target in pairs)


NODES = """\
# WordNet 3.0, made by deploy/wordnet.py, which says what everything is.
name: "wordnet"
nodes {{
  name: "synset"
  id_kind: STRING
  ids {{ path: "synsets.tsv" columns: 0 }}
  columns {{ name: "feat" array {{ path: "features.npy" }} }}
  label {{ name: "label" array {{ path: "synsets.tsv" columns: 1 }} cast: INT16 }}
  num_classes: {num_classes}
  train {{ ids {{ path: "train.txt" }} }}
  validation {{ ids {{ path: "validation.txt" }} }}
  test {{ ids {{ path: "test.txt" }} }}
}}
"""

EDGES = """\
edges {{
  source: "synset" relation: "{relation}" target: "synset"
  ends {{ path: "edges/{relation}.tsv" }}
}}
"""


def write_description(folder, edges):
    with open(os.path.join(folder, "wordnet.textproto"), "w", encoding="ascii") as out:
        out.write(NODES.format(num_classes=NUM_CLASSES))
        for relation in edges:
            out.write(EDGES.format(relation=relation))


def count(synsets, edges):
    by_pos = collections.Counter(synset.id[0] for synset in synsets)
    pairs = [pair for of_kind in edges.values() for pair in of_kind]
    degrees = collections.Counter(end for pair in pairs for end in pair)  # in and out
    return {
        "synsets": len(synsets),
        "nouns": by_pos["n"],
        "verbs": by_pos["v"],
        "adjectives": by_pos["a"],
        "adverbs": by_pos["r"],
        "edges": len(pairs),
        "kinds of edge": len(edges),
        "self-loops": sum(source == target for source, target in pairs),
        "largest degree": max(degrees.values(), default=0),
    }


def print_counts(counts):
    different = 0
    for name, value in counts.items():
        note = "" if value == EXPECTED[name] else f"   (WordNet 3.0 has {EXPECTED[name]:,})"
        different += bool(note)
        print(f"  {name:20} {value:>9,}{note}")
    if different:
        print(f"wordnet.py: {different} counts differ from WordNet 3.0's: another release?",
              file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description="WordNet as a graph that `vicinity import` reads")
    parser.add_argument("output", help="folder to write to; made if it does not exist")
    parser.add_argument("--wordnet", default="/usr/share/wordnet",
                        help="folder of data.noun and its like (default: %(default)s)")
    options = parser.parse_args()
    try:
        synsets = read_synsets(options.wordnet)
        edges = collect_edges(synsets)
        counts = count(synsets, edges)
        added = missing_reverses(edges)
        for relation, pairs in added.items():
            edges.setdefault(relation, []).extend(pairs)
        os.makedirs(options.output, exist_ok=True)
        splits = write_nodes(options.output, synsets)
        write_features(os.path.join(options.output, "features.npy"), synsets)
        write_edges(options.output, edges)
        write_description(options.output, edges)
    except OSError as error:
        sys.exit(f"wordnet.py: {error}; is wordnet-base installed?")
    print_counts(counts)
    print(f"  {'reverses added':20} {sum(map(len, added.values())):>9,}")
    print("  " + ", ".join(f"{split} {members:,}" for split, members in splits.items()))


if __name__ == "__main__":
    main()
