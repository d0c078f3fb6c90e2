"""Controls as kernel modules: what is refused, how they are built, and what they do in a guest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from required import needs
from specimens import GOOD

from narrows.backends import get_backend
from narrows.backends.kernel import backend as kernel_backend
from narrows.backends.sim import Simulator
from narrows.backends.uml import Uml, get_kernel, module_tree, modules
from narrows.errors import InputError, SpecError
from narrows.metrics import summarise
from narrows.spec import load
from narrows.spec.kernel_program import is_module
from narrows.spec.permission import allowing

EXAMPLES = Path(__file__).parents[2] / "experiments"
EXAMPLE = EXAMPLES / "own-control-module"
SHORT = ["run.duration=12s", "run.warmup=2s"]


def example(changes: tuple[str, ...] = ()) -> dict[str, Any]:
    with allowing([EXAMPLE]):
        return dict(load(EXAMPLE / "experiment.toml", [*SHORT, *changes]).spec.scenario)


def of(directory: Path, text: str) -> dict[str, Any]:
    (directory / "mine.c").write_text(text, encoding="utf-8")
    spec = directory / "spec.toml"
    spec.write_text(GOOD.replace('cca = "cubic"', 'cca = "mine.c"'), encoding="utf-8")
    with allowing([directory]):
        return dict(load(spec).spec.scenario)


def test_only_files_of_c_are_modules() -> None:
    names = ("a.c", "sub/a.c", ".c", "a.bpf.c", "a.o", "cubic", "a:B")
    assert [is_module(name) for name in names] == [True, True, *[False] * 5]


def test_a_module_is_a_part_of_the_scenario_and_only_uml_takes_it(tmp_path: Path) -> None:
    scenario = of(tmp_path, "int x;\n")
    assert scenario["controls"]["mine.c"] == {"file": "mine.c", "text": "int x;\n"}
    with pytest.raises(SpecError, match="code that nobody has allowed"):
        load(tmp_path / "spec.toml")
    for check in (Simulator().check, kernel_backend._check):
        with pytest.raises(SpecError, match="--backend uml for this control") as caught:
            check(scenario)
        assert caught.value.place == "flows[0].cca"


def test_headers_programs_and_symbols_are_kept_and_nothing_else(tmp_path: Path) -> None:
    tree, objects = tmp_path / "tree", tmp_path / "objects"
    kept = ("Makefile", "include/net/tcp.h", "scripts/mod/modpost.c", "arch/um/Makefile")
    left = ("net/ipv4/tcp.c", "arch/um/kernel/time.c", "drivers/a.h")
    made = (".config", "include/generated/autoconf.h", "scripts/mod/modpost")
    rest = ("vmlinux.o", "scripts/mod/modpost.o", "net/a.h")
    for root, names in (
        (tree, kept + left),
        (objects, made + rest),
        (objects, ("vmlinux.symvers",)),
    ):
        for name in names:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(name)
    module_tree.pack(tree, objects, tmp_path / "all.tar.gz")
    module_tree.unpack(tmp_path / "all.tar.gz", tmp_path / "again")
    found = {
        str(f.relative_to(tmp_path / "again")) for f in tmp_path.glob("again/**/*") if f.is_file()
    }
    assert found == {*kept, *made, "Module.symvers"}


@needs("uml")
def test_a_kernel_without_what_modules_need_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modules, "which", lambda name: name)
    older = replace(get_kernel(), name="older")
    with pytest.raises(InputError, match="narrows kernel build"):
        modules.check(of(tmp_path, ""), [older])
    monkeypatch.setattr(modules, "which", lambda _: None)
    with pytest.raises(InputError, match="apt install build-essential kmod"):
        modules.check(of(tmp_path, ""), [])


@needs("uml-modules")
def test_the_same_control_in_python_and_as_a_module_behaves_alike() -> None:
    """The example beside Reno, in a kernel and in the simulator."""
    uml = Uml(get_kernel().name)
    scenario = example()
    first, again = uml.run(scenario), uml.run(scenario)
    assert first.info.digest == again.info.digest
    told = first.info.conditions["controls"]["aimd.c"]
    assert told["name"] == "aimd"
    with allowing([EXAMPLES]):
        spec = load(EXAMPLES / "own-control-python" / "experiment.toml", SHORT).spec
        simulated = get_backend("sim").run(dict(spec.scenario))
    shares = []
    for result, of_it in ((first, scenario), (simulated, spec.scenario)):
        flows = summarise(of_it, result.tables, result.info)["flows"]
        shares.append(flows[0]["goodput_mbps"] / sum(flow["goodput_mbps"] for flow in flows))
    assert shares[0] == pytest.approx(shares[1], abs=0.1)
    assert 0.35 < shares[0] < 0.65


@needs("uml-modules")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("int x\n", "narrows_own.c:"),
        (
            '#include <linux/module.h>\nMODULE_LICENSE("GPL");\nMODULE_DESCRIPTION("");\n',
            "0 controls",
        ),
    ],
    ids=["no C", "no control"],
)
def test_a_module_that_is_none_is_refused_with_the_reason(
    tmp_path: Path, text: str, said: str
) -> None:
    uml = Uml(get_kernel().name)
    with pytest.raises(SpecError) as caught:
        uml.run(of(tmp_path, text))
    assert said in str(caught.value)
    assert caught.value.place == "mine.c"
