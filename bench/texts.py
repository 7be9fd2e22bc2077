"""Texts and queries to measure with, the same in each run."""

import pathlib
import random
import struct

WORDS_OF_A_QUERY = (1, 2, 3)
# More frequent words are not searched for.
FREQUENT = 300
NAMES = 0.03
SYLLABLES = "ba dor el fin gar hul ki lan mer no pal ris sto tam ul vin wes yar zo ti".split()
PIECES = pathlib.Path(__file__).parent.parent / "guest/ranking/data/pieces.bin"


def vocabulary():
    """The whole words of the embedding's table, the frequent ones first: `guest/ranking/data/README.md` has the format."""
    packed = PIECES.read_bytes()
    (count,) = struct.unpack_from("<I", packed)
    first_end = 4 + 2 * 65_536
    ends = struct.unpack_from(f"<{count}I", packed, first_end)
    letters = packed[first_end + 4 * count :]
    continues = 1 << 31
    pieces = [letters[begin & ~continues : end] for begin, end in zip((0, *ends), ends) if end < continues]
    words = [piece.decode() for piece in pieces]
    return [word for word in words if len(word) > 1 and word.isascii() and word.isalpha()]


def make_texts(count, words):
    chance = random.Random(1)

    def word():
        if chance.random() < NAMES:
            return "".join(chance.choices(SYLLABLES, k=3)).capitalize()
        # An exponential of a uniform number has about the frequencies of words.
        return words[int(len(words) ** chance.random()) - 1]

    return [" ".join(word() for _ in range(chance.randint(15, 25))) for _ in range(count)]


def make_queries(texts, count, frequent):
    """Pairs of a query and the text that its words are from. No word is in two of them."""
    chance, used, queries = random.Random(2), set(frequent), []
    for text in chance.sample(texts, len(texts)):
        rare = [word for word in dict.fromkeys(text.split()) if len(word) > 3 and word not in used]
        wanted = WORDS_OF_A_QUERY[len(queries) % len(WORDS_OF_A_QUERY)]
        if len(rare) < wanted:
            continue
        chosen = [rare[place] for place in sorted(chance.sample(range(len(rare)), wanted))]
        used.update(chosen)
        queries.append((" ".join(chosen), text))
        if len(queries) == count:
            return queries
    raise SystemExit(f"{len(texts)} texts have too few words for {count} queries")
