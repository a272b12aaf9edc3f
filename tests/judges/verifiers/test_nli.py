"""Classifiers from files: what their outputs mean, long evidence, batches, and their identity."""

import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from faithtui.domain.judging.tasks import ExtractClaims, FindEvidence, JudgeClaims, SupportAnswer
from faithtui.errors import ConfigError, JudgeReplyInvalid, JudgeUnavailable
from faithtui.judges.base import JudgeRequest
from faithtui.judges.registry import make_judge_fingerprint
from faithtui.judges.verifiers.label_maps import map_classifier_outputs_to_verdicts
from faithtui.judges.verifiers.nli import BATCH, NliVerifier, locate_nli_files
from faithtui.judges.verifiers.verifier_judge import VerifierJudge
from faithtui.judges.verifiers.verifier_protocol import Likelihoods, Verifier, verify_pairs

MNLI = {"0": "CONTRADICTION", "1": "NEUTRAL", "2": "ENTAILMENT"}


def write_model(folder: Path, labels: Mapping[str, str] = MNLI, **config: object) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(b"weights")
    (folder / "tokenizer.json").write_text("{}")
    (folder / "config.json").write_text(json.dumps({"id2label": dict(labels), **config}))
    return folder


@dataclass
class WordEncoding:
    ids: list[int]
    type_ids: list[int]


class WordTokenizer:
    """A token per word, and one between the texts."""

    def encode(self, sequence: str, pair: str | None = None) -> WordEncoding:
        first, second = sequence.split(), (pair or "").split()
        ids = [len(word) for word in first] + [99] + [len(word) for word in second]
        return WordEncoding(ids, [0] * (len(first) + 1) + [1] * len(second))


@dataclass
class Input:
    name: str


class FakeSession:
    """Logits by a rule; keeps what it was given."""

    def __init__(
        self, outputs: int = 3, names: Sequence[str] = ("input_ids", "attention_mask")
    ) -> None:
        self.outputs = outputs
        self.names = names
        self.batches: list[Mapping[str, Any]] = []

    def get_inputs(self) -> list[Input]:
        return [Input(name) for name in self.names]

    def run(self, names: Sequence[str] | None, inputs: Mapping[str, Any]) -> list[Any]:
        self.batches.append(inputs)
        logits = np.zeros((len(inputs["input_ids"]), self.outputs))
        logits[:, -1] = (inputs["input_ids"] == len("thirteenchars")).sum(axis=1)
        return [logits]


def make_verifier(folder: Path, session: FakeSession) -> NliVerifier:
    return NliVerifier(locate_nli_files(str(folder)), lambda _: session, lambda _: WordTokenizer())


def test_outputs_mean_what_the_config_calls_them(tmp_path: Path) -> None:
    session = FakeSession()
    verifier = make_verifier(write_model(tmp_path / "m"), session)
    said = verifier.verify("thirteenchars", "A word here.")
    grown = np.exp([0, 0, 1])
    assert said == pytest.approx((grown[2] / grown.sum(), 1 / grown.sum(), 1 / grown.sum()))
    assert session.batches[0]["input_ids"].tolist() == [[1, 4, 5, 99, 13]]
    assert session.batches[0]["input_ids"].dtype == np.int64
    assert "token_type_ids" not in session.batches[0]


