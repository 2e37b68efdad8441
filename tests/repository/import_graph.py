"""Which file imports which, read from the sources: of a Rust crate, and of a Python package.

A name that a Rust module re-exports counts as imported from the file that defines it; declaring a module and
re-exporting its names is no import. Code under `#[cfg(test)]` is left out.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import networkx as nx

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

RustPath = tuple[str, ...]

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod\s+\w+\s*\{.*", re.DOTALL)
_USE = re.compile(r"^[ \t]*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.MULTILINE)
_INLINE = re.compile(r"\b(?:\w+::)+\w+")


def mutual_imports(imports: Mapping[Path, set[Path]]) -> set[tuple[Path, Path]]:
    """Pairs of files each of which imports the other."""
    return {
        (one, other)
        for one, imported in imports.items()
        for other in imported
        if one < other and one in imports.get(other, ())
    }


def circle(imports: Mapping[Path, set[Path]]) -> list[Path]:
    """Files of which each imports the next, and the last one the first; empty if there are none."""
    arrows = nx.DiGraph((one, other) for one in sorted(imports) for other in sorted(imports[one]))
    try:
        return [one for one, _ in nx.find_cycle(arrows)]
    except nx.NetworkXNoCycle:
        return []


def python_imports(package: Path) -> dict[Path, set[Path]]:
    """By file of the package in this folder: the package's files that it imports.

    At once, when a function is called, or only for annotations.
    """
    files = {_python_name(package, path): path for path in package.rglob("*.py*") if path.suffix in {".py", ".pyi"}}
    imports: dict[Path, set[Path]] = {}
    for name, path in files.items():
        found: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                folder = name if path.name == "__init__.py" else name.rpartition(".")[0]
                base = ".".join(folder.split(".")[: len(folder.split(".")) - node.level + 1]) if node.level else ""
                module = ".".join(part for part in (base, node.module) if part)
                # A name is a module of its own or one that the module defines.
                found.update(
                    f"{module}.{alias.name}" if f"{module}.{alias.name}" in files else module for alias in node.names
                )
        imports[path] = {files[other] for other in found if other in files} - {path}
    return imports


def _python_name(package: Path, path: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def rust_imports(crate: Path) -> dict[Path, set[Path]]:
    """By file of the crate in this folder: the crate's files whose items it names."""
    source = crate / "src"
    files: dict[RustPath, Path] = {}
    for path in sorted(source.rglob("*.rs")):
        parts = path.relative_to(source).with_suffix("").parts
        files[parts[:-1] if parts[-1] in {"lib", "mod"} else parts] = path
    texts = {module: _plain(path.read_text(encoding="utf-8")) for module, path in files.items()}
    exports: dict[RustPath, dict[str, RustPath]] = {module: {} for module in files}
    used: dict[RustPath, set[RustPath]] = {module: set() for module in files}
    for module, text in texts.items():
        for is_public, tree in _USE.findall(text):
            for name, target in _leaves(" ".join(tree.split())):
                absolute = _absolute(module, target, files)
                if absolute is None:
                    continue
                if is_public:
                    exports[module][name] = absolute
                else:
                    used[module].add(absolute)
        for inline in _INLINE.findall(_USE.sub("", text)):
            absolute = _absolute(module, tuple(inline.split("::")), files)
            if absolute is not None:
                used[module].add(absolute)
    return {
        files[module]: {files[_definer(target, files, exports)] for target in targets} - {files[module]}
        for module, targets in used.items()
    }


def _plain(text: str) -> str:
    return _TESTS.sub("", _STRING.sub('""', _COMMENT.sub("", text)))


def _leaves(tree: str, prefix: RustPath = ()) -> Iterator[tuple[str, RustPath]]:
    """The names that a `use` tree brings, and their paths."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, alias = tree.partition(" as ")
        parts = prefix + tuple(part.strip() for part in path.split("::"))
        parts = parts[:-1] if parts[-1] == "self" and len(parts) > 1 else parts
        yield (alias.strip() or parts[-1]), parts
        return
    prefix += tuple(part.strip() for part in head.split("::") if part.strip())
    depth, start = 0, 0
    inner = rest.rpartition("}")[0]
    for index, letter in enumerate(inner + ","):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if inner[start:index].strip():
                yield from _leaves(inner[start:index], prefix)
            start = index + 1


def _absolute(module: RustPath, path: RustPath, files: Mapping[RustPath, Path]) -> RustPath | None:
    """The path from the crate's root; None where it leads out of the crate."""
    first, rest = path[0], path[1:]
    if first == "crate":
        return rest
    if first == "self":
        return module + rest
    if first == "super":
        while rest and rest[0] == "super":
            module, rest = module[:-1], rest[1:]
        return module[:-1] + rest
    return module + path if (*module, first) in files else None


def _definer(
    target: RustPath, files: Mapping[RustPath, Path], exports: Mapping[RustPath, dict[str, RustPath]]
) -> RustPath:
    """The module that defines the object of the path, through re-exports."""
    for _ in range(10):
        module = max((target[:length] for length in range(len(target) + 1) if target[:length] in files), key=len)
        rest = target[len(module) :]
        if not rest or rest[0] not in exports[module]:
            return module
        target = exports[module][rest[0]] + rest[1:]
    raise AssertionError(f"re-exports of {'::'.join(target)} lead in a circle")
