"""A function of a library in C: arguments, the native call, results.

    int32_t model_f(model_memory *memory, double x, double *result, model_error *error)

There are several native versions of a function: a fast one, and behind it those that
are run where it fails, the last of which finds the first error. Each may be there for
several processors.
"""

from __future__ import annotations

from collections.abc import Sequence

from chadllvm.backend.aot.arguments import Arguments, ArrayLeaf, Leaf, ScalarLeaf
from chadllvm.backend.aot.declare import C_TYPES, Types
from chadllvm.backend.aot.function import Columns, Exported, Output
from chadllvm.backend.aot.names import Names, c_string
from chadllvm.backend.aot.nodes import Classes
from chadllvm.backend.aot.returned import Returned
from chadllvm.backend.aot.tree import CArray, CNode, tree
from chadllvm.ir.types import BOOL, Scalar, is_float
from chadllvm.llvm.state import Site


class Wrapper:
    """The C source of a function."""

    def __init__(
        self, function: Exported, types: Types, classes: Classes, levels: int
    ) -> None:
        self.function, self.types, self.levels = function, types, levels
        self.classes = classes
        self.prefix = types.prefix
        # Whether it asks for no memory, so that its state need not be ready for that.
        self.is_light = False
        self.name = f"{self.prefix}_{function.name}"
        self.arguments = self._arguments()
        self.returned = Returned(types, classes, function.title, self.arguments.names)
        for output in function.outputs:
            self._return(output)

    def _return(self, output: Output | Columns) -> None:
        if isinstance(output, Columns):
            heap = self.function.heap
            made = "gradients" if output.reals else "values"
            for of in heap.moved if output.reals else heap.given:
                self.returned.add_columns(of, made, reals=output.reals)
            return
        node = self.tree_of(output)
        if output.is_same and node is not None:
            leaves = self.arguments.of[output.like]
            self.returned.add_like(output.name, node, leaves)
            return
        room = self.arguments.shapes.get(output.like)
        if output.in_place:
            assert room is not None
            self.returned.add_in_place(room)
            return
        is_like = isinstance(node, CArray)
        self.returned.add(output.name, node, room if is_like else None)

    @property
    def outputs(self) -> list[Output]:
        """The results that C sees."""
        found = [out for out in self.function.outputs if isinstance(out, Output)]
        return [output for output in found if not output.in_place]

    @property
    def updated(self) -> frozenset[str]:
        """The parameters that are updated."""
        found = [out for out in self.function.outputs if isinstance(out, Output)]
        return frozenset(output.like for output in found if output.in_place)

    def tree_of(self, output: Output) -> CNode | None:
        """The tree of a result."""
        return tree(output.type, dict(self.function.params).get(output.like))

    def _arguments(self, *, sizes_only: bool = False) -> Arguments:
        names = Names(_OWN)
        found = Arguments(
            self.types, self.classes, self.function.title, names, sizes_only
        )
        found.updated = self.updated
        for name, ty in self.function.params:
            found.add(name, tree(ty))
        for of in self.function.heap.taken:
            found.add_columns(of)
        return found

    # ---- declarations

    @property
    def declared(self) -> list[str]:
        """The parameters."""
        memory, error = f"{self.prefix}_memory *memory", f"{self.prefix}_error *error"
        return [memory, *self.arguments.declared, *self.returned.declared, error]

    def declaration(self) -> str:
        """The declaration for the header, with what there is to know."""
        lines = [f"// {line}".rstrip() for line in self.function.about.splitlines()]
        if self.updated:
            listed = ", ".join(n for n, _ in self.function.params if n in self.updated)
            lines.append(f"// Updates {listed}, if it succeeds; no arguments overlap.")
        if self.returned.needs_memory:
            lines.append("// What it returns is in `memory`, which must not be NULL.")
        return "\n".join(
            [*lines, f"{self._api}{_prototype(self.name, self.declared)};"]
        )

    @property
    def _api(self) -> str:
        return f"{self.prefix.upper()}_API "

    # ---- definitions

    def definition(self, sites: Sequence[Site]) -> str:
        """The function, and what it calls."""
        return "\n".join(
            [
                *self._natives(),
                self._sites(sites),
                self._run(),
                self._public(),
                self._raw(),
            ]
        )

    def _natives(self) -> list[str]:
        params = ["chad_context_t *", "chad_word_t *"]
        for leaf in self.arguments.leaves:
            params += _leaf_types(leaf)
        listed = ", ".join(params)
        return [
            f"int32_t {self.function.symbol(self.prefix, version, level)}({listed});"
            for version in range(len(self.function.versions))
            for level in range(self.levels)
        ]

    def _sites(self, sites: Sequence[Site]) -> str:
        """Where the last version may fail, and what that means."""
        rows = [_site(self.prefix, site) for site in sites] or ["{0}"]
        body = ",\n".join(f"  {row}" for row in rows)
        return f"static const chad_lib_site {self._own('sites')}[] = {{\n{body},\n}};"

    def _own(self, what: str) -> str:
        return f"chad_{what}_{self.function.name}"

    def _run(self) -> str:
        """One version after the other, until one does not fail."""
        passed, declared = [], []
        for k, leaf in enumerate(self.arguments.leaves):
            names = [f"a{k}", *(f"a{k}_n{axis}" for axis in range(_rank(leaf)))]
            passed += names
            pairs = zip(_leaf_types(leaf), names, strict=True)
            declared += [
                f"const {ty} {n}".replace("const const", "const") for ty, n in pairs
            ]
        memory, error = f"{self.prefix}_memory *const memory", "*const error"
        declared = [
            "chad_state_t *const state",
            memory,
            "chad_word_t *const words",
            *declared,
            f"{self.prefix}_error {error}",
        ]
        args = ", ".join(["&state->shared", "words", *passed])
        lines = [f"int32_t status = {self._call(0, args)};"]
        for version in range(1, len(self.function.versions)):
            lines += [
                "if (status == CHAD_PROGRAM) {",
                # What asks for no memory leaves none behind, and has no state for it.
                "" if self.is_light else "  chad_lib_again(memory, state);",
                f"  status = {self._call(version, args)};",
                "}",
            ]
        title = c_string(self.function.title)
        lines += [
            "(void)memory;" if len(self.function.versions) == 1 else "",
            "if (status == CHAD_OK) {",
            "  return status;",
            "}",
            f"return chad_lib_failed(error, state, memory, status, {title}, "
            f"{self._own('sites')});",
        ]
        return _function(f"static int32_t {self._own('run')}", declared, lines)

    def _call(self, version: int, args: str) -> str:
        symbols = [
            self.function.symbol(self.prefix, version, level)
            for level in range(self.levels)
        ]
        return _ladder(symbols, args)

    def _public(self) -> str:
        arguments, returned = self.arguments, self.returned
        leaves = [part for leaf in arguments.leaves for part in _parts(leaf)]
        lines = ["const char *wrong = NULL;"] if _uses_wrong(arguments.lines) else []
        lines += [*arguments.lines, *returned.before]
        if returned.needs_memory:
            what = f'{c_string(self.function.title)}, "memory", "is NULL"'
            lines += [
                "if (memory == NULL) {",
                f"  return chad_lib_invalid(error, {what});",
                "}",
            ]
        run = ", ".join(["state", "memory", "words", *leaves, "error"])
        call = f"{self._own('run')}({run})"
        if self.function.has_nodes:
            lines += [*self._begin(), *self._with_nodes(call), self._end()]
        else:
            lines += [
                *self._begin(),
                f"const int32_t status = {call};",
                *_where_good(returned.after),
                self._end(),
            ]
        return _function(f"int32_t {self.name}", self.declared, lines)

    def _with_nodes(self, call: str) -> list[str]:
        """The call, with nodes entered in front of it and made behind."""
        returned, title = self.returned, c_string(self.function.title)
        good = [
            "chad_lib_made values = {chad_classes, {0}, {NULL}, {NULL}};",
            "chad_lib_made gradients = values;",
            "chad_lib_like(&gradients, &nodes);",
            *returned.columns,
            *(_MAKE if self.returned.needs_memory else []),
            *returned.making,
            "if (status != CHAD_OK) {",
            f"  status = chad_lib_failed(error, state, memory, status, {title}, NULL);",
            "} else {",
            *(f"  {line}" for line in returned.after),
            "}",
        ]
        return [
            "chad_lib_nodes nodes;",
            "chad_lib_begin_nodes(&nodes, state, chad_classes);",
            *self.arguments.entering,
            f"int32_t status = chad_lib_entered(&nodes, memory, {title}, error);",
            "if (status == CHAD_OK) {",
            f"  status = {call};",
            "}",
            "if (status == CHAD_OK) {",
            *(f"  {line}" for line in good),
            "}",
            "chad_lib_end_nodes(&nodes);",
        ]

    def _begin(self) -> list[str]:
        return [
            f"chad_word_t words[{max(1, self.returned.words)}];",
            "chad_state_t own;",
            self._state(),
        ]

    def _state(self) -> str:
        begin = "chad_lib_begin_light" if self.is_light else "chad_lib_begin"
        return f"chad_state_t *const state = {begin}(memory, &own);"

    def _end(self) -> str:
        if self.is_light:
            return "return status;"
        return "return chad_lib_end(memory, &own, status);"

    def _raw(self) -> str:
        """The same for Python: arrays are objects of NumPy's, results are words."""
        declared, tests, parts = ["chad_lib_call *call", "chad_word_t *words"], [], []
        for k, leaf in enumerate(self.arguments.leaves):
            if isinstance(leaf, ScalarLeaf):
                declared.append(f"{C_TYPES[leaf.type]} a{k}")
                parts.append(f"(a{k} != 0)" if leaf.type == BOOL else f"a{k}")
                continue
            declared.append(f"intptr_t a{k}")
            kind = f"CHAD_TYPE_{str(leaf.elem).upper()}"
            tests.append(f"chad_lib_is_plain(call, a{k}, {kind}, {len(leaf.sizes)})")
            parts.append(f"chad_lib_items(call, a{k})")
            axes = range(len(leaf.sizes))
            parts += [f"chad_lib_size(call, a{k}, {axis})" for axis in axes]
        run = ", ".join(["state", "call->memory", "words", *parts, "&call->error"])
        name = raw_name(self.prefix, self.function.name)
        lines = [
            *(f"if (!{test}) {{\n    return CHAD_INVALID;\n  }}" for test in tests),
            "chad_state_t own;",
            self._state().replace("(memory", "(call->memory"),
            "state->shared.site = -1;",
            f"const int32_t status = {self._own('run')}({run});",
            "if (status != CHAD_OK) {",
            "  chad_lib_note(call, state);",
            "}",
            self._end().replace("(memory", "(call->memory"),
        ]
        head = f"{self._api}int32_t {name}"
        return f"{_prototype(name, declared, self._api)};\n" + _function(
            head.removeprefix(self._api), declared, lines
        )

    # ---- what belongs to a function

    def workspace(self) -> tuple[str, str]:
        """The declaration and the definition of how much workspace it needs."""
        arguments = self._arguments(sizes_only=True)
        bytes_name = arguments.names.new("bytes")
        declared = [*arguments.declared, f"size_t *{bytes_name}"]
        declared.append(f"{self.prefix}_error *error")
        name, title = f"{self.name}_workspace", c_string(self.function.title)
        about = f"// The bytes of workspace that {self.name} needs for these sizes."
        prototype = _prototype(name, declared)
        leaves = [part for leaf in arguments.leaves for part in _parts(leaf)]
        args = ", ".join(["&chad_lib_count(&own, &total)->shared", "words", *leaves])
        lines = ["const char *wrong = NULL;"] if _uses_wrong(arguments.lines) else []
        lines += [
            *arguments.lines,
            f"if ({bytes_name} == NULL) {{",
            f'  return chad_lib_invalid(error, {title}, "{bytes_name}", "is NULL");',
            "}",
            "chad_word_t words[1];",
            "chad_state_t own;",
            "int64_t total = 0;",
            "int64_t most = 0;",
            "int32_t status = CHAD_OK;",
        ]
        for version in range(len(self.function.versions)):
            symbol = self.function.workspace_symbol(self.prefix, version)
            lines += [
                f"status = {symbol}({args});",
                "chad_lib_counted(&own, &total, &most);",
            ]
        lines += [
            "if (status != CHAD_OK) {",
            f'  return chad_lib_invalid(error, {title}, "a size", "does not fit");',
            "}",
            f"*{bytes_name} = chad_lib_workspace(most);",
            "return CHAD_OK;",
        ]
        params = ["chad_context_t *", "chad_word_t *"]
        for leaf in arguments.leaves:
            params += _leaf_types(leaf)
        natives = [
            f"int32_t {self.function.workspace_symbol(self.prefix, v)}"
            f"({', '.join(params)});"
            for v in range(len(self.function.versions))
        ]
        definition = _function(f"int32_t {name}", declared, lines)
        return (
            f"{about}\n{self._api}{prototype};",
            "\n".join([*natives, definition]),
        )

    def log_density(self) -> tuple[str, str]:
        """The same as a log-density and its gradient, as samplers call them."""
        name, own = f"{self.name}_log_density", self.function.logp
        user = f"{self.name}_user"
        x = self.arguments.shapes[own]
        skipped = {x.data, *x.sizes}
        others = [
            d for d in self.arguments.declared if _declared_name(d) not in skipped
        ]
        fields = [
            f"{self.prefix}_memory *memory",
            f"{self.prefix}_error *error",
            *others,
        ]
        about = (
            f"// {self.name} as samplers call a log-density: `dim` numbers at `x`, the "
            "gradient to\n// `grad`, the value to `logp`; `user` is the address of the "
            "other arguments."
        )
        struct = "\n".join(
            [f"typedef struct {user} {{", *(f"  {f};" for f in fields), f"}} {user};"]
        )
        params = "uint64_t dim, const double *x, double *grad,"
        prototype = f"int64_t {name}({params}\n    double *logp, void *user)"
        passed = ["data->memory"]
        for declared in self.arguments.declared:
            part = _declared_name(declared)
            held = {x.data: "x", x.sizes[0]: "(int64_t)dim"}
            passed.append(held.get(part, f"data->{part}"))
        passed += ["logp", "grad", "data->error"]
        lines = [
            f"const {user} *const data = user;",
            "if (data == NULL) {",
            f"  return {self.prefix.upper()}_INVALID;",
            "}",
            f"return {self.name}({', '.join(passed)});",
        ]
        if not others:
            lines = [
                f"static const {user} none = {{NULL, NULL}};",
                f"const {user} *const data = user == NULL ? &none : user;",
                lines[-1],
            ]
        body = "\n".join(f"  {line}" for line in lines)
        return (
            f"{struct}\n\n{about}\n{self._api}{prototype};",
            f"{prototype} {{\n{body}\n}}\n",
        )


