"""Every mistake in a text gets a message that a beginner can act on, at the right place."""

from __future__ import annotations

import pytest

from tvmlab.ir import parse
from tvmlab.support import ParseError

HEAD = "def f(A: float32[4], B: int32[4, 4], n: int64):\n    for i in range(4):\n"

# Mistake: body of the loop above, what the message says, the marked text, what the hint says.
IN_A_LOOP = [
    ("A[i] = C[i]", "C is not defined here", "C", None),
    ("A[i] = A[j]", "j is not defined here", "j", None),
    ("A[i] = A", "A is a buffer; a value is one of its elements", "A", "A[i]"),
    ("A[i] = B[i]", "B has 2 dimension(s) but is indexed with 1", "B[i]", None),
    ("A[i] = B[i, i]", "cannot be stored there", "A[i] = B[i, i]", None),
    ("A[i] = A[i] + B[i, i]", "types, float32 and int32", "A[i] + B[i, i]", "int32(A[i])"),
    ("B[i, i] = B[i, i] / 2", "`/` is not defined for int32", "B[i, i] / 2", "use //"),
    ("B[i, i] = 0.5", "0.5 is not a whole number", "0.5", "convert the other side"),
    ("B[i, i] = 3000000000", "does not fit into int32", "3000000000", None),
    ("A[i] = A[i] ** 2", "`**` is not part", "A[i] ** 2", "pow(a, b)"),
    ("A[i] = A @ A", "`@` is not part", "A @ A", "loops"),
    ("A[i] = np.exp(A[i])", "np.exp(...) is not a function", "np.exp(A[i])", "exp(x)"),
    ("A[i] = sqr(A[i])", "sqr is not a function", "sqr", "did you mean sqrt?"),
    ("A[i] = exp(A[i], 2)", "exp takes 1 argument(s), not 2", "exp(A[i], 2)", None),
    ("A[i] = exp(A[i], out=1)", 'only the keyword argument dtype="..."', "out=1", None),
    ("A[i] = max(A[i])", "max takes 2 argument(s), not 1", "max(A[i])", None),
    ("A[i] = max(A[i], b=1)", "max takes no keyword arguments", "max(A[i], b=1)", None),
    ("A[i] = [1.0]", "a list cannot be part", "[1.0]", "expressions are made of"),
    ("A[i] = 'x'", "'x' is not a number", "'x'", None),
    ("A[i] = 1 if i in n else 2", "`in` and `is` are not part", "i in n", "use =="),
    ("A[i] = not i", "not needs a condition", "not i", None),
    ("A[0:2] = 1", "one element is read or written at a time", "0:2", None),
    ("A[i].masked = 1", "only a name or an element of a buffer", "A[i].masked = 1", "A[i]"),
    ("A.where(i < 2)[i] = 1", "only `.masked(condition)`", "A.where(i < 2)", None),
    ("i = A[i]", "i already has a value here", "i", "i[()] = value"),
    ("x: float32", "x has no value", "x: float32", "x = value"),
    ("x: int32 = A[i]", "is to be int32, its value is float32", "x: int32 = A[i]", "int32(A[i])"),
    ("x: int33 = 1", "'int33' is not an element type", "int33", None),
    ("with let(A[i]): pass", "a let needs a name", "let(A[i])", "with let(A[i]) as T"),
    ("with let() as x: pass", "let takes one value", "let()", "let(A[i] + 1)"),
    ("call()", "a call names what is called", "call()", "packed:f"),
    ("call('f', read())", "read takes one part", "read()", "packed:f"),
    ("call('f', read(A[i], k=1))", "knows only shape", "read(A[i], k=1)", None),
    ("call('f', read(A[i], shape=4))", "stand in a tuple", "4", "shape=(4,)"),
    ("with call('f', n): pass", "stands what it means", "pass", "def meaning"),
    ("with call('f'):\n            def meaning(): A[0] = 1", "A is not defined here", "A", None),
    ("barrier()", "a barrier names a memory", "barrier()", 'barrier("shared")'),
    ("for t in thread(4): pass", "a thread loop names its axis", "thread(4)", "threadIdx.x"),
    ("A[i] = float32(A.stride(1))", "A has the dimensions 0 to 0", "1", None),
    ("combine(1)", "stands at the head of a block", "combine(1)", None),
    ("with block('b'): combine(1)", "combine takes a lambda", "combine(1)", "combine(lambda"),
    ("with block('b'): combine(lambda a: a, 0)", "2 names", "combine(lambda a: a, 0)", None),
    ("(A[i])[i] = 1", "only a buffer can be indexed", "A[i]", None),
    ("n[0] = 1", "n is not a buffer", "n", None),
    ("A[ramp(0, 1, n)] = 1", "the number of lanes is a literal", "n", None),
    ("while i < 2: pass", "`while` is not a statement", "while i < 2: pass", "statements are"),
    ("return", "`return` is not a statement", "return", None),
    ("where(i < 3)", "stands at the head of a block", "where(i < 3)", None),
    ("for j in range(): pass", "takes how many iterations", "range()", "range(1, 16)"),
    ("for j in range(0, 4, n): pass", "a literal whole number other than 0", "n", None),
    ("x = A[i]\n        x += 1.0", "x already has a value here", "x", "x[()] = value"),
    ("for j in rnage(4): pass", "a loop runs over one of range", "rnage(4)", "did you mean range?"),
    ("for j in A: pass", "a loop runs over one of range", "A", None),
    ("for a, b in range(3): pass", "a loop has one variable", "a, b", None),
    ("for j in range(4, k=A): pass", "an annotation is a literal", "A", None),
    ("for j in range(4, **n): pass", "write key=value", "**n", None),
    ("with open('x'): pass", "`with` opens a block", "open('x')", "a block is written"),
    ("with alloc(float32[4]): pass", "an alloc needs a name", "alloc(float32[4])", "as T"),
    ("with alloc(float33[4]) as T: pass", "'float33' is not an element", "float33", "use bool"),
    ("with alloc(float32) as T: pass", "needs a type with a shape", "float32", "float32[4, 4]"),
    ("with alloc() as T: pass", "alloc takes a type with a shape", "alloc()", None),
    ("with alloc(int8[4], scope='l1') as T: pass", "one of global, shared", "scope='l1'", None),
    ("with block(): pass", "a block has a name", "block()", None),
    ("with block('b', v=i): pass", "is given a kind, an extent", "v=i", "spatial(16, i)"),
    ("with block('b', v=spatial(4)): pass", "is given a kind", "v=spatial(4)", None),
]  # fmt: skip


