"""Sources cut into shards: files, folders, patterns, row groups, object stores."""

import io
import json
import random
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from faithtui.engine.shards import shard_source
from faithtui.engine.shards.shard_source import check_address_has_no_key, find_shard, list_shards
from faithtui.errors import ConfigError, FileUnreadable, InputError
from faithtui.formats.files.parquet_copy import Footer, copy_row_groups
from faithtui.formats.files.thrift import I64, ThriftReader, encode_struct
from faithtui.formats.readers.datasets import FormatChoice
from tests.engine.shards.shard_files import CONVERSATIONS, write_lines

AUTO = FormatChoice()


def keys(shard: object) -> list[str]:
    return [each.found.key for each in shard.read(AUTO)]  # type: ignore[attr-defined]  # a shard


def write_rows(path: Path, rows: int, per_group: int) -> Path:
    """Write a Parquet file of questions and answers; row 13 has no answer that is a text."""
    table = pa.table(
        {
            "id": [f"row {n}" for n in range(rows)],
            "question": [f"What is {n}?" for n in range(rows)],
            "answer": [f"It is {n}." if n != 13 else "" for n in range(rows)],
            "contexts": [[f"It is {n}."] for n in range(rows)],
        }
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=per_group)
    return path


def test_a_file_is_a_shard(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "parcels.jsonl")
    (shard,) = list_shards(file)
    assert (shard.name, shard.source) == ("parcels.jsonl", "parcels")
    assert shard.size == file.stat().st_size
    assert keys(shard) == [each.key for each in CONVERSATIONS]


def test_a_folder_is_one_shard_a_data_file_in_order_of_names(tmp_path: Path) -> None:
    write_lines(tmp_path / "july" / "b.jsonl")
    write_lines(tmp_path / "july" / "a.jsonl")
    write_rows(tmp_path / "june.parquet", 3, 3)
    (tmp_path / "README.md").write_text("no data")
    write_lines(tmp_path / ".hidden" / "c.jsonl")
    assert [each.name for each in list_shards(tmp_path)] == [
        "july__a.jsonl",
        "july__b.jsonl",
        "june.parquet",
    ]


def test_a_pattern_names_shards_from_the_folder_before_it(tmp_path: Path) -> None:
    for day in ("1", "2"):
        write_lines(tmp_path / "logs" / f"day={day}" / "part.jsonl")
    write_lines(tmp_path / "logs" / "other" / "part.jsonl")
    found = list_shards(tmp_path / "logs" / "day=*" / "*.jsonl")
    assert [each.name for each in found] == ["day=1__part.jsonl", "day=2__part.jsonl"]


def test_files_whose_names_differ_in_forbidden_letters_stay_apart(tmp_path: Path) -> None:
    for name in ("a b.jsonl", "a?b.jsonl", "a:b.jsonl"):
        write_lines(tmp_path / name)
    names = {each.name for each in list_shards(tmp_path)}
    assert len(names) == 3
    assert all(each.startswith("a_b.jsonl-") for each in names)


def test_a_long_path_becomes_a_name_that_a_file_may_have(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*["x" * 60] * 4)
    write_lines(folder / "a.jsonl")
    (shard,) = list_shards(tmp_path)
    assert len(shard.name) <= 150
    assert shard.name.endswith("a.jsonl")


def test_a_large_file_is_cut_between_row_groups_and_rows_keep_their_numbers(
    tmp_path: Path,
) -> None:
    file = write_rows(tmp_path / "log.parquet", 20, 4)
    shards = list_shards(file, shard_size=8)
    assert [each.name for each in shards] == [
        "log.parquet.row-0000000000",
        "log.parquet.row-0000000008",
        "log.parquet.row-0000000016",
    ]
    records = [each for shard in shards for each in shard.read(AUTO)]
    (whole,) = list_shards(file)
    assert [(each.line, each.found) for each in records] == [
        (each.line, each.found) for each in whole.read(AUTO)
    ]
    assert [each.line for each in records] == list(range(1, 21))


