"""`nli:PATH`: a classifier of claim and evidence from a file of this machine, run by ONNX Runtime.

PATH is a folder with `model.onnx`, `tokenizer.json` and `config.json`, as exporters write them, or
the ONNX file itself. Nothing is ever downloaded. Behind a `#` may stand the order of the outputs,
for models whose labels have no names: `nli:models/minicheck#minicheck`.

ONNX Runtime and the tokenizer are imported with the first question: fingerprints need neither.
"""

import hashlib
import json
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Protocol

from faithtui.domain.log_odds import logistic
from faithtui.domain.text.sentences import split_sentences
from faithtui.errors import ConfigError
from faithtui.judges.verifiers.label_maps import Meaning, map_classifier_outputs_to_verdicts
from faithtui.judges.verifiers.verifier_protocol import Likelihoods
from faithtui.paths import expand_home

BATCH: Final = 16
"""Pairs that go through the model at once."""
_USUAL_LIMIT: Final = 512
_MOST_TOKENS: Final = 100_000
"""A larger limit in a tokenizer's file stands for none."""
_BLOCK: Final = 1 << 20


class ClassifierSession(Protocol):
    """What is used of `onnxruntime.InferenceSession`."""

    def get_inputs(self) -> Sequence[Any]:
        """Its inputs, each with a `name`."""

    def run(self, names: Sequence[str] | None, inputs: Mapping[str, Any]) -> Sequence[Any]:
        """Compute; the first output are the logits, a row for each pair."""


class Encoding(Protocol):
    """What is used of `tokenizers.Encoding`."""

    @property
    def ids(self) -> list[int]:
        """Tokens."""

    @property
    def type_ids(self) -> list[int]:
        """Which of the two texts each token belongs to."""


class Tokenizer(Protocol):
    """What is used of `tokenizers.Tokenizer`."""

    def encode(self, sequence: str, pair: str | None = None) -> Encoding:
        """Tokens of a text, or of two."""


@dataclass(frozen=True, slots=True)
class NliFiles:
    """A classifier on the disk, checked."""

    model: Path
    tokenizer: Path
    meanings: tuple[Meaning, ...]
    """What each output means; a single one is the probability of support before the sigmoid."""
    token_limit: int
    pad_id: int
    digest: str
    """Sixteen hexadecimal digits of all its files and of what its outputs mean."""


def open_nli_verifier(rest: str) -> "NliVerifier":
    """Make the verifier of `nli:REST`; its files are checked, the model is not loaded.

    Raises:
        ConfigError: A file is missing or broken, or nothing says what the outputs mean.
    """
    return NliVerifier(locate_nli_files(rest), _load_session, _load_tokenizer)


def locate_nli_files(rest: str) -> NliFiles:
    """Find and check the files of a classifier.

    Args:
        rest: Path of the folder or the model, and perhaps `#` and the order of its labels.

    Raises:
        ConfigError: As `open_nli_verifier`.
    """
    path, _, order = rest.partition("#")
    given = expand_home(path)
    folder, model = (given, given / "model.onnx") if given.is_dir() else (given.parent, given)
    for file in (model, folder / "tokenizer.json", folder / "config.json"):
        if not file.is_file():
            raise ConfigError(
                f"{file} is not there; nli:PATH needs a folder with model.onnx, tokenizer.json and"
                " config.json, as an ONNX export of a classifier has them"
            )
    config = _read_json(folder / "config.json")
    labels = config.get("id2label")
    names: list[str] = []
    if isinstance(labels, dict):
        try:
            names = [str(labels[key]) for key in sorted(labels, key=int)]
        except ValueError as error:
            raise ConfigError(
                f"{folder / 'config.json'}: the keys of id2label are numbers"
            ) from error
    if not names:
        raise ConfigError(
            f'{folder / "config.json"} has no id2label, such as {{"0": "contradiction",'
            ' "1": "neutral", "2": "entailment"}'
        )
    meanings: tuple[Meaning, ...] = (
        ("yes",)
        if len(names) == 1
        else map_classifier_outputs_to_verdicts(names, order or None, str(folder / "config.json"))
    )
    files = [model, *sorted(folder.glob(f"{model.name}_data*")), folder / "tokenizer.json"]
    stamps = tuple((str(each), each.stat().st_mtime_ns, each.stat().st_size) for each in files)
    limit = _read_token_limit(folder, config)
    pad = config.get("pad_token_id")
    identity = f"{_hash_files(stamps)} {meanings} {limit}"
    return NliFiles(
        model,
        folder / "tokenizer.json",
        meanings,
        limit,
        pad if isinstance(pad, int) else 0,
        hashlib.sha256(identity.encode()).hexdigest()[:16],
    )