def test_two_labels_tell_no_contradiction(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m", {"0": "hallucinated", "1": "consistent"})
    said = make_verifier(folder, FakeSession(2)).verify("thirteenchars", "A word.")
    assert said.no == 0
    assert said.yes == pytest.approx(np.e / (1 + np.e))
    assert said.idk == pytest.approx(1 - said.yes)


def test_one_output_is_the_log_odds_of_support(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m", {"0": "LABEL_0"})
    said = make_verifier(folder, FakeSession(1)).verify("thirteenchars", "A word.")
    assert said == pytest.approx((np.e / (1 + np.e), 0, 1 / (1 + np.e)))


def test_pairs_go_in_batches_padded_and_come_back_in_order(tmp_path: Path) -> None:
    session = FakeSession(names=("input_ids", "attention_mask", "token_type_ids"))
    verifier = make_verifier(write_model(tmp_path / "m", pad_token_id=7), session)
    pairs = [("thirteenchars" if n % 3 == 0 else "word", "a " * (n + 1)) for n in range(40)]
    said = verifier.verify_all(pairs)
    assert [each.yes > 0.5 for each in said] == [n % 3 == 0 for n in range(40)]
    assert [len(batch["input_ids"]) for batch in session.batches] == [BATCH, BATCH, 8]
    for batch in session.batches:
        padded = batch["attention_mask"] == 0
        assert (batch["input_ids"][padded] == 7).all()
        assert (batch["input_ids"][~padded] != 7).all()
        assert (batch["token_type_ids"].sum(axis=1) == 1).all()


def test_threads_that_ask_at_once_share_one_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = 4
    together = threading.Barrier(threads)
    all_wait = threading.Event()
    arrived: list[int] = []
    loads: list[FakeSession] = []

    class WatchedLock:
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def __enter__(self) -> None:
            arrived.append(threading.get_ident())
            if len(arrived) == threads:
                all_wait.set()
            self.lock.acquire()

        def __exit__(self, *_: object) -> None:
            self.lock.release()

    def load(_: Path) -> FakeSession:
        assert all_wait.wait(60), "the others do not wait for the one that loads"
        loads.append(FakeSession())
        return loads[-1]

    fake_threading = SimpleNamespace(Lock=WatchedLock)
    monkeypatch.setattr("faithtui.judges.verifiers.nli.threading", fake_threading)
    files = locate_nli_files(str(write_model(tmp_path / "m")))
    verifier = NliVerifier(files, load, lambda _: WordTokenizer())

    def ask(_: int) -> float:
        together.wait()
        return verifier.verify("thirteenchars", "A word here.").yes

    with ThreadPoolExecutor(threads) as pool:
        assert len(set(pool.map(ask, range(threads)))) == 1
    assert len(loads) == 1
    assert len(loads[0].batches) == threads


def test_evidence_too_long_is_cut_between_sentences_and_the_clearest_piece_decides(
    tmp_path: Path,
) -> None:
    session = FakeSession()
    verifier = make_verifier(write_model(tmp_path / "m", max_position_embeddings=12), session)
    evidence = "One two three four five. Six seven thirteenchars nine. Ten eleven twelve six."
    said = verifier.verify("a claim", evidence)
    rows = session.batches[0]["input_ids"]
    assert rows.shape[0] == 2
    assert rows.shape[1] <= 12
    assert said.yes == pytest.approx(np.e / (2 + np.e))


def test_one_sentence_longer_than_the_model_reads_keeps_the_claim(tmp_path: Path) -> None:
    session = FakeSession()
    verifier = make_verifier(write_model(tmp_path / "m", max_position_embeddings=10), session)
    verifier.verify("thirteenchars", "word " * 40)
    (row,) = session.batches[0]["input_ids"].tolist()
    assert len(row) == 10
    assert row[-2:] == [99, 13]


def test_the_model_is_loaded_with_the_first_question_and_once(tmp_path: Path) -> None:
    loaded: list[Path] = []

    def load(path: Path) -> FakeSession:
        loaded.append(path)
        return FakeSession()

    folder = write_model(tmp_path / "m")
    verifier = NliVerifier(locate_nli_files(str(folder)), load, lambda _: WordTokenizer())
    assert verifier.fingerprint
    assert loaded == []
    verifier.verify("a", "b")
    verifier.verify("a", "c")
    assert loaded == [folder / "model.onnx"]


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "model.onnx_data"])
def test_another_file_is_another_judge(tmp_path: Path, file: str) -> None:
    folder = write_model(tmp_path / "m")
    (folder / "model.onnx_data").write_bytes(b"more weights")
    before = make_judge_fingerprint(f"nli:{folder}")
    assert make_judge_fingerprint(f"nli:{folder / 'model.onnx'}") == before
    (folder / file).write_bytes(b"other and longer weights")
    assert make_judge_fingerprint(f"nli:{folder}") != before