def test_what_is_wrong_with_a_row_names_the_file_and_row_of_the_source(tmp_path: Path) -> None:
    lines = [json.dumps({"id": f"{n}", "turns": [] if n == 6 else 7}) for n in range(8)]
    table = pa.table({"id": [f"{n}" for n in range(8)], "turns": lines})
    pq.write_table(table, tmp_path / "log.parquet", row_group_size=4)
    second = list_shards(tmp_path / "log.parquet", shard_size=4)[1]
    choice = FormatChoice("faithtui")
    errors = [each.found for each in second.read(choice) if isinstance(each.found, InputError)]
    assert errors
    assert errors[0].path == tmp_path / "log.parquet"
    assert errors[0].line == 5


def test_files_that_are_no_parquet_are_never_cut(tmp_path: Path) -> None:
    write_lines(tmp_path / "parcels.jsonl")
    assert [each.name for each in list_shards(tmp_path, shard_size=1)] == ["parcels.jsonl"]


@pytest.mark.parametrize("pattern", ["", "/*.parquet", "/log.parquet", "/**/*.parquet"])
def test_an_address_is_read_as_a_path_is(tmp_path: Path, pattern: str) -> None:
    write_rows(tmp_path / "bucket" / "log.parquet", 8, 4)
    address = f"file://{tmp_path}/bucket{pattern}"
    shards = list_shards(address, shard_size=4)
    assert [each.name for each in shards] == [
        "log.parquet.row-0000000000",
        "log.parquet.row-0000000004",
    ]
    assert [key for each in shards for key in keys(each)] == [f"row {n}" for n in range(8)]
    (whole,) = list_shards(address)
    assert keys(whole) == [f"row {n}" for n in range(8)]
    assert [each.line for each in whole.read(AUTO)] == list(range(1, 9))


def test_a_star_of_an_address_stays_within_its_folder(tmp_path: Path) -> None:
    for path in ("a/1.jsonl", "a/b/2.jsonl", "3.jsonl"):
        write_lines(tmp_path / path)
    found = [each.name for each in list_shards(f"file://{tmp_path}/*/*.jsonl")]
    assert found == ["a__1.jsonl"]


def test_a_json_file_behind_an_address_is_read_with_its_own_name_in_errors(
    tmp_path: Path,
) -> None:
    write_lines(tmp_path / "parcels.jsonl", [CONVERSATIONS[0], "{broken"])
    (shard,) = list_shards(f"file://{tmp_path}/parcels.jsonl")
    first, second = (each.found for each in shard.read(AUTO))
    assert first == next(iter(list_shards(tmp_path)[0].read(AUTO))).found
    assert isinstance(second, InputError)
    assert second.path == Path(f"file://{tmp_path}/parcels.jsonl")


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("nowhere.jsonl", "is not there"),
        ("empty", "holds no JSON, CSV, Parquet or Arrow file"),
        ("nothing-*.jsonl", "holds no JSON, CSV, Parquet or Arrow file"),
    ],
)
def test_a_source_without_data_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, says: str
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=says):
        list_shards(address)


def test_an_address_that_nobody_can_open_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected s3://, gs:// or file://"):
        list_shards("gopher://old/logs")


def test_a_parquet_file_that_is_damaged_is_not_cut_and_keeps_no_other_from_being(
    tmp_path: Path,
) -> None:
    write_rows(tmp_path / "good.parquet", 4, 2)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing more")
    names = [each.name for each in list_shards(tmp_path, shard_size=2)]
    assert names == [
        "bad.parquet",
        "good.parquet.row-0000000000",
        "good.parquet.row-0000000002",
    ]


