"""A function of a generated text in, the same compiled by Numba out.

``adaptation`` turns the text into one that Numba takes, with a *wrapper* around it in Python: it reads what the
function reads from outside, calls the compiled function, and puts containers of results together:

    def loss_grad(params, X):
        try:
            r = compiled(params['W'], params['b'], X)
        except Exception as error:
            return again(error, params, X)
        return {'W': r[0], 'b': r[1]}

Whatever the compiled function raises, the generated Python function is called with the same arguments: it raises the
error that the user is to see, or has the result where only compiled code cannot have it. It can be called again because
generated code never changes its arguments. What Numba cannot compile runs as Python, with a warning.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import operator
import re
import sys
import time
import types
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from s2s.analysis.abstract.parts import part
from s2s.backends.background import worker
from s2s.backends.numba.adaptation import Adapted, adapt
from s2s.backends.numba.differences import difference
from s2s.backends.numba.number_kinds import kind_of_value
from s2s.backends.numba.paths import Outside, Unsupported
from s2s.backends.numba.straight import refused as refused_statements
from s2s.backends.numba.syntax import define, names_in
from s2s.backends.numba.wrappers import Names, write_wrapper
from s2s.codegen.link import file_name, link
from s2s.core.critical import section
from s2s.core.lines import lines_of
from s2s.core.values import AbstractValue
from s2s.errors import error
from s2s.notices import Notice, NumbaFallbackWarning, tell, with_page
from s2s.versions.guards import ObjectGuard
from s2s.versions.paths import imported
from s2s.versions.request import Compiled, Path

try:
    import numba
    from numba.core import ir
    from numba.core.errors import NumbaError, NumbaWarning
except ImportError as missing:
    raise error("S2S533", problem=missing) from None

from s2s.backends.numba.called import Caller, Refused, cell_of, flags, global_of
from s2s.backends.numba.exits import Pipeline
from s2s.backends.numba.kept import Kept, digest_of, keep, mark_of_called
from s2s.backends.numba.libraries import linked_once
from s2s.backends.numba.messages import without_shapes
from s2s.backends.numba.quiet import leave_warnings_alone
from s2s.backends.numba.regions import Regions
from s2s.backends.numba.shares import split
from s2s.backends.numba.turns import numba_in_section
from s2s.core.progress import AFTER, shown_on_terminal

__all__ = ["Refused", "Text", "Wrapped", "at_line", "check_types", "compiled_text", "refused_by"]


MISSED = (4, 64, 1024)
"""After so many calls with types for which nothing is compiled, those of the last one are, where no call itself may
compile."""


_LONG = 100
"""A text of more lines takes long because of them."""


class _Plainly(ast.NodeTransformer):
    """Names what the head of a text makes, functions with derivatives that were chosen for them, by the functions that
    they are when they run."""

    def __init__(self, made: Mapping[str, str]) -> None:
        self.made = {name: ast.parse(text, mode="eval").body for name, text in made.items()}

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "np.ndarray":
            node.func.value = node.args.pop(0)  # a method
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        made = self.made.get(node.id)
        if not isinstance(made, ast.Call) or not made.args or not isinstance(node.ctx, ast.Load):
            return node
        return ast.copy_location(copy.deepcopy(made.args[0]), node)


class Text:
    """The text of a version, and what its names mean."""

    def __init__(
        self, compiled: Compiled, function: types.FunctionType, avals: tuple[AbstractValue, ...],
        values: tuple[Any, ...], options: Mapping[str, Any] = MappingProxyType({}), moved: tuple[Path, ...] = (),
    ) -> None:
        """``moved`` are the arguments whose tangents, of the same kinds, are the last parameters; ``values`` may have
        them."""
        self.compiled = compiled
        self.options = dict(options)
        self.is_aside = False  # true in a thread of its own, for a user who has not asked for Numba
        self.function = function
        self.tree = _Plainly(compiled.made).visit(ast.parse(compiled.text))
        defs = [node for node in self.tree.body if isinstance(node, ast.FunctionDef)]
        self.entry = next(node for node in defs if node.name == compiled.entry)
        self.parameters = [a.arg for a in self.entry.args.args]
        has_tangents = len(values) == len(self.parameters)
        for name, *rest in moved:
            place = self.parameters.index(name)
            avals += (part(avals[place], tuple(rest)),)
            values += () if has_tangents else (functools.reduce(operator.getitem, rest, values[place]),)
        self.samples = dict(zip(self.parameters, values, strict=True))
        self.avals = dict(zip(self.parameters, avals, strict=True))
        self.guarded = {
            (guard.path, id(guard.value))
            for guard in compiled.guards
            if isinstance(guard, ObjectGuard) and guard.owner is None and guard.root in ("global", "free")
        }

    def find(self, name: str) -> Any:
        """The value of a name that the text reads from outside."""
        if name == "globals()":
            return self.function.__globals__
        if name in self.compiled.imports:
            return imported(self.compiled.imports[name])
        if name in self.compiled.objects:
            return self.compiled.objects[name]
        if name in self.compiled.free:
            return cell_of(self.function, name)
        return global_of(self.function, name)

    def outside(
        self, samples: dict[str, Any], same: list[str], replace: Callable[[Any, ast.Call | None], Any], **more: Any
    ) -> Outside:
        """What the names of a function of the text mean, whose parameters have these values now; ``same`` are those
        that are parameters of the version."""
        return Outside(self.find, samples, {n: self.avals[n] for n in same}, self.is_trusted, replace, **more)

    def is_trusted(self, path: str, value: Any) -> bool:
        """Whether a guard of the version, or the text itself, sees to it that a path leads to this object."""
        names = tuple(path.split("."))
        if names[0] in self.compiled.objects or (len(names) == 1 and names[0] in self.compiled.imports):
            return True
        return (names, id(value)) in self.guarded

    def linked(
        self, node: ast.FunctionDef, imports: dict[str, str] | None = None, objects: dict[str, Any] | None = None
    ) -> types.FunctionType:
        """A function as Python, where the text runs: with the same names, and those given."""
        own = self.compiled
        read = names_in(node)
        module = ast.fix_missing_locations(ast.Module([node], []))
        made = Compiled(
            ast.unparse(module),
            node.name,
            {n: path for n, path in own.imports.items() if n in read} | (imports or {}),
            {n: value for n, value in own.objects.items() if n in read} | (objects or {}),
            own.globals,
            tuple(n for n in own.free if n in read),
        )
        return link(made, self.function)

    def user_line(self, line: int) -> int | None:
        """The line of the user's file that a line of the text comes from."""
        pairs = self.compiled.places.get(self.function.__code__.co_filename, ())
        known = next((source for made, source in pairs if made == line), None)
        return known or _user_line(lines_of(self.compiled.text), line)

    def warn(self, refused: Refused) -> None:
        """Say that this version runs as Python."""
        if self.is_aside:
            return
        code = self.function.__code__
        lines = lines_of(self.compiled.text)
        shown = _shown(lines, refused)
        source = self.user_line(refused.line)
        where = f"{code.co_filename}:{source or code.co_firstlineno}"
        text = f"{self.compiled.entry} runs without Numba ({where}{shown}): {refused.reason}"
        warnings.warn(with_page(text, NumbaFallbackWarning), NumbaFallbackWarning, stacklevel=_caller())


