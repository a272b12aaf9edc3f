"""What docs/scale.md tells to type is run as it stands, with small logs and the offline judge."""

import importlib.util
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faithtui import measure_shards
from tests.docs.generate import DOCS, ROOT
from tests.engine.building import conversation
from tests.engine.shards.shard_files import read_tables, write_lines
from tests.judges.question_answers import answer_to, read_question

PAGE = (DOCS / "scale.md").read_text(encoding="utf-8")
BASH = shutil.which("bash")


def find_block(language: str, word: str) -> str:
    """Find the block of the page that has a word."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (found,) = (each for each in blocks if word in each)
    return str(found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with logs of two files."""
    for number in range(2):
        write_lines(tmp_path / "logs" / f"{number}.jsonl", [conversation(f"{number}", 1)])
    return tmp_path


def run_there(folder: Path, *words: str) -> str:
    """Run a program in a folder where `faithtui` is found, with a home of its own."""
    programs = f"{folder / 'bin'}{os.pathsep}{Path(sys.executable).parent}"
    found = subprocess.run(
        words,
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "FAITHTUI_HOME": str(folder / "home"),
        },
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.thorough  # programs that are started in processes of their own
@pytest.mark.skipif(BASH is None, reason="there is no bash here")
def test_xargs_measures_what_one_command_measures(folder: Path) -> None:
    run_there(folder, "bash", "-c", find_block("sh", "xargs"))
    measure_shards(folder / "logs", folder / "once")
    assert read_tables(folder / "results") == read_tables(folder / "once")


@pytest.mark.thorough  # as above
def test_a_process_pool_of_python_measures_what_one_command_measures(folder: Path) -> None:
    (folder / "pool.py").write_text(find_block("python", "ProcessPoolExecutor"))
    assert run_there(folder, sys.executable, "pool.py") == "2\n"
    measure_shards(folder / "logs", folder / "once")
    assert read_tables(folder / "results") == read_tables(folder / "once")


VLLM = """\
#!{python}
'''Stands for `vllm run-batch`: answers a file of questions into another one.'''
import argparse, json, sys
from tests.engine.shards.test_question_wave import make_answer

assert sys.argv[1] == "run-batch"
parser = argparse.ArgumentParser()
parser.add_argument("-i"), parser.add_argument("-o"), parser.add_argument("--model")
given = parser.parse_args(sys.argv[2:])
with open(given.i) as questions, open(given.o, "w") as answers:
    for line in questions:
        asked = json.loads(line)
        assert asked["body"]["model"] == given.model
        answers.write(json.dumps(make_answer(asked["custom_id"], asked["body"])) + "\\n")
"""


@pytest.mark.thorough  # as above
@pytest.mark.skipif(BASH is None, reason="there is no bash here")
def test_the_loop_of_waves_ends_when_all_is_whole(folder: Path) -> None:
    program = folder / "bin" / "vllm"
    program.parent.mkdir()
    program.write_text(VLLM.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    run_there(folder, "bash", "-c", find_block("sh", "vllm run-batch"))
    states = {each["state"] for each in read_tables(folder / "results")["conversations"]}
    assert states == {"scored"}


def load_ray_functions() -> dict[str, Any]:
    """Define what the page gives to Ray Data LLM, without Ray."""
    code = find_block("python", "vLLMEngineProcessorConfig")
    functions = "".join(re.findall(r"^def .*?^\n(?=\S)", code, re.MULTILINE | re.DOTALL))
    page: dict[str, Any] = {"json": json, "Path": Path}
    exec(functions, page)
    return page


def generate(row: dict[str, Any]) -> dict[str, Any]:
    """Answer a row as an engine of Ray Data LLM does: it adds what it generated."""
    schema = json.loads(row["sampling_params"]["structured_outputs"]["json"])
    form = {"type": "json_schema", "json_schema": {"schema": schema}}
    body = {"model": "m", "messages": row["messages"], "response_format": form, "max_tokens": 1}
    text = json.dumps(answer_to(read_question(body, is_openai=True)))
    given = {"generated_text": text, "num_input_tokens": 100}
    return {**row, **given, "num_generated_tokens": 10}


def measure_in_waves(folder: Path, answer_all: Callable[[Path], None]) -> None:
    """Measure until nothing waits, with somebody who answers all questions of a wave."""

    def measure() -> int:
        return measure_shards(
            folder / "logs", folder / "results", judge="openai:m",
            base_url="http://127.0.0.1:9/v1", wave=folder / "wave",
        ).waiting  # fmt: skip

    waves = 0
    while measure():
        answer_all(folder / "wave")
        waves += 1
    assert waves > 1
    states = {each["state"] for each in read_tables(folder / "results")["conversations"]}
    assert states == {"scored"}


def test_rows_of_ray_data_llm_are_answers_to_the_questions(folder: Path) -> None:
    page = load_ray_functions()

    def answer_all(wave: Path) -> None:
        for path in (wave / "questions").iterdir():
            for text in path.read_text().splitlines():
                row = {"text": text, "path": str(path)}
                found = page["write_answer"](generate({**row, **page["read_question"](row)}))
                with (wave / "answers" / found["name"]).open("a") as file:
                    file.write(found["answer"] + "\n")

    measure_in_waves(folder, answer_all)


def test_an_answer_of_ray_data_llm_that_was_cut_says_so() -> None:
    write_answer = load_ray_functions()["write_answer"]
    row = {"custom_id": "a", "path": "/w/0.jsonl", "generated_text": "{", "num_input_tokens": 1}
    for tokens, end in ((99, "stop"), (100, "length")):
        found = write_answer({**row, "num_generated_tokens": tokens, "max_tokens": 100})
        choice = json.loads(found["answer"])["response"]["body"]["choices"][0]
        assert choice["finish_reason"] == end


@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None and "FAITHTUI_RAY" not in os.environ,
    reason="Ray is not installed; .ci/wide runs this in an environment of its own",
)
@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")  # Ray's own, of the packages that it imports
def test_ray_data_llm_takes_the_configuration_and_carries_questions_and_answers(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of the page runs on a real Ray, but for the stages that need a GPU."""
    import ray
    from ray.data import llm
    from ray.llm._internal.batch.processor.base import Processor

    built: list[Any] = []

    def generate_within(row: dict[str, Any]) -> dict[str, Any]:
        return {name: generate(columns) for name, columns in row.items()}

    def build(config: Any, **functions: Any) -> Any:
        built.append(config)
        made = Processor(config, [], **functions)
        return lambda rows: rows.map(made.preprocess).map(generate_within).map(made.postprocess)

    monkeypatch.setattr(llm, "build_processor", build)
    monkeypatch.chdir(folder)
    code = find_block("python", "vLLMEngineProcessorConfig")
    paths = f"{ROOT}{os.pathsep}{Path(__file__).parent}"
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": paths}},
    )
    try:
        measure_in_waves(folder, lambda wave: exec(code, {"__name__": "page"}))
    finally:
        ray.shutdown()
    assert {type(each) for each in built} == {llm.vLLMEngineProcessorConfig}
    assert built[0].engine_kwargs["max_model_len"] == 16384


def test_the_page_names_no_option_that_is_not_there() -> None:
    words = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE))
    help_page = (DOCS / "cli.md").read_text(encoding="utf-8")
    others = {"--array", "--wrap", "--model"}
    assert {each for each in words - others if each not in help_page} == set()