def damage(path: Path, begin: int, end: int) -> None:
    content = bytearray(path.read_bytes())
    content[begin:end] = (each ^ 0xFF for each in content[begin:end])
    path.write_bytes(content)


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_damaged_footer_keeps_no_other_file_from_being_cut(tmp_path: Path, scheme: str) -> None:
    write_rows(tmp_path / "good.parquet", 4, 2)
    bad = write_rows(tmp_path / "bad.parquet", 4, 2)
    size = bad.stat().st_size
    footer = int.from_bytes(bad.read_bytes()[-8:-4], "little")
    damage(bad, size - 8 - footer + 3, size - 8 - footer + 40)
    with pytest.raises(OSError, match="thrift") as told:
        pq.ParquetFile(bad)
    assert told.value.errno is None
    shards = list_shards(f"{scheme}{tmp_path}", shard_size=2)
    assert len(shards) == 3
    with pytest.raises(InputError) as refused:
        keys(shards[0])
    assert type(refused.value) is InputError


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_shard_with_a_damaged_page_is_not_taken_for_one_that_can_be_read_later(
    tmp_path: Path, scheme: str
) -> None:
    file = write_rows(tmp_path / "log.parquet", 40, 10)
    column = pq.ParquetFile(file).metadata.row_group(2).column(2)
    begin = column.dictionary_page_offset or column.data_page_offset
    damage(file, begin + 25, begin + 60)
    with pytest.raises(OSError, match="snappy") as told:
        pq.ParquetFile(file).read_row_group(2)
    assert told.value.errno is None
    shards = list_shards(f"{scheme}{file}", shard_size=10)
    assert len(keys(shards[3])) == 10
    with pytest.raises(InputError, match="snappy") as refused:
        keys(shards[2])
    assert type(refused.value) is InputError


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder that is the bucket `s3://bucket`."""
    folder = tmp_path / "bucket"
    folder.mkdir()
    system = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    monkeypatch.setattr(
        shard_source,
        "_open_file_system",
        lambda address: (system, address.removeprefix("s3://").rstrip("/")),
    )
    return folder


@pytest.mark.parametrize("begin", [3, 40])
def test_a_damaged_footer_in_an_object_store_keeps_no_other_file_from_being_measured(
    bucket: Path, begin: int
) -> None:
    write_rows(bucket / "good.parquet", 4, 2)
    bad = write_rows(bucket / "bad.parquet", 4, 2)
    size = bad.stat().st_size
    footer = int.from_bytes(bad.read_bytes()[-8:-4], "little")
    damage(bad, size - 8 - footer + begin, size - 8 - footer + begin + 40)
    shards = list_shards("s3://bucket", shard_size=2)
    assert [each.name for each in shards][-2:] == [
        "good.parquet.row-0000000000",
        "good.parquet.row-0000000002",
    ]
    for each in shards[:-2]:
        with pytest.raises(InputError, match=r"\As3:/+bucket/bad.parquet: ") as refused:
            keys(each)
        assert type(refused.value) is InputError
        assert "\n" not in str(refused.value)
    assert [key for each in shards[-2:] for key in keys(each)] == [f"row {n}" for n in range(4)]


def test_a_damaged_page_in_an_object_store_is_no_failure_of_the_network(bucket: Path) -> None:
    file = write_rows(bucket / "log.parquet", 40, 10)
    column = pq.ParquetFile(file).metadata.row_group(2).column(2)
    begin = column.dictionary_page_offset or column.data_page_offset
    damage(file, begin + 25, begin + 60)
    shards = list_shards("s3://bucket/log.parquet", shard_size=10)
    assert [len(keys(shards[number])) for number in (0, 1, 3)] == [10, 10, 10]
    with pytest.raises(InputError, match=r"\As3:/+bucket/log.parquet: ") as refused:
        keys(shards[2])
    assert type(refused.value) is InputError


def test_of_a_large_file_only_the_row_groups_of_a_shard_are_fetched(
    bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows(bucket / "log.parquet", 1_600, 200)
    copied: list[int] = []
    copy = shard_source._copy_row_groups

    def copy_and_measure(address: str, groups: tuple[int, int], target: Path) -> None:
        copy(address, groups, target)
        copied.append(target.stat().st_size)

    monkeypatch.setattr(shard_source, "_copy_row_groups", copy_and_measure)
    shards = list_shards("s3://bucket/log.parquet", shard_size=200)
    assert [key for each in shards for key in keys(each)] == [f"row {n}" for n in range(1_600)]
    assert max(copied) < (bucket / "log.parquet").stat().st_size / 4


@pytest.mark.parametrize("rows", [3_000_000, 10**12])
def test_a_row_group_that_claims_more_rows_than_its_bytes_may_have_is_refused(
    tmp_path: Path, rows: int
) -> None:
    """It takes a few hundred bytes, and pyarrow makes a table of all its rows."""
    file = tmp_path / "log.parquet"
    nothing = pa.table({"question": pa.nulls(10, pa.string()), "answer": pa.nulls(10, pa.string())})
    pq.write_table(nothing, file, row_group_size=5)
    with file.open("rb") as opened:
        footer = Footer(opened)
        groups = [footer.read_group_metadata(number) for number in range(2)]
    groups[1][3] = I64, rows
    content = encode_struct(footer.make_footer_of_groups(groups))
    pages = file.read_bytes()[: -8 - len(footer._data)]
    file.write_bytes(pages + content + len(content).to_bytes(4, "little") + b"PAR1")
    shards = list_shards(file, shard_size=5)
    assert len(shards) == 2
    with pytest.raises(InputError, match=rf"log.parquet: has {rows:,} rows in [\d,]+ bytes"):
        keys(shards[1])


def test_an_object_store_is_asked_once_for_some_megabytes(tmp_path: Path) -> None:
    """A question takes it 50 ms, in which it gives 5 MB."""

    class CountedFile(io.FileIO):
        reads = 0

        def read(self, size: int | None = -1) -> bytes:
            self.reads += 1
            return super().read(size)

    path = tmp_path / "log.parquet"
    text = random.Random(1).randbytes(3_000_000).hex()
    pq.write_table(pa.table({"text": [text]}), path, use_dictionary=False, compression="none")
    copy = tmp_path / "copy.parquet"
    with CountedFile(path) as file, copy.open("wb") as target:
        copy_row_groups(file, [0], target)
        assert file.reads == 4, "the footer in three, and the column"
    assert pq.read_table(copy).to_pylist() == [{"text": text}]


def test_row_groups_are_looked_for_once_however_many_shards_are_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_rows(tmp_path / "log.parquet", 40, 2)
    looked: list[Footer] = []
    locate = Footer._locate_row_groups

    def locate_and_count(footer: Footer, reader: ThriftReader) -> None:
        looked.append(footer)
        locate(footer, reader)

    monkeypatch.setattr(Footer, "_locate_row_groups", locate_and_count)
    shards = list_shards(file, shard_size=2)
    assert len(looked) == 1
    assert sum(len(keys(shard)) for shard in shards) == 40
    # The others are those of the copies.
    assert sum(len(footer.list_row_counts()) == 20 for footer in looked) == 1
    write_rows(file, 30, 2)  # another file in its place
    assert len(list_shards(file, shard_size=2)) == 15
    assert sum(len(footer.list_row_counts()) == 15 for footer in looked) == 1


def test_columns_that_lie_on_one_another_are_not_copied_again_and_again(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "log.parquet", 2_000, 1_000)
    with file.open("rb") as opened:
        footer = Footer(opened)
        groups = [footer.read_group_metadata(number) for number in range(2)]
    for column in groups[0][1][1][1]:
        column[3][1][7] = I64, file.stat().st_size - 2_000
    content = encode_struct(footer.make_footer_of_groups(groups))
    file.write_bytes(file.read_bytes() + content + len(content).to_bytes(4, "little") + b"PAR1")
    first, second = list_shards(file, shard_size=1_000)
    with pytest.raises(InputError, match="its footer is damaged"):
        keys(first)
    assert len(keys(second)) == 1_000


def test_a_file_of_lists_without_rows_is_read_as_one_without_conversations(tmp_path: Path) -> None:
    kinds = pa.schema([("question", pa.string()), ("contexts", pa.list_(pa.string()))])
    pq.write_table(kinds.empty_table(), tmp_path / "log.parquet")
    (shard,) = list_shards(tmp_path / "log.parquet", shard_size=10)
    assert shard.groups is None
    assert keys(shard) == []


def test_what_the_system_or_an_object_store_does_not_give_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = list_shards(write_rows(tmp_path / "log.parquet", 4, 2), shard_size=2)[0]
    errors = {"s3://bucket/log.parquet": OSError("AWS Error"), shard.address: OSError(5, "I/O")}
    for address, error in errors.items():

        def fail(*_: object, error: OSError = error) -> None:
            raise error

        monkeypatch.setattr(shard_source, "_copy_row_groups", fail)
        with pytest.raises(FileUnreadable):
            keys(replace(shard, address=address))


def test_a_shard_size_below_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected 1 or more rows"):
        list_shards(tmp_path, shard_size=0)


def test_a_shard_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    shards = list_shards(write_lines(tmp_path / "parcels.jsonl"))
    assert find_shard(shards, "parcels.jsonl") == shards[0]
    with pytest.raises(ConfigError, match=r"no shard `parcel`; known: parcels.jsonl"):
        find_shard(shards, "parcel")


def test_a_file_that_is_named_is_a_source_wherever_results_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lines(tmp_path / "logs" / "a.jsonl")
    write_lines(tmp_path / "claims" / "b.jsonl")
    monkeypatch.chdir(tmp_path / "logs")
    assert [each.name for each in list_shards("a.jsonl", results=Path())] == ["a.jsonl"]
    assert [each.name for each in list_shards("*", results=Path())] == ["a.jsonl"]
    named = list_shards("../claims/b.jsonl", results=Path(".."))
    assert [each.name for each in named] == ["b.jsonl"]


def test_results_are_left_out_through_links_and_dots_and_nothing_else_is(tmp_path: Path) -> None:
    source = tmp_path / "s"
    for name in ("a.jsonl", "other/b.jsonl", "replies/c.jsonl", "journal/d.jsonl"):
        write_lines(source / name)
    (source / "manifest.json").write_text("{}", encoding="utf-8")
    (tmp_path / "link").symlink_to(source)
    for results in (tmp_path / "link", source / "other" / ".."):
        names = [each.name for each in list_shards(source, results=results)]
        assert names == ["a.jsonl", "other__b.jsonl"]
    with pytest.raises(InputError, match="holds only what faithtui wrote"):
        list_shards(source / "replies", results=tmp_path / "link")


@pytest.mark.parametrize(
    "address",
    ["s3://KEY:SECRET@bucket/a", "s3://KEY:SEC/RET@bucket", "s3:/KEY:SECRET@b", "gs://SECRET@b"],
)
def test_an_address_with_a_key_is_refused_and_the_key_is_not_printed(address: str) -> None:
    with pytest.raises(ConfigError, match="keys come from the environment") as caught:
        check_address_has_no_key(address)
    assert "SEC" not in str(caught.value)
    assert "KEY" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    ["s3://bucket/a@b", "abfss://logs@account/a", "file:///a:b@c", "http://host:80/a@b", "a:b@c"],
)
def test_an_address_without_a_key_may_have_its_signs(address: str) -> None:
    check_address_has_no_key(address)


def test_a_source_with_a_key_is_refused_and_one_of_a_missing_package_is_told() -> None:
    with pytest.raises(ConfigError, match="holds a user or a key"):
        list_shards("s3://KEY:SECRET@bucket/*.parquet")
    with pytest.raises(InputError, match="cannot be opened"):
        list_shards("hf://x/y")


def test_results_within_the_source_are_no_source(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl")
    write_lines(tmp_path / "results" / "conversations" / "b.jsonl")
    shards = list_shards(tmp_path, results=tmp_path / "results")
    assert [each.name for each in shards] == ["a.jsonl"]


@pytest.mark.parametrize("empty", ["", "  "])
def test_a_source_without_a_name_is_not_the_current_folder(empty: str) -> None:
    with pytest.raises(ConfigError, match="the source has no name"):
        list_shards(empty)


class GuardedStore:
    """Files of this machine, as an object store gives them to a key that may not do everything."""

    def __init__(self, refused: str) -> None:
        self._refused = refused

    def get_file_info(self, wanted: object) -> object:
        if self._refused == "look" and str(wanted).endswith("manifest.json"):
            raise PermissionError("access denied")
        return fs.LocalFileSystem().get_file_info(wanted)

    def open_input_file(self, path: str) -> object:
        raise OSError(f"no access to {path}")


def test_results_at_an_address_that_cannot_be_known_are_refused_and_nobody_elses_are_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lines(tmp_path / "replies" / "a.jsonl")
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    source = f"file://{tmp_path}/replies"

    def guard(refused: str) -> None:
        monkeypatch.setattr(
            "faithtui.engine.shards.shard_source._open_file_system",
            lambda address: (GuardedStore(refused), address.removeprefix("file://")),
        )

    guard("read")
    with pytest.raises(InputError, match=r"manifest.json.*cannot be read: no access to"):
        list_shards(source)
    guard("look")
    assert [each.name for each in list_shards(source)] == ["a.jsonl"]


def test_any_name_of_a_file_is_read_at_an_address(tmp_path: Path) -> None:
    names = ["a b", "c%20d", "e#f", "g?h", "ü", "i[1]*", "k+l", "m&n=1", "sub x/o"]
    for name in names:
        write_lines(tmp_path / f"{name}.jsonl", CONVERSATIONS[:1])
    shards = list_shards(f"file://{tmp_path}")
    assert len(shards) == len(names)
    for each in shards:
        assert len(list(each.read(FormatChoice()))) == 1
    (part,) = list_shards(f"file://{tmp_path}/sub%20x")
    assert part.source == "o"
    with pytest.raises(InputError, match=r"\Afile:///.*%20 for a space"):
        list_shards(f"file://{tmp_path}/sub x")


def test_a_folder_whose_name_begins_with_a_tilde_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lines(tmp_path / "~old" / "a.jsonl")
    monkeypatch.chdir(tmp_path)
    (found,) = list_shards("~old")
    assert found.address == str(tmp_path / "~old" / "a.jsonl")


def test_a_folder_whose_address_cannot_be_opened_does_not_keep_others_from_being_read(
    tmp_path: Path,
) -> None:
    for name in ("a.jsonl", "of us/replies/b.jsonl"):
        write_lines(tmp_path / name)
    names = [each.name for each in list_shards(f"file://{tmp_path}")]
    assert names == ["a.jsonl", "of_us__replies__b.jsonl"]


def test_a_shard_is_read_by_the_names_that_its_columns_are_mapped_to(tmp_path: Path) -> None:
    row = {"user_input": "q", "response": "a", "belege": ["p"]}
    (tmp_path / "x.jsonl").write_text(json.dumps(row), encoding="utf-8")
    [shard] = list_shards(tmp_path / "x.jsonl")
    for renames, expected in (({}, None), ({"belege": "contexts"}, ("p",))):
        [record] = shard.read(FormatChoice(renames=renames))
        passages = record.found.turns[1].retrieval_context  # type: ignore[union-attr]
        assert (passages and tuple(each.text for each in passages)) == expected