class NliVerifier:
    """Classifies pairs of evidence and claim.

    Args:
        files: Where the model is and what its outputs mean.
        load_session: Opens the model; called with the first question.
        load_tokenizer: Opens its tokenizer; likewise.
    """

    def __init__(
        self,
        files: NliFiles,
        load_session: Callable[[Path], ClassifierSession],
        load_tokenizer: Callable[[Path], Tokenizer],
    ) -> None:
        self._files = files
        self._load_session = load_session
        self._load_tokenizer = load_tokenizer
        self._loading = threading.Lock()
        self._loaded: tuple[ClassifierSession, Tokenizer] | None = None

    @property
    def fingerprint(self) -> str:
        """Digest of its files, and what its outputs mean."""
        return f"nli {self._files.digest}"

    def verify(self, claim: str, evidence: str) -> Likelihoods:
        """Judge one claim."""
        return self.verify_all([(claim, evidence)])[0]

    def verify_all(self, pairs: Sequence[tuple[str, str]]) -> list[Likelihoods]:
        """Judge claims by their evidence, in batches.

        Evidence that is too long for the model is cut between sentences. The piece that says yes
        or no most clearly decides.
        """
        session, tokenizer = self._load_model_and_tokenizer_once()
        encoded: list[tuple[int, Encoding]] = []
        for number, (claim, evidence) in enumerate(pairs):
            encoded += (
                (number, each) for each in self._encode_pair_in_pieces(tokenizer, claim, evidence)
            )
        # Pairs of one length pad least.
        encoded.sort(key=lambda each: len(each[1].ids))
        found: dict[int, Likelihoods] = {}
        for first in range(0, len(encoded), BATCH):
            batch = encoded[first : first + BATCH]
            for (number, _), likelihoods in zip(batch, self._classify(session, batch), strict=True):
                known = found.get(number)
                if known is None or max(likelihoods.yes, likelihoods.no) > max(known.yes, known.no):
                    found[number] = likelihoods
        return [found[number] for number in range(len(pairs))]

    def _load_model_and_tokenizer_once(self) -> tuple[ClassifierSession, Tokenizer]:
        """Open model and tokenizer once, whichever of the threads that ask comes first."""
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = (
                        self._load_session(self._files.model),
                        self._load_tokenizer(self._files.tokenizer),
                    )
        return self._loaded

    def _encode_pair_in_pieces(
        self, tokenizer: Tokenizer, claim: str, evidence: str
    ) -> Iterator[Encoding]:
        """Claim and evidence as tokens, in as many pieces as it takes."""
        whole = tokenizer.encode(evidence, claim)
        if len(whole.ids) <= self._files.token_limit:
            yield whole
            return
        piece = ""
        last: Encoding | None = None
        for span in split_sentences(evidence):
            longer = f"{piece} {span.slice_text(evidence)}".strip()
            encoding = tokenizer.encode(longer, claim)
            if len(encoding.ids) > self._files.token_limit and last is not None:
                yield last
                longer = span.slice_text(evidence)
                encoding = tokenizer.encode(longer, claim)
            piece, last = longer, encoding
        if last is not None:
            yield last

    def _classify(
        self, session: ClassifierSession, batch: Sequence[tuple[int, Encoding]]
    ) -> Iterator[Likelihoods]:
        import numpy as np  # loaded only when a model is

        limit = self._files.token_limit
        # A single sentence may be longer than the model reads; its end, the claim, is kept.
        rows = [_cut_middle(each.ids, limit) for _, each in batch]
        types = [_cut_middle(each.type_ids, limit) for _, each in batch]
        width = max(map(len, rows))
        inputs = {
            "input_ids": np.array(
                [row + [self._files.pad_id] * (width - len(row)) for row in rows]
            ),
            "attention_mask": np.array([[1] * len(row) + [0] * (width - len(row)) for row in rows]),
            "token_type_ids": np.array([row + [0] * (width - len(row)) for row in types]),
        }
        wanted = [each.name for each in session.get_inputs()]
        unknown = [name for name in wanted if name not in inputs]
        if unknown:
            raise ConfigError(
                f"{self._files.model} wants the input {unknown[0]}; a classifier of pairs has"
                f" {', '.join(inputs)}"
            )
        logits = session.run(None, {name: inputs[name].astype(np.int64) for name in wanted})[0]
        meanings = self._files.meanings
        for row in np.asarray(logits, dtype=float).reshape(len(batch), -1).tolist():
            if len(row) != len(meanings):
                raise ConfigError(
                    f"{self._files.model} has {len(row)} outputs, but id2label of config.json"
                    f" names {len(meanings)}"
                )
            yield _convert_logits_to_likelihoods(row, meanings)