# Names of variables in every function.
_OWN = {"memory", "error", "words", "own", "state", "status", "wrong", "nodes"}
_OWN |= {"values", "gradients"}

_MAKE = [
    "status = chad_lib_make(&values, state);",
    "if (status == CHAD_OK) {",
    "  status = chad_lib_make(&gradients, state);",
    "}",
]


def raw_name(prefix: str, name: str) -> str:
    """What Python calls."""
    return f"{prefix}_raw_{name}"


def _ladder(symbols: Sequence[str], args: str) -> str:
    """The call of the version for the processor that we are on."""
    if len(symbols) == 1:
        return f"{symbols[0]}({args})"
    best, *rest = reversed(symbols)
    level = len(rest)
    return f"chad_lib_level() >= {level}\n      ? {best}({args})\n      : " + (
        _ladder([*reversed(rest)], args)
    )


def _declared_name(declared: str) -> str:
    return declared.rpartition(" ")[2].lstrip("*")


def _prototype(name: str, params: Sequence[str], api: str = "") -> str:
    """A declaration in lines of a readable length."""
    return f"{api}int32_t {name}({_listed(params, len(api) + len(name) + 24)})"


def _listed(params: Sequence[str], column: int) -> str:
    text = ", ".join(params)
    if len(text) + column < 88:
        return text
    lines, line = [], ""
    for param in params:
        if line and len(line) + len(param) > 80:
            lines.append(line.rstrip())
            line = ""
        line += f"{param}, "
    lines.append(line.rstrip(", "))
    return "\n    ".join(["", *lines])


