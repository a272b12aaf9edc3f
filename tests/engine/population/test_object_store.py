"""The road from logs to a report where logs and results lie in an object store."""

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui import draw_sample, measure_shards
from faithtui.engine.shards.shard_source import list_shards
from faithtui.errors import InputError
from faithtui.store.store import Store
from tests.engine.population.test_measure_to_report import write_logs

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        importlib.util.find_spec("moto") is None and "FAITHTUI_S3" not in os.environ,
        reason="moto is not installed; .ci/wide runs this in an environment of its own",
    ),
]
BUCKET = "lake"


@pytest.fixture
def object_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Start a server that behaves like S3, with an empty bucket."""
    from moto.server import ThreadedMotoServer  # type: ignore[import-not-found]

    for name, value in (
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        from pyarrow import fs

        fs.S3FileSystem(
            endpoint_override=f"{host}:{port}", scheme="http", allow_bucket_creation=True
        ).create_dir(BUCKET)
        yield f"s3://{BUCKET}"
    finally:
        server.stop()


def copy_into(folder: Path, address: str) -> None:
    from pyarrow import fs

    fs.copy_files(folder.as_uri(), address)


def test_logs_and_results_are_read_where_they_lie(tmp_path: Path, object_store: str) -> None:
    write_logs(tmp_path / "logs", 8)
    copy_into(tmp_path / "logs", f"{object_store}/logs")
    there = measure_shards(f"{object_store}/logs/*.jsonl", tmp_path / "results")
    here = measure_shards(tmp_path / "logs", tmp_path / "local")
    assert there.conversations == here.conversations == 16
    copy_into(tmp_path / "results", f"{object_store}/results")
    left_out: dict[str, int] = {}
    for source in ("", "/**"):
        found = list_shards(object_store + source, on_left_out=left_out.update)
        assert [each.name for each in found] == [
            f"logs__{each.name}" for each in list_shards(tmp_path / "logs")
        ], "results are no logs there either"
        assert list(left_out) == [f"{object_store}/results"]
    with pytest.raises(InputError, match=f"in {object_store}/results are no source"):
        list_shards(f"{object_store}/results/claims")
    samples = [
        draw_sample(results, tmp_path / name, size=14, stratify=["verdict", "team"], seed=5)
        for results, name in ((f"{object_store}/results", "a.db"), (tmp_path / "results", "b.db"))
    ]
    assert samples[0]["claims"] == 14
    drawn = []
    for name in ("a.db", "b.db"):
        with Store.open(tmp_path / name) as store:
            (run,) = store.runs.list_runs()
            (row,) = store.samples.list_samples("ann")
            drawn.append(
                (
                    run.claims,
                    [
                        each.claim
                        for each in store.samples.list_claims_in_served_order(row.id, "ann")
                    ],
                )
            )
    assert drawn[0] == drawn[1]