def _convert_logits_to_likelihoods(
    row: Sequence[float], meanings: Sequence[Meaning]
) -> Likelihoods:
    if len(row) == 1:
        yes = logistic(row[0])
        return Likelihoods(yes, 0.0, 1 - yes)
    top = max(row)
    grown = [math.exp(each - top) for each in row]
    shares = dict.fromkeys(("yes", "no", "idk"), 0.0)
    for meaning, each in zip(meanings, grown, strict=True):
        shares[meaning] += each / sum(grown)
    return Likelihoods(shares["yes"], shares["no"], shares["idk"])


def _cut_middle(ids: list[int], limit: int) -> list[int]:
    if len(ids) <= limit:
        return ids
    half = limit // 2
    return ids[: limit - half] + ids[len(ids) - half :]


def _read_json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file} cannot be read as JSON: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{file} holds no JSON object")
    return found


def _read_token_limit(folder: Path, config: Mapping[str, Any]) -> int:
    """Most tokens of a pair: the tokenizer's limit, the model's positions, or what is usual."""
    file = folder / "tokenizer_config.json"
    of_tokenizer = _read_json(file).get("model_max_length") if file.is_file() else None
    for limit in (of_tokenizer, config.get("max_position_embeddings")):
        if isinstance(limit, int | float) and 8 <= limit <= _MOST_TOKENS:
            is_roberta = limit is not of_tokenizer and "roberta" in str(config.get("model_type"))
            return int(limit) - 2 * is_roberta  # it counts positions from 2
    return _USUAL_LIMIT


@lru_cache(maxsize=16)
def _hash_files(stamps: tuple[tuple[str, int, int], ...]) -> str:
    """Digest of files, read once for each state they are in."""
    digest = hashlib.sha256()
    for name, _, _ in stamps:
        with Path(name).open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def _load_session(model: Path) -> ClassifierSession:
    try:
        import onnxruntime
    except ImportError as error:
        raise _make_missing_extra_error("onnxruntime") from error
    try:
        session: ClassifierSession = onnxruntime.InferenceSession(
            str(model), providers=["CPUExecutionProvider"]
        )
    # Its errors have no class of their own.
    except Exception as error:
        raise ConfigError(f"{model} is no model that ONNX Runtime can open: {error}") from error
    return session


def _load_tokenizer(file: Path) -> Tokenizer:
    try:
        from tokenizers import Tokenizer as HuggingFaceTokenizer
    except ImportError as error:
        raise _make_missing_extra_error("tokenizers") from error
    try:
        found = HuggingFaceTokenizer.from_file(str(file))
    # As above.
    except Exception as error:
        raise ConfigError(f"{file} is no tokenizer: {error}") from error
    found.no_truncation()
    found.no_padding()
    tokenizer: Tokenizer = found
    return tokenizer


def _make_missing_extra_error(name: str) -> ConfigError:
    return ConfigError(
        f"nli:PATH needs {name}, which is not installed: pip install 'faithtui[nli]'"
    )