def test_other_meanings_are_another_judge(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m", {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"})
    assert make_judge_fingerprint(f"nli:{folder}#mnli") != make_judge_fingerprint(
        f"nli:{folder}#cross-encoder"
    )


@pytest.mark.parametrize(
    ("labels", "order", "meanings"),
    [
        (("contradiction", "neutral", "entailment"), None, ("no", "idk", "yes")),
        (("entailment", "not_entailment"), None, ("yes", "idk")),
        (("LABEL_0", "LABEL_1", "LABEL_2"), "mnli", ("no", "idk", "yes")),
        (("LABEL_0", "LABEL_1", "LABEL_2"), "cross-encoder", ("no", "yes", "idk")),
        (("LABEL_0", "LABEL_1"), "minicheck", ("idk", "yes")),
        (("LABEL_0", "LABEL_1"), "hhem", ("idk", "yes")),
        (("unsupported", "supported"), "minicheck", ("idk", "yes")),
    ],
)
def test_label_maps(labels: tuple[str, ...], order: str | None, meanings: tuple[str, ...]) -> None:
    assert map_classifier_outputs_to_verdicts(labels, order, "config.json") == meanings


@pytest.mark.parametrize(
    ("labels", "order", "complaint"),
    [
        (("LABEL_0", "LABEL_1"), None, "unknown label 'label_0'; write what the outputs mean"),
        (("LABEL_0", "LABEL_1"), "mnli", "has 2 labels, but #mnli means 3"),
        (("supported", "unsupported"), "minicheck", "which is not what #minicheck means"),
        (("LABEL_0", "LABEL_1"), "other", "expected one of: mnli, cross-encoder"),
        (("neutral", "hallucinated"), None, "one label that supports"),
        (("neutral", "contradiction"), None, "one label that supports"),
    ],
)
def test_labels_that_do_not_tell_are_refused(
    labels: tuple[str, ...], order: str | None, complaint: str
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        map_classifier_outputs_to_verdicts(labels, order, "config.json")


@pytest.mark.parametrize(
    ("file", "content", "complaint"),
    [
        ("model.onnx", None, "model.onnx is not there; nli:PATH needs a folder"),
        ("tokenizer.json", None, "tokenizer.json is not there"),
        ("config.json", None, "config.json is not there"),
        ("config.json", "{", "config.json cannot be read as JSON"),
        ("config.json", "[]", "config.json holds no JSON object"),
        ("config.json", "{}", "has no id2label"),
        ("config.json", '{"id2label": {"a": "x"}}', "keys of id2label are numbers"),
    ],
)
def test_missing_and_broken_files_are_named(
    tmp_path: Path, file: str, content: str | None, complaint: str
) -> None:
    folder = write_model(tmp_path / "m")
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(content)
    with pytest.raises(ConfigError, match=complaint):
        make_judge_fingerprint(f"nli:{folder}")


def test_outputs_that_the_labels_do_not_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has 4 outputs, but id2label"):
        make_verifier(write_model(tmp_path / "m"), FakeSession(4)).verify("a", "b")
    with pytest.raises(ConfigError, match="wants the input pixels"):
        make_verifier(write_model(tmp_path / "m"), FakeSession(names=("pixels",))).verify("a", "b")


@pytest.mark.parametrize(
    ("config", "tokenizer", "limit"),
    [
        ({}, None, 512),
        ({"max_position_embeddings": 1024}, None, 1024),
        ({"max_position_embeddings": 514, "model_type": "roberta"}, None, 512),
        ({"max_position_embeddings": 1024}, {"model_max_length": 256}, 256),
        ({"max_position_embeddings": 1024}, {"model_max_length": 1e30}, 1024),
    ],
)
def test_the_token_limit(
    tmp_path: Path, config: dict[str, object], tokenizer: dict[str, object] | None, limit: int
) -> None:
    folder = write_model(tmp_path / "m", MNLI, **config)
    if tokenizer is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    assert locate_nli_files(str(folder)).token_limit == limit


class KnownVerifier:
    """Says yes to what its evidence holds word for word, and no to what is negated."""

    fingerprint = "known 1"

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    def verify(self, claim: str, evidence: str) -> Likelihoods:
        self.seen.append((claim, evidence))
        if " not " in claim:
            return Likelihoods(0.1, 0.8, 0.1)
        return Likelihoods(0.9, 0.0, 0.1) if claim in evidence else Likelihoods(0.2, 0.1, 0.7)


def request(task: Any) -> JudgeRequest:
    return JudgeRequest("verdicts", task, "", "", {}, 100)


TRUTHS = ("The mill is old.", "It has 9 floors.", "The lake is deep.", "The mill was sold.")


async def test_a_verifier_judges_and_the_embedded_judge_does_the_rest() -> None:
    verifier = KnownVerifier()
    judge = VerifierJudge("acme:x", verifier)
    claims = ("The mill is old.", "The mill is not old.", "The mill is blue.", "Whales sing.")
    reply = json.loads((await judge.send(request(JudgeClaims(claims, TRUTHS)))).text)
    assert [each["verdict"] for each in reply.values()] == ["yes", "no", "idk", "idk"]
    assert [each["confidence"] for each in reply.values()] == [0.9, 0.1, 0.2, 0.0]
    assert reply["c1"]["reason"].startswith("P(yes) 0.10, P(no) 0.80, P(idk) 0.10, by ")
    assert "No sentence" in reply["c3"]["reason"]
    assert len(verifier.seen) == 3
    assert all("The mill is old." in evidence for _, evidence in verifier.seen)
    extracted = await judge.send(request(ExtractClaims(("The mill is old. Thanks!",))))
    assert json.loads(extracted.text) == {"a0": ["The mill is old."]}


async def test_a_verifier_answers_yes_or_no_for_a_whole_answer() -> None:
    judge = VerifierJudge("acme:x", KnownVerifier())
    for answer, expected in (("The mill is old.", "YES"), ("The mill is not old.", "NO")):
        task = SupportAnswer(answer, "The mill is old.")
        assert (await judge.send(request(task))).text == expected


async def test_sufficient_truths_are_found_by_the_verifier() -> None:
    from faithtui.domain.judging.tasks import EvidenceGroup

    judge = VerifierJudge("acme:x", KnownVerifier())
    task = FindEvidence((EvidenceGroup(("The mill is old.", "The mill is not old."), TRUTHS),))
    reply = json.loads((await judge.send(request(task))).text)
    assert reply["c0"]["sufficient"] == [["t0"]]
    assert reply["c1"]["contradicts"] == ["t0"]


class BrokenVerifier:
    fingerprint = "broken"

    def verify(self, claim: str, evidence: str) -> Likelihoods:
        raise RuntimeError("no weights")


async def test_a_verifier_that_fails_is_named() -> None:
    judge = VerifierJudge("acme:x", BrokenVerifier())
    with pytest.raises(JudgeUnavailable, match="acme:x failed: RuntimeError: no weights"):
        await judge.send(request(JudgeClaims(("The mill is old.",), TRUTHS)))


@pytest.mark.parametrize("said", [None, (0.5, 0.5), (0.5, 0.6, 0.2), (2, -1, 0), "yes"])
def test_answers_that_are_no_probabilities_are_refused(said: Any) -> None:
    class Odd:
        fingerprint = "odd"

        def verify(self, claim: str, evidence: str) -> Likelihoods:
            found: Likelihoods = said
            return found

    verifier: Verifier = Odd()
    with pytest.raises(JudgeReplyInvalid, match="the verifier answered"):
        verify_pairs(verifier, [("a", "b")])


def test_as_many_answers_as_claims_are_wanted() -> None:
    class Few(KnownVerifier):
        def verify_all(self, pairs: Sequence[tuple[str, str]]) -> list[Likelihoods]:
            return [Likelihoods(1, 0, 0)]

    with pytest.raises(JudgeReplyInvalid, match="gave 1 answers to 2 claims"):
        verify_pairs(Few(), [("a", "b"), ("c", "d")])