def _function(head: str, params: Sequence[str], lines: Sequence[str]) -> str:
    body = "\n".join(f"  {line}" for line in lines if line)
    return f"{head}({_listed(params, len(head))}) {{\n{body}\n}}\n"


def _where_good(after: Sequence[str]) -> list[str]:
    if not after:
        return []
    return ["if (status == CHAD_OK) {", *(f"  {line}" for line in after), "}"]


def _uses_wrong(lines: Sequence[str]) -> bool:
    return any(line.startswith("wrong = ") for line in lines)


def _rank(leaf: Leaf) -> int:
    return len(leaf.sizes) if isinstance(leaf, ArrayLeaf) else 0


def _leaf_types(leaf: Leaf) -> list[str]:
    if isinstance(leaf, ArrayLeaf):
        return [f"const {C_TYPES[leaf.elem]} *", *["int64_t"] * len(leaf.sizes)]
    return [C_TYPES[leaf.type]]


def _parts(leaf: Leaf) -> list[str]:
    if isinstance(leaf, ArrayLeaf):
        return [leaf.data, *leaf.sizes]
    return [leaf.value]


def _site(prefix: str, site: Site) -> str:
    """A row of the table of failures."""
    failure, span = site.failure, site.failure.span
    status = {"MemoryError": "NO_MEMORY", "RecursionError": "TOO_DEEP"}
    name = f"{prefix.upper()}_{status.get(failure.kind, 'PROGRAM')}"
    values = "".join(map(_letter, site.values))
    file = span.file if span.line else ""
    texts = (file, span.function, failure.kind, failure.message, values)
    return f"{{{name}, {span.line}, {', '.join(map(c_string, texts))}}}"


def _letter(ty: Scalar) -> str:
    return "d" if is_float(ty) else "b" if ty == BOOL else "i"
