"""Compares the figures of run_evaluation with those of pytrec_eval, the reference implementation of TREC's measures.

    pip install pytrec-eval-terrier
    python tests/interop/metrics_check.py PROGRAM [ARGUMENT...]

PROGRAM and its arguments start a server of the retrieval lab; `--dir corpus-check=DIRECTORY:ro` is added. The corpus is
made here: words drawn at random, so that rankings are neither perfect nor empty, and graded judgements.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytrec_eval

K = 10
# The most that search_documents returns, and as far as the server looks for its MRR.
DEPTH = 50
DOCUMENTS, QUERIES, VOCABULARY = 300, 60, 400
# Replies have three decimals.
TOLERANCE = 0.001


def make_corpus(directory):
    """Writes a corpus in the BEIR layout and returns its queries and judgements."""
    draw = random.Random(7)
    words = ["".join(draw.choices("bcdfglmnprst", k=6)) for _ in range(VOCABULARY)]
    weights = [1 / (rank + 1) for rank in range(VOCABULARY)]
    texts = [draw.choices(words, weights, k=40) for _ in range(DOCUMENTS)]
    queries, judgements = {}, {}
    for number in range(QUERIES):
        answers = draw.sample(range(DOCUMENTS), draw.randint(1, 15))
        queries[f"q{number}"] = " ".join(draw.choice(texts[answer]) for answer in answers[:3])
        judgements[f"q{number}"] = {f"d{answer}": draw.randint(1, 3) for answer in answers}
    lines = [json.dumps({"_id": f"d{n}", "text": " ".join(text)}) for n, text in enumerate(texts)]
    (directory / "corpus.jsonl").write_text("\n".join(lines))
    lines = [json.dumps({"_id": name, "text": text}) for name, text in queries.items()]
    (directory / "queries.jsonl").write_text("\n".join(lines))
    (directory / "qrels").mkdir()
    lines = ["query-id\tcorpus-id\tscore"]
    lines += [f"{q}\t{d}\t{gain}" for q, gains in judgements.items() for d, gain in gains.items()]
    (directory / "qrels" / "test.tsv").write_text("\n".join(lines))
    return queries, judgements


class Server:
    """A server process, spoken to in JSON lines."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.id = 0
        client = {"name": "metrics_check", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.id += 1
        self.send({"id": self.id, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.id:
                return message["result"]
        sys.exit("the server ended")

    def tool(self, name, **arguments):
        result = self.request("tools/call", {"name": name, "arguments": arguments})
        if result.get("isError"):
            sys.exit(result["content"][0]["text"])
        return result["structuredContent"]


def main():
    with tempfile.TemporaryDirectory() as directory:
        queries, judgements = make_corpus(Path(directory))
        server = Server([*sys.argv[1:], "--dir", f"corpus-check={directory}:ro"])
        worst = max(compare(server, mode, queries, judgements) for mode in ("lexical", "dense", "hybrid"))
        server.process.stdin.close()
    if worst > TOLERANCE:
        sys.exit(f"a figure is off by {worst:.4f}")


def compare(server, mode, queries, judgements):
    """Prints both sets of figures and returns the greatest difference."""
    run = {}
    for name, text in queries.items():
        found = server.tool("search_documents", query=text, mode=mode, k=DEPTH, corpus="check")["documents"]
        run[name] = {document["id"]: -document["rank"] for document in found}
    measures = {f"recall.{K}", f"P.{K}", f"ndcg_cut.{K}", "recip_rank"}
    scored = pytrec_eval.RelevanceEvaluator(judgements, measures).evaluate(run)
    ours = server.tool("run_evaluation", mode=mode, k=K, corpus="check")["scores"]
    names = {"recall": f"recall_{K}", "precision": f"P_{K}", "ndcg": f"ndcg_cut_{K}", "mrr": "recip_rank"}
    worst = 0.0
    for name, theirs in names.items():
        reference = sum(scores[theirs] for scores in scored.values()) / len(judgements)
        worst = max(worst, abs(ours[name] - reference))
        print(f"{mode:8} {name:10} {ours[name]:.3f} here, {reference:.4f} by pytrec_eval")
    return worst


if __name__ == "__main__":
    main()