def _shown(lines: list[str], refused: Refused) -> str:
    return f", at `{lines[refused.line - 1].strip()}`" if 1 <= refused.line <= len(lines) else ""


def at_line(compiled: Compiled, refused: Refused) -> str:
    """The reason of a refusal, with the line of the generated code."""
    return f"{refused.reason}{_shown(lines_of(compiled.text), refused)}"


def _user_line(lines: list[str], line: int) -> int | None:
    """The line of the user's file that a line of the text comes from, as its comments say."""
    if not 1 <= line <= len(lines):
        return None
    for text in lines[line - 1 :: -1]:
        comment = text.strip()
        if comment.startswith("# L") and comment[3:].partition(":")[0].isdigit():
            return int(comment[3:].partition(":")[0])
        if comment in ("# reverse sweep", "# forward sweep"):
            return None
    return None


def _caller() -> int:
    """How many frames up the call is that s2s was asked by."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and (
        frame.f_globals.get("__name__", "").partition(".")[0] == "s2s" or frame.f_code.co_filename.startswith("<s2s")
    ):
        level, frame = level + 1, frame.f_back
    return level


# --- one function ---------------------------------------------------------------------------------------------------


_FINAL = "finally: "
"""Before a refusal that is kept, where letting Python make calls does not help."""


class Wrapped(Caller):
    """One function of a text, compiled, with its wrapper ``function``. Raises Refused where that cannot be."""

    def __init__(
        self, text: Text, node: ast.FunctionDef, plain: Callable[..., Any], samples: dict[str, Any], kinds: Any,
        same: list[str] | None = None,
    ) -> None:
        super().__init__(flags(text.options), is_aside=text.is_aside)
        if text.compiled.is_by_layout:
            raise Refused("the order of axes in memory, which Numba does not keep, decides what it does", 0)
        self.text = text
        self.plain = plain
        self.name = node.name
        self.first: tuple[Kept, tuple[Any, ...]] | None = None
        self._made_of = node, samples, kinds, text.parameters if same is None else same
        self.regions = Regions(node, samples, text.linked)
        self._prepare(frozenset())
        if text.is_aside:
            del self._made_of

    def _prepare(self, lines: frozenset[int]) -> None:
        """Write what is to be compiled, where Python makes the calls at these lines. Raises Refused."""
        node, samples, kinds, same = self._made_of
        self.facts, self.called = [], []
        parameters = [a.arg for a in node.args.args]
        outside = self.text.outside(
            samples, same, self.replace, python=self.python, lacks=self.lacks, by_python=lines,
            region=self._region, is_parallel=bool(self.options.get("parallel")),
            kinds={name: kind_of_value(samples[name]) for name in parameters})
        try:
            self.adapted = adapt(node, outside)
        except Unsupported as refused:
            raise Refused(refused.reason, refused.line) from None
        except RecursionError:
            raise Refused("the code is nested too deeply", node.lineno) from None
        self.check(self.adapted, lines - self.regions.lines())
        self.compiled, self.kept = compiled_text(self.adapted, self.text, self)
        self.facts += self.adapted.facts
        call, result = self._linked(node, parameters, kinds)
        self._handed, self._missed = call, 0
        self._arguments: tuple[Any, ...] = call(*(samples[name] for name in parameters))
        self.function = result
        if self.text.is_aside:
            self._refuse_what_may_differ(parameters)

    def is_region(self, line: int) -> bool:
        return not self.text.is_aside and self.regions.add(line)

    def _region(self, statement: ast.stmt, known: Callable[[str, Any], ast.expr]) -> list[ast.stmt] | None:
        """What stands for a statement that Python runs; None for others."""

        def marked(name: str, helper: Any) -> ast.expr:
            self.marks[id(helper)] = ""  # machine code with the address of a function
            return known(name, helper)

        return self.regions.replaced(statement, marked)

    def _linked(self, node: ast.FunctionDef, parameters: list[str], kinds: Any) -> tuple[Any, Any]:
        """The function that gives the arguments of the compiled one, and the wrapper."""
        taken = names_in(node) | {n for part in self.adapted.parameters.values() for n in names_in(part)}
        names = Names(taken)
        handed = list(self.adapted.parameters.values())
        arguments = define("arguments", parameters, [ast.Return(ast.Tuple(handed, ast.Load()))])
        wrapper = write_wrapper(node.name, parameters, self.adapted, self.facts, names, kinds)
        given = {names["compiled"]: self.compiled, names["again"]: self.again}
        given |= {names[f"known{k}"]: fact.value for k, fact in enumerate(self.facts)}
        given |= {names[f"holder{k}"]: fact.holder for k, fact in enumerate(self.facts)}
        made = [self.text.linked(entry, names.imports, given) for entry in (arguments, wrapper)]
        return made[0], made[1]

    def again(self, raised: Exception | None, *values: Any) -> Any:
        """The result of the Python function, after compiled code has raised."""
        if isinstance(raised, NumbaError):  # arguments of other types than those it was compiled for
            self.text.warn(refused_by(raised, self.text.compiled))
            self._give_up()
        elif self.text.is_aside and type(raised) is TypeError and str(raised).startswith("No matching definition"):
            self._missed += 1
            if self._missed in MISSED:
                worker.submit(lambda: self._compile_also(values))
        return self.plain(*values)

    def _compile_also(self, values: tuple[Any, ...]) -> None:
        """Compile for the types of these arguments, too: arrays of another layout, as a rule. In the other thread."""
        self._arguments = self._handed(*values)
        self.compiled.disable_compile(False)
        try:
            self.compile()
        except Refused:
            pass
        finally:
            self.compiled.disable_compile()

    def _give_up(self) -> None:
        """Let the wrapper run Python from now on."""

        def give_up(*arguments: Any) -> Any:
            raise RuntimeError

        for cell in self.function.__closure__ or ():
            if cell.cell_contents is self.compiled:
                cell.cell_contents = give_up

    def compile(self) -> None:
        """Compile for the types of the arguments that it was made for. Raises Refused."""
        if self.text.is_aside:
            self._compile_prepared(frozenset())
            return
        try:
            self.settle(self._compile_prepared)
        except Refused as refused:
            if self.first is not None:
                kept, types_of = self.first
                kept.refuse(types_of, _FINAL + refused.reason, refused.line)
            raise
        finally:
            del self._made_of

    def _compile_prepared(self, lines: frozenset[int]) -> None:
        if lines or self.regions.types:
            self._prepare(lines)
        arguments, self._arguments = self._arguments, ()
        try:
            types_of = tuple(numba.typeof(argument) for argument in arguments)
        except ValueError as raised:
            raise refused_by(raised, self.text.compiled) from None
        if self.text.is_aside and not all(map(_is_wide, types_of)):
            raise Refused("there are integers that NumPy computes with in fewer than 64 bits", 0)
        refused = self.kept.refusal(types_of) if self.kept is not None else None
        if refused is not None:
            reason, line = refused
            raise Refused(reason.removeprefix(_FINAL), line, reason.startswith(_FINAL))
        start = time.thread_time()
        try:
            self._compile_for(types_of)
        except Refused as found:
            is_lasting = not isinstance(found.__context__, (MemoryError, OSError, RecursionError))
            if self.kept is not None and is_lasting and not found.is_passing:
                self.kept.refuse(types_of, found.reason, found.line)
                self.first = self.first or (self.kept, types_of)
            raise
        seconds = time.thread_time() - start
        is_kept = self.kept is not None and self.kept.write()
        if self.text.is_aside:
            self.compiled.disable_compile()
        elif seconds > AFTER:
            self._tell_time(seconds, is_kept)

    def _refuse_what_may_differ(self, parameters: list[str]) -> None:
        """Raise Refused where compiled code may do something else than Python, other than round."""
        read = self.adapted.parameters.items()
        own = {name for name, path in read if isinstance(path, ast.Name) and path.id in parameters}
        reason = difference(self.adapted.node, set(self.adapted.parameters) - own)
        if reason is not None:
            raise Refused(reason, 0)

    def _compile_for(self, types_of: tuple[Any, ...]) -> None:
        with contextlib.ExitStack() as around:
            if self.text.is_aside:
                leave_warnings_alone()
            else:
                around.enter_context(warnings.catch_warnings())
                warnings.simplefilter("ignore", NumbaWarning)
                around.enter_context(section.interruptible())
                around.enter_context(numba_in_section())
                around.enter_context(shown_on_terminal(f"Numba compiles {self.name}"))
            if not self.options.get("parallel"):
                around.enter_context(linked_once())
                around.enter_context(without_shapes())
            known = len(refused_statements)
            try:
                self.compiled.compile(types_of)
            except Exception as raised:  # Numba raises what it likes
                found = refused_by(raised, self.text.compiled)
                found.is_passing = len(refused_statements) > known
                raise found from None
        for dispatcher in (self.compiled, *self.called):
            check_types(dispatcher)

    def _tell_time(self, seconds: float, is_kept: bool) -> None:
        code, lines = self.text.function.__code__, self.text.compiled.text.count("\n")
        text = f"Numba took {seconds:.1f} s to compile {self.name}, of {lines} lines. "
        text += "It is kept on disk" if is_kept else "It is not kept on disk: the next process compiles it again"
        if lines > _LONG:
            text += "; `s2s.grad(f).source` shows what is long"
        tell([Notice("CompileTimeWarning", text, code.co_filename, code.co_firstlineno, code.co_name)])


def compiled_text(adapted: Adapted, text: Text, caller: Caller) -> tuple[Any, Kept | None]:
    """A function for Numba as one that it compiles, and where that is kept; its lines are those of the text."""
    if adapted.shared:
        split(adapted.node, adapted.shared, adapted.known, lambda part: _compiled_part(part, adapted, text, caller))
    scope: dict[str, Any] = dict(adapted.known)
    scope["__name__"] = "s2s.backends.numba"  # a module that another process finds
    exec(compile(ast.Module([adapted.node], []), file_name(text.compiled), "exec"), scope)
    made = scope[adapted.node.name]
    digest = digest_of(adapted.node, adapted.known, caller.marks, caller.options)
    made.__qualname__ = f"{made.__name__}_{digest}"
    dispatcher = numba.njit(pipeline_class=Pipeline, **caller.options)(made)
    return dispatcher, keep(dispatcher, digest, text.function, adapted.node.name)


def _compiled_part(node: ast.FunctionDef, adapted: Adapted, text: Text, caller: Caller) -> Any:
    """What a thread does of a loop, compiled to be called by the function that the loop is in."""
    options = {name: value for name, value in caller.options.items() if name != "parallel"}
    scope: dict[str, Any] = dict(adapted.known) | {"__name__": "s2s.backends.numba"}
    exec(compile(ast.Module([node], []), file_name(text.compiled), "exec"), scope)
    dispatcher = numba.njit(pipeline_class=Pipeline, **options)(scope[node.name])
    caller.marks[id(dispatcher)] = mark_of_called(node, adapted.known, caller.marks, None, options)
    caller.called.append(dispatcher)
    return dispatcher


_NOT_FOR_TRUTH = (operator.add, operator.iadd, operator.sub, operator.isub, operator.neg, operator.invert)


def check_types(dispatcher: Any) -> None:
    """Raise Refused where a compiled function adds truth values: Python counts them, NumPy combines them."""
    for result in dispatcher.overloads.values():
        if isinstance(result.type_annotation, str):  # read from disk, where only what has passed is kept
            continue
        types_of = result.type_annotation.typemap
        for expression in result.type_annotation.calltypes:
            if not isinstance(expression, ir.Expr) or expression.op not in ("binop", "inplace_binop", "unary"):
                continue
            kinds = [types_of.get(v.name) for v in expression.list_vars()]  # those of loops of threads are not there
            is_not = expression.fn is operator.invert and isinstance(kinds[0], numba.types.Array)
            if expression.fn in _NOT_FOR_TRUTH and all(map(_is_truth, kinds)) and not is_not:
                raise Refused("truth values are added, subtracted or negated", expression.loc.line)


def _is_wide(kind: Any) -> bool:
    """Whether NumPy computes with values of a type as Numba does: it has no integers of fewer than 64 bits, or without
    sign."""
    if isinstance(kind, numba.types.BaseTuple):
        return all(_is_wide(item) for item in getattr(kind, "types", ()))
    kind = getattr(kind, "dtype", kind)
    if isinstance(kind, numba.types.Integer):
        return kind.name == "int64"
    return isinstance(kind, (numba.types.Boolean, numba.types.Float, numba.types.Complex))


def _is_truth(kind: Any) -> bool:
    return isinstance(getattr(kind, "dtype", kind), numba.types.Boolean)


# --- Numba's errors -------------------------------------------------------------------------------------------------


def refused_by(raised: Exception, compiled: Compiled) -> Refused:
    """What Numba does not like, in one sentence, and where."""
    file = re.escape(file_name(compiled))
    found = [int(a or b) for a, b in re.findall(rf'File "{file}", line (\d+)|at {file} \((\d+)\)', str(raised))]
    return Refused(_sentence(_message(raised)), found[0] if found else 0, lines=tuple(found))


def _message(raised: BaseException) -> str:
    """The message of an exception; of one without any, that of what it comes from, or its name."""
    at: BaseException | None = raised
    while at is not None:
        if str(at).strip():
            return str(at)
        at = at.__cause__ or at.__context__
    return f"its compiler raises {type(raised).__name__}"


_NOISE = (
    "Failed in", "During:", "File ", "This error", "To see", "For more", "Traceback", "Rejected", "Overload",
    "There are", "-", "<source", "With argument", "raised from", "*", "^", ">", "def ", "Please", "If you", "https",
)  # fmt: skip


def _sentence(text: str) -> str:
    """The line of Numba's message that says most."""
    text = text.partition('\nFile "')[0]  # what follows shows the code
    lacked = re.search(r"No implementation of function Function\(<?(?:(?:built-in )?function )?(\w+)[^)]*\) f", text)
    named = re.sub(r"<function (\S*?)(?:\.<locals>\.\w+)? at 0x\w+>", r"`\1`", text)
    lines = [line.strip() for line in lines_of(named)]
    specific = [k for k, line in enumerate(lines) if line.endswith("raised a specific error:")]
    if specific:
        lines = [line.partition("Error: ")[2] or line for line in lines[specific[-1] + 1 :]]
    useful = [line for line in lines if line and not line.startswith(_NOISE)]
    telling = [line for line in useful if not line.startswith("No implementation of function") and line != "No match."]
    if not telling and lacked is not None:
        return f"Numba has {'none' if lacked[1].startswith('_') else f'no `{lacked[1]}`'} for such arguments"
    chosen = (telling or useful or [f"Numba does not say why: {text.strip()}"])[0]
    return chosen if len(chosen) <= 200 else chosen[:197] + "..."