def marked(error: ParseError) -> str:
    """The text above the carets of a message."""
    assert error.span is not None
    (carets,) = [note for note in error.notes if set(note.strip()) == {"^"}]
    start = len(carets) - len(carets.lstrip()) - 4
    return error.span.text.strip()[start : start + carets.count("^")]


@pytest.mark.parametrize(("line", "message", "place", "hint"), IN_A_LOOP)
def test_mistakes_in_a_loop(line: str, message: str, place: str, hint: str | None) -> None:
    with pytest.raises(ParseError) as caught:
        parse(f"{HEAD}        {line}")
    error = caught.value
    assert message in error.message
    assert marked(error) == place
    assert hint is None or hint in (error.hint or "")
    assert error.span is not None
    assert error.span.line == 3 + line.count("\n")


BLOCK = "def f(A: int8[4]):\n    with block('b'):\n        "
WHOLE = [
    ("x = 1", "a program is one function definition"),
    ("", "a program is one function definition"),
    ("def f():\n    pass\ndef g():\n    pass", "a program is one function definition"),
    ("def f(A):\n    pass", "parameter A has no type"),
    ("def f(*A):\n    pass", "parameters are plain names with a type"),
    ("def f(A: float32[4] = 3):\n    pass", "parameters are plain names with a type"),
    ("def f(n: int65):\n    pass", "'int65' is not an element type"),
    ("def f(A: float32[m]):\n    pass", "m is not defined here"),
    ("def f()\n    pass", "this is not Python: expected ':'"),
    ("def f():\npass", "this is not Python: expected an indented block"),
    ("def f():\n    A[0 = 1", "this is not Python"),
    ("def f():\n    pass\n  pass", "this is not Python: unindent"),
    (BLOCK + "where()\n        pass", "where takes one"),
    (
        BLOCK + "reads(A[0])\n        reads(A[1])",
        "a block has one reads",
    ),
    (BLOCK + "reads(A)\n", "a region is written A[i, 0:4]"),
    (BLOCK + "reads(A[:2])\n", "has a first index and an end"),
    (BLOCK + "reads(A[0, 1])\n", "2 dimension(s), A has 1"),
    ("def f(n: int8):\n    for i in range(4):\n        pass\n    else:\n        pass", "no else"),
]


@pytest.mark.parametrize(("text", "message"), WHOLE)
def test_mistakes_of_form(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert message in caught.value.message


def test_the_whole_message_reads_well() -> None:
    with pytest.raises(ParseError) as caught:
        parse(
            "def f(A: float32[4]):\n    for i in range(4):\n        A[i] = sqr(A[i])",
            file="kernels.py",
            first_line=10,
        )
    assert str(caught.value).splitlines() == [
        "sqr is not a function of the text form",
        "  at kernels.py:12",
        "    A[i] = sqr(A[i])",
        "           ^^^",
        "hint: did you mean sqrt?",
    ]


def test_columns_are_right_behind_letters_of_several_bytes() -> None:
    with pytest.raises(ParseError) as caught:
        parse("def f(Ä: float32[4]):\n    Ä[0] = Ä[0] + größe")
    assert marked(caught.value) == "größe"
